"""The RM, altered in this process by a mutant, a permitted variant, or one of each.

Run as ``python -m mutation.patched_rm [NAME][+VARIANT] run [OPTION ...]``, with the options of
``sirm run``.
"""

import sys
from collections.abc import Sequence

import sirm
from siconform.catalogue import Side
from sirm.cli import main as run

from mutation.patched import apply
from mutation.patching import Patch


def main(arguments: Sequence[str]) -> None:
    """Apply the changes, then run the RM until it ends."""
    names, *words = arguments
    patch = Patch(sirm)
    apply(names, Side.RM, patch)
    run([*words, *patch.options])


if __name__ == "__main__":
    main(sys.argv[1:])
