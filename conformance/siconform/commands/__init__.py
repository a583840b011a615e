"""The commands of siconform beside cli.py: each module has those of one subject."""
