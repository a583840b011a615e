"""What is shown of the result of a trace: screen, results, JUnit file and page."""

import io
import json
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from selftest.monitor_cases.by_key import new
from selftest.sample_histories import by_key
from selftest.trace_report_samples import (
    BROKEN,
    CHECK,
    CLEAN,
    DRAINING,
    HELD,
    HOSTILE,
    IDLE,
    drawn_violation,
    known,
    made,
    requirement,
    result,
    violated_exchange,
)
from siconform.baseline import Baseline
from siconform.config.option_values import BadOption
from siconform.monitors.trace_result import CutOff, Totals, TraceResult
from siconform.output.live.output import Output
from siconform.output.live.terminal import Terminal
from siconform.output.trace_report.document import schema
from siconform.output.trace_report.evaluation import Conclusion, evaluate
from siconform.output.trace_report.outputs import Showing, TraceOutputs
from siconform.output.trace_report.unseen import unseen
from siconform.reporting.html.rendering import render_trace
from siconform.reporting.html.trace_page import trace_page

from .commands import invoke, results_in


class Shown:
    """A check whose outputs are kept."""

    def __init__(self, folder: Path | None = None, verbosity: int = 0, **named: Any) -> None:
        self.stream = io.StringIO()
        output = Output(Terminal.of(self.stream, named.pop("colour", "")), verbosity)
        self.outputs = TraceOutputs(Showing(output, folder, **named))

    def finish(self, checked: TraceResult = BROKEN) -> int:
        code = self.outputs.finish(checked, CHECK)
        self.outputs.close()
        return int(code)

    @property
    def text(self) -> str:
        return self.stream.getvalue()


# verdicts and exit codes


@pytest.mark.parametrize(
    ("checked", "baseline"),
    [(BROKEN, None), (BROKEN, known("draining")), (CLEAN, known("draining"))],
)
def test_results_match_schema(checked: TraceResult, baseline: Baseline | None) -> None:
    jsonschema.validate(made(checked, baseline), schema())


def test_results_count_what_was_seen() -> None:
    received = made()

    assert received["kind"] == "trace"
    assert received["counts"]["held"] == received["counts"]["not-exercised"] == 1
    assert [one["held"] for one in received["requirements"]] == [0, 12, 0]
    assert "exercised 2 of the 3 requirements that monitors check" in received["exercised"]
    assert [one["decides"] for one in received["requirements"]] == [True, True, True]


@pytest.mark.parametrize("command", ["report", "certify", "compare", "page"])
def test_commands_about_runs_refuse_results_of_a_trace(tmp_path: Path, command: str) -> None:
    (tmp_path / "results.json").write_text(json.dumps(made()), "utf-8")
    folders = [str(tmp_path)] * (2 if command == "compare" else 1)

    done = invoke(command, *folders)

    assert done.exit_code == 4
    assert "is the result of siconform check-trace" in done.stderr


# what was not seen


def test_what_was_not_seen_is_reported() -> None:
    totals = Totals(
        dropped=12, unknown={"rm": 300, "other": 0}, forgotten=1, cut_off=(CutOff("t.jsonl", 9),)
    )

    assert [what for what, _ in unseen(result(totals=totals))] == [
        "12 dropped messages",
        "the beginning of rm",
        "callbacks",
        "1 late element",
        "an incomplete line",
    ]
    assert list(unseen(CLEAN)) == []


# the messages around a violation


def test_messages_about_the_same_names_are_kept() -> None:
    surroundings, found = violated_exchange()

    received = surroundings.around()[found]

    kinds = [(one["element"] or {}).get("is") for one in received]
    assert kinds[-1] == "Allocated"
    assert {"NodeRequest", "AskRequest"} <= set(kinds)
    assert "other" not in {(one["element"] or {}).get("key") for one in received}


def test_later_messages_about_it_follow() -> None:
    surroundings, found = violated_exchange()
    later = by_key((new("other"), new("k"), new("k"), new("k"))).everything()

    for line, entry in enumerate(later, start=100):
        surroundings.observe(0, line, entry)

    lines = [one["place"][1] for one in surroundings.around()[found]]
    assert [line for line in lines if line >= 100] == [101, 102]


def test_violating_message_is_marked() -> None:
    received = made(drawn_violation())
    jsonschema.validate(received, schema())
    (violation,) = received["violations"]

    marked = [row["line"] for row in violation["rows"] if row["is_violation"]]
    assert marked == [violation["line"]]
    assert violation["rows"][-1]["text"].startswith("   allocated k")
    assert "the exchange (indented: the scheduler)" in violation["text"]
    assert sum(" ! " in line for line in violation["text"].splitlines()) == 1


def test_text_of_a_violation_has_a_baseline_entry_that_explains_it() -> None:
    (violation,) = made()["violations"]

    assert "where      trace.jsonl, line 17, RM rm" in violation["text"]
    assert "violated   1,204 times" in violation["text"]
    assert f'says: "{violation["says"]}"' in violation["text"]
    assert evaluate(BROKEN, known(violation["says"])).exit_code == 0


def test_message_that_violates_several_requirements_is_shown_once() -> None:
    message = "allocation k was announced twice"
    shown = Shown()
    shown.finish(result(requirement("SI-ASK-027", message), requirement("SI-ALLOC-008", message)))

    assert shown.text.count("happened   allocation k was announced twice") == 1
    assert "  also       violated SI-ALLOC-008\n" in shown.text


# the page


def test_page_has_the_violation_and_how_often_rules_held() -> None:
    page = trace_page(made())
    html = render_trace(page)

    assert [one.id for one in page.failing] == [DRAINING]
    assert "violated 1,204 times" in html
    assert "held 12 times" in html
    assert "What was not exercised was not tested" in html
    assert "CONFORMANT" not in html.replace("NON-CONFORMANT", "")


def test_page_draws_the_messages() -> None:
    page = trace_page(made(drawn_violation()))

    (card,) = page.requirements[0].failures
    assert [row.is_wrong for row in card.rows][-1]
    assert list(page.histories["histories"]) == [card.anchor]
    assert f'data-history="{card.anchor}"' in render_trace(page)


def test_page_has_what_was_not_seen() -> None:
    page = trace_page(made(drawn_violation()))

    assert [what for what, _ in page.unseen] == [
        "3 dropped messages",
        "the beginning of rm",
        "callbacks",
    ]
    assert "What was not seen" in render_trace(page)


def test_page_escapes_what_the_trace_has() -> None:
    html = render_trace(trace_page(made(result(requirement(DRAINING, HOSTILE)))))

    assert HOSTILE not in html
    assert "&lt;/script&gt;&lt;script&gt;alert" in html


def test_page_needs_no_network() -> None:
    html = render_trace(trace_page(made()))

    assert "default-src 'none'" in html
    assert "http://" not in html.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in html


# the screen


def test_screen_ends_with_verdict_counts_and_exit_code() -> None:
    shown = Shown()

    assert shown.finish() == 1
    assert "VIOLATED  SI-NODE-026   MUST   source: " in shown.text
    assert " NODE   ##########!!!!!!!!!!    1 held     1 violated\n" in shown.text
    assert (
        "NON-CONFORMANT: 1 MUST violated (SI 2024-10)\n"
        "  VIOLATED SI-NODE-026  MUST   Nothing is placed on a draining node\n"
        "           allocation ask-4 is on node-1, which is draining (1,204 times)\n"
        "  1 violated, 1 held, 1 not exercised"
    ) in shown.text
    assert "  read: 30 messages of 1 RM within 3,600.5 s, 1 file\n" in shown.text
    assert shown.text.endswith("siconform explain SI-NODE-026\n(exit code 1)\n")


def test_verbose_screen_lists_how_often_each_rule_held() -> None:
    shown = Shown(verbosity=1)
    shown.finish()

    assert "  SI-NODE-006  MUST   held 12 times\n" in shown.text
    assert "  SI-GANG-021  MUST   not exercised\n" in shown.text


def test_quiet_screen_has_the_verdict() -> None:
    shown = Shown(verbosity=-1)
    shown.finish(CLEAN)

    assert shown.text == "NO VIOLATION SEEN: 1 held, 1 not exercised (SI 2024-10)\n"


def test_colours_are_those_of_a_run() -> None:
    violated, clean = Shown(colour="yes"), Shown(colour="yes")
    violated.finish()
    clean.finish(CLEAN)

    assert "\x1b[31m\x1b[1mNON-CONFORMANT" in violated.text
    assert "\x1b[32m" not in clean.text  # green is for conformance


def test_followed_trace_prints_a_violation_once() -> None:
    shown = Shown()
    for _ in range(2):
        shown.outputs.update(BROKEN, CHECK)

    assert shown.text == (
        "VIOLATED SI-NODE-026  MUST   allocation ask-4 is on node-1, which is draining\n"
    )


def test_annotations_on_github(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    shown = Shown()
    shown.finish()

    assert "::error title=SI-NODE-026 MUST violated::Nothing is placed on a draining" in shown.text


# files


def cases(folder: Path) -> Mapping[str, ET.Element]:
    root = ET.parse(folder / "junit.xml").getroot()  # noqa: S314  # our own
    return {str(case.get("name")): case for case in root.iter("testcase")}


def test_results_folder(tmp_path: Path) -> None:
    shown = Shown(tmp_path / "results", baseline=known("something else"))
    shown.finish()

    folder = tmp_path / "results"
    received = results_in(folder)
    assert (received["exit_code"], received["ended_early"]) == (1, "")
    assert (folder / "failures.txt").read_text("utf-8").startswith("VIOLATED  SI-NODE-026")
    assert "NON-CONFORMANT: trace.jsonl on SI 2024-10" in (folder / "report.html").read_text(
        "utf-8"
    )
    assert f"results in {folder}: report.html, results.json, junit.xml, failures.txt" in shown.text
    found = cases(folder)
    assert found[DRAINING].find("failure") is not None
    assert found[HELD].find("skipped") is None
    assert found[IDLE].find("skipped") is not None


def test_followed_trace_has_preliminary_results(tmp_path: Path) -> None:
    shown = Shown(tmp_path)
    shown.outputs.update(BROKEN, CHECK)

    received = results_in(tmp_path)
    assert received["ended_early"] == "the trace is still being followed"
    jsonschema.validate(received, schema())


def test_next_check_replaces_the_results(tmp_path: Path) -> None:
    for checked in (BROKEN, CLEAN):
        Shown(tmp_path).finish(checked)

    assert results_in(tmp_path)["exit_code"] == 0
    assert not (tmp_path / "failures.txt").exists()


def test_files_of_others_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text("mine", "utf-8")

    with pytest.raises(BadOption, match="its results are not replaced"):
        Shown(tmp_path)

    assert (tmp_path / "results.json").read_text("utf-8") == "mine"


def test_conclusions_do_not_contain_conformance() -> None:
    assert "CONFORMANT" not in {*Conclusion}
