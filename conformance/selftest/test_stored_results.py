"""Results are read completely or not at all; links of their pages are safe."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from selftest.stored_runs import Document, document, folder_of, requirement
from siconform.reporting import publish
from siconform.reporting.single import page_of
from siconform.reporting.stored import RecordError, read_document

from .commands import invoke

Change = Callable[[Document], Any]

WHOLE = document(requirement("SI-NODE-004", "pass"), requirement("SI-NODE-006", "fail"))
KILLED = "the run did not finish"


@pytest.mark.parametrize(
    ("change", "received"),
    [
        (lambda d: d.update(ended_early=KILLED), f"a partial result: {KILLED}"),
        (lambda d: d.update(exit_code=2), "a partial result: interrupted"),
        (lambda d: d.update(schema=7), "has schema 7, and this kit reads 1 and 2"),
        (lambda d: d.pop("schema"), "is not a results file of siconform: no schema"),
        (lambda d: d.pop("counts"), "is not a results file of siconform: it has no counts"),
        (lambda d: d.update(revision="2024-10+edited"), "is of a run with an edited specification"),
        (lambda d: d["counts"].update({"fail": 0}), "changed after the run: it counts 0 fail and"),
        (lambda d: d["requirements"].pop(), "changed after the run: it counts 1 fail and has 0"),
        (lambda d: d["requirements"][0].update(verdict="good"), "'good' is not a valid Verdict"),
        (lambda d: d["requirements"][0].pop("verdict"), "it has no 'verdict'"),
    ],
)
def test_incomplete_results_are_rejected(tmp_path: Path, change: Change, received: str) -> None:
    changed = json.loads(json.dumps(WHOLE))
    change(changed)

    with pytest.raises(RecordError) as refused:
        read_document(folder_of(changed, tmp_path / "out"))
    assert received in str(refused.value)
    assert "\n" not in str(refused.value)


def test_run_without_target_has_no_verdict(tmp_path: Path) -> None:
    nothing = document(requirement("SI-NODE-004", "could-not-run"), exit_code=12)

    with pytest.raises(RecordError, match="has no target: nothing ran"):
        read_document(folder_of(nothing, tmp_path / "out"))


@pytest.mark.parametrize(
    ("text", "received"),
    [
        (None, "cannot be read: No such file"),
        (json.dumps(WHOLE)[:200], "is not complete JSON (line 1): was it cut off?"),
        ("[]", "not a JSON object"),
        ("{}", "no schema or requirements"),
    ],
)
def test_invalid_results_are_one_sentence(tmp_path: Path, text: str | None, received: str) -> None:
    if text is not None:
        (tmp_path / "results.json").write_text(text)
    with pytest.raises(RecordError, match=re.escape(received)):
        read_document(tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        *(["page"], ["report"], ["report", "whole"], ["compare"], ["compare", "whole"]),
        *(["certify"], ["certify", "-o", "-"]),
    ],
)
def test_every_command_rejects_killed_run(tmp_path: Path, command: list[str]) -> None:
    whole = folder_of(WHOLE, tmp_path / "whole")
    killed = folder_of({**WHOLE, "ended_early": KILLED}, tmp_path / "killed")
    words = [str(whole) if word == "whole" else word for word in command]
    others = [str(whole)] if command == ["compare"] else []

    done = invoke(*words, str(killed), *others)

    assert done.exit_code == 4
    assert done.output.count("\n") == 1
    assert f"a partial result: {KILLED}" in done.stderr


def test_killed_run_is_not_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    killed = folder_of({**WHOLE, "ended_early": KILLED}, tmp_path / "killed")

    assert publish.main([str(killed)]) == 1
    assert "a partial result" in capsys.readouterr().err


def test_a_page_of_any_scheduler_has_what_explained_it(tmp_path: Path) -> None:
    known = [{"outcome": "fail", "says": "kept it", "reason": "It keeps it.", "issue": ""}]
    run = document(requirement("SI-NODE-004", "baselined", known=known))

    text = page_of([folder_of(run, tmp_path / "out")])

    assert text.startswith("# mine\n")
    assert "- It keeps it.\n- ends with fail: `kept it`" in text


def test_links_of_mailed_page_stay_within_page(tmp_path: Path) -> None:
    text = invoke("page", folder_of(WHOLE, tmp_path / "out")).stdout

    links = re.findall(r"\]\(([^)]+)\)", text)
    anchors = re.findall(r'<a id="([^"]+)"></a>', text)
    assert links
    assert {link.removeprefix("#") for link in links} <= set(anchors)
    assert '<a id="si-node-006"></a>**SI-NODE-006** MUST: ' in text
