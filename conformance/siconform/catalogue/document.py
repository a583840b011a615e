"""The page of all requirements, made from the catalogue."""

from collections.abc import Iterable, Iterator, Mapping

from siwire import REVISIONS

from siconform.catalogue import (
    Authority,
    Level,
    Requirement,
    Side,
)
from siconform.catalogue.features import FEATURES, Offer
from siconform.catalogue.windows import in_words

_STATED = {
    Authority.SPEC: "the SI text says so",
    Authority.PROTO: "a comment or type of the protocol says so",
    Authority.DESIGN: "the gang scheduling design says so",
    Authority.CORE: "yunikorn-core does so",
    Authority.OWN: "another project says so",
}
_INTRODUCTION = """\
What the kit holds a scheduler or an RM against, in the order of the SI text. The pages behind it
are the files of `conformance/siconform/catalogue`; a requirement keeps its id for ever.

**MUST** decides the verdict of a run, **SHOULD** is shown and counted, **MAY** is a capability.
*given*, *when* and *then* are the rule as an experiment: they use the names of the SI's messages
(`Allocation of k1` is a new allocation for the ask with key `k1`), *fence* is a message with a
certain answer, *window* the quiet time after it. *read as* says how we read a text that is silent
or contradicts itself; the numbers such as C-05 are those of
[contradictions.md](../contradictions.md). A requirement that ended says why in *retired*. Each has
a place of its own to link to, such as `requirements.html#si-node-004`.

From 2024-10 on asks and allocations are one message. The words stay and mean: an **ask** is an
entry of `AllocationRequest.allocations` without node, an **existing allocation** one with a node,
the **identity** of an allocation is its key, to **withdraw** an ask is to release its key before it
is allocated, and rejections of asks are `RejectedAllocation` messages like all others.
"""


def page(requirements: Iterable[Requirement], subject: Mapping[str, str]) -> str:
    """The whole page in Markdown; ``subject`` says what each area is about."""
    by_area: dict[str, list[Requirement]] = {}
    for requirement in requirements:
        by_area.setdefault(requirement.area, []).append(requirement)
    blocks = [
        "# Requirements",
        _INTRODUCTION.rstrip(),
        _counts(by_area, subject),
        _features(),
    ]
    for area, entries in by_area.items():
        blocks += [_place(f"SI-{area}"), f"## {_heading(area, subject[area])}"]
        blocks += [_entry(entry) for entry in entries]
    return "\n\n".join(blocks) + "\n"


def title(entry: Requirement) -> str:
    """The heading of a requirement."""
    return f"{entry.id} {entry.title}"


def anchor(heading: str) -> str:
    """What a Markdown viewer makes of a heading to link to it."""
    kept = "".join(s for s in heading.lower() if s.isalnum() or s in " -_")
    return kept.replace(" ", "-")


def _counts(by_area: Mapping[str, list[Requirement]], subject: Mapping[str, str]) -> str:
    heads = ["Area", "About", "All", *Level, *REVISIONS, "Scheduler", "RM"]
    everything = [entry for entries in by_area.values() for entry in entries]
    rows = [
        [_link(area, subject[area]), subject[area], *_numbers(entries)]
        for area, entries in by_area.items()
    ]
    rows.append(["all", "", *_numbers(everything)])
    return "\n".join(f"| {' | '.join(row)} |" for row in [heads, ["---"] * len(heads), *rows])


def _numbers(entries: list[Requirement]) -> list[str]:
    numbers = [len(entries)]
    numbers += [sum(entry.level is level for entry in entries) for level in Level]
    numbers += [sum(name in entry.revisions for entry in entries) for name in REVISIONS]
    numbers += [sum(side in entry.sides for entry in entries) for side in Side]
    return [str(number) for number in numbers]


def _features() -> str:
    lines = [f"- `{name}`: {_offer(offer)}" for name, offer in FEATURES.items()]
    return "\n".join(["Some presuppose a feature of the target:", "", *lines])


def _entry(entry: Requirement) -> str:
    heading = [_place(entry.id), "", f"### {title(entry)}"]
    return "\n".join([*heading, "", entry.text, "", *_facts(entry)])


def _place(name: str) -> str:
    """Where a link to `requirements.html#si-node-004` leads: it outlives a change of the title."""
    return f'<a id="{name.lower()}"></a>'


def _facts(entry: Requirement) -> Iterator[str]:
    sides = " and ".join(str(side) for side in Side if side in entry.sides)
    yield f"- **{entry.level}** ({entry.level_reason}); {_STATED[entry.authority]}"
    yield f"- {in_words(entry.revisions)}; {sides}; seen by {', '.join(entry.observations)}"
    if entry.features:
        yield f"- needs {', '.join(sorted(entry.features))}"
    if entry.interpretation:
        yield f"- read as: {entry.interpretation}"
    yield f"- given: {entry.given}"
    yield f"- when: {entry.when}"
    yield f"- then: {entry.then}"
    if entry.control:
        yield f"- control: {entry.control}"
    if entry.upstream:
        yield f"- upstream: {entry.upstream}"
    if entry.not_tested:
        yield f"- not tested: {entry.not_tested}"
    if entry.retired:
        yield f"- retired: {entry.retired}"
    if entry.challenged:
        yield f"- **{entry.challenged}** ({entry.challenged.reason})"


def _heading(area: str, subject: str) -> str:
    return f"SI-{area}: {subject}"


def _link(area: str, subject: str) -> str:
    return f"[SI-{area}](#{anchor(_heading(area, subject))})"


def _offer(offer: Offer) -> str:
    demanded = f" (demanded: {offer.demanded_by})" if offer.demanded_by else ""
    return offer.offers + demanded
