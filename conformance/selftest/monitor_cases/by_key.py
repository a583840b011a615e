"""Histories for monitors where the key is the identity: key lifecycle, updates, foreign ones."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from selftest.monitor_cases import meaningless
from selftest.monitor_cases.case import Case
from selftest.sample_histories import (
    ASK,
    ASKS_SYNCHRONISED,
    DECOMMISSION,
    NODE,
    NODES_SYNCHRONISED,
    PREEMPTED,
    STOPPED,
    TIMEOUT,
    Part,
    allocated,
    released,
)
from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    AskRejected,
    AskReleased,
    NodeAccepted,
    Released,
)
from siconform.protocol.requests import (
    AllocationUpdate,
    ApplicationRemoval,
    AskReleaseRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import OneAllocation, OneAsk

BARRIER, ANSWER = ASKS_SYNCHRONISED
CERTAIN = (*NODES_SYNCHRONISED, *ASKS_SYNCHRONISED, *ASKS_SYNCHRONISED)


def of(memory: int) -> Mapping[str, int]:
    return {"memory": memory}


def new(key: str = "k", memory: int = 4, node: str = "n") -> Allocated:
    return allocated(key, key, resource=of(memory), node=node)


def update(memory: int, key: str = "k", node: str = "") -> AllocationUpdate:
    return AllocationUpdate(new(key, memory, node))


def reported(key: str = "k", memory: int = 4, node: str = "n") -> ExistingAllocationRequest:
    return ExistingAllocationRequest(new(key, memory, node))


def end(key: str = "k", application: str = "a") -> ReleaseRequest:
    return ReleaseRequest(OneAllocation(application, key, key), STOPPED)


def ended(key: str = "k") -> Released:
    return released(key, key=key)


def foreign(memory: int, node: str = "n", key: str = "f") -> ForeignAllocationRequest:
    return ForeignAllocationRequest(key, node, "default", of(memory), tags={"foreign": "default"})


def of_others(node: str = "n") -> Allocated:
    return replace(new("f", node=node), application="")


REJECTED = AskRejected("k", "a", "no")
PREEMPTION = released("k", PREEMPTED)
CONFIRMATION = replace(end(), termination=PREEMPTED)
GIVEN_UP = AskReleased("k", "a", TIMEOUT, message="", partition="default")
WITHDRAWN = AskReleased("k", "a", STOPPED, message="", partition="default")
BIG, OTHER = replace(ASK, resource=of(8)), replace(ASK, key="o")
NODE_M = replace(NODE, node="m")
BOTH = replace(NODE, capacity={"memory": 10, "vcore": 10})
FOREIGN_GONE = ReleaseRequest(OneAllocation("", "f", "f"), STOPPED)

BY_KEY: Sequence[Case] = (
    *meaningless.BY_KEY,
    Case(
        "updates_are_no_further_allocations",
        [ASK, new(), update(8), new(memory=8), ended()],
        [ASK, update(8), new(memory=8), REJECTED],
        [("but was allocated on n", [ASK, new(), update(8, node="m"), new(node="m")])],
    ),
    Case(
        "updates_move_nothing",
        [ASK, new(), update(4, node="m"), new()],
        [ASK, new(), update(8, node="n"), new(memory=8)],
        [("moved to m", [ASK, new(), update(4, node="m"), new(node="m")])],
    ),
    Case(
        "requests_are_given_the_amount_last_asked_for",
        [
            *(BIG, update(2), *CERTAIN, new(memory=2), end(), ended()),
            *(ASK, BIG, *CERTAIN, new(memory=8)),
        ],
        [
            *(ASK, BIG, new()),  # allocated before the update
            *(OTHER, update(8, "o"), AskRejected("o", "a", "no"), *CERTAIN, new("o")),
            *(replace(ASK, key="p"), reported("p", 8), *CERTAIN, new("p")),  # by the RM
        ],
        [
            ("asked was {'memory': 8}", [ASK, BIG, *CERTAIN, new()]),
            ("asked was {'memory': 8}", [ASK, update(2), BIG, *CERTAIN, new()]),
        ],
    ),
    Case(
        "foreign_allocations_keep_their_capacity",
        [
            *(NODE, foreign(6), *CERTAIN, ASK, new(), end()),
            *(foreign(1), *CERTAIN, BIG, new(memory=8)),
        ],
        [
            *(NODE, foreign(8), new("1"), *CERTAIN, FOREIGN_GONE, new("2")),
            *(foreign(8), AllocationRejected("f", "", "no"), *CERTAIN, end("1"), new("3")),
            *(NODE_M, foreign(8, "m", "g"), *CERTAIN, replace(DECOMMISSION, node="m")),
            *(NODE_M, new("4", 8, "m")),
        ],
        [
            ("8 for foreign", [NODE, foreign(8), *CERTAIN, new()]),
            ("7 for foreign", [NODE, foreign(2), *CERTAIN, foreign(7), *CERTAIN, new()]),
            ("8 for foreign", [NODE, NODE_M, foreign(8, "m"), foreign(8), *CERTAIN, new()]),
        ],
    ),
    Case(
        "allocations_carry_their_ask",
        [
            *(ASK, update(2), new(memory=2)),
            *(reported("x"), new("x"), OTHER, reported("o", 1), new("o")),
            *(end(), ended(), BIG, end(), ASK, new()),  # the withdrawal is not confirmed yet
        ],
        [ASK, REJECTED],
        [
            ("never asked for", [new()]),
            ("asked was", [BIG, ASK, new(memory=2)]),
            ("asked was", [ASK, new(), end(), ended(), BIG, new()]),
            ("not its ask's", [ASK, replace(new(), application="b")]),
        ],
    ),
    Case(
        "identities_are_unique",
        [
            *(ASK, ASK, ASK, new(), new(), new()),  # twice the updated amount
            *(end(), ended(), ASK, new(node="m")),  # next lifecycle
            *(PREEMPTION, CONFIRMATION, ASK, new()),
            *(DECOMMISSION, ended(), NODE, ASK, new()),
            *(ApplicationRemoval("a", "default"), *CERTAIN, ASK, new()),
            *(reported("x"), new("x"), reported("x"), new("x"), end("x"), ended("x")),
            *(reported("x"), new("x")),
            *(OTHER, reported("o", node="m"), new("o", node="m")),
            *(reported(""), new("")),  # echoed unchanged
            *(foreign(4), of_others(), foreign(5), of_others()),
        ],
        [ASK, REJECTED, AllocationRejected("k", "a", "no")],
        [
            ("no identity", [ASK, new("")]),
            ("announced twice", [ASK, new(), new()]),
            ("announced twice", [ASK, new(), update(5), new(node="m")]),
            ("announced twice", [ASK, new(), update(5), new(), new()]),
            ("announced twice", [ASK, new(), end(), ended(), new()]),
            ("life 2) was announced twice", [ASK, new(), end(), ended(), ASK, new(), new()]),
            ("announced twice", [reported(), new(), new(node="m")]),
            ("announced twice", [foreign(4), of_others(), of_others(), of_others()]),
            ("announced twice", [reported(), end(), ended(), new()]),
        ],
    ),
    Case(
        "ended_allocations_stay_ended",
        [
            *(ASK, new(), PREEMPTION, CONFIRMATION, *CERTAIN),
            *(ASK, new(), PREEMPTION, CONFIRMATION),
            *(ASK, new(), end(), ended(), reported(), end(), ended()),
            *(NODE, ASK, new(), DECOMMISSION, ended(), NODE, reported()),
            *(released("k", TIMEOUT), DECOMMISSION, replace(end(), termination=TIMEOUT), ended()),
        ],
        [ASK, end(), WITHDRAWN],
        [
            ("released twice", [ASK, new(), end(), ended(), ended()]),
        ],
    ),
    Case(
        "confirmations_are_not_confirmed",
        [*(ASK, new(), PREEMPTION, CONFIRMATION, *CERTAIN) * 2],
        [ASK, GIVEN_UP, replace(CONFIRMATION, termination=TIMEOUT), ASK, new()],
        [("was answered", [ASK, new(), PREEMPTION, CONFIRMATION, *CERTAIN, PREEMPTION])],
    ),
    Case(
        "releases_name_what_was_announced",
        [ASK, new(), end(), ended(), ASK, new(), end(), ended()],
        [ASK, end(), ended()],
        [
            ("never announced", [ended()]),
            ("names application", [ASK, new(), replace(ended(), application="b")]),
        ],
    ),
    Case(
        "asks_are_not_served_too_often",
        [*(ASK, ASK, new(), end(), ended()) * 2, ASK, REJECTED, ASK, new()],
        [reported(), new()],
        [
            ("1 allocations of k, asked were 0", [new()]),
            ("1 allocations of f, asked were 0", [foreign(4), of_others("m")]),
            ("1 allocations of f, asked were 0", [foreign(4), of_others(), of_others()]),
        ],
    ),
    Case(
        "released_asks_were_asked_for",
        [
            *(ASK, end(application=""), replace(WITHDRAWN, application="")),
            *(ASK, end(application="b"), replace(WITHDRAWN, application="b")),
        ],
        [ASK, new(), end(), ended()],
        [("names application", [ASK, end(), replace(WITHDRAWN, application="b")])],
    ),
    Case(
        "rejections_of_asks_are_complete",
        [ASK, REJECTED, ASK, BIG, REJECTED, REJECTED, ASK, REJECTED],
        [ASK, BIG, REJECTED, new(), update(9, node="m"), AllocationRejected("k", "a", "no")],
        [
            ("never asked for", [REJECTED]),
            ("names application", [ASK, replace(REJECTED, application="b")]),
            ("2 rejections", [ASK, REJECTED, REJECTED]),
            ("2 rejections", [ASK, BIG, REJECTED, REJECTED, REJECTED]),
        ],
    ),
    Case(
        "rejections_of_asks_give_a_reason",
        [ASK, new(), update(9), REJECTED],
        [ASK, new()],
        [("gives no reason", [ASK, new(), update(9), replace(REJECTED, reason="")])],
    ),
    Case(
        "rejected_asks_stay_rejected",
        [ASK, BIG, REJECTED, new(), end(), ended(), ASK, REJECTED, ASK, new()],
        [ASK, update(0), REJECTED, new()],  # the update was rejected
        [("after its rejection", [ASK, BIG, REJECTED, REJECTED, new()])],
    ),
    Case(
        "withdrawn_asks_are_not_allocated",
        [ASK, end(), *ASKS_SYNCHRONISED, new(), *CERTAIN, ASK, end(), *CERTAIN, ASK, new()],
        [
            *(ASK, ASK, new(), end(), ended()),
            *(replace(OTHER, task_group="g"), end("o"), *CERTAIN, new("o")),
            *(replace(ASK, key="p"), replace(ASK, key="p", task_group="g")),
            *(end("p"), *CERTAIN, new("p")),
        ],
        [
            ("after it was withdrawn", [ASK, withdrawal, *CERTAIN, new()])
            for withdrawal in (end(), AskReleaseRequest(OneAsk("a", "k"), "default"))
        ],
    ),
    Case(
        "allocated_asks_are_not_rejected",
        [ASK, new(), update(0), REJECTED],
        [ASK, REJECTED],
        [("after it had been", [ASK, new(), update(0), REJECTED, REJECTED])],
    ),
    Case(
        "rejections_of_existing_allocations_are_complete",
        [
            *(reported(), AllocationRejected("k", "a", "no"), foreign(4)),
            AllocationRejected("f", "", "no"),
        ],
        [reported(), reported(memory=8), AllocationRejected("k", "a", "no")],
        [("did not report", [reported(), AllocationRejected("f", "", "no")])],
    ),
    Case(
        "stops_go_back_to_the_rm",
        [*(ASK, new(), end(), ended()) * 2],
        [ASK, ended()],
        [
            ("had not asked for", [ASK, new(), ended()]),
            ("life 2) was released", [ASK, new(), end(), ended(), ASK, new(), ended()]),
        ],
    ),
    Case(
        "nodes_are_not_overfilled",
        [
            *(NODE, ASK, new(), update(25), *CERTAIN, update(2), new("o", 4), *CERTAIN),
            *(new("p", 4), end("p"), new("q", 4)),
            *(end(), end("o"), end("q"), BIG, end(), new(memory=8), new("r", 8)),  # crossed
        ],
        [NODE, ASK, update(9), REJECTED],
        [
            ("holds 12 of memory", [NODE, ASK, new(), update(8), *CERTAIN, new("o", 4)]),
            ("holds 12 of memory", [NODE, ASK, ASK, new(), update(8), *CERTAIN, new("o", 4)]),
            ("holds 12 of memory", [NODE, BIG, new(memory=8), update(2), REJECTED, new("o", 4)]),
            ("holds 11", [NODE, reported(memory=4), update(7), *CERTAIN, new("o", 4)]),
            ("holds 12", [NODE, reported(), end(), ended(), reported(), new(), new("o", 8)]),
            ("holds 12", [NODE, *CERTAIN, reported(), new(), *ASKS_SYNCHRONISED, new("o", 8)]),
            ("holds 12", [NODE, reported(), *CERTAIN, new(), new("o", 8)]),
            (
                "holds 12",
                [
                    *(NODE, OTHER, *CERTAIN, reported("o"), new("o"), *ASKS_SYNCHRONISED),
                    new(memory=8),
                ],
            ),
        ],
    ),
    Case(
        "reported_allocations_hold_capacity",
        [NODE, *CERTAIN, reported(), new(), *ASKS_SYNCHRONISED, new("o", 6)],
        [NODE, *CERTAIN, reported(), new(), new("o", 8)],  # placed before the report took effect
        [
            (
                "4 of it existed",
                [NODE, *CERTAIN, reported(), new(), *ASKS_SYNCHRONISED, new("o", 8)],
            )
        ],
    ),
    Case(
        "recovered_allocations_count_beyond_the_limits",
        [
            *(BOTH, *CERTAIN, reported(memory=14), new(memory=14), *ASKS_SYNCHRONISED),
            allocated("o", "o", resource={"vcore": 1}),
        ],
        [NODE, *CERTAIN, reported(memory=14), new(memory=14), new("o")],
        [
            (
                "node n holds 18",
                [
                    *(NODE, *CERTAIN, reported(memory=14), new(memory=14), *ASKS_SYNCHRONISED),
                    new("o"),
                ],
            )
        ],
    ),
)

LEGAL: Sequence[tuple[str, Sequence[Part]]] = (
    ("not certain yet", [NODE, ASK, new(), update(8), new("o")]),
    ("rejected", [NODE, ASK, new(), update(8), REJECTED, *CERTAIN, new("o")]),
    ("one of two rejected", [NODE, ASK, new(), update(8), update(9), REJECTED, *CERTAIN, new("o")]),
    ("rejected late", [NODE, ASK, new(), update(8), *CERTAIN, REJECTED, new("o"), new("p", 2)]),
    ("beyond the room", [NODE, ASK, new(), update(25), *CERTAIN, new("o", 6)]),
    ("on another node", [NODE, BIG, new(memory=8), update(8, node="m"), *CERTAIN, new("o", 8)]),
    ("the report rejected", [NODE, reported(), update(8), REJECTED, *CERTAIN, new("o", 10)]),
    ("placed beyond the room", [NODE, BIG, OTHER, new(memory=8), reported("o"), new("o")]),
    ("a placement not heeded", [NODE, NODE_M, BIG, reported(memory=8), *CERTAIN, new("o", 8)]),
    ("released on the way", [NODE, BIG, end(), new(memory=8), new("o", 8), ended()]),
    ("not taken as foreign", [NODE, foreign(8), *CERTAIN, new()]),
    ("taken over twice", [NODE, NodeAccepted("n"), *(reported(), reported()) * 2, new("o", 6)]),
    ("a life after the other", [NODE, BIG, new(memory=8), end(), ended(), BIG, new(memory=8)]),
    ("passed over", [NODE, reported(), end(), ended(), reported(), *CERTAIN, new("o", 8)]),
    ("placed before the report took effect", [NODE, *CERTAIN, reported(), new(), new("o", 8)]),
    (
        "placed before a report that a barrier crossed",
        [NODE, *CERTAIN, reported(), BARRIER, new(), ANSWER, new("o", 8)],
    ),
    (
        "placed before a placement by the RM took effect",
        [NODE, OTHER, *CERTAIN, reported("o"), new("o"), new(memory=8)],
    ),
    (
        "placed before the report of an ended key took effect",
        [NODE, reported(), end(), ended(), *CERTAIN, reported(), new(), new("o", 8)],
    ),
    ("announced after the report's barrier", [NODE, reported(), *ASKS_SYNCHRONISED, new("o", 8)]),
    ("another application's", [NODE, ASK, new(), NodeRequest("m", NODE.action), new("o", 6)]),
)
"""What does not overfill a node, and why not."""
