"""``python -m sireference`` is ``sireference``."""

from sireference.cli import main

if __name__ == "__main__":
    main(prog_name="sireference")
