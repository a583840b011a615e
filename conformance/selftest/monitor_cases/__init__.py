"""Histories for each monitor: one it passes, one that does not apply, and violations."""

from selftest.monitor_cases import (
    allocations,
    applications,
    asks,
    capacity,
    gangs,
    nodes,
    recovery,
    releases,
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
)
