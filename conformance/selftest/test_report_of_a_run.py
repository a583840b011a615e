"""A run that tested something writes report.html, regardless of its outcome."""

from collections.abc import Callable
from typing import Any

from .commands import invoke

Run = Callable[..., Any]

FAILS = (
    '@requirement("SI-NODE-004")\ndef test_one(target): pass\n'
    '@requirement("SI-NODE-006")\ndef test_two(target): raise ConformanceFailure("<script>no")\n'
)
INTERRUPTED = (
    '@requirement("SI-NODE-004")\ndef test_one(target): pass\n'
    '@requirement("SI-NODE-006")\ndef test_two(target): raise KeyboardInterrupt\n'
)


def test_run_writes_report_which_can_be_regenerated(conformance: Run) -> None:
    outcome = conformance(FAILS)
    report = outcome.folder / "report.html"

    page = report.read_text("utf-8")
    report.unlink()
    invoke("report", outcome.folder)

    assert "<strong>NON-CONFORMANT: 1 MUST fail</strong>" in page
    assert "&lt;script&gt;no" in page
    assert ": report.html, results.json, junit.xml" in outcome.out
    assert report.read_text("utf-8") == page


def test_interrupted_run_is_incomplete_in_report(conformance: Run) -> None:
    outcome = conformance(INTERRUPTED, fresh=True)

    page = (outcome.folder / "report.html").read_text("utf-8")
    assert "This run is incomplete:</strong> interrupted" in page
    assert "t-incomplete" in page
