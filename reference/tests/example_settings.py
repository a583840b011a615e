"""Number of examples for tests of random histories and bad messages."""

import os

from hypothesis import settings
from hypothesis_profiles import CI, QUICK, examples


def example_settings(variable: str, in_ci: int) -> settings:
    """Return the profile's settings, or those for the number in the environment variable."""
    wanted = os.environ.get(variable, "")
    if wanted:
        return settings(settings.get_profile(CI), max_examples=int(wanted))
    return settings(max_examples=examples(in_ci))


def is_quick() -> bool:
    """Return whether the profile tries few examples."""
    return settings.get_current_profile_name() == QUICK
