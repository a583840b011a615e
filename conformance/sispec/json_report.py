"""A report as JSON, as described by `report.schema.json` in this folder."""

import json
from typing import Any, Final

from sispec import layout
from sispec.classes import Evaluation
from sispec.impact import Impact
from sispec.misreading import Reading
from sispec.model import Sentence, Spec
from sispec.report import Report
from sispec.rules import RuleChange

SCHEMA_VERSION: Final = 1


def to_json(report: Report, exit_code: int) -> str:
    """Return the whole report, indented, with a trailing newline."""
    return json.dumps(as_values(report, exit_code), indent=1, ensure_ascii=False) + "\n"


def as_values(report: Report, exit_code: int) -> dict[str, Any]:
    """Return the report as JSON values; unknown lines and requirements are omitted or null."""
    return {
        "schema": SCHEMA_VERSION,
        "old": _side(report.old),
        "new": _side(report.new),
        "exit_code": exit_code,
        "breaking": bool(report.broken()),
        "counts": {
            **{each.value: number for each, number in report.counts.items()},
            "rules changed": report.rules_changed,
        },
        "changes": [
            {"group": number, **_evaluation(one)}
            for number, entry in enumerate(report.entries)
            for one in entry.evaluations
        ],
        "comments": [_evaluation(one) for one in report.words],
        "rules": [_rule(change) for change in report.rules],
        "buf": {
            "missing": report.buf_missing,
            "rules": [
                {"rule": rule.rule, "breaks": rule.breaks.value, "says": rule.message}
                | {"line": rule.line or None}
                for rule in report.buf
            ],
        },
        "impact": None if report.impact is None else _impact(report.impact),
    }


def _side(spec: Spec) -> dict[str, Any]:
    return {"name": spec.name, "guesses": list(spec.guesses)}


def _evaluation(one: Evaluation) -> dict[str, Any]:
    change = one.change
    return {
        "kind": change.kind.value,
        "where": change.where,
        "was": change.old_place,
        "old": change.old,
        "new": change.new,
        "line": change.line or None,
        "classes": [each.value for each in one.classes],
        "old_peer": one.old_peer,
        "new_peer": one.new_peer,
        "advice": one.advice,
        "readings": [_reading(reading) for reading in one.readings],
    }


def _reading(reading: Reading) -> dict[str, Any]:
    return {
        "writer": reading.writer,
        "reader": reading.reader,
        "message": reading.message,
        "taken_for": reading.taken_for,
        "element": reading.element,
        "form": reading.form.value,
        "data": reading.data.hex(),
        "wrote": reading.wrote,
        "outcome": reading.outcome.value,
        "read_as": reading.read_as,
        "read": reading.read,
    }


def _rule(change: RuleChange) -> dict[str, Any]:
    return {
        "kind": change.kind.value,
        "old": _sentence(change.old),
        "new": _sentence(change.new),
        "carried": list(change.carried),
        "carries": list(change.carries),
    }


def _sentence(sentence: Sentence | None) -> dict[str, Any] | None:
    if sentence is None:
        return None
    return {
        "text": " ".join(sentence.text.split()),
        "place": sentence.place or sentence.section,
        "line": sentence.line or None,
        "words": list(sentence.words),
    }


def _impact(found: Impact) -> dict[str, Any]:
    return {
        "revision": found.revision,
        "unseen_sources": found.unseen,
        "sources": found.sources,
        "requirements": [
            {
                "id": one.requirement.id,
                "near": one.is_near,
                "lost_all_sentences": one.has_lost_all,
                "grounds": list(dict.fromkeys(map(str, one.reasons))),
                "tests": list(one.tests),
                "faults": list(one.mutants),
            }
            for one in found.requirements
        ],
        "changes": [
            {
                "where": change.change.where,
                "kind": change.change.kind.value,
                "touched": list(change.touched),
                "near": list(change.near),
                "code": [str(usage) for usage in change.code],
            }
            for change in found.changes
        ],
        "arriving": [requirement.id for requirement in found.arriving],
        "uncovered": [layout.rule_title(change) for change in found.uncovered],
        "run_again": [
            {"page": run.published.file, "command": run.published.command}
            | {"requirements": list(run.requirements)}
            for run in found.results
        ],
    }
