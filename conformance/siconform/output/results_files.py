"""The files of a run: results.json, failures.txt, the page and the certificate."""

from pathlib import Path

from siconform import results
from siconform.output.events import Event, ResultsChanged, RunFinished
from siconform.reporting import certifying
from siconform.reporting.html import report
from siconform.reporting.stored import RecordError
from siconform.results import Run


class ResultsFile:
    """Writes results.json and failures.txt, preliminary ones too."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def on_event(self, event: Event) -> None:
        """Write the results."""
        if isinstance(event, ResultsChanged | RunFinished):
            results.write(results.document(event.run), self._folder)
            write_failures(event.run, self._folder)


class Page:
    """Writes report.html, unless the target was unreachable."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def on_event(self, event: Event) -> None:
        """Write the page."""
        if isinstance(event, RunFinished) and not event.run.status.unreachable:
            report.write(results.document(event.run), self._folder)


class CertificateFiles:
    """Writes certificate and badge, for complete runs only."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def on_event(self, event: Event) -> None:
        """Certify the results in the folder, or withdraw an earlier certificate."""
        if isinstance(event, RunFinished):
            try:
                certifying.write(self._folder, certifying.certify(self._folder))
            except RecordError:
                certifying.withdraw(self._folder)


def write_failures(run: Run, folder: Path) -> None:
    """Write the texts of failures that the baseline does not explain."""
    file = folder / "failures.txt"
    texts = [failure.text for failure in run.failures if not failure.known]
    if texts:
        file.write_text("\n\n\n".join(texts) + "\n", "utf-8")
    else:
        file.unlink(missing_ok=True)
