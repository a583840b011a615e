"""Every run writes report.html, regardless of its outcome."""

from collections.abc import Callable
from typing import Any

from siconform.cli import main

Run = Callable[..., Any]

FAILS = (
    '@requirement("SI-NODE-004")\ndef test_one(target): pass\n'
    '@requirement("SI-NODE-006")\ndef test_two(target): raise ConformanceFailure("<script>no")\n'
)
INTERRUPTED = (
    '@requirement("SI-NODE-004")\ndef test_one(target): pass\n'
    '@requirement("SI-NODE-006")\ndef test_two(target): raise KeyboardInterrupt\n'
)


def test_run_writes_report_and_names_it(conformance: Run) -> None:
    outcome = conformance(FAILS)

    page = (outcome.folder / "report.html").read_text("utf-8")
    assert "<strong>NON-CONFORMANT: 1 MUST fail</strong>" in page
    assert "&lt;script&gt;no" in page
    assert ": report.html, results.json, junit.xml" in outcome.out


def test_interrupted_run_is_incomplete_in_report(conformance: Run) -> None:
    outcome = conformance(INTERRUPTED, fresh=True)

    page = (outcome.folder / "report.html").read_text("utf-8")
    assert "This run is incomplete:</strong> interrupted" in page
    assert "t-incomplete" in page


def test_run_without_target_has_no_page(conformance: Run, closed_address: str) -> None:
    outcome = conformance(FAILS, "--target", closed_address, target=False)

    assert outcome.code == 12
    assert not (outcome.folder / "report.html").exists()


def test_report_can_be_regenerated(conformance: Run) -> None:
    folder = conformance(FAILS).folder
    first = (folder / "report.html").read_text("utf-8")
    (folder / "report.html").unlink()

    main(["report", str(folder)], standalone_mode=False)

    assert (folder / "report.html").read_text("utf-8") == first
