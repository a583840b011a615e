"""Verbs by composition: an object for each area, whose methods its RM has under their own names."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

A = TypeVar("A")
P = ParamSpec("P")
R = TypeVar("R")


class Areas:
    """The areas an RM is composed of, one object of each kind."""

    def __init__(self) -> None:
        self._areas: dict[type[object], object] = {}

    def add(self, area: A) -> A:
        """Make the area part of the RM, and return it."""
        self._areas[type(area)] = area
        return area

    def of(self, kind: type[A]) -> A:
        """The area of this kind; KeyError where there is none."""
        area = self._areas[kind]
        assert isinstance(area, kind)  # noqa: S101  # it was added under its own class
        return area


class Composed:
    """An object whose verbs are methods of its areas."""

    def __init__(self, areas: Areas) -> None:
        self.areas = areas


def verb(
    area: type[A], method: Callable[Concatenate[A, P], R]
) -> Callable[Concatenate[Composed, P], R]:
    """A method of the composed object that calls this one of its area.

    It has the signature and the docstring of that.
    """

    @wraps(method)
    def of_the_area(composed: Composed, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return method(composed.areas.of(area), *args, **kwargs)

    return of_the_area
