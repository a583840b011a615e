"""Histories for each monitor: one it passes, one that does not apply, and violations."""

from collections.abc import Mapping, Sequence

from selftest.monitor_cases import (
    absent_nodes,
    allocations,
    application_activity,
    application_verdicts,
    applications,
    asks,
    by_key,
    callbacks,
    capacity,
    draining,
    events,
    foreign_reports,
    gangs,
    meaningless,
    node_limits,
    node_verdicts,
    nodes,
    recovered_identities,
    recovery,
    registrations,
    releases,
    unrequested_ends,
    utilisation,
    wire,
)
from selftest.monitor_cases.case import Case

SUBJECTS: Mapping[str, Sequence[Case]] = {
    module.__name__.rpartition(".")[2]: module.CASES
    for module in (
        *(allocations, applications, asks, gangs, nodes, recovery, releases, capacity, wire),
        *(absent_nodes, application_activity, application_verdicts, draining, events),
        *(node_limits, node_verdicts, recovered_identities, unrequested_ends, meaningless),
        *(registrations, callbacks, utilisation),
    )
}
CASES = tuple(case for cases in SUBJECTS.values() for case in cases)

BY_KEY_SUBJECTS: Mapping[str, Sequence[Case]] = {
    "by_key": by_key.BY_KEY,
    "foreign_reports": foreign_reports.FOREIGN,
}
"""Those for revisions in which the key is the identity."""
BY_KEY_CASES = tuple(case for cases in BY_KEY_SUBJECTS.values() for case in cases)
