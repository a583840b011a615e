"""The steps of a resource manager, one module for each area."""
