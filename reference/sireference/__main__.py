"""Run ``sireference`` as ``python -m sireference``."""

from sireference.shell import gc_tuning

if __name__ == "__main__":
    gc_tuning.reduce_collections()  # before the imports, an eighth of whose time it would take
    from sireference.cli import main

    main(prog_name="sireference")
