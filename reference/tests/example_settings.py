"""Number of examples in tests of random histories and bad messages."""

import os

from hypothesis import settings
from hypothesis_profiles import CI, QUICK, examples


def example_settings(variable: str, in_ci: int) -> settings:
    """Return the settings of the profile, or the number of examples in the environment variable."""
    wanted = os.environ.get(variable, "")
    if wanted:
        return settings(settings.get_profile(CI), max_examples=int(wanted))
    return settings(max_examples=examples(in_ci))


def is_quick() -> bool:
    """Return whether this is the profile with few examples."""
    return settings.get_current_profile_name() == QUICK
