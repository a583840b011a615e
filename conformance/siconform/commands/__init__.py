"""Commands of siconform, one module per subject."""
