"""The marks of a test: which requirements it speaks for and what it needs of the target."""

import pytest

from siconform.targets.traits import LOSES_PARTITION, OUT_OF_ORDER, REMOVES_MEANWHILE


def requirement(*ids: str) -> pytest.MarkDecorator:
    """The test decides these requirements: its outcome is evidence for each of them."""
    return pytest.mark.requirement(*ids)


disruptive: pytest.MarkDecorator = pytest.mark.disruptive
"""The test may leave the target unusable; it runs only where the kit can start a fresh one."""

real_clock: pytest.MarkDecorator = pytest.mark.real_clock
"""The test runs twice where the kit has a scheduler on virtual time: once more without."""

waits: pytest.MarkDecorator = pytest.mark.waits
"""The test takes long, for a timer or a restart of the scheduler: workers begin with it."""

registering_again_is_a_race: pytest.MarkDecorator = pytest.mark.race_where(LOSES_PARTITION)
"""Left out on targets that may lose what the second registration made; it would pass by chance."""

order_is_a_race: pytest.MarkDecorator = pytest.mark.race_where(OUT_OF_ORDER)
"""Left out on targets that may take the second of two requests first."""

explores: pytest.MarkDecorator = pytest.mark.explores
"""The test makes arbitrary histories, for as long as the user wants."""

removals_are_a_race: pytest.MarkDecorator = pytest.mark.race_where(REMOVES_MEANWHILE)
"""Left out on targets that may be about to allocate for an application they remove."""
