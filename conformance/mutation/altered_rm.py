"""The RM, altered in this process by a mutant, a permitted variant, or one of each.

Run as ``python -m mutation.altered_rm [NAME][+VARIANT] run [OPTION ...]``, with the options of
``sirm run``.
"""

import sys
from collections.abc import Sequence

import sirm
from siconform.catalogue import Side
from sirm.cli import main as run

from mutation.altered import apply
from mutation.altering import Inside


def main(arguments: Sequence[str]) -> None:
    """Apply the changes, then run the RM until it ends."""
    names, *words = arguments
    inside = Inside(sirm)
    apply(names, Side.RM, inside)
    run([*words, *inside.options])


if __name__ == "__main__":
    main(sys.argv[1:])
