"""Replaces functions and methods of the reference, or of the RM, wherever they are used."""

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import fields, is_dataclass
from functools import partial
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import sireference

from mutation import fired


class Patch:
    """Replaces code of a package before it runs: of the reference or of ``sirm``."""

    def __init__(self, package: ModuleType = sireference) -> None:
        self.options: list[str] = []
        self._is_quiet = False
        self.replaces = False  # anything; the replacement calls fires()
        self._now: dict[Any, Any] = {}  # the current replacement of a function
        self._modules = list(_modules(package))

    def instead_of(self, target: Any, replacement: Callable[..., Any]) -> None:
        """Call ``replacement(original, ...)`` instead of a function, a method or a property.

        A method is named by its class (``Node.book``), as is a property. A second replacement gets
        the first as its original. Raises LookupError if no name refers to the target.
        """
        self.replaces = True
        plain = function_of(target)
        owner = _class_of(plain)
        if owner is None:
            self._everywhere(plain, self._now.get(plain, plain), replacement)
            return
        before = vars(owner)[plain.__name__]
        altered = _wrapped(function_of(before), replacement)
        setattr(owner, plain.__name__, _as_before(before, altered))

    def constant(self, module: ModuleType, name: str, value: Any) -> None:
        """Replace a constant of a module, there and wherever it was imported by name."""
        before = getattr(module, name)
        for one in self._modules:
            if vars(one).get(name) is before:
                setattr(one, name, value)

    def serves_with(self, *options: str) -> None:
        """Add options to those that ``sireference serve`` or ``sirm run`` is started with."""
        self.options.extend(options)

    def fires(self) -> None:
        """Record that the change took effect; a change that never fires shows nothing."""
        if not self._is_quiet:
            fired.fires()

    def quietly(self) -> "Patch":
        """Return a copy for an additional change, which does not count as fired."""
        other = copy(self)
        other._is_quiet = True  # noqa: SLF001  # it is one of us
        return other

    def _everywhere(self, first: Any, now: Any, replacement: Callable[..., Any]) -> None:
        altered = self._now[first] = self._now[now] = _wrapped(now, replacement)
        is_named = False
        for module in self._modules:
            for name, value in list(vars(module).items()):
                if value is now:
                    setattr(module, name, altered)
                    is_named = True
                else:
                    _put(altered, value, now)
        if not is_named:
            package = self._modules[0].__name__
            raise LookupError(f"nothing in {package} is called {first.__qualname__}")


def instead_of(target: Any) -> Callable[[Callable[..., Any]], Callable[[Patch], None]]:
    """Decorate a replacement of ``target``: it gets the Patch, the original and the arguments."""

    def changes(replacement: Callable[..., Any]) -> Callable[[Patch], None]:
        @functools.wraps(replacement)
        def change(patch: Patch) -> None:
            patch.instead_of(target, partial(replacement, patch))

        return change

    return changes


def _put(altered: Any, holder: Any, now: Any) -> None:
    """Replace a function in tables, in dataclasses and in partial functions, and in their parts."""
    if isinstance(holder, dict):
        for key, one in list(holder.items()):
            if one is now:
                holder[key] = altered
            else:
                _put(altered, one, now)
    elif isinstance(holder, partial):
        if holder.func is now:
            state = (altered, holder.args, holder.keywords, vars(holder))
            holder.__setstate__(state)  # type: ignore[attr-defined]  # missing in typeshed
    elif is_dataclass(holder) and not isinstance(holder, type):
        for field in fields(holder):
            one = getattr(holder, field.name)
            if one is now:
                object.__setattr__(holder, field.name, altered)  # it may be frozen
            else:
                _put(altered, one, now)


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    yield package
    for found in walk_packages(package.__path__, f"{package.__name__}."):
        if not found.name.endswith("__main__"):
            yield import_module(found.name)


def function_of(target: Any) -> Any:
    """Return the function behind a method or a property."""
    if isinstance(target, property):
        return target.fget
    if isinstance(target, functools.cached_property):
        return target.func
    return getattr(target, "__func__", target)


def _class_of(plain: Any) -> Any:
    """Return the class a function was defined in, None for a module function."""
    names = plain.__qualname__.split(".")[:-1]
    if "<locals>" in names:
        raise LookupError(f"{plain.__qualname__} has no name to replace it by")
    return functools.reduce(getattr, names, sys.modules[plain.__module__]) if names else None


def _wrapped(plain: Any, replacement: Callable[..., Any]) -> Any:
    @functools.wraps(plain)
    def altered(*args: Any, **kwargs: Any) -> Any:
        return replacement(plain, *args, **kwargs)

    @functools.wraps(plain)
    async def altered_coroutine(*args: Any, **kwargs: Any) -> Any:
        return await replacement(plain, *args, **kwargs)

    return altered_coroutine if inspect.iscoroutinefunction(plain) else altered


def _as_before(before: Any, altered: Any) -> Any:
    """Wrap a function as the property or class method it replaces."""
    if isinstance(before, property):
        return property(altered, before.fset, before.fdel)
    if isinstance(before, functools.cached_property):
        put: Any = functools.cached_property(altered)
        put.__set_name__(None, altered.__name__)
        return put
    if isinstance(before, classmethod | staticmethod):
        return type(before)(altered)
    return altered
