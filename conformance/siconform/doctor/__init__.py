"""Self-test of this installation: the kit detects every mutant, and nothing else."""
