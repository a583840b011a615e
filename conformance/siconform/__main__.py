"""``python -m siconform``."""

from siconform.cli import main

main(prog_name="siconform")
