"""Histories for the monitors of ``rm_callbacks``."""

from dataclasses import replace

from selftest.rm_monitor_cases.case import ASK, RmCase, releases
from siconform.protocol.callbacks import (
    Answered,
    Assumed,
    CallbacksOffered,
    ConfigurationStored,
    EvictionCheck,
    Forgotten,
    PlacementCheck,
    StateDumped,
)

CHECK = EvictionCheck("k", "n", ("a", "b"), 0, 1)
PLACEMENT = PlacementCheck("k", "n", allocate=True, offer=1)
FITS = Answered(fits=True, index=1, reason="")
BEYOND = Answered(fits=True, index=2, reason="")
NOT = Answered(fits=False, index=9, reason="too large")
ASSUMED = Assumed("k", "n", 1)
OFFER = CallbacksOffered((), 2)

CASES = (
    RmCase(
        "victims_that_have_to_go_are_listed",
        [CHECK, FITS, PLACEMENT, NOT, CHECK, NOT],
        [PLACEMENT, BEYOND, CHECK, PLACEMENT, BEYOND, OFFER, BEYOND],
        [
            ("index 2 with 2 victims", [CHECK, BEYOND]),
            ("index 2 with 2 victims", [CHECK, PLACEMENT, OFFER, CHECK, BEYOND]),
            ("index -1 with 2 victims", [CHECK, replace(FITS, index=-1)]),
        ],
    ),
    RmCase(
        "state_dumps_are_json",
        [StateDumped(ok=True, text='{"pods": 1}'), StateDumped(ok=False, text="not now")],
        [ASK],
        [("a state dump that is not JSON", [StateDumped(ok=True, text="pods: 1")])],
    ),
    RmCase(
        "synchronised_allocations_are_taken",
        [ASK, ASSUMED, FITS, Forgotten("k", 1), FITS],
        [ASSUMED, NOT, ASK, releases(), ASSUMED, NOT],
        [("an error for k: too large", [ASK, ASSUMED, NOT])],
        revision="2021-02",
    ),
    RmCase(
        "unsaved_configurations_have_a_reason",
        [
            ConfigurationStored(stored=True, former="", reason=""),
            ConfigurationStored(stored=False, former="", reason="no"),
        ],
        [ASK],
        [("without a reason", [ConfigurationStored(stored=False, former="x", reason=" ")])],
        revision="2021-02",
    ),
)
