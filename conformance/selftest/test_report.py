"""The report of a run: its content, and that target strings are escaped."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from selftest import report_samples as samples
from siconform.reporting.html import histories
from siconform.reporting.html.histories import drawn, read
from siconform.reporting.html.machines import MACHINES, Machine
from siconform.reporting.html.rendering import render
from siconform.reporting.html.report import page_of
from siconform.reporting.html.run_page import run_page
from siconform.reporting.html.views import RunPage
from siconform.verdicts import Verdict

from .commands import invoke


class Tags(HTMLParser):
    """Collects tags with attributes, and scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return samples.write(tmp_path / "run")


@pytest.fixture
def page(folder: Path) -> RunPage:
    return run_page(samples.results(), folder)


def test_denominator_excludes_rm_requirements(page: RunPage) -> None:
    assert (page.tested, page.evaluated) == (3, 4)


def test_denominator_is_that_of_the_selection(folder: Path) -> None:
    selection = {"words": "base", "profile": "base", "requirements": ["SI-GANG-021"]}

    page = run_page({**samples.results(), "selection": selection}, folder)

    assert (page.tested, page.evaluated) == (1, 1)


def test_cell_has_worst_verdict(page: RunPage) -> None:
    gang = next(line for line in page.areas if line.area == "GANG")

    assert [cell.worst for cell in gang.cells] == [Verdict.FAIL, Verdict.PASS, None]


def test_failures_come_first_and_open(page: RunPage) -> None:
    assert [one.id for one in page.failing] == ["SI-GANG-021"]
    assert [one.id for one in page.requirements if one.is_open] == ["SI-GANG-021"]


def test_requirement_has_sentence_and_place(page: RunPage) -> None:
    failing = page.failing[0]

    assert failing.text.startswith("After the confirmation the real allocation is announced")
    assert failing.authority == "the gang scheduling design"
    assert failing.source == 'section "Scheduler logic changes"'


def test_permitted_behaviour_is_shown_at_requirement(page: RunPage) -> None:
    assert page.requirements[0].recorded == ("an ask without capacity: waits",)


def test_history_has_no_barriers_or_prefixes(folder: Path) -> None:
    received = drawn("x", read(folder / samples.HISTORY)).messages

    assert [message.message for message in received if message.stream == "allocations"] == [
        "ask ask-1",
        "allocated ask-1",
    ]
    assert received[0].at == 0.0
    assert {message.rm for message in received} == {"RM"}


def test_long_history_is_shortened(folder: Path) -> None:
    lines = read(folder / samples.HISTORY) * 100

    received = drawn("x", lines)

    assert len(received.messages) == histories.MOST_LINES
    assert received.left_out == 800 - histories.MOST_LINES


def test_histories_of_failures_have_priority(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("siconform.reporting.html.run_page.MOST_LETTERS", 400)
    document = samples.results()
    other = "histories/test_other.jsonl"
    (folder / other).write_text((folder / samples.HISTORY).read_text("utf-8"), "utf-8")
    document["requirements"][0]["tests"][0]["history"] = other

    page = run_page(document, folder)

    assert list(page.histories["histories"]) == [samples.HISTORY]
    assert page.not_drawn == 1
    assert page.requirements[0].tests[0].history == ""


def test_transitions_are_counted_in_histories(page: RunPage) -> None:
    node, ask, _, application = page.machines

    assert {(one.start, one.end): one.times for one in node.arrows if one.times} == {
        ("unknown", "schedulable"): 1,
        ("schedulable", "draining"): 1,
        ("draining", "removed"): 1,
    }
    assert {(one.start, one.end) for one in ask.arrows if one.times} == {
        ("initial", "pending"),
        ("pending", "allocated"),
    }
    assert [(one.start, one.end) for one in application.arrows if one.times] == [
        ("New", "Accepted")
    ]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.title)
def test_drawn_edges_connect_states(machine: Machine) -> None:
    ends = {name for edge in machine.edges for name in (edge.start, edge.end)}

    assert ends == set(machine.states)
    assert len(set(machine.states.values())) == len(machine.states)


def test_headroom_is_slowest_part_of_limit(page: RunPage) -> None:
    assert page.headroom[0].share == 75.0


def test_message_of_the_failure_is_marked(page: RunPage) -> None:
    (failure,) = page.failing[0].failures
    (message,) = [m for m in page.histories["histories"][samples.HISTORY]["messages"] if m[5:]]

    assert [row.this_target.strip() for row in failure.rows if row.is_wrong] == ["allocated ask-1"]
    assert page.histories["texts"][message[4]] == "allocated ask-1"
    assert '<b class="mark">unexpected</b>allocated ask-1' in render(page)


def test_longest_quoted_message_is_marked(folder: Path) -> None:
    lines = read(folder / samples.HISTORY)

    found = drawn("x", lines, "received: node accepted, before allocated gw0-7-ask-1")
    unquoted = drawn("x", lines, "nothing matching was received; sent: ask ask-1")

    assert found.wrong
    assert found.wrong.brief == "allocated ask-1"
    assert unquoted.wrong is None


def test_no_mark_where_nothing_was_received(folder: Path) -> None:
    document = samples.results()
    document["failures"][0]["happened"] = "nothing matching was received"

    assert "unexpected</b>" not in render(run_page(document, folder))


def test_counts_state_the_meaning_of_verdicts(page: RunPage) -> None:
    counts = render(page).partition('<ul class="counts"')[2].partition("</ul>")[0]

    for count in page.counts:
        assert f">{count.verdict.row.meaning}<" in counts


def test_requirement_without_own_reason_states_the_meaning(folder: Path) -> None:
    document = samples.results()
    document["requirements"][4] |= {"verdict": "not-selected", "reason": "not selected"}

    text = render(run_page(document, folder)).partition('id="SI-CB-012"')[2]

    assert f"<dd>{Verdict.NOT_SELECTED.row.meaning}</dd>" in text


def test_failure_has_anchor_and_command(page: RunPage) -> None:
    text = render(page)

    assert '<div class="failure" id="SI-GANG-021/test_021_is_kept">' in text
    assert text.count('href="#SI-GANG-021/test_021_is_kept"') == 2
    assert "siconform run SI-GANG-021 --target x</pre>" in text
    assert "<button" not in text.replace('<button type="reset">', "")


def test_target_strings_are_escaped(page: RunPage) -> None:
    text = render(page)
    tags = Tags()
    tags.feed(text)

    assert [tag for tag, _ in tags.tags].count("script") == 2
    assert not [name for _, names in tags.tags for name in names if name.startswith("on")]
    assert "alert(&#39;x&#39;)" in text


def test_embedded_json_does_not_end_script(page: RunPage) -> None:
    text = render(page)
    found = re.search(
        r'<script type="application/json" id="histories">(.*?)</script>', text, re.DOTALL
    )

    assert found
    assert samples.HOSTILE in json.loads(found[1])["texts"]


def test_page_has_no_external_requests(page: RunPage) -> None:
    tags = Tags()
    tags.feed(render(page))
    links = [
        str(names[name]) for _, names in tags.tags for name in ("src", "href") if name in names
    ]

    assert links
    assert all(link.startswith(("#", "data:")) for link in links)


def test_interrupted_run_is_marked(folder: Path) -> None:
    document = {**samples.results(), "ended_early": "interrupted", "verdict": "INCOMPLETE"}

    assert "<strong>This run is incomplete:</strong> interrupted." in render(
        run_page(document, folder)
    )


def test_results_of_previous_schema_make_a_page(folder: Path) -> None:
    document = samples.results()
    for name in ("failures", "deadlines"):
        del document[name]
    for one in document["requirements"]:
        for test in one["tests"]:
            del test["history"]

    assert "SI-GANG-021" in render(run_page(document, folder))


def test_no_reference_column_without_comparison(tmp_path: Path) -> None:
    folder = samples.write(tmp_path / "out")
    document = samples.results()
    document["failures"][0] |= {"golden": "", "rows": [[0.0, "RM ask ask-1", None, False]]}
    (folder / "results.json").write_text(json.dumps(document), "utf-8")

    received = page_of(samples.write(tmp_path / "both"))
    alone = page_of(folder)

    assert '<th scope="col">the reference</th>' in received
    assert '<th scope="col">the reference</th>' not in alone
    assert "RM ask ask-1" in alone


def test_page_is_written_next_to_results(folder: Path) -> None:
    outcome = invoke("report", str(folder))

    assert outcome.exit_code == 0, outcome.output
    assert outcome.output == f"written to {folder / 'report.html'}\n"
    assert (folder / "report.html").read_text("utf-8") == page_of(folder)


def test_page_command_updates_file_list(folder: Path) -> None:
    listed = folder / "siconform-files.txt"
    listed.write_text("# Written by siconform\nresults.json\n", "utf-8")

    for _ in range(2):
        invoke("report", str(folder))

    assert listed.read_text("utf-8").splitlines()[1:] == ["results.json", "report.html"]
