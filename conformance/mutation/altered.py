"""The reference, altered inside by one fault or one liberty, or by a fault beside a liberty.

Run as ``python -m mutation.altered [NAME][+LIBERTY] [OPTION ...]``, with the options of ``serve``.
"""

import sys
from collections.abc import Sequence

from sireference.cli import main as serve

from mutation.altering import Inside
from mutation.known import load
from mutation.mutant import CHANGES


def main(arguments: Sequence[str]) -> None:
    """Alter, then serve until the process is ended."""
    names, *options = arguments
    name, _, meanwhile = names.partition("+")
    load()
    inside = Inside()
    if meanwhile:
        CHANGES[meanwhile].alter(inside.quietly())
    if name:
        CHANGES[name].alter(inside)
        if not inside.replaces:
            inside.fires()  # nothing but options: they are in force
    serve(["serve", *options, *inside.options])


if __name__ == "__main__":
    main(sys.argv[1:])
