"""The reference, altered in this process by a mutant, a permitted variant, or one of each.

Run as ``python -m mutation.patched [NAME][+VARIANT] [OPTION ...]``, with the options of ``serve``.
"""

import sys
from collections.abc import Sequence

from siconform.catalogue import Side
from sireference.cli import main as serve

from mutation.known import load
from mutation.mutant import of_side
from mutation.patching import Patch


def main(arguments: Sequence[str]) -> None:
    """Apply the changes, then serve until the process ends."""
    names, *options = arguments
    patch = Patch()
    apply(names, Side.SCHEDULER, patch)
    serve(["serve", *options, *patch.options])


def apply(names: str, side: Side, patch: Patch) -> None:
    """Apply a change and, after a plus sign, a permitted variant to combine it with."""
    name, _, variant = names.partition("+")
    wanted = {name, variant} - {""}
    load(wanted)
    changes = of_side(side)
    for unknown in wanted - changes.keys():
        sys.exit(f'unknown change of the {side.noun}: "{unknown}"; fixtures/mutation lists them')
    for one in (changes[one] for one in (name, variant) if one):
        if not one.is_inside:
            sys.exit(f"{one.name} changes messages only: use python -m mutation.proxy {one.name}")
    if variant:
        changes[variant].alter(patch.quietly())
    if name:
        changes[name].alter(patch)
        if not patch.replaces:
            patch.fires()  # a change of options only takes effect at once


if __name__ == "__main__":
    main(sys.argv[1:])
