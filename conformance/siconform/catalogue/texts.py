"""Finds places in an SI specification: comments, declarations, diagrams, sentences of a section.

A place is named by a short phrase, the `where` of a requirement's source:

- ``NodeInfo.nodeID``, ``TerminationType.TIMEOUT``, ``SchedulerAPI.UpdateNode``, ``Resource``:
  the comment above and next to it, or its declaration if it has none;
- ``type of Quantity.value``: the declaration, even if it has comments;
- ``constant HostName``: a line of the constants;
- ``diagram "State transition of node"``: the words of the drawing below that line;
- ``section "RM register with scheduler"``: the sentences of that section outside of code.

Specifications come with and without Markdown (two are web copies that lost it), so headings are
recognised by name. The gang scheduling design is in Chinese; its sections are named in English.
"""

import re
from dataclasses import dataclass, field, replace

SI_HEADINGS = (
    "Scheduler Interface Spec",
    "Objective",
    "Goals for minimum viable product (MVP)",
    "Non-Goals for minimum viable product (MVP)",
    "Design considerations",
    "Architecture",
    "Generic definitions",
    "Scheduler Interfaces",
    "RPC Interface",
    "Why bi-directional gRPC",
    "API Interface",
    "Communications between RM and Scheduler",
    "RM register with scheduler",
    "RM and scheduler updates.",
    "Ask for more resources",
    "Request for more resources",
    "Allocation of resources",
    "Release previously allocated resources",
    "Schedulable nodes registration and updates",
    "Utilization report",
    "Feedback from Scheduler",
    "Following are constant of spec",
    "Scheduler plugin",
    "Event Plugin",
    "Auto Scaling Metrics",
)
DESIGN_HEADINGS = {
    "排除的设计点": "Excluded design points",
    "通用流程": "Generic flow",
    "预留资源总大小": "Total placeholder size",
    "使用 FAIR\uff08公平\uff09排序策略处理队列": "Handling queue with a FAIR sort policy",
    "在设置了配额的队列中进行调度": "Scheduling in queues with a quota set",
    "调度器逻辑变化": "Scheduler logic changes",
    "定义": "Application completion definition",
    "清理": "Cleanup",
    "应用恢复": "Application recovery",
    "接口变化": "Interface changes",
}
"""The translated headings of the design; the others are in English there."""

DIAGRAMS = (
    "Lifecycle of RM-Scheduler communication",
    "Lifecycle of AllocationAsk",
    "Lifecycle of Allocations",
    "Lifecycle of Allocation",
    "State transition of node",
)

OPENED = re.compile(r"^(?:message|enum|service|oneof|extend|type)\s+([\w.]+)[^{]*\{")
_RPC = re.compile(r"^rpc\s+(\w+)")
_FIELD = re.compile(r"^[\w<>, .]*?\b(\w+)\s*=\s*\d+\s*;")
_METHOD = re.compile(r"^([A-Z]\w*)\(")
_RESERVED = re.compile(r"^(reserved\s+[^;]+);")
_CONSTANT = re.compile(r"^(\w+)\s*=\s*\"")
SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+|(?<=[\u3002\uff01\uff1f\uff1b])")
DRAWN = re.compile(r"[|+<>^]|-{2,}|^ {4}")
_BULLET = re.compile(r"^\s*(?:[*•-]|\d\.)\s")


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration: the comment above and next to it, and its code."""

    comment: str
    code: str


@dataclass(slots=True)
class Text:
    """Index of a specification."""

    declarations: dict[str, Declaration] = field(default_factory=dict)
    sections: dict[str, list[str]] = field(default_factory=dict)
    diagrams: dict[str, str] = field(default_factory=dict)

    def passages(self, where: str) -> tuple[str, ...]:
        """Return the normalised passages at a place: one for a declaration, several for a section.

        Raises LookupError if there is no such place.
        """
        kind, _, name = where.partition(" ")
        if kind == "section":
            found = tuple(self.sections.get(name.strip('"'), ()))
        elif kind == "diagram":
            found = tuple(filter(None, [self.diagrams.get(name.strip('"'))]))
        else:
            found = self._declared(where)
        if not found:
            raise LookupError(f"no such place: {where}")
        return tuple(normalised(passage) for passage in found)

    def _declared(self, where: str) -> tuple[str, ...]:
        name = where.removeprefix("type of ").removeprefix("constant ")
        declaration = self.declarations.get(name)
        if declaration is None:
            return ()
        if where.startswith("type of ") or not declaration.comment:
            return (declaration.code,)
        return (declaration.comment,)


def normalised(passage: str) -> str:
    """Normalise to lower-case words without marks of Markdown, comments and drawings."""
    words = (word.strip("_").lower() for word in re.findall(r"\w+", passage))
    return " ".join(word for word in words if word)


def read_text(content: str) -> Text:
    """Index a specification."""
    found = Text()
    lines = [line.rstrip() for line in content.splitlines()]
    _read_declarations(lines, found.declarations)
    prose = _Prose(found)
    for line in lines:
        prose.take(line)
    prose.end_paragraph()
    return found


def _read_declarations(lines: list[str], found: dict[str, Declaration]) -> None:
    """Walk the blocks; the code of a block is the code of its members."""
    path: list[str] = []
    above: list[str] = []
    for line in map(str.strip, lines):
        if line.startswith("//"):
            above.append(line.lstrip("/ "))
            continue
        code, _, trailing = line.partition("//")
        comment = " ".join([*above, trailing]).strip()
        opened = OPENED.match(code)
        if opened:
            path.append(opened[1])
            found[".".join(path)] = Declaration(comment, code)
        elif path and code.startswith("}"):
            path.pop()
        elif code:
            _read_member(code.strip(), comment, path, found)
        if line:
            above = []


def _read_member(code: str, comment: str, path: list[str], found: dict[str, Declaration]) -> None:
    constant = _CONSTANT.match(code)
    if constant:
        found.setdefault(constant[1], Declaration("", code))
    member = _RPC.match(code) or _FIELD.match(code) or _METHOD.match(code) or _RESERVED.match(code)
    if path and member:
        found[".".join([*path, member[1]])] = Declaration(comment, code)
    for depth in range(1, len(path) + 1):
        block = ".".join(path[:depth])
        found[block] = replace(found[block], code=f"{found[block].code} {code}")


@dataclass(slots=True)
class _Prose:
    """Sorts lines outside of code into sections, and drawings under the line above."""

    found: Text
    section: str = ""
    title: str = ""
    paragraph: list[str] = field(default_factory=list)
    depth: int = 0
    synchronised: bool = False

    def take(self, line: str) -> None:
        heading = "" if self.synchronised or self.depth else _heading(line)
        caption = line.strip().rstrip(":")
        if line.startswith("```"):
            self.synchronised = not self.synchronised
        elif heading:
            self.end_paragraph()
            self.section, self.title = heading, ""
            self.found.sections.setdefault(heading, [])
        elif caption in DIAGRAMS:
            self.title = caption
        elif self.depth or line.lstrip().startswith("//") or OPENED.match(line.strip()):
            self.depth += line.count("{") - line.count("}")
            self.title = ""
        elif self.title and DRAWN.search(line):
            drawn = self.found.diagrams.get(self.title, "")
            self.found.diagrams[self.title] = f"{drawn} {line}"
        elif not self.synchronised:
            if not line.strip() or _BULLET.match(line):
                self.end_paragraph()
            self.paragraph.append(line.strip())

    def end_paragraph(self) -> None:
        for sentence in SENTENCE_END.split(" ".join(self.paragraph)):
            if normalised(sentence):
                self.found.sections.setdefault(self.section, []).append(sentence)
        self.paragraph.clear()


def _heading(line: str) -> str:
    bare = line.lstrip("#").strip()
    if not line.startswith("#"):
        return bare if bare in SI_HEADINGS else ""
    return DESIGN_HEADINGS.get(bare, bare)
