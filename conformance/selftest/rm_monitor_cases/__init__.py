"""Histories for each monitor of RMs: one it passes, one that does not apply, and violations."""

from selftest.rm_monitor_cases import (
    applications,
    callbacks,
    confirmations,
    connections,
    gangs,
    names,
    nodes,
    recovery,
)

CASES = (
    *applications.CASES,
    *callbacks.CASES,
    *confirmations.CASES,
    *connections.CASES,
    *gangs.CASES,
    *names.CASES,
    *nodes.CASES,
    *recovery.CASES,
)
