"""A kit that judges schedulers by the Scheduler Interface, requirement by requirement."""

__version__: str


def __getattr__(name: str) -> str:
    """The version, read where somebody asks for it: that takes as long as all of the catalogue."""
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415  # takes time

        return version("si-conformance")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
