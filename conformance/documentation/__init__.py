"""Builds the documentation site: runs the commands of its pages and draws its diagrams.

Not part of the installed package. `nox -s docs` runs all of it.
"""
