"""The pytest plugin of ``siconform run``: the kit's own suite, options by their plain names.

That it is loaded tells ``siconform.plugin``, which does all the work, that it is no guest in
somebody's project, where its options are called --si-target and so on.
"""

import gc
from typing import Final

_NEW_OBJECTS: Final = 50_000  # Python's own 700 costs a twentieth of a run: little here is garbage
gc.set_threshold(_NEW_OBJECTS)  # before everything else is imported

pytest_plugins = ("siconform.plugin",)
