"""The histories of a run for its page: sender, time and stream of each message."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from siconform.recording.exchange_text import named

MOST_LINES: Final = 150
"""Lines of one history; longer ones are cut in the middle. A test is rarely half as long."""

MOST_LETTERS: Final = 1_500_000
"""Size of all histories in a page, which must open from a mail."""

_LONGEST: Final = 400  # letters of a line
_OUR_NAMES: Final = (
    (re.compile(r"\b(?:gw\d+|master)-\d+-(?=\w)"), ""),  # prefix that separates tests on one target
    (re.compile(r"\bsiconform-(?:gw\d+|master)-[\d-]*\d"), "the RM"),
    (re.compile(r", partition default\b"), ""),
    (
        re.compile(
            r", preemption policy (?:may be preempted and may not preempt others|PreemptionPolicy\("
            r"allow_preempt_self=True, allow_preempt_other=False\))"
        ),
        "",
    ),
)
_SERVICE: Final = "service"  # lifeline of messages without a stream


class Line(msgspec.Struct, frozen=True):
    """One record of a history; a record that is not a message has no sender."""

    at: float = 0.0
    rm: str = ""
    sent_by: str = msgspec.field(default="", name="from")
    stream: str | None = None
    message: str = msgspec.field(default="", name="says")
    brief: str = ""
    barrier: bool = msgspec.field(default=False, name="fence")
    element: dict[str, Any] | None = None

    @property
    def of_the_rm(self) -> bool:
        """Whether the RM sends it."""
        return self.sent_by == "rm"

    @property
    def kind(self) -> str:
        """Return the name of the element's kind, or ""."""
        return str((self.element or {}).get("is", ""))


@dataclass(frozen=True, slots=True)
class Message:
    """One arrow of a diagram."""

    at: float  # seconds since the first
    rm: str
    of_the_rm: bool
    stream: str
    message: str
    brief: str = ""
    is_wrong: bool = False  # the failure of the test is about it


@dataclass(frozen=True, slots=True)
class Drawn:
    """A history as drawn, without ``left_out`` lines of its middle."""

    name: str
    messages: tuple[Message, ...]
    left_out: int = 0

    @property
    def letters(self) -> int:
        """Return the approximate number of characters it adds to the page."""
        return sum(len(message.message) + 20 for message in self.messages)

    @property
    def wrong(self) -> Message | None:
        """Return the message that the failure is about, if there is one."""
        return next((message for message in self.messages if message.is_wrong), None)


def read(path: Path) -> list[Line]:
    """Read the lines of the exchange, barriers included; empty if there is no such file."""
    try:
        data = path.read_bytes()
    except OSError:
        return []
    lines = []
    for text in data.splitlines():
        try:
            line = msgspec.json.decode(text, type=Line)
        except msgspec.MsgspecError:
            continue  # cut off in a crash
        if line.sent_by:
            lines.append(line)
    return lines


def drawn(name: str, lines: Iterable[Line], happened: str = "") -> Drawn:
    """Draw it without barriers, which are the kit's own, and with names as the test gave them.

    The message that ``happened`` quotes is marked as wrong.
    """
    received = [line for line in lines if not line.barrier]
    wrong = _quoted(received, plain(happened)) if happened else None
    since = received[0].at if received else 0.0
    rms = {
        rm: place for place, rm in enumerate(dict.fromkeys(line.rm for line in received), start=1)
    }
    messages = [
        Message(
            round(line.at - since, 4),
            "RM" if len(rms) == 1 else f"RM {rms[line.rm]}",
            line.of_the_rm,
            line.stream or _SERVICE,
            plain(line.message)[:_LONGEST],
            plain(named(line.brief)),
            line is wrong,
        )
        for line in received
    ]
    half = MOST_LINES // 2
    if len(messages) > MOST_LINES:
        return Drawn(name, (*messages[:half], *messages[-half:]), len(messages) - 2 * half)
    return Drawn(name, tuple(messages))


def _quoted(lines: Iterable[Line], happened: str) -> Line | None:
    """Return the scheduler's message that this quotes: the longest, and the last of equal ones."""
    found: Line | None = None
    for line in lines:
        if not line.of_the_rm and plain(named(line.message)) in happened:
            found = max(line, found or line, key=lambda one: len(one.message))
    return found


def plain(text: str) -> str:
    """Remove the prefixes of the kit and the attributes that every allocation has."""
    for pattern, instead in _OUR_NAMES:
        text = pattern.sub(instead, text)
    return text


def embedded(histories: Iterable[Drawn]) -> Mapping[str, Any]:
    """Encode for the page's script: each text once, by its index; first come, first served."""
    texts: dict[str, int] = {}
    return {
        "histories": dict(_as_lists(histories, texts)),
        "texts": list(texts),
    }


def _as_lists(histories: Iterable[Drawn], texts: dict[str, int]) -> Iterator[tuple[str, Any]]:
    for one in histories:
        place = {
            message.message: texts.setdefault(message.message, len(texts))
            for message in one.messages
        }
        received = [
            [m.at, m.rm, int(m.of_the_rm), m.stream, place[m.message], *[1] * m.is_wrong]
            for m in one.messages
        ]
        yield one.name, {"left_out": one.left_out, "messages": received}
