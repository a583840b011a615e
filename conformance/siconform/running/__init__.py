"""Running the suite in pytest: test selection, target, workers, evidence and results."""
