"""The results folder: made before anything runs, cleared of what an earlier run left."""

from pathlib import Path

from siconform.running.options import BadOption

_OWN_FILES = ("results.json", "junit.xml", "failures.txt", "pytest.log")
_OWN_FOLDERS = {"histories": "*.jsonl", "logs": "*.log"}


def prepare_folder(folder: Path) -> None:
    """An empty, writable results folder; BadOption when it cannot be had.

    Only files this kit writes are removed: the folder may be the user's own.
    """
    try:
        for name, pattern in _OWN_FOLDERS.items():
            inner = folder / name
            inner.mkdir(parents=True, exist_ok=True)
            for file in inner.glob(pattern):
                file.unlink()
        for name in _OWN_FILES:
            (folder / name).unlink(missing_ok=True)
        probe = folder / "results.json.new"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise BadOption(f"results cannot be written to {folder}: {error.strerror}") from None
