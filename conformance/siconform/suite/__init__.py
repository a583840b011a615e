"""The checks: one file an area, one test a sentence about the scheduler."""
