"""Run ``sirm`` as ``python -m sirm``."""

from sirm.cli import main

if __name__ == "__main__":
    main(prog_name="sirm")
