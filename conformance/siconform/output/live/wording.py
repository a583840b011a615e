"""Text of the progress and the current waits."""

from collections.abc import Iterable, Iterator
from typing import Final

from siconform.output.live.board import Wait
from siconform.output.live.progress import View

_MIN_SHOWN_WAIT: Final = 0.3  # seconds before a wait is shown
_WAITS: Final = 3  # lines
_MINUTES: Final = 100  # seconds above which times are in minutes


def waiting(waits: Iterable[Wait], now: float) -> Iterator[str]:
    """Yield the waits grouped by name, the longest first."""
    groups: dict[str, list[Wait]] = {}
    for wait in sorted(waits, key=lambda wait: wait.since):
        if now - wait.since >= _MIN_SHOWN_WAIT:
            groups.setdefault(wait.name, []).append(wait)
    for name, alike in list(groups.items())[:_WAITS]:
        longest = alike[0]
        tests = "1 test" if len(alike) == 1 else f"{len(alike)} tests"
        took = f"{now - longest.since:.1f} s of {longest.limit:.1f} s"
        yield f" waiting: {tests} on {name} ({took})"
    if len(groups) > _WAITS:
        yield f" and {len(groups) - _WAITS} other waits"


def so_far(view: View, note: str = "") -> str:
    """Return the progress in one line."""
    return "   ".join(_parts(view, note))


def status(view: View, note: str, columns: int) -> list[str]:
    """Return the progress wrapped to this many columns."""
    lines: list[str] = []
    for part in _parts(view, note):
        if lines and len(f"{lines[-1]}   {part}") <= columns:
            lines[-1] += f"   {part}"
        else:
            lines.append(f" {part.strip()}")
    return lines


def _parts(view: View, note: str) -> list[str]:
    counted = f" {view.done} of {view.tests} tests, {view.failed} failed"
    evaluated = sum(area.evaluated for area in view.areas)
    evaluating = f"{evaluated} of {sum(area.total for area in view.areas)} requirements decided"
    seconds = f"{view.seconds:.0f} s"
    last = note or _left(view)
    return [
        *([counted, evaluating] if view.tests else [" starting"]),
        seconds,
        *([last] * bool(last)),
    ]


def _left(view: View) -> str:
    if not view.tests or view.done == view.tests:
        return ""
    if view.left is None:
        unknown = "most tests are new" if view.has_earlier else "no earlier run of this target"
        return f"time left not known: {unknown}"
    return f"about {_rounded(view.left)} left"


def _rounded(seconds: float) -> str:
    if seconds > _MINUTES:
        return f"{seconds / 60:.0f} min"
    return f"{max(1, round(seconds))} s"
