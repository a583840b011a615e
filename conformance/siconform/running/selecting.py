"""Which tests run: gated by revision and by what the target can take, selectable by id."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import pytest

from siconform.catalogue import known_requirements
from siconform.monitors import MONITORS
from siconform.running.index import tests_by_requirement
from siconform.running.option_list import EXPLORING
from siconform.running.options import Settings
from siconform.running.worker_order import spread
from siconform.targets.traits import RACES
from siconform.verdicts import Verdict

REQUIREMENTS = pytest.StashKey[tuple[str, ...]]()
"""The ids a test speaks for."""

MUTANT = pytest.StashKey[str]()
"""What is wrong with a test itself; it is not run."""

LEFT_OUT_DISRUPTIVE = (
    "may leave the scheduler unusable and the kit cannot start this one again; give --disruptive"
)
EXPLORED_AT_MOST = 5.0
"""So many times what was to be explored: the last history comes to its end, and is made smaller."""

LEFT_OUT_EXPLORING = "makes arbitrary histories, and --explore is 0"


@dataclass(slots=True)
class Selection:
    """Every test that was collected, its requirements, and why those left out are."""

    tests: dict[str, list[str]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


class Selector:
    """Decides at collection; one in every process that collects."""

    def __init__(self, settings: Settings | None) -> None:
        self.selection = Selection()
        self._settings = settings
        self._watched = False  # whether only monitors judge what is chosen, in every test

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Mark each test with its requirements and leave out what cannot be judged here."""
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
        """Whatever is missing now was deselected by the user's options."""
        here = {item.nodeid for item in session.items}
        for test in self.selection.tests:
            if test not in here:
                self.selection.left_out.setdefault(test, Verdict.NOT_SELECTED.label)

    def _reason_to_leave_out(self, item: pytest.Item, ids: Iterable[str]) -> str:
        settings = self._settings
        if settings is None:
            return ""
        known = known_requirements()
        if settings.chosen is not None and settings.chosen.isdisjoint(ids) and not self._watched:
            return Verdict.NOT_SELECTED.label
        if not any(settings.revision.name in known[i].revisions for i in ids):
            return f"nothing of it belongs to SI {settings.revision}"
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


def requirements_of(item: pytest.Item) -> tuple[str, ...]:
    """The ids its marks name, nearest first, each once."""
    marks = item.iter_markers("requirement")
    return tuple(dict.fromkeys(identifier for mark in marks for identifier in mark.args))


def _by_monitors_alone(settings: Settings | None, items: Iterable[pytest.Item]) -> bool:
    """Whether no test decides what is chosen: then it is looked for in all of them."""
    if settings is None or settings.chosen is None:
        return False
    by_tests = {identifier for item in items for identifier in requirements_of(item)}
    by_tests.update(tests_by_requirement())  # also where these are left out
    by_monitors = {identifier for monitor in MONITORS for identifier in monitor.requirements}
    return settings.chosen.isdisjoint(by_tests) and bool(settings.chosen & by_monitors)


def _race(item: pytest.Item, settings: Settings) -> str:
    """Why the outcome would be chance on this target."""
    traits = settings.named.traits if settings.named is not None else frozenset()
    marked = [trait for mark in item.iter_markers("race_where") for trait in mark.args]
    return next((RACES[trait] for trait in marked if trait in traits), "")


def _waits(item: pytest.Item) -> bool:
    return item.get_closest_marker("waits") is not None


def _problem(ids: tuple[str, ...]) -> str:
    if not ids:
        return "it names no requirement"
    unknown = [identifier for identifier in ids if identifier not in known_requirements()]
    return f"it names {', '.join(unknown)}, which is no requirement" if unknown else ""
