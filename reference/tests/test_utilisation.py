"""Utilisation reports: accepted, without effect on accounting, with recommendations."""

import pytest
from sireference.core.model import (
    Effect,
    RecommendedNode,
    Refused,
    ReportUtilisation,
    UtilisationReport,
)
from sireference.core.resources import Resource
from tests.driving import RM, identities, keys, of


def reports(rm: RM, *used: tuple[str, int]) -> list[Effect]:
    sent = tuple(UtilisationReport(name, Resource({"memory": amount})) for name, amount in used)
    return rm.scheduler.handle(ReportUtilisation(rm.rm_id, sent), rm.now)


def advice(effects: list[Effect]) -> list[tuple[str, int]]:
    return [(one.node_id, one.capacity.amounts["memory"]) for one in of(effects, RecommendedNode)]


@pytest.fixture
def rm() -> RM:
    """Return an RM with a node of memory 10 and an allocation of 4."""
    rm = RM()
    rm.creates("n1", memory=10, gpu=2)
    rm.submits("a1")
    rm.asks("k1", memory=4)
    return rm


# requirement: SI-UTIL-001
def test_reports_of_nodes_and_allocations_are_accepted(rm: RM) -> None:
    (identity,) = rm.partition.allocations.all

    assert reports(rm, ("n1", 4), (identity, 9), ("zzz", 5), ("", -1)) == []


def test_report_of_an_unknown_item_is_refused() -> None:
    rm = RM()
    rm.rm_id = "other"

    assert of(reports(rm, ("n1", 4)), Refused)


# requirement: SI-UTIL-002, SI-NREC-002
def test_utilisation_changes_no_amount(rm: RM) -> None:
    assert advice(reports(rm, ("n1", 10))) == [("n1", 4)]
    assert keys(rm.asks("k2", memory=6)) == ["k2"]

    reports(rm, ("n1", 0))
    assert keys(rm.asks("k3", memory=1)) == []


# requirement: SI-NREC-001
def test_excess_utilisation_leads_to_a_recommendation(rm: RM) -> None:
    (received,) = of(reports(rm, ("n1", 7)), RecommendedNode)

    assert received.capacity == Resource({"memory": 7, "gpu": 2})
    assert "'n1'" in received.message
    assert reports(rm, ("n1", 7)) == []  # reported once
    assert advice(reports(rm, ("n1", 9))) == [("n1", 5)]
    assert advice(reports(rm, ("n1", 99))) == [("n1", 0)]
    assert advice(reports(rm, ("n1", 4))) == [("n1", 10)]
    assert advice(reports(rm, ("n1", 3))) == []


def test_recommendation_is_not_repeated_once_followed(rm: RM) -> None:
    reports(rm, ("n1", 7))
    rm.updates("n1", memory=7, gpu=2)

    assert advice(reports(rm, ("n1", 7))) == []
    assert advice(reports(rm, ("n1", 4))) == [("n1", 10)]


def test_capacity_set_by_the_rm_is_the_new_baseline(rm: RM) -> None:
    reports(rm, ("n1", 7))
    rm.updates("n1", memory=20)

    assert advice(reports(rm, ("n1", 7))) == [("n1", 17)]


def test_occupied_resources_are_expected_usage(rm: RM) -> None:
    rm.creates("n2", occupied={"memory": 3}, memory=10)

    assert advice(reports(rm, ("n2", 3))) == []
    assert advice(reports(rm, ("n2", 4))) == [("n2", 9)]


def test_released_allocation_is_no_longer_expected(rm: RM) -> None:
    (identity,) = identities(rm.asks("k2", memory=2))
    assert advice(reports(rm, ("n1", 6))) == []
    rm.releases(identity)

    assert advice(reports(rm, ("n1", 6))) == [("n1", 8)]
