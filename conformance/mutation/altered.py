"""The reference, altered in this process by a mutant, a permitted variant, or one of each.

Run as ``python -m mutation.altered [NAME][+VARIANT] [OPTION ...]``, with the options of ``serve``.
"""

import sys
from collections.abc import Sequence

from sireference.cli import main as serve

from mutation.altering import Inside
from mutation.known import load
from mutation.mutant import CHANGES


def main(arguments: Sequence[str]) -> None:
    """Apply the changes, then serve until the process ends."""
    names, *options = arguments
    name, _, variant = names.partition("+")
    load()
    inside = Inside()
    if variant:
        CHANGES[variant].alter(inside.quietly())
    if name:
        CHANGES[name].alter(inside)
        if not inside.replaces:
            inside.fires()  # a change of options only takes effect at once
    serve(["serve", *options, *inside.options])


if __name__ == "__main__":
    main(sys.argv[1:])
