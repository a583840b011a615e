"""Histories of the reference in the tests that a target failed."""

import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from siconform import child_processes
from siconform.config.option_list import SIDE, TARGET_FILE
from siconform.config.option_values import NONE
from siconform.config.options import Settings
from siconform.config.results_dir import adds
from siconform.running.history_files import FOLDER, safe_name
from siconform.running.index import suite_folder

KEPT: Final = "reference"
"""The subfolder of the results."""

_AT_MOST: Final = 40  # tests
_LIMIT: Final = 60.0  # seconds for all of them
_IN_ONE_PROCESS: Final = 8  # so few functions take less time than the start of workers


def of_the_reference(settings: Settings, tests: Sequence[str]) -> Mapping[str, str]:
    """Run these tests against the reference; map them to history files in the results folder.

    The reference of an RM is the embedded RM. Tests beyond the limits on number and time are left
    out.
    """
    suite = f"{suite_folder(settings.side).name}/"
    chosen = [test for test in dict.fromkeys(tests) if test.startswith(suite)][:_AT_MOST]
    if not chosen or settings.of_the_kit or settings.terms.edited or not settings.compare:
        return {}
    with tempfile.TemporaryDirectory(prefix="siconform-") as scratch:
        _evaluate(settings, chosen, Path(scratch))
        found = {_scenario(file.stem): file for file in _histories(Path(scratch))}
        kept = {}
        for test in chosen:
            file = found.get(_scenario(safe_name(test)))
            if file is not None:
                kept[test] = _keep(settings.results, safe_name(test), file)
        return kept


def _evaluate(settings: Settings, tests: Iterable[str], scratch: Path) -> None:
    functions = dict.fromkeys(test.partition("[")[0] for test in tests)
    command = [sys.executable, "-m", "siconform", "run", "--no-reference"]
    command += ["--revision", settings.revision.name, SIDE, settings.side]
    command += [TARGET_FILE, NONE]
    command += [
        "--results",
        str(scratch),
        "-qq",
        *(["-n", "0"] if len(functions) <= _IN_ONE_PROCESS else []),
    ]
    with contextlib.suppress(subprocess.TimeoutExpired):
        child_processes.run([*command, *functions], limit=_LIMIT)


def _histories(scratch: Path) -> list[Path]:
    """Return the histories, those on virtual time last, so that they take precedence."""
    files = (scratch / FOLDER).glob("*.jsonl")
    return sorted(files, key=lambda file: ("virtual" in file.name, file.name))


def _keep(results: Path, name: str, history: Path) -> str:
    file = results / KEPT / f"{name}.jsonl"
    with contextlib.suppress(OSError):
        file.parent.mkdir(exist_ok=True)
        shutil.copyfile(history, adds(results, file))
        return file.relative_to(results).as_posix()
    return ""


def _scenario(name: str) -> str:
    """Return the name of a history without its clock."""
    return re.sub(r"_?(?:virtual|real)-clock(?:-|$)", "_", name).rstrip("_-")
