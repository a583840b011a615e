"""Histories for the monitors of ``utilisation``."""

from selftest.monitor_cases.case import Case
from selftest.sample_histories import ASK, FULL, NODE, allocated
from siconform.protocol.notifications import NodeRecommended
from siconform.protocol.requests import UtilisationRequest

UNUSED = UtilisationRequest("n", {"memory": 0})
MORE = NodeRecommended({"memory": 20}, "")
THIRD = allocated(identity="3")

CASES = (
    Case(
        "reported_utilisation_frees_nothing",
        [NODE, UNUSED, *FULL],
        [NODE, UtilisationRequest("m", {}), *FULL, THIRD],
        [("node n", [NODE, *FULL, UNUSED, THIRD])],
    ),
    Case(
        "recommendations_add_nothing",
        [NODE, MORE, *FULL],
        [NODE, ASK, *FULL, THIRD],
        [("node n", [NODE, *FULL, MORE, THIRD])],
    ),
)
