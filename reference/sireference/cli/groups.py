"""Options in groups: several of them as one decorator, listed in the order written."""

from collections.abc import Callable
from functools import reduce
from typing import Any

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def group(*options: Decorator) -> Decorator:
    """A decorator that adds all of ``options``."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        return reduce(lambda inner, option: option(inner), reversed(options), command)

    return decorate
