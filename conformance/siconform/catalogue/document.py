"""Generates the requirements page from the catalogue."""

from collections.abc import Iterable, Iterator, Mapping

from siwire import REVISIONS

from siconform.catalogue import Authority, Level, Requirement, Side
from siconform.catalogue.features import FEATURES, Offer
from siconform.catalogue.windows import in_words

_STATED = {
    Authority.SPEC: "source: the SI specification",
    Authority.PROTO: "source: a comment or type of the protocol",
    Authority.DESIGN: "source: the gang scheduling design",
    Authority.CORE: "source: the behaviour of yunikorn-core",
    Authority.OWN: "source: another project",
}
_INTRODUCTION = """\
What the kit tests a scheduler or an RM for, in the order of the SI. The sources of this page are
the files of `conformance/siconform/catalogue`; the id of a requirement never changes.

A **MUST** decides the verdict of a run, a **SHOULD** is reported and counted, a **MAY** is a
capability. *given*, *when* and *then* state the rule as an experiment in terms of the SI's messages
(`Allocation of k1` is a new allocation for the ask with key `k1`); a *barrier* is a
message with a certain answer, a *window* the quiet time after it. *interpretation* is how we read
a specification that is silent or contradicts itself; numbers such as C-05 refer to
[contradictions.md](../contradictions.md). *retired* gives the reason why a requirement ended. Each
requirement has an anchor, such as `requirements.html#si-node-004`.

From 2024-10 on asks and allocations are one message. The terms stay: an **ask** is an entry of
`AllocationRequest.allocations` without node, an **existing allocation** one with a node, the
**identity** of an allocation is its key, to **withdraw** an ask is to release its key before it is
allocated, and rejections of asks are `RejectedAllocation` messages like all others.
"""


def page(requirements: Iterable[Requirement], subject: Mapping[str, str]) -> str:
    """Return the page in Markdown; ``subject`` maps each area to its subject."""
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
    """Return the heading of a requirement."""
    return f"{entry.id} {entry.title}"


def anchor(heading: str) -> str:
    """Return the anchor that Markdown viewers derive from a heading."""
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
    return "\n".join(["Some requirements need a feature of the target:", "", *lines])


def _entry(entry: Requirement) -> str:
    heading = [_place(entry.id), "", f"### {title(entry)}"]
    return "\n".join([*heading, "", entry.text, "", *_facts(entry)])


def _place(name: str) -> str:
    """Return an anchor such as `requirements.html#si-node-004`, independent of the title."""
    return f'<a id="{name.lower()}"></a>'


def _facts(entry: Requirement) -> Iterator[str]:
    sides = " and ".join(str(side) for side in Side if side in entry.sides)
    yield f"- **{entry.level}** ({entry.level_reason}); {_STATED[entry.authority]}"
    yield f"- {in_words(entry.revisions)}; {sides}; observed by {', '.join(entry.observations)}"
    if entry.features:
        yield f"- needs {', '.join(sorted(entry.features))}"
    if entry.interpretation:
        yield f"- interpretation: {entry.interpretation}"
    yield f"- given: {entry.given}"
    yield f"- when: {entry.when}"
    yield f"- then: {entry.then}"
    if entry.control:
        yield f"- control: {entry.control}"
    if entry.upstream:
        yield f"- upstream: {entry.upstream}"
    if entry.not_tested:
        yield f"- not tested: {entry.not_tested}"
    if entry.not_tested_on_rms:
        yield f"- not tested on RMs: {entry.not_tested_on_rms}"
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
