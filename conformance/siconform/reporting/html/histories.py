"""The histories of a run as its page shows them: who said what, when, on which stream."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

MOST_LINES: Final = 150
"""Of one history; what is longer is cut in its middle, and a test is rarely half as long."""

MOST_LETTERS: Final = 1_500_000
"""Of all histories in a page, which has to open from a mail."""

_LONGEST: Final = 400  # letters of a line
_OUR_NAMES: Final = (
    (re.compile(r"\b(?:gw\d+|master)-\d+-(?=\w)"), ""),  # what keeps tests on one target apart
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
_SERVICE: Final = "service"  # the conversation of what belongs to no stream


class Line(msgspec.Struct, frozen=True):
    """One record of a history; what is no element of an exchange has nobody who says it."""

    at: float = 0.0
    rm: str = ""
    sent_by: str = msgspec.field(default="", name="from")
    stream: str | None = None
    message: str = msgspec.field(default="", name="says")
    barrier: bool = msgspec.field(default=False, name="fence")
    element: dict[str, Any] | None = None

    @property
    def of_the_rm(self) -> bool:
        """Whether the RM says it."""
        return self.sent_by == "rm"

    @property
    def kind(self) -> str:
        """The name of the kind of element, or ""."""
        return str((self.element or {}).get("is", ""))


@dataclass(frozen=True, slots=True)
class Message:
    """One arrow of a diagram."""

    at: float  # seconds since the first
    rm: str
    of_the_rm: bool
    stream: str
    message: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """A history as it is drawn; ``left_out`` lines of its middle are not."""

    name: str
    messages: tuple[Message, ...]
    left_out: int = 0

    @property
    def letters(self) -> int:
        """What it adds to the page, about."""
        return sum(len(message.message) + 20 for message in self.messages)


def read(path: Path) -> list[Line]:
    """The lines of the exchange, fences included; empty where there is no such file."""
    try:
        data = path.read_bytes()
    except OSError:
        return []
    lines = []
    for text in data.splitlines():
        try:
            line = msgspec.json.decode(text, type=Line)
        except msgspec.MsgspecError:
            continue  # cut off with the machine
        if line.sent_by:
            lines.append(line)
    return lines


def drawn(name: str, lines: Iterable[Line]) -> Drawn:
    """Without fences, which are the kit's own, and with names as the test gave them."""
    received = [line for line in lines if not line.barrier]
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
        )
        for line in received
    ]
    half = MOST_LINES // 2
    if len(messages) > MOST_LINES:
        return Drawn(name, (*messages[:half], *messages[-half:]), len(messages) - 2 * half)
    return Drawn(name, tuple(messages))


def plain(text: str) -> str:
    """Without what our own names have in front, and without what every allocation says."""
    for pattern, instead in _OUR_NAMES:
        text = pattern.sub(instead, text)
    return text


def embedded(histories: Iterable[Drawn]) -> Mapping[str, Any]:
    """As the page's script reads it: each text once, by its place; the first ones before all."""
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
            [m.at, m.rm, int(m.of_the_rm), m.stream, place[m.message]] for m in one.messages
        ]
        yield one.name, {"left_out": one.left_out, "messages": received}
