"""Option groups: several options as one decorator, listed in order."""

from collections.abc import Callable
from functools import reduce
from typing import Any

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def group(*options: Decorator) -> Decorator:
    """Return a decorator that adds all of ``options``."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        return reduce(lambda inner, option: option(inner), reversed(options), command)

    return decorate
