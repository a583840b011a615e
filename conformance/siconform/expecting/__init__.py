"""What a test may expect, for how long it waits, and how it knows that nothing more will come."""
