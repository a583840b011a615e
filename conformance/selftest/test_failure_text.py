"""The last lines of a printed failure: look closer, run it again, and record it last."""

import pytest
import yaml
from siconform.config.command_line import CommandLine
from siconform.output.failure_text import FailureBlock, entry, repeated, text_of
from siconform.verdicts import Verdict

ID, TEST = "SI-NODE-026", "suite/test_x.py::test_a"
COMMAND = CommandLine(("siconform", "run"), ("--target", "127.0.0.1:9080"))


def ending(verdict: Verdict, known: str = "") -> list[str]:
    """The lines of a printed failure from its test on."""
    block = FailureBlock(
        TEST, ID, verdict, "it did", "it does not", "it did", known=known, history="test_a.jsonl"
    )
    return text_of(block, (), COMMAND).rpartition("\n\n")[2].splitlines()


@pytest.mark.parametrize("verdict", [Verdict.FAIL, Verdict.COULD_NOT_RUN])
def test_baseline_entry_is_offered_last(verdict: Verdict) -> None:
    received = ending(verdict)

    assert received == [
        f"  test       {TEST}",
        f"  closer     siconform explain {ID}; all messages: report.html, histories",
        f"  again      siconform run {ID} --target 127.0.0.1:9080",
        "  known?     only if this deviation is known and explained, add to your baseline:",
        f'             - {{requirement: {ID}, outcome: {verdict}, reason: "TODO: explanation",',
        '                says: "it did"}',
    ]
    assert max(map(len, received)) <= 100


def test_baseline_entry_has_the_beginning_of_a_long_message() -> None:
    offered = yaml.safe_load(entry(ID, Verdict.FAIL, "word " * 2000))

    assert offered[0]["says"] == ("word " * 32).strip()


def test_finding_of_a_monitor_is_repeated_by_its_test() -> None:
    found = FailureBlock(TEST + "[1]", ID, Verdict.FAIL, "it did", "", "it did", monitor="nodes")

    assert repeated(found, COMMAND) == "siconform run --target 127.0.0.1:9080 -k test_a"


def test_known_failure_or_internal_error_offers_no_entry() -> None:
    first, again = ending(Verdict.FAIL)[0], ending(Verdict.FAIL)[2]

    assert ending(Verdict.BASELINED, known="It is tracked.") == [
        first, again, "  known      It is tracked.",
    ]  # fmt: skip
    assert ending(Verdict.KIT_ERROR) == [first, again]
