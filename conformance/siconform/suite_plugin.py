"""The pytest plugin of ``siconform run``: the kit's own suite, options by their plain names.

That it is loaded tells ``siconform.plugin``, which does all the work, that it is no guest in
somebody's project, where its options are called --si-target and so on.
"""

pytest_plugins = ("siconform.plugin",)
