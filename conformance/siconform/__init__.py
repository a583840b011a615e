"""A conformance kit for schedulers that implement the YuniKorn Scheduler Interface."""

__version__: str


def __getattr__(name: str) -> str:
    """Return the version; it is read lazily, because that takes as long as the whole catalogue."""
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415  # takes time

        return version("si-conformance")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
