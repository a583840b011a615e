"""SI-CONST: names that an RM sends are those of the revision."""

import re
from collections.abc import Iterator

from siwire.constants import (
    CPU,
    CREATION_TIME,
    FOREIGN,
    GROUP_ANNOTATION,
    GROUP_LABEL,
    GROUP_META,
    KNOWN_IN,
    MEMORY,
    NODE_READY_ATTRIBUTE,
)

from siconform.expecting.checks import precondition
from siconform.marks import requirement
from siconform.outcomes import ConformanceFailure, NotOffered
from siconform.protocol.requests import (
    ApplicationRequest,
    AskRequest,
    NodeRequest,
)
from siconform.scheduler.driven_rm import DrivenRM, Group
from siconform.scheduler.patterns import Sent
from siconform.scheduler.simulated_scheduler import SimulatedScheduler

PREFIX = "si/"  # of attributes
EVERY = frozenset().union(*KNOWN_IN.values())
NODE_ATTRIBUTES = {NODE_READY_ATTRIBUTE, *(one for one in EVERY if one.startswith(PREFIX))}
APPLICATION_TAGS = {one for one in EVERY if one.startswith(("namespace.", "application."))}
TAGS = {CREATION_TIME, FOREIGN}
TAG_GROUPS = {GROUP_META, GROUP_LABEL, GROUP_ANNOTATION}
TAG_DOMAINS = {one for one in EVERY if one.endswith("/")} - TAG_GROUPS


@requirement("SI-CONST-001")
def test_well_known_names_have_exactly_the_strings_of_the_revision(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    known = scheduler.well_known_names
    rm.adds_node(partition="default")
    app = rm.submits(Group(labels={"colour": "blue"}))
    scheduler.allocation_of(app)

    used = {name: known & constants for name, constants in names_sent(scheduler)}

    well_known = {name for name, constants in used.items() if name in constants}
    for name, constants in sorted(used.items()):
        meant = [one for one in constants if looks_like(name, one)]
        if meant and name not in constants:
            raise ConformanceFailure(f"the RM sends {name!r}", expected=repr(meant[0]))
    if not well_known:
        raise NotOffered("the RM sends none of the well-known names")
    scheduler.records(f"well-known names: {', '.join(sorted(well_known))}")


@requirement("SI-CONST-002")
def test_tag_keys_are_domain_optional_group_and_name(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    without_domain = scheduler.well_known_names & TAGS
    rm.adds_node()

    app = rm.submits(Group(labels={"colour": "blue"}))

    with precondition("the RM sends a request"):
        ask: AskRequest = scheduler.expects(Sent(AskRequest, application=app))
    if not ask.tags:
        raise NotOffered("the RM attaches no tags to its requests")
    for key in ask.tags:
        domain, *others = key.split("/")
        is_domain = bool(domain) and f"{domain}/" not in TAG_GROUPS
        if key not in without_domain and not (is_domain and others and all(others)):
            raise ConformanceFailure(
                f"the tag {key!r}", expected="DOMAIN/NAME or DOMAIN/GROUP/NAME"
            )


@requirement("SI-CONST-008")
def test_the_resources_of_a_node_are_called_memory_and_vcore(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    node = rm.adds_node(memory=7, vcore=3)

    with precondition("the RM reports its node"):
        types = [*(scheduler.expects_node(node).capacity or {})]
    if not {MEMORY, CPU} <= {*types}:
        raise ConformanceFailure(
            f"{node} has {', '.join(types) or 'no resources'}", expected=f"{MEMORY} and {CPU}"
        )


def names_sent(scheduler: SimulatedScheduler) -> Iterator[tuple[str, set[str]]]:
    """Yield each name the RM has sent, with the constants that exist for such names."""
    for sent in scheduler.observed(NodeRequest):
        yield from ((name, NODE_ATTRIBUTES) for name in sent.attributes)
        yield from ((name, {MEMORY, CPU}) for name in sent.capacity or {})
    for added in scheduler.observed(ApplicationRequest):
        yield from ((name, APPLICATION_TAGS) for name in added.tags)
    for ask in scheduler.observed(AskRequest):
        yield from ((name, {MEMORY, CPU}) for name in ask.resource or {})
        for key in ask.tags:
            yield key, TAGS
            *parts, _ = key.split("/")
            for part, constants in zip(parts, (TAG_DOMAINS, TAG_GROUPS), strict=False):
                yield f"{part}/", constants


def looks_like(name: str, constant: str) -> bool:
    """Return whether a name is meant to be a constant: but for case, signs and the prefix "si/"."""
    domain, _, last = name.lower().rpartition("/")
    is_attribute = constant.startswith(PREFIX) and re.match(r"(si\b.*)?$", domain) is not None
    return plain(name) == plain(constant) or (
        is_attribute and plain(last) == plain(constant.removeprefix(PREFIX))
    )


def plain(name: str) -> str:
    """Return letters and digits alone, in lower case."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
