"""Loads all mutants and variants by importing every module that defines them."""

from dataclasses import fields
from importlib import import_module
from pkgutil import iter_modules

from siconform.doctor import changes

from mutation import inside, mutants, rm, variants
from mutation.mutant import CHANGES, Change


def load() -> None:
    """Register every mutant and permitted variant, including those of ``siconform doctor``."""
    for name, change in changes.CHANGES.items():
        values = {field.name: getattr(change, field.name) for field in fields(change)}
        CHANGES.setdefault(name, Change(**values))
    for package in (mutants, inside, variants, rm):
        for module in iter_modules(package.__path__):
            import_module(f"{package.__name__}.{module.name}")
