"""A proxy that serves a mutant or a permitted variant of the reference.

Run as ``python -m mutation.proxy NAME --listen HOST:PORT``. Changes inside are made in a reference
that this process starts, on virtual time unless ``--real-clock`` is given. Changes on the wire are
made here, between the kit and that reference, in all calls, including those of the extension.
"none" changes nothing.
"""

import argparse
import asyncio
import os
from collections.abc import Sequence
from typing import Final

from siconform.catalogue import Side
from siconform.doctor.proxy import ANYWHERE, serve
from siconform.protocol.timers import SHORT
from siconform.targets.embedded import embedded
from siwire import Revision, find_revision

from mutation import fired
from mutation.known import load
from mutation.mutant import Change, of_side

NONE: Final = Change("none", "Nothing is different.")


def main() -> None:
    """Serve until the process ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--listen", default=ANYWHERE, metavar="HOST:PORT")
    parser.add_argument("--revision", help="Revision of the SI (default: that of the mutant).")
    parser.add_argument("--variant", help="A permitted variant to combine with it: inside only.")
    parser.add_argument("--real-clock", action="store_true")
    given = parser.parse_args()
    names = {given.name, given.variant} - {NONE.name, None}
    load(names)
    changes = of_side(Side.SCHEDULER)
    for unknown in names - changes.keys():
        parser.error(f'unknown change of the scheduler: "{unknown}"; fixtures/mutation lists them')
    change = changes.get(given.name, NONE)
    revision = find_revision(given.revision or change.revision)
    if change.is_on_the_wire and revision.name != change.revision:
        parser.error(f"{change.name} changes messages of SI {change.revision}, not of {revision}")
    variant = changes.get(given.variant, NONE)
    if variant.is_on_the_wire:
        parser.error(f"{variant.name} changes messages and cannot be combined")
    command = reference(change, revision, variant=variant, real_clock=given.real_clock)
    if not change.is_on_the_wire:
        alone = [given.listen if word == ANYWHERE else word for word in command]
        os.execv(alone[0], alone)  # noqa: S606  # our own command, without a proxy
    asyncio.run(serve(change, revision, command, given.listen, fired.fires))


def reference(
    change: Change, revision: Revision, *, variant: Change = NONE, real_clock: bool = False
) -> Sequence[str]:
    """Return the command that starts the reference as the kit does, altered if necessary."""
    command = embedded(revision, SHORT, real_clock=real_clock).command
    names = "+".join([one.name if one.is_inside else "" for one in (change, variant)])
    if names == "+":
        return command
    python, serve_words = command[0], command[command.index("serve") + 1 :]
    return (python, "-P", "-m", "mutation.patched", names, *serve_words)


if __name__ == "__main__":
    main()
