"""Test selection: by revision, by the target's capabilities, and by requirement."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest

from siconform.catalogue import known_requirements
from siconform.config.option_list import EXPLORING
from siconform.config.options import Settings
from siconform.monitors import MONITORS_OF
from siconform.running.index import suite_folder, tests_by_requirement
from siconform.running.worker_order import spread
from siconform.targets.traits import RACES
from siconform.verdicts import Verdict

REQUIREMENTS = pytest.StashKey[tuple[str, ...]]()
"""The requirement ids of a test."""

MUTANT = pytest.StashKey[str]()
"""The error of an invalid test, which is not run."""

LEFT_OUT_DISRUPTIVE = (
    "may leave the scheduler unusable, and the kit cannot restart this one; give --disruptive"
)
EXPLORED_AT_MOST = 5.0
"""Timeout factor for --explore: the last history has to finish and be minimised."""

LEFT_OUT_EXPLORING = "randomised testing disabled: --explore is 0"


@dataclass(slots=True)
class Selection:
    """The collected tests with their requirements, and the reasons for those left out."""

    tests: dict[str, list[str]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """Return JSON values."""
        return asdict(self)


class Selector:
    """Selects tests at collection; one per collecting process."""

    def __init__(self, settings: Settings | None) -> None:
        self.selection = Selection()
        self._settings = settings
        self._watched = False  # whether only monitors cover the selection, in every test
        self._failed = frozenset() if settings is None else settings.failed_tests

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Mark each test with its requirements and deselect tests that cannot run here."""
        kept, dropped = [], []
        self._watched = _by_monitors_alone(self._settings, items)
        for item in items:
            ids = requirements_of(item)
            item.stash[REQUIREMENTS] = ids
            item.extra_keyword_matches.update(ids)
            item.user_properties.extend(("requirement", identifier) for identifier in ids)
            self.selection.tests[item.nodeid] = list(ids)
            problem = _problem(ids)
            if problem:
                item.stash[MUTANT] = problem
            reason = "" if problem else self._reason_to_leave_out(item, ids)
            if reason:
                self.selection.left_out[item.nodeid] = reason
                dropped.append(item)
            else:
                kept.append(item)
        if dropped:
            config.hook.pytest_deselected(items=dropped)
        workers = getattr(config, "workerinput", {}).get("workercount", 1)
        items[:] = spread(kept, _waits, workers)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Record the tests that pytest options deselected."""
        here = {item.nodeid for item in session.items}
        for test in self.selection.tests:
            if test not in here:
                self.selection.left_out.setdefault(test, Verdict.NOT_SELECTED.label)

    def _reason_to_leave_out(self, item: pytest.Item, ids: Iterable[str]) -> str:
        settings = self._settings
        if settings is None:
            return ""
        known = known_requirements()
        is_chosen = settings.chosen is None or not settings.chosen.isdisjoint(ids)
        if not (is_chosen or self._watched or item.nodeid in self._failed):
            return Verdict.NOT_SELECTED.label
        if not any(settings.revision.name in known[i].revisions for i in ids):
            return f"none of its requirements belongs to SI {settings.revision}"
        if (
            item.get_closest_marker("disruptive")
            and not settings.restartable
            and not settings.disruptive
        ):
            return LEFT_OUT_DISRUPTIVE
        if item.get_closest_marker("explores"):
            if not settings.explore:
                return LEFT_OUT_EXPLORING
            limit = EXPLORED_AT_MOST * (settings.explore + EXPLORING) * settings.time_scale
            item.add_marker(pytest.mark.timeout(limit))
        return _race(item, settings)


class ChosenFiles:
    """Leaves out files of the suite without a test of a selected requirement: quicker to collect.

    If only monitors cover the selection, or failed tests are run again, every file is collected.
    """

    def __init__(self, settings: Settings) -> None:
        self._folder = suite_folder(settings.side)
        self._needed: frozenset[Path] | None = None  # None: all
        if settings.chosen is not None and not settings.failed_tests:
            by_requirement = tests_by_requirement(settings.side)
            tests = [test for one in settings.chosen for test in by_requirement.get(one, ())]
            files = frozenset(self._folder.parent / test.partition("::")[0] for test in tests)
            self._needed = files or None

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Return True for a test file that is not needed."""
        if self._needed is None or not collection_path.name.startswith("test_"):
            return None
        is_ours = collection_path.is_relative_to(self._folder)
        return (is_ours and collection_path not in self._needed) or None


def requirements_of(item: pytest.Item) -> tuple[str, ...]:
    """Return the ids in the marks of a test, nearest first, without duplicates."""
    marks = item.iter_markers("requirement")
    return tuple(dict.fromkeys(str(identifier) for mark in marks for identifier in mark.args))


def _by_monitors_alone(settings: Settings | None, items: Iterable[pytest.Item]) -> bool:
    """Return whether only monitors cover the selection, so that all tests have to run."""
    if settings is None or settings.chosen is None:
        return False
    if any(item.nodeid in settings.failed_tests for item in items):
        return False
    by_tests = {identifier for item in items for identifier in requirements_of(item)}
    by_tests.update(tests_by_requirement(settings.side))  # even if they are left out
    by_monitors = {i for monitor in MONITORS_OF[settings.side] for i in monitor.requirements}
    return settings.chosen.isdisjoint(by_tests) and bool(settings.chosen & by_monitors)


def _race(item: pytest.Item, settings: Settings) -> str:
    """Return why the outcome would be random on this target, or ""."""
    traits = settings.named.traits if settings.named is not None else frozenset()
    marked = [trait for mark in item.iter_markers("race_where") for trait in mark.args]
    return next((RACES[trait] for trait in marked if trait in traits), "")


def _waits(item: pytest.Item) -> bool:
    return item.get_closest_marker("waits") is not None


def _problem(ids: tuple[str, ...]) -> str:
    if not ids:
        return "the test names no requirement"
    unknown = [identifier for identifier in ids if identifier not in known_requirements()]
    return f"the test names unknown requirements: {', '.join(unknown)}" if unknown else ""
