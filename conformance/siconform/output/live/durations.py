"""Durations of tests by target, kept for the next run."""

import warnings
from collections.abc import Mapping
from typing import Final

import pytest

from siconform.output.events import Event, RunFinished, RunStarted
from siconform.output.live.progress import RunProgress

_KEY: Final = "siconform/durations"
_TARGETS: Final = 20  # the latest are kept


class Durations:
    """Estimates the progress from earlier runs, and keeps the durations of this run."""

    def __init__(self, config: pytest.Config, target: str, progress: RunProgress) -> None:
        self._config, self._target, self._progress = config, target, progress

    def on_event(self, event: Event) -> None:
        """Read earlier durations at the start, and store those of this run at its end."""
        if isinstance(event, RunStarted):
            kept = self._kept().get(self._target, {})
            self._progress.earlier = {
                test: float(s) for test, s in kept.items() if isinstance(s, (int, float))
            }
        elif isinstance(event, RunFinished):
            self._keep(self._progress.over())

    def _keep(self, seconds: Mapping[str, float]) -> None:
        """Store these for the next run; keep those of tests that did not run."""
        cache = getattr(self._config, "cache", None)
        if cache is None or not seconds:
            return
        kept = self._kept()
        received = {**kept.pop(self._target, {}), **{t: round(s, 3) for t, s in seconds.items()}}
        latest = dict([*kept.items(), (self._target, received)][-_TARGETS:])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ignored if the disk is full
            cache.set(_KEY, latest)

    def _kept(self) -> dict[str, dict[str, float]]:
        cache = getattr(self._config, "cache", None)
        kept = cache.get(_KEY, {}) if cache is not None else {}
        is_ours = isinstance(kept, dict) and all(isinstance(one, dict) for one in kept.values())
        return kept if is_ours else {}
