"""Reads results folders of complete runs."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from siconform.catalogue import Side
from siconform.policy import ExitCode
from siconform.results import EDITED_MARK, FILE
from siconform.verdicts import CATALOGUED, Verdict

READABLE: Final = (1, 2)
"""Schemas of results.json that this kit reads."""

TRACE: Final = "trace"
"""The kind of results of a recorded exchange, which are no results of a run."""

_NEEDED: Final = ("revision", "command", "target", "verdict", "exit_code", "sentence", "counts")


class RecordError(Exception):
    """A file that is not a record or not results; the message is a sentence."""


def read_document(path: Path) -> dict[str, Any]:
    """Read results.json in this folder, or the file itself.

    RecordError if there is none, if it was cut off or changed, or if the run did not finish or
    reached no target: a part of a run proves nothing.
    """
    file = path / FILE if path.is_dir() or path.suffix != ".json" else path
    document = read_object(file)
    _refuse_others(document, file)
    try:
        _refuse_parts(document, file)
        _refuse_changed(document, file)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"{file} is not a results file of siconform: {_wrong(error)}") from None
    return document


def read_object(file: Path) -> dict[str, Any]:
    """Read the JSON object in a file; RecordError if there is none."""
    try:
        document = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise RecordError(f"{file} cannot be read: {error.strerror}") from None
    except ValueError as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise RecordError(f"{file} is not complete JSON{where}: was it cut off?") from None
    if not isinstance(document, dict):
        raise RecordError(f"{file} is not a results file of siconform: not a JSON object")
    return document


def side_in(results: Mapping[str, Any]) -> Side:
    """Return the tested side; a scheduler in results of older kits."""
    return Side(results.get("side", Side.SCHEDULER))


def _refuse_others(document: dict[str, Any], file: Path) -> None:
    schema = document.get("schema")
    if document.get("kind") == TRACE:
        raise RecordError(
            f"{file} is the result of siconform check-trace: a recorded exchange shows violations, "
            "and cannot replace a run; use the results of siconform run"
        )
    if "requirements" not in document or not isinstance(schema, int):
        raise RecordError(f"{file} is not a results file of siconform: no schema or requirements")
    if schema not in READABLE:
        known = " and ".join(map(str, READABLE))
        raise RecordError(
            f"{file} has schema {schema}, and this kit reads {known}: use the kit that wrote it"
        )
    missing = [name for name in _NEEDED if name not in document]
    if missing:
        raise RecordError(f"{file} is not a results file of siconform: it has no {missing[0]}")
    if str(document["revision"]).endswith(EDITED_MARK):
        raise RecordError(f"{file} is of a run with an edited specification, not of a revision")


def _refuse_parts(document: dict[str, Any], file: Path) -> None:
    if early := document["ended_early"]:
        raise RecordError(f"{file} is a partial result: {early}; run it to its end")
    if document["exit_code"] == ExitCode.INTERRUPTED:
        raise RecordError(f"{file} is a partial result: interrupted; run it to its end")
    if document["exit_code"] == ExitCode.NOTHING_RAN and not _reached(document):
        raise RecordError(f"{file} has no target: nothing ran")


def _reached(document: dict[str, Any]) -> bool:
    silent = CATALOGUED | {Verdict.COULD_NOT_RUN, Verdict.NOT_SELECTED, Verdict.NOT_REACHED}
    return any(Verdict(one["verdict"]) not in silent for one in document["requirements"])


def _refuse_changed(document: dict[str, Any], file: Path) -> None:
    """Refuse a file whose parts disagree: it was changed after the run."""
    found = Counter(Verdict(one["verdict"]).value for one in document["requirements"])
    for verdict, count in document["counts"].items():
        if found[verdict] != count:
            raise RecordError(
                f"{file} was changed after the run: it counts {count} {Verdict(verdict).label} "
                f"and has {found[verdict]}"
            )


def _wrong(error: Exception) -> str:
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)
