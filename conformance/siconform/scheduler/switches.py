"""Switches of the simulated scheduler: deviations from its behaviour, set by a test."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from siconform.protocol.notifications import Fact


@dataclass(slots=True)
class Switches:
    """What the simulated scheduler does by itself; everything is on by default."""

    places: bool = True
    confirms: bool = True  # releases of the RM
    replaces_placeholders: bool = True
    states: bool = True  # reports states of applications
    delayed: tuple[type[Fact], ...] = ()  # kinds of verdicts that are held back
    refuses: bool = False  # registrations
    unknown_fields: bool = False  # adds a field that no revision declares to all it sends

    @contextmanager
    def off(self, name: str) -> Iterator[None]:
        """Switch one of them off in this block."""
        before = getattr(self, name)
        setattr(self, name, False)
        try:
            yield
        finally:
            setattr(self, name, before)
