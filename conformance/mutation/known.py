"""All changes there are: every module of a package of changes is imported."""

from dataclasses import fields
from importlib import import_module
from pkgutil import iter_modules

from siconform.doctor import changes

from mutation import inside, mutants, variants
from mutation.mutant import CHANGES, Change


def load() -> None:
    """Make every fault and every liberty known by its name, those of the kit's doctor too."""
    for name, change in changes.CHANGES.items():
        values = {field.name: getattr(change, field.name) for field in fields(change)}
        CHANGES.setdefault(name, Change(**values))
    for package in (mutants, inside, variants):
        for module in iter_modules(package.__path__):
            import_module(f"{package.__name__}.{module.name}")
