"""SI-CFG: an RM saves the configuration that a scheduler of 2021-02 hands to it."""

import yaml

from siconform import plain_yaml
from siconform.marks import requirement
from siconform.outcomes import ConformanceFailure, in_short
from siconform.protocol.callbacks import ConfigurationStored
from siconform.protocol.queue_configurations import UNUSABLE, queues_without_limits
from siconform.scheduler.simulated_scheduler import SimulatedScheduler


@requirement("SI-CFG-007")
def test_a_configuration_is_saved_and_answered_with_the_former_one(
    scheduler: SimulatedScheduler,
) -> None:
    first, second, third = map(queues_without_limits, ("one", "two", "three"))
    is_stored_instead_of(None, scheduler.hands_over(first))

    is_stored_instead_of(first, scheduler.hands_over(second))

    refused = scheduler.hands_over(UNUSABLE)
    outcome = "stored" if refused.stored else "refused"
    scheduler.records(f"an unusable configuration is {outcome}")
    if not refused.stored and not refused.reason.strip():
        raise ConformanceFailure("it is not stored, without a reason", expected="a reason")
    is_stored_instead_of(UNUSABLE if refused.stored else second, scheduler.hands_over(third))


def is_stored_instead_of(former: str | None, answer: ConfigurationStored) -> None:
    """Check that a configuration is stored, and which was the one before, if that is known."""
    if not answer.stored:
        raise ConformanceFailure(
            f"it is not stored: {answer.reason}", expected="the configuration is stored"
        )
    if former is not None and _read(answer.former) != _read(former):
        raise ConformanceFailure(
            f"oldConfig is {in_short(answer.former)!r}", expected=f"oldConfig {in_short(former)!r}"
        )


def _read(configuration: str) -> object:
    """Return its content: an RM may store it in a form of its own."""
    try:
        return plain_yaml.load(configuration)
    except yaml.YAMLError:
        return configuration
