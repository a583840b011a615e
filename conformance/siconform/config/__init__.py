"""The options of a run: declared once, read from the command line, target file or pytest."""
