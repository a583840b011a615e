"""A whole run is certified as an in-toto test result; invalid or changed ones are rejected."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from siconform import digests, results
from siconform.catalogue import catalogue, find_requirement
from siconform.policy import RequirementResult, RunStatus
from siconform.reporting import certificate, certifying
from siconform.reporting.certificate import PART, evaluated_in, read_certificate
from siconform.reporting.stored import RecordError
from siconform.verdicts import REACHED, Verdict, tally

from .commands import invoke
from .stored_runs import Document, document, folder_of, latency, requirement
from .test_summary import run as ended

Change = Callable[[Document], Any]

KNOWN = [{"outcome": "fail", "says": "x", "reason": "It does.", "issue": ""}]
PASS, MUST_FAILS = requirement("SI-NODE-004", "pass"), requirement("SI-NODE-006", "fail")
SHOULD_FAILS = requirement("SI-NODE-009", "late", level="SHOULD")
COULD_NOT_RUN = requirement("SI-NODE-007", "could-not-run")
OF_THE_RM = requirement("SI-NODE-014", "of-the-rm")
AS_RECORDED = requirement("SI-NODE-008", "baselined", known=KNOWN, level="MUST")


def certified(folder: Path, *requirements: Document, **more: Any) -> Document:
    """The certificate of such a run, as it is written."""
    run = folder_of(document(*requirements, **more), folder / "out")
    file = certifying.write(run, certifying.certify(run))
    written: Document = json.loads(file.read_text("utf-8"))
    jsonschema.validate(written, certificate.schema())
    return written


@pytest.mark.parametrize(
    ("requirements", "result", "lists"),
    [
        ([PASS], "PASSED", (1, 0, 0)),
        ([PASS, SHOULD_FAILS], "WARNED", (1, 1, 0)),
        ([PASS, SHOULD_FAILS, MUST_FAILS], "FAILED", (1, 1, 1)),
        ([PASS, COULD_NOT_RUN], "FAILED", (1, 0, 1)),
        ([PASS, AS_RECORDED], "FAILED", (1, 0, 1)),
        ([PASS, requirement("SI-NODE-010", "not-applicable")], "PASSED", (1, 0, 0)),
    ],
)
def test_predicate_matches_results(
    tmp_path: Path, requirements: list[Document], result: str, lists: tuple[int, ...]
) -> None:
    predicate = certified(tmp_path, *requirements)["predicate"]

    assert predicate["result"] == result
    received = (predicate["passedTests"], predicate["warnedTests"], predicate["failedTests"])
    assert tuple(map(len, received)) == lists


def test_certificate_has_inputs_of_run(tmp_path: Path) -> None:
    statement = certified(tmp_path, PASS, AS_RECORDED, deadlines=[latency("ack", 0.1)])

    part = statement["predicate"][PART]
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert part["kit"]["suite"] == {"sha256": digests.of_the_kit()["suite"]}
    assert part["counts"] == tally([Verdict.PASS, Verdict.BASELINED])
    assert part["requirements"]["SI-NODE-008"]["known"] == ["fail"]
    assert part["conditions"]["seed"] == 0
    assert part["environment"]["platform"] == "Linux"
    assert part["paces"]["ack"]["median"] == 0.1
    assert part["histories"]["files"] == 1


def test_histories_are_listed_as_sha256sum_reads_them(tmp_path: Path) -> None:
    part = certified(tmp_path, PASS)["predicate"][PART]
    listed = tmp_path / "out" / "histories.sha256"

    assert part["histories"]["digest"]["sha256"] == digests.of_file(listed)
    (line,) = listed.read_text("utf-8").splitlines()
    digest, _, name = line.partition("  ")
    assert digest == digests.of_file(listed.parent / name)


def test_user_overrides_are_in_certificate(tmp_path: Path) -> None:
    run = folder_of(document(PASS), tmp_path / "out")
    file = tmp_path / "certificate.json"
    words = ["--implementation", "Mine", "--implementation-version", "2", "--contact", "me@here"]
    words += ["--subject", f"image=sha256:{'ab' * 32}", "--url", "https://ci.example/1"]

    done = invoke("certify", run, "-o", file, *words)

    assert done.exit_code == 0, done.stderr
    read = read_certificate(file)
    received = read.part.implementation
    assert (received.name, received.version, received.contact) == ("Mine", "2", "me@here")
    assert read.subject[0].digest == {"sha256": "ab" * 32}
    assert read.predicate.url == "https://ci.example/1"
    assert not (run / "certificate.json").exists()


@pytest.mark.parametrize(
    ("change", "received"),
    [
        (lambda d: d.update(ended_early="interrupted"), "a partial result: interrupted"),
        (lambda d: d.update(verdict="KIT ERROR", sentence="KIT ERROR: x"), "not certified: KIT"),
        (
            lambda d: d["left_out"].append({"test": "t", "reason": Verdict.NOT_SELECTED.label}),
            "ran a part of the suite, without t; run the whole suite",
        ),
        (lambda d: d.update(judged_by={}), "was made by siconform 0.1.0 with another catalogue"),
        (lambda d: d.pop("judged_by"), "was made by an older kit with another catalogue"),
    ],
)
def test_incomplete_run_is_not_certified(tmp_path: Path, change: Change, received: str) -> None:
    changed = document(PASS, MUST_FAILS)
    change(changed)

    done = invoke("certify", folder_of(changed, tmp_path / "out"), "-o", "-")

    assert done.exit_code == 4
    assert received in done.stderr
    assert done.output.count("\n") == 1


BY_USER = Verdict.NOT_SELECTED.label
BASE = "2024-10/base.1"
BY_TARGET = requirement("SI-NODE-007", "not-selected", reason="give --disruptive")


def profile_of(*chosen: Document) -> Document:
    """The selection of a whole profile with these requirements."""
    return {"words": "base", "profile": BASE, "requirements": [one["id"] for one in chosen]}


def badge_in(folder: Path) -> Document:
    badge: Document = json.loads((folder / "out" / "badge.json").read_text("utf-8"))
    return badge


def test_whole_profile_is_certified_by_name(tmp_path: Path) -> None:
    aside = requirement("SI-NODE-006", "not-selected", reason=BY_USER)
    left_out = [{"test": "suite/test_nodes.py::test_x", "reason": BY_USER}]

    made = certified(tmp_path, PASS, aside, selection=profile_of(PASS), left_out=left_out)

    assert made["predicate"][PART]["profile"] == BASE
    badge = badge_in(tmp_path)
    assert badge["label"] == f"SI 2024-10, profile {BASE}"
    assert badge["message"] == "conformant, 1 of 1 tested"


def test_certificate_names_untested_requirements_of_the_selection(tmp_path: Path) -> None:
    aside = [
        requirement(name, "not-selected", reason=BY_USER) for name in ("SI-NODE-006", "SI-NODE-014")
    ]

    made = certified(tmp_path, PASS, BY_TARGET, *aside, selection=profile_of(PASS, BY_TARGET))

    assert made["predicate"][PART]["coverage"] == {
        "tested": 1, "selected": 2, "untested": {"SI-NODE-007": "not selected: give --disruptive"},
    }  # fmt: skip


RESULTS = [
    RequirementResult(find_requirement(name), verdict, reason)
    for name, verdict, reason in (
        ("SI-NODE-004", Verdict.PASS, ""),
        ("SI-NODE-007", Verdict.NOT_SELECTED, "give --disruptive"),
        ("SI-NODE-008", Verdict.BASELINED, "known"),
        ("SI-CB-012", Verdict.EXCLUDED, "no service"),
    )
]


@pytest.mark.parametrize(("profile", "count"), [("", 4), (BASE, 4), (BASE, 3), (BASE, 2)])
def test_badge_counts_like_the_verdict(tmp_path: Path, profile: str, count: int) -> None:
    selected, others = RESULTS[:count], RESULTS[count:]
    of_the_rm = RequirementResult(find_requirement("SI-NODE-014"), Verdict.OF_THE_RM, "")
    unselected = [
        replace(one, verdict=Verdict.NOT_SELECTED, reason=BY_USER) for one in (*others, of_the_rm)
    ]
    chosen = frozenset(one.requirement.id for one in selected) if profile else None
    status = RunStatus("2024-10", chosen=chosen, profile=profile, with_baseline=True)
    shown = ended([*selected, *unselected] if profile else [*selected, of_the_rm], status)
    folder = folder_of({**results.document(shown), "left_out": []}, tmp_path / "out")

    certifying.write(folder, certifying.certify(folder))

    tested = sum(one.verdict in REACHED for one in selected)
    assert f"{tested} of {count} tested" in badge_in(tmp_path)["message"]
    assert not profile or f"{tested} of {count} selected" in shown.evaluation.sentence


def test_partial_profile_is_not_certified(tmp_path: Path) -> None:
    chosen = {"words": "x", "profile": "2024-10", "requirements": ["SI-NODE-004", "SI-NODE-006"]}
    aside = requirement("SI-NODE-006", "not-selected", reason=Verdict.NOT_SELECTED.label)
    run = folder_of(document(PASS, aside, selection=chosen), tmp_path / "out")

    with pytest.raises(certifying.NotCertified, match="part of the suite, without SI-NODE-006;"):
        certifying.certify(run)


def test_nothing_is_written_into_an_archived_folder(tmp_path: Path) -> None:
    run = folder_of(document(PASS), tmp_path / "out")

    done = invoke("certify", run)

    assert done.exit_code == 4
    assert "has no siconform-files.txt, so it is not modified: give -o FILE" in done.stderr
    assert not (run / "certificate.json").exists()


@pytest.mark.parametrize(
    ("change", "received"),
    [
        (lambda c: c.update({"_type": "x"}), "is not a certificate: not an in-toto statement"),
        (lambda c: c.update(predicateType="https://slsa.dev/provenance/v1"), "of another kind"),
        (lambda c: c["predicate"].pop(PART), "is a test result of another program"),
        (lambda c: c["predicate"][PART].update(schema=9), "has schema 9, and this kit reads 1"),
        (lambda c: c["predicate"][PART].pop("kit"), "missing required field `kit`"),
        (lambda c: c["predicate"][PART]["counts"].update({"fail": 0}), "counts 0 fail and lists 1"),
        (
            lambda c: c["predicate"][PART]["coverage"].update(tested=1),
            "coverage and requirements do not agree",
        ),
        (lambda c: c["predicate"].update(failedTests=[]), "failed tests and requirements do not"),
        (lambda c: c["predicate"].update(result="PASSED"), "result and requirements do not agree"),
        (
            lambda c: c["predicate"][PART]["requirements"]["SI-NODE-006"].update(verdict="pass"),
            "was changed: it counts 1 pass and lists 2",
        ),
    ],
)
@pytest.mark.parametrize("command", ["verify", "compare"])
def test_mismatching_certificate_is_one_sentence(
    tmp_path: Path, change: Change, received: str, command: str
) -> None:
    made = certified(tmp_path, PASS, MUST_FAILS)
    change(made)
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(made))

    done = invoke(command, file, *([tmp_path / "out"] if command == "compare" else []))

    if command == "compare" and "predicateType" not in made:
        received = "is no results"
    assert done.exit_code == 4
    assert received in done.stderr
    assert done.output.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "received"),
    [
        (None, "cannot be read: No such file"),
        ('{"_type": "https://in-toto.io/St', "is not complete JSON (line 1): was it cut off?"),
        ('{"payloadType": "application/vnd.in-toto+json", "payload": "e30="}', "signed envelope"),
        ("[1]", "not a JSON object"),
    ],
)
def test_invalid_certificate_is_one_sentence(
    tmp_path: Path, text: str | None, received: str
) -> None:
    file = tmp_path / "certificate.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(RecordError, match=re.escape(received)):
        read_certificate(file)


def test_certified_name_is_shown(tmp_path: Path) -> None:
    run = folder_of(document(PASS), tmp_path / "out")
    file = tmp_path / "certificate.json"
    invoke("certify", run, "-o", file, "--implementation", "my-scheduler")

    compared, verified = invoke("compare", file, run), invoke("verify", file)

    assert compared.stdout.startswith("before  my-scheduler 1.0, ")
    assert verified.stdout.startswith("my-scheduler, SI 2024-10: ")
    assert "is for my-scheduler (target mine): give --target" in verified.stderr


def test_certificate_of_older_kit_has_no_coverage(tmp_path: Path) -> None:
    made = certified(tmp_path, PASS)
    del made["predicate"][PART]["coverage"]
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(made))

    assert read_certificate(file).part.coverage is None


def test_certificate_can_be_compared(tmp_path: Path) -> None:
    certified(tmp_path, PASS, MUST_FAILS, AS_RECORDED, deadlines=[latency("ack", 0.1)])
    file, run = tmp_path / "out" / "certificate.json", tmp_path / "out"

    done = invoke("compare", file, run)

    assert done.exit_code == 0
    assert "3 requirements compared: no regressions, no fixes" in done.stdout
    assert "times not compared" not in done.stdout
    assert evaluated_in(file).outcomes["SI-NODE-008"].verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("requirements", "message", "color"),
    [
        ([PASS], "conformant, 1 of 1 tested", "brightgreen"),
        ([PASS, requirement("SI-CB-012", "excluded")], "conformant, 1 of 2 tested", "brightgreen"),
        ([PASS, MUST_FAILS], f"non-conformant, 2 of 2 tested, {Verdict.FAIL.counted(1)}", "red"),
        (
            [PASS, AS_RECORDED],
            f"non-conformant, 2 of 2 tested, {Verdict.BASELINED.counted(1)}",
            "yellow",
        ),
        (
            [PASS, requirement("SI-NODE-014", "of-the-rm")],
            "conformant, 1 of 1 tested",
            "brightgreen",
        ),
    ],
)
def test_badge_has_denominator(
    tmp_path: Path, requirements: list[Document], message: str, color: str
) -> None:
    certified(tmp_path, *requirements)

    badge = json.loads((tmp_path / "out" / "badge.json").read_text("utf-8"))
    assert badge == {
        "schemaVersion": 1, "label": "SI 2024-10", "message": message, "color": color,
    }  # fmt: skip


def test_must_without_mutant_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {name: catalogue()[name] for name in ("SI-NODE-001", "SI-NODE-002")}
    known["SI-NODE-001"] = replace(known["SI-NODE-001"], no_mutant="nothing can break it")
    monkeypatch.setattr(certifying, "catalogue", lambda: known)

    assert certifying._not_killed(known) == ("SI-NODE-001",)
