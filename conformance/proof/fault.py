"""Schedulers made out of the reference: with one fault, or with one liberty of another manner.

What is different is made on the wire (a proxy changes what passes) or inside the process (functions
of the reference are replaced there, and only there). The first argument of the function that makes
it says which: a type of message, or ``Inside``.
"""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from siconform.doctor import change as wire
from siconform.doctor.change import Wire, keep
from siwire import DEFAULT_REVISION

from proof.altering import Inside

__all__ = ["CHANGES", "Change", "Wire", "fault", "keep", "liberty"]


@dataclass
class Change(wire.Change):
    """One that may be made inside, too."""

    inside: list[Callable[[Inside], None]] = field(default_factory=list)

    @property
    def makers(self) -> tuple[Callable[..., None], ...]:
        """The functions that make it."""
        return (*self.messages.values(), *self.inside)

    @property
    def is_inside(self) -> bool:
        """Whether functions of the reference are replaced."""
        return bool(self.inside)

    def alter(self, inside: Inside) -> None:
        """Make it in the reference of this process."""
        for change in self.inside:
            change(inside)

    def also(self, change: Callable[..., None]) -> Callable[..., None]:
        """A decorator: another message is changed, or something inside."""
        (kind, *_) = inspect.get_annotations(change).values()
        if kind is not Inside:
            return super().also(change)
        self.inside.append(change)
        return change


CHANGES: Final[dict[str, Change]] = {}
Makes = Callable[[Callable[..., None]], Change]


def fault(
    name: str,
    says: str,
    *areas: str,
    breaks: Iterable[str] = (),
    revision: str = DEFAULT_REVISION.name,
) -> Makes:
    """A decorator: a function that does this one thing wrong.

    ``breaks`` are the requirements whose sentence it breaks; ``areas`` are judged beside theirs.
    """
    return _makes(Change(name, says, tuple(breaks), areas, revision=revision))


def liberty(
    name: str,
    says: str,
    *,
    rows: Iterable[str] = (),
    areas: Iterable[str] = (),
    told: Iterable[str] = (),
    departs_from: Iterable[str] = (),
    revision: str = DEFAULT_REVISION.name,
) -> Makes:
    """The same for what a scheduler may do; without ``areas`` everything is judged.

    ``told`` are the options its user gives the kit, such as ``--placeholder-timeout 5``. Only the
    SHOULDs it ``departs_from`` may fail.
    """
    made = Change(
        name,
        says,
        more_areas=tuple(areas),
        rows=tuple(rows),
        told=tuple(told),
        departs_from=tuple(departs_from),
        revision=revision,
        is_liberty=True,
    )
    return _makes(made)


def _makes(made: Change) -> Makes:
    def makes(change: Callable[..., None]) -> Change:
        made.also(change)
        if made.name in CHANGES:
            raise ValueError(f"there are two schedulers {made.name}")
        CHANGES[made.name] = made
        return made

    return makes
