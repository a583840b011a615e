"""Durations of tests by target, kept for the next run."""

import warnings
from collections.abc import Mapping
from typing import Final

import pytest

_KEY: Final = "siconform/durations"
_TARGETS: Final = 20  # the latest are kept


def earlier(config: pytest.Config, target: str) -> dict[str, float]:
    """Return seconds by test from earlier runs of this target in the same results folder."""
    kept = _kept(config).get(target, {})
    return {test: float(s) for test, s in kept.items() if isinstance(s, (int, float))}


def keep(config: pytest.Config, target: str, seconds: Mapping[str, float]) -> None:
    """Store these for the next run; keep those of tests that did not run."""
    if getattr(config, "cache", None) is None or not seconds:
        return
    kept = _kept(config)
    received = {**kept.pop(target, {}), **{test: round(s, 3) for test, s in seconds.items()}}
    latest = dict([*kept.items(), (target, received)][-_TARGETS:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ignored if the disk is full
        config.cache.set(_KEY, latest)


def _kept(config: pytest.Config) -> dict[str, dict[str, float]]:
    cache = getattr(config, "cache", None)
    kept = cache.get(_KEY, {}) if cache is not None else {}
    is_ours = isinstance(kept, dict) and all(isinstance(one, dict) for one in kept.values())
    return kept if is_ours else {}
