"""Tries an edited specification: runs the suite with it against an unmodified scheduler."""
