"""Mutants and permitted variants of the reference and of the RM, and how they are registered.

A change is made on the wire (a proxy changes messages) or inside the process (functions of the
reference are replaced). The first argument of the function that makes it decides: a message type,
or ``Patch``. Changes of messages name their revision. An RM is changed inside only.
"""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial, update_wrapper
from pathlib import Path
from typing import Final

from siconform.catalogue import Side
from siconform.doctor import change as wire
from siconform.doctor.change import Wire, keep

from mutation.main_revision import NAME
from mutation.parts import Edit
from mutation.patching import Patch

__all__ = ["CHANGES", "Change", "Wire", "keep", "mutant", "of_side"]
__all__ += ["rm_mutant", "rm_variant", "row", "variant"]


@dataclass
class Change(wire.Change):
    """A change on the wire or inside the reference, or inside the RM."""

    inside: list[Callable[[Patch], None]] = field(default_factory=list)
    tables: list[Path] = field(default_factory=list)  # files with a table that has it as a row
    is_slow: bool = False  # a whole run takes minutes, up to fifteen
    side: Side = Side.SCHEDULER

    @property
    def makers(self) -> tuple[Callable[..., None], ...]:
        """The functions that make it."""
        return (*self.messages.values(), *self.inside)

    @property
    def sources(self) -> list[Path]:
        """The files that define it."""
        return sorted({*super().sources, *self.tables})

    @property
    def is_inside(self) -> bool:
        """Whether functions of the reference or of the RM are replaced."""
        return bool(self.inside)

    def alter(self, patch: Patch) -> None:
        """Apply the change in this process."""
        for change in self.inside:
            change(patch)

    @property
    def never_fired(self) -> str:
        """The message for a run in which the change had no effect."""
        of = f"{self.name} of SI {self.revision} never fired"
        if not self.is_on_the_wire:
            of_it = "reference" if self.side is Side.SCHEDULER else "RM"
            return f"{of}: no replaced function of the {of_it} behaved differently"
        awaited = " or ".join(kind.DESCRIPTOR.name for kind in self.messages)
        return f"{of}: no {awaited} to change was sent"

    def also(self, change: Callable[..., None]) -> Callable[..., None]:
        """Decorate a function, or take a partial one, that changes a message or the inside."""
        if isinstance(change, partial):
            update_wrapper(change, change.func)
        (kind, *_) = inspect.get_annotations(change).values()
        if kind is not Patch:
            return super().also(change)
        self.inside.append(change)
        return change

    def applies(self, edit: Edit) -> None:
        """Edit messages, after existing edits of the same type."""
        before = self.messages.get(edit.message)
        whole = edit if before is None else edit.after(before)
        self.changes_messages_of(edit.message, whole.make)


CHANGES: Final[dict[str, Change]] = {}
Makes = Callable[[Callable[..., None]], Change]


def of_side(side: Side) -> dict[str, Change]:
    """Return the changes of the reference, or of the RM, by name."""
    return {name: change for name, change in CHANGES.items() if change.side is side}


def mutant(
    name: str,
    summary: str,
    *areas: str,
    breaks: Iterable[str] = (),
    revision: str = "",
    side: Side = Side.SCHEDULER,
) -> Makes:
    """Decorate a function, or take a partial one, that makes a mutant.

    ``breaks`` are the requirements it violates; ``areas`` are tested in addition to theirs.
    Without a ``revision`` the mutant is made inside, in the main one.
    """
    made = Change(name, summary, tuple(breaks), areas, revision=revision or NAME, side=side)
    return _makes(made, revision)


def row(
    file: str,
    revision: str,
    name: str,
    summary: str,
    *edits: Edit,
    breaks: Iterable[str],
    areas: Iterable[str] = (),
) -> None:
    """Register a mutant on the wire that edits parts of messages: a row of a table.

    ``file`` is the one with the table.
    """
    change = Change(name, summary, tuple(breaks), tuple(areas), revision=revision)
    change.tables.append(Path(file))
    for edit in edits:
        change.applies(edit)
    _register(change)


def variant(
    name: str,
    summary: str,
    *,
    once_failed_by: Iterable[str] = (),
    areas: Iterable[str] = (),
    received: Iterable[str] = (),
    departs_from: Iterable[str] = (),
    revision: str = "",
    is_slow: bool = False,
    side: Side = Side.SCHEDULER,
) -> Makes:
    """Decorate a function that makes a permitted variant.

    Without ``areas`` everything is tested; one that ``is_slow`` is never part of a sample.
    ``received`` are options of its runs, such as ``--placeholder-timeout 5``. Only the
    SHOULDs it ``departs_from`` may fail.
    """
    made = Change(
        name,
        summary,
        more_areas=tuple(areas),
        once_failed_by=tuple(once_failed_by),
        received=tuple(received),
        departs_from=tuple(departs_from),
        revision=revision or NAME,
        is_variant=True,
        is_slow=is_slow,
        side=side,
    )
    return _makes(made, revision)


rm_mutant: Final = partial(mutant, side=Side.RM)
rm_variant: Final = partial(variant, side=Side.RM)


def _makes(made: Change, revision: str) -> Makes:
    def makes(change: Callable[..., None]) -> Change:
        made.also(change)
        if made.is_on_the_wire and made.side is Side.RM:
            raise ValueError(f"{made.name} changes messages: change the codec of the RM instead")
        if made.is_on_the_wire and not revision:
            raise ValueError(f"{made.name} changes messages: name their revision")
        _register(made)
        return made

    return makes


def _register(made: Change) -> None:
    if made.name in CHANGES:
        raise ValueError(f"duplicate name of a mutant or permitted variant: {made.name}")
    CHANGES[made.name] = made
