"""Histories for each monitor: one it passes, one that does not apply, and violations."""

from selftest.monitor_cases import (
    absent_nodes,
    allocations,
    application_activity,
    application_verdicts,
    applications,
    asks,
    by_key,
    capacity,
    draining,
    events,
    foreign_reports,
    gangs,
    node_limits,
    node_verdicts,
    nodes,
    recovered_identities,
    recovery,
    releases,
    unasked_ends,
    wire,
)

CASES = (
    *allocations.CASES,
    *applications.CASES,
    *asks.CASES,
    *gangs.CASES,
    *nodes.CASES,
    *recovery.CASES,
    *releases.CASES,
    *capacity.CASES,
    *wire.CASES,
    *absent_nodes.CASES,
    *application_activity.CASES,
    *application_verdicts.CASES,
    *draining.CASES,
    *events.CASES,
    *node_limits.CASES,
    *node_verdicts.CASES,
    *recovered_identities.CASES,
    *unasked_ends.CASES,
)

BY_KEY_CASES = (*by_key.BY_KEY, *foreign_reports.FOREIGN)
"""Those for revisions in which the key is the identity."""
