"""Running the suite: options, test selection, evidence and results."""
