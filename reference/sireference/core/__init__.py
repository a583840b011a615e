"""What the SI means: pure rules, one file per word of the SI, no wire, no clock, no network."""
