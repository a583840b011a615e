"""A record: normalised run results, without anything that differs from run to run."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from siconform.baseline import Baseline, KnownDeviation
from siconform.catalogue import Side
from siconform.reporting.stored import RecordError, read_document, side_in
from siconform.verdicts import OF_ONE_SIDE, REACHED, Verdict

_CONCLUSIVE: Final = REACHED | {Verdict.CHALLENGED}
_STATES_ENOUGH: Final = OF_ONE_SIDE | {Verdict.BASELINED, Verdict.EXCLUDED}
"""Verdicts whose reason is in the baseline or in the catalogue."""


class RequirementRecord(
    msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True
):
    """Result of one requirement."""

    verdict: Verdict
    reason: str = ""
    without: tuple[str, ...] = ()  # tests without a result although others have one, and why
    recorded: tuple[str, ...] = ()  # observed behaviour that the specification leaves open


class Record(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """Summary of a run."""

    target: str
    revision: str
    command: str
    sentence: str
    requirements: dict[str, RequirementRecord]  # by id, in the order of the catalogue
    side: Side = Side.SCHEDULER  # that was tested


def record_of(results: Mapping[str, Any]) -> Record:
    """Return the record of a run from its results.json."""
    return Record(
        target=results["target"]["name"],
        revision=results["revision"],
        command=results["command"],
        sentence=results["sentence"],
        requirements={r["id"]: _evaluated(r) for r in results["requirements"]},
        side=side_in(results),
    )


def known_in(results: Mapping[str, Any]) -> Baseline:
    """Return the baseline entries that explained a failure in this run."""
    entries = (
        msgspec.convert({"requirement": requirement["id"], **known}, KnownDeviation)
        for requirement in results["requirements"]
        for known in requirement["known"]
    )
    return Baseline(results["baseline"]["file"], tuple(entries))


def read_results(folder: Path) -> tuple[Record, Baseline]:
    """Read the record and the used baseline of the run in this folder.

    RecordError if there are no results of a complete run.
    """
    results = read_document(folder)
    try:
        return record_of(results), known_in(results)
    except (ValueError, KeyError, TypeError) as error:
        raise RecordError(f"{folder} has no results of siconform: {error!r}") from None


def read_record(path: Path) -> Record:
    """Read a record file; RecordError if it is not one."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from None
    except msgspec.MsgspecError as error:
        raise RecordError(f"{path} is not a record: {error}") from None


def written(record: Record) -> str:
    """Return the record as JSON, one line per requirement, for readable diffs."""
    plain = msgspec.to_builtins(record)
    evaluated = [f"  {_json(key)}: {_json(value)}" for key, value in plain["requirements"].items()]
    lines = [
        f"{_json(key)}: {_json(value)}" for key, value in plain.items() if key != "requirements"
    ]
    lines.append('"requirements": {\n' + ",\n".join(evaluated) + "\n}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _evaluated(requirement: Mapping[str, Any]) -> RequirementRecord:
    verdict = Verdict(requirement["verdict"])
    tests = [test for test in requirement["tests"] if not test["monitor"]]
    return RequirementRecord(
        verdict,
        "" if verdict in _STATES_ENOUGH else requirement["reason"],
        tuple(sorted(set(_silent(tests)))) if verdict in _CONCLUSIVE else (),
        tuple(sorted({sent for test in tests for sent in test["recorded"]})),
    )


def _silent(tests: list[Mapping[str, Any]]) -> Iterator[str]:
    for test in tests:
        if Verdict(test["verdict"]) in (Verdict.NOT_SELECTED, Verdict.NOT_APPLICABLE):
            yield f"{test['id'].rpartition('::')[2]}: {test['says']}"
