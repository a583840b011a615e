"""Marks of a test: the requirements it covers and what it needs from the target."""

import pytest

from siconform.targets.traits import LOSES_PARTITION, OUT_OF_ORDER, REMOVES_MEANWHILE


def requirement(*ids: str) -> pytest.MarkDecorator:
    """Mark the requirements of a test: its outcome is evidence for each of them."""
    return pytest.mark.requirement(*ids)


disruptive: pytest.MarkDecorator = pytest.mark.disruptive
"""The test may leave the target unusable; it needs a target that the kit can restart."""

real_clock: pytest.MarkDecorator = pytest.mark.real_clock
"""The test also runs on the real clock if the target uses virtual time."""

waits: pytest.MarkDecorator = pytest.mark.waits
"""The test waits for a timer or a restart of the scheduler; workers run it first."""

registering_again_is_a_race: pytest.MarkDecorator = pytest.mark.race_where(LOSES_PARTITION)
"""Skipped on targets that may lose the state of a second registration: flaky there."""

order_is_a_race: pytest.MarkDecorator = pytest.mark.race_where(OUT_OF_ORDER)
"""Skipped on targets that may process two requests out of order."""

explores: pytest.MarkDecorator = pytest.mark.explores
"""The test runs random histories within the time budget of --explore."""

removals_are_a_race: pytest.MarkDecorator = pytest.mark.race_where(REMOVES_MEANWHILE)
"""Skipped on targets that may still allocate for an application they are removing."""
