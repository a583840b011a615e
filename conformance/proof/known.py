"""All changes there are: every module of the packages that hold them."""

from dataclasses import fields
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from siconform.doctor import changes

import proof.faults
import proof.inside
import proof.liberties
from proof.fault import CHANGES, Change

_PACKAGES: Final = (proof.faults, proof.inside, proof.liberties)


def load() -> None:
    """Make every fault and every liberty known by its name, those of the kit's doctor too."""
    for name, change in changes.CHANGES.items():
        said = {field.name: getattr(change, field.name) for field in fields(change)}
        CHANGES.setdefault(name, Change(**said))
    for package in _PACKAGES:
        for module in iter_modules(package.__path__, f"{package.__name__}."):
            import_module(module.name)
