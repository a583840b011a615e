"""Histories for the monitors of ``meaningless``."""

from dataclasses import replace

from selftest.monitor_cases.case import Case
from selftest.sample_histories import ASK, NODE, allocated, released
from siconform.protocol.notifications import NodeAccepted, NodeRejected
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import Action, LegacyNodeFields, LegacyRequest

OK = RegistrationAnswered("rm", "OK", "")
ODD = replace(NODE, action=Action.UNDEFINED)
OLDER_ASK = LegacyRequest(ASK)
OLDER_NODE = replace(NODE, legacy_fields=LegacyNodeFields(existing=(allocated("k", "k"),)))
MADE = allocated("k", "k")

CASES = (
    Case(
        "undefined_actions_create_nothing",
        [OK, ODD, NodeRejected("n", "unknown action"), NODE, NodeAccepted("n"), ODD, allocated()],
        [ODD, NodeAccepted("n")],
        [
            ("all actions on n were undefined", [OK, ODD, NodeAccepted("n")]),
            ("all actions on n were undefined", [OK, ODD, allocated()]),
        ],
    ),
)
BY_KEY = (
    Case(
        "older_fields_have_no_effect",
        [OK, OLDER_ASK, ASK, MADE, released("k")],
        [OLDER_ASK, MADE, OK, ASK],
        [
            ("its key came in older fields only", [OK, OLDER_ASK, MADE]),
            ("its key came in older fields only", [OK, OLDER_NODE, released("k")]),
        ],
    ),
)
