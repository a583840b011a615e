"""Expectations, deadlines and barriers: what a test waits for and how it knows nothing follows."""
