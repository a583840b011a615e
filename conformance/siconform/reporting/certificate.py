"""Certificate: an in-toto statement with the predicate test-result about one run.

Statement and predicate follow https://in-toto.io/Statement/v1 and
https://in-toto.io/attestation/test-result/v0.1; anything they have no field for is in one extension
field, named by a URI as in-toto requires.
"""

import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from siconform.catalogue import Side
from siconform.policy import Coverage
from siconform.reporting.evaluated_run import EvaluatedRun, Latency, Outcome, deviation, run_in
from siconform.reporting.stored import RecordError, read_object
from siconform.verdicts import REACHED, VIOLATED, Verdict, tally

FILE: Final = "certificate.json"
STATEMENT: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "https://in-toto.io/attestation/test-result/v0.1"
PART: Final = "https://si-conformance.example/certificate/v1"
"""Name of the extension field; the URI resolves to nothing, it only makes the name unique."""

SCHEMA_VERSION: Final = 1
_FAILED: Final = VIOLATED | {Verdict.COULD_NOT_RUN}
_WARNED: Final = _FAILED | {Verdict.CHALLENGED}

Digest = dict[str, str]  # algorithm to hexadecimal digits
Result = Literal["PASSED", "WARNED", "FAILED"]


class Resource(msgspec.Struct, frozen=True, omit_defaults=True):
    """An in-toto ResourceDescriptor, with the fields used here."""

    name: str
    digest: Digest


class Implementation(msgspec.Struct, frozen=True):
    """Implementation under test; unknown fields are empty."""

    name: str
    version: str
    contact: str
    target: str  # as the run named it


class Kit(msgspec.Struct, frozen=True):
    """Version of the kit, and digests of its suite and catalogue."""

    version: str
    catalogue: Digest
    suite: Digest
    kit: Digest


class Certified(msgspec.Struct, frozen=True, omit_defaults=True):
    """Result of one requirement."""

    level: str
    verdict: Verdict
    known: tuple[str, ...] = ()  # outcomes that the baseline records
    by_monitors_alone: bool = False


class Histories(msgspec.Struct, frozen=True):
    """Recorded histories: the number of files, and the digest of the list of their digests."""

    files: int
    digest: Digest


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """The extension field: data in-toto has no field for."""

    schema: int
    implementation: Implementation
    kit: Kit
    revision: str
    profile: str
    verdict: str
    sentence: str
    exit_code: int
    counts: dict[str, int]
    requirements: dict[str, Certified]
    not_armed: tuple[str, ...]
    left_out: dict[str, str]  # test to reason
    without: tuple[str, ...]
    conditions: dict[str, Any]
    environment: dict[str, Any]
    paces: dict[str, Latency]
    histories: Histories
    command: str
    started: str
    seconds: float
    coverage: Coverage | None = None  # None in certificates of older kits
    side: Side = Side.SCHEDULER


class Predicate(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The predicate test-result with our extension field."""

    result: Result
    configuration: tuple[Resource, ...]
    passed_tests: tuple[str, ...]
    warned_tests: tuple[str, ...]
    failed_tests: tuple[str, ...]
    url: str | msgspec.UnsetType = msgspec.UNSET
    part: Part = msgspec.field(name=PART)


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """The complete statement."""

    type_: str = msgspec.field(name="_type", default=STATEMENT)
    subject: tuple[Resource, ...]
    predicate_type: str = msgspec.field(name="predicateType", default=PREDICATE)
    predicate: Predicate

    @property
    def part(self) -> Part:
        """Return the extension field."""
        return self.predicate.part


def result_of(requirements: Mapping[str, Certified]) -> dict[str, Any]:
    """Return the result and the lists of tests, where each requirement is a test.

    FAILED if a MUST fails, is late, inconclusive or a known failure; WARNED if only other
    requirements do, or if a failure is disputed. Requirements that do not apply or were left out
    are in no list.
    """
    bad = {one: sent for one, sent in requirements.items() if sent.verdict in _WARNED}
    failed = tuple(
        one for one, sent in bad.items() if sent.level == "MUST" and sent.verdict in _FAILED
    )
    warned = tuple(one for one in bad if one not in failed)
    passed = tuple(one for one, sent in requirements.items() if sent.verdict is Verdict.PASS)
    return {
        "result": "FAILED" if failed else "WARNED" if warned else "PASSED",
        "passed_tests": passed,
        "warned_tests": warned,
        "failed_tests": failed,
    }


def counted(requirements: Mapping[str, Certified]) -> dict[str, int]:
    """Return how many requirements have each verdict, including zeros."""
    return {
        verdict.value: count
        for verdict, count in tally(sent.verdict for sent in requirements.values()).items()
    }


def written(certificate: Certificate) -> str:
    """Return the certificate as JSON, one line per requirement."""
    plain = msgspec.to_builtins(certificate)
    requirements = plain["predicate"][PART].pop("requirements")
    plain["predicate"][PART]["requirements"] = {}
    text = json.dumps(plain, indent=1, ensure_ascii=False)
    lines = ",\n".join(
        f"    {json.dumps(one)}: {json.dumps(sent, ensure_ascii=False)}"
        for one, sent in requirements.items()
    )
    return text.replace('"requirements": {}', f'"requirements": {{\n{lines}\n   }}') + "\n"


def read_certificate(file: Path) -> Certificate:
    """Read a certificate; RecordError if it is not one of this kit or was changed."""
    document = read_object(file)
    _refuse_others(document, file)
    try:
        certificate = msgspec.convert(document, Certificate)
    except msgspec.ValidationError as error:
        raise RecordError(f"{file} is not a certificate of siconform: {error}") from None
    _refuse_changed(certificate, file)
    return certificate


def evaluated_in(path: Path) -> EvaluatedRun:
    """Return the run of a certificate or results folder; RecordError if there is none."""
    if not path.is_file() or "predicateType" not in read_object(path):
        return run_in(path)
    part = read_certificate(path).part
    return EvaluatedRun(
        str(path),
        part.implementation.name,
        part.implementation.version,
        part.revision,
        part.sentence,
        {one: Outcome(sent.level, outcome(sent)) for one, sent in part.requirements.items()},
        part.paces,
        {
            **{name: part.conditions.get(name) for name in ("time_scale", "workers")},
            "virtual_time": part.conditions.get("virtual_time"),
            **{name: part.environment.get(name) for name in ("platform", "processors")},
        },
        side=part.side,
    )


def outcome(sent: Certified) -> Verdict:
    """Return the verdict, regardless of expectations."""
    return deviation(set(sent.known)) if sent.verdict is Verdict.BASELINED else sent.verdict


def schema() -> dict[str, Any]:
    """Return the JSON schema of certificate.json."""
    text = resources.files("siconform").joinpath("certificate.schema.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _refuse_others(document: Mapping[str, Any], file: Path) -> None:
    if "payloadType" in document and "payload" in document:
        raise RecordError(
            f"{file} is a signed envelope: check its signature and pass the statement in it"
        )
    if document.get("_type") != STATEMENT or "predicateType" not in document:
        raise RecordError(f"{file} is not a certificate: not an in-toto statement ({STATEMENT})")
    predicate = document.get("predicate")
    if document["predicateType"] != PREDICATE or not isinstance(predicate, dict):
        raise RecordError(f"{file} is an in-toto statement of another kind, not a test result")
    part = predicate.get(PART)
    if not isinstance(part, dict):
        raise RecordError(f"{file} is a test result of another program: it has no {PART}")
    if part.get("schema") != SCHEMA_VERSION:
        raise RecordError(
            f"{file} has schema {part.get('schema')}, and this kit reads {SCHEMA_VERSION}: "
            "use the kit that wrote it"
        )


def _refuse_changed(certificate: Certificate, file: Path) -> None:
    """Refuse a certificate whose parts disagree; it is not signed."""
    part, predicate = certificate.part, certificate.predicate
    found = counted(part.requirements)
    for verdict, count in {**found, **part.counts}.items():
        if found.get(verdict) != count or part.counts.get(verdict) != count:
            raise RecordError(
                f"{file} was changed: it counts {part.counts.get(verdict, 0)} "
                f"{verdict} and lists {found.get(verdict, 0)}"
            )
    if part.coverage and part.coverage.tested != sum(part.counts[one] for one in REACHED):
        raise RecordError(f"{file} was changed: coverage and requirements do not agree")
    for name, received in result_of(part.requirements).items():
        if getattr(predicate, name) != received:
            shown = name.replace("_", " ")
            raise RecordError(f"{file} was changed: {shown} and requirements do not agree")


def new(
    subject: tuple[Resource, ...], configuration: tuple[Resource, ...], part: Part, url: str = ""
) -> Certificate:
    """A certificate whose predicate states the same as its part."""
    predicate = Predicate(
        configuration=configuration,
        url=url or msgspec.UNSET,
        part=part,
        **result_of(part.requirements),
    )
    return Certificate(subject=subject, predicate=predicate)
