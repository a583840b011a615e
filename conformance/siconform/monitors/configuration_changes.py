"""Rules about configuration changes of a running scheduler."""

from typing import Any, Final

from siconform.monitors.content_types import REGISTRATION
from siconform.monitors.monitor import NOTHING_TO_EVALUATE, EntryFinding, Evaluator, Monitor
from siconform.protocol.configuration import (
    ConfigurationApplied,
    ConfigurationRefused,
    ConfigurationSent,
)
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.recording.history import Entry


def changes_of_unknown_policy_groups_fail() -> Evaluator:
    """A configuration for another policy group than the RM registered with is not applied."""
    asked_for, group = "", ""
    open_changes: list[ConfigurationSent] = []

    def evaluate(entry: Entry) -> EntryFinding:
        nonlocal asked_for, group
        match entry.content:
            case RegistrationRequested():
                request: Any = entry.message
                asked_for = str(getattr(request, "policyGroup", ""))
            case RegistrationAnswered(status="OK"):
                group = asked_for
            case ConfigurationSent() as change:
                open_changes.append(change)
            case ConfigurationApplied() | ConfigurationRefused() if open_changes:
                change = open_changes.pop(0)
                is_unknown = group != "" and change.rm == entry.rm and change.policy_group != group
                if open_changes or not is_unknown:
                    return NOTHING_TO_EVALUATE
                if isinstance(entry.content, ConfigurationApplied):
                    return f"a configuration was applied to {change.policy_group}, not {group}"
                return ""
        return NOTHING_TO_EVALUATE

    return evaluate


MONITORS: Final = (
    Monitor(
        changes_of_unknown_policy_groups_fail,
        ("SI-CFG-004",),
        observes=(*REGISTRATION, ConfigurationSent, ConfigurationApplied, ConfigurationRefused),
    ),
)
