"""The verbs of a resource manager, one module for each area."""
