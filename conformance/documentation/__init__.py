"""The site of docs: its pages' commands are run, its diagrams drawn.

Not part of what is installed. `nox -s docs` runs all of it.
"""
