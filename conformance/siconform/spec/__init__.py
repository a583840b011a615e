"""What a change of the SI's text breaks: reads, compiles and compares specifications."""
