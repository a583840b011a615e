"""Whether the kit itself can be believed here: what has to be noticed is, and nothing else."""
