"""Mutation testing: run the suite against mutants of the reference and record what kills them."""
