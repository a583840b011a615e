"""How many examples tests of random histories and of bad messages try."""

import os

from hypothesis import settings
from hypothesis_profiles import CI, QUICK, examples


def example_settings(variable: str, in_ci: int) -> settings:
    """The settings of the profile, or new examples, as many as the environment variable says."""
    wanted = os.environ.get(variable, "")
    if wanted:
        return settings(settings.get_profile(CI), max_examples=int(wanted))
    return settings(max_examples=examples(in_ci))


def is_quick() -> bool:
    """Whether this is the profile with few examples; the others try all."""
    return settings.get_current_profile_name() == QUICK
