"""The pytest plugin of ``siconform run``, with unprefixed option names.

Its presence tells ``siconform.plugin``, which does all the work, that the kit's own suite runs and
not a user's project, where the options are prefixed (--si-target).
"""

import gc
from typing import Final

_NEW_OBJECTS: Final = 50_000  # the default of 700 costs 5 % of a run
gc.set_threshold(_NEW_OBJECTS)  # before everything else is imported

pytest_plugins = ("siconform.plugin",)
