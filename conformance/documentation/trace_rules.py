"""The page of the rules that are checked in every trace, each with a trace that violates it."""

import inspect
from collections.abc import Iterator, Sequence
from typing import Any, Final

from google.protobuf.message import Message
from selftest.monitor_cases import BY_KEY_CASES, CASES
from selftest.monitor_cases.case import Case
from selftest.rm_monitor_cases import CASES as RM_CASES
from selftest.rm_monitor_cases.case import RmCase
from siconform.catalogue import Side, catalogue
from siconform.monitors.monitor import Monitor
from siconform.monitors.registry import MONITORS_OF
from siconform.protocol.requests import Registration

_HEAD: Final = """# Rules checked in every trace

`siconform check-trace` and every run check these rules in all that passes. Each rule is evidence
for the requirement before it. The last columns show the end of a trace that violates the rule, and
the words of the violation; where a rule is tried with several, this is the first. A rule without
one is about bytes, or about several RMs, and has tests of its own.
"""
_SIDES: Final = {Side.SCHEDULER: "Schedulers", Side.RM: "RMs"}
_SHOWN: Final = 6  # elements


def page() -> str:
    """Return the page in Markdown."""
    cases: tuple[Case | RmCase, ...] = (*BY_KEY_CASES, *CASES, *RM_CASES)
    violated = {case.monitor: case.broken[0] for case in cases if case.broken}
    lines = [_HEAD]
    for side, monitors in MONITORS_OF.items():
        lines += [f"## {_SIDES[side]}", ""]
        lines += ["| requirement | rule | violated by | violation |", "|---|---|---|---|"]
        for identifier, monitor in _by_requirement(monitors):
            words, parts = violated.get(monitor.name, ("", ()))
            rule = (inspect.getdoc(monitor.begins) or "").partition("\n\n")[0]
            link = f"[{identifier}](requirements.md#{identifier.lower()})"
            cells = (link, " ".join(rule.split()), _trace(parts), words)
            lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
        lines.append("")
    return "\n".join(lines)


def _by_requirement(monitors: Sequence[Monitor]) -> list[tuple[str, Monitor]]:
    order = list(catalogue())
    found = [(identifier, one) for one in monitors for identifier in one.requirements]
    return sorted(found, key=lambda pair: order.index(pair[0]))


def _trace(parts: Sequence[Any]) -> str:
    elements = [text for part in parts for text in _elements(part)]
    shown = elements[-_SHOWN:]
    return "; ".join(["…"] * (len(shown) < len(elements)) + shown)


def _elements(part: Any) -> Iterator[str]:
    if isinstance(part, Registration):
        yield "an RM registers"
    elif isinstance(part, Message):
        yield part.DESCRIPTOR.name
    elif hasattr(part, "elements"):
        for element in part.elements:
            yield from _elements(element)
    elif hasattr(part, "seconds"):
        yield f"{part.seconds:g} s pass"
    else:
        yield str(getattr(part, "fact", part))
