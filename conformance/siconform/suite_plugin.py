"""The pytest plugin of ``siconform run``, with unprefixed option names.

Its presence tells ``siconform.plugin``, which does all the work, that the kit's own suite runs and
not a user's project, where the options are prefixed (--si-target).
"""

from siconform import garbage_collection

garbage_collection.rarely()  # before everything else is imported

pytest_plugins = ("siconform.plugin",)
