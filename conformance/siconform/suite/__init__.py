"""The conformance tests: one file per area, one test per statement about the scheduler."""
