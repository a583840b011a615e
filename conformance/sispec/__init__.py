"""Impact of SI changes: reads, compiles and compares specifications."""
