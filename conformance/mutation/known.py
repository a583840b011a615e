"""Loads mutants and variants by importing the modules that define them."""

from collections.abc import Collection
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from siconform.doctor import changes

from mutation import inside, mutants, rm, variants
from mutation.mutant import CHANGES, Change


def load(names: Collection[str] = ()) -> None:
    """Register mutants and permitted variants, including those of ``siconform doctor``.

    With names, import only the modules that contain one of them, if all names are defined there:
    importing every module takes longer than a quick test.
    """
    for name, change in changes.CHANGES.items():
        values = {field.name: getattr(change, field.name) for field in fields(change)}
        CHANGES.setdefault(name, Change(**values))
    quoted = [f'"{name}"' for name in names]
    for package in (mutants, inside, variants, rm):
        (folder,) = package.__path__
        for module in iter_modules(package.__path__):
            if not quoted or any(map(_source(folder, module.name).__contains__, quoted)):
                import_module(f"{package.__name__}.{module.name}")
    if not CHANGES.keys() >= set(names):
        load()


def _source(folder: str, module: str) -> str:
    return Path(folder, module).with_suffix(".py").read_text("utf-8")
