"""SI-CONST: names that an RM sends are those of the revision."""

from siwire.constants import CPU, MEMORY

from siconform.expecting.checks import precondition
from siconform.marks import requirement
from siconform.monitors.well_known_names import TAGS, is_tag_key, looks_like, names_in
from siconform.outcomes import ConformanceFailure, NotOffered
from siconform.protocol.requests import ApplicationRequest, AskRequest, NodeRequest
from siconform.scheduler.driven_rm import DrivenRM, Group
from siconform.scheduler.patterns import Sent
from siconform.scheduler.simulated_scheduler import SimulatedScheduler


@requirement("SI-CONST-001")
def test_well_known_names_have_exactly_the_strings_of_the_revision(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    known = scheduler.well_known_names
    rm.adds_node(partition="default")
    app = rm.submits(Group(labels={"colour": "blue"}))
    scheduler.allocation_of(app)

    sent: list[NodeRequest | ApplicationRequest | AskRequest] = [
        *scheduler.observed(NodeRequest),
        *scheduler.observed(ApplicationRequest),
        *scheduler.observed(AskRequest),
    ]
    used = {name: known & constants for one in sent for name, constants in names_in(one)}

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
        if not is_tag_key(key, without_domain):
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
