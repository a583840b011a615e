"""The conformance tests of resource managers: one file per area, one test per statement."""
