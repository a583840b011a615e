"""A scheduler with one fault or one liberty, to be judged like any other.

Run as ``python -m mutation.proxy NAME --listen HOST:PORT``. What is different inside is made in a
reference this process starts for itself, on virtual time unless told ``--real-clock``; what is
different on the wire is made here, between the kit and that reference, in all calls, those of the
extension too. "none" changes nothing.
"""

import argparse
import asyncio
import os
from collections.abc import Sequence
from typing import Final

from siconform.doctor.proxy import ANYWHERE, serve
from siconform.protocol.timers import SHORT
from siconform.targets.embedded import embedded
from siwire import Revision, find_revision

from mutation import fired
from mutation.known import load
from mutation.mutant import CHANGES, Change

NONE: Final = Change("none", "Nothing is different.")


def main() -> None:
    """Serve until the process is ended."""
    load()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=[NONE.name, *CHANGES])
    parser.add_argument("--listen", default=ANYWHERE, metavar="HOST:PORT")
    parser.add_argument("--revision", help="of the SI (default: that of the fault)")
    parser.add_argument("--beside", choices=list(CHANGES), help="a liberty it takes, too: inside")
    parser.add_argument("--real-clock", action="store_true")
    given = parser.parse_args()
    change = CHANGES.get(given.name, NONE)
    revision = find_revision(given.revision or change.revision)
    if change.is_on_the_wire and revision.name != change.revision:
        parser.error(f"{change.name} changes messages of SI {change.revision}, not of {revision}")
    meanwhile = CHANGES.get(given.beside, NONE)
    if meanwhile.is_on_the_wire:
        parser.error(f"{meanwhile.name} changes messages: nothing is made beside it")
    command = reference(change, revision, meanwhile=meanwhile, real_clock=given.real_clock)
    if not change.is_on_the_wire:
        alone = [given.listen if word == ANYWHERE else word for word in command]
        os.execv(alone[0], alone)  # noqa: S606  # our own command: nobody has to stand between
    asyncio.run(serve(change, revision, command, given.listen, fired.fires))


def reference(
    change: Change, revision: Revision, *, meanwhile: Change = NONE, real_clock: bool = False
) -> Sequence[str]:
    """The command that starts the reference as the kit does, altered inside where it has to be."""
    command = embedded(revision, SHORT, real_clock=real_clock).command
    names = "+".join([one.name if one.is_inside else "" for one in (change, meanwhile)])
    if names == "+":
        return command
    python, serve_words = command[0], command[command.index("serve") + 1 :]
    return (python, "-P", "-m", "mutation.altered", names, *serve_words)


if __name__ == "__main__":
    main()
