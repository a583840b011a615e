"""Progress without a terminal, as in the log of a CI job: a line for each complete area."""

from siconform.output.events import Event, TestPhaseEnded
from siconform.output.live.output import Output
from siconform.output.live.progress import RunProgress
from siconform.verdicts import SHOWN


class AreaLines:
    """Prints an area when its last test has ended."""

    def __init__(self, output: Output, progress: RunProgress) -> None:
        self._output = output
        self._progress = progress

    def on_event(self, event: Event) -> None:
        """Print the counts of verdicts and the seconds of the tests of each complete area."""
        if isinstance(event, TestPhaseEnded):
            for area, seconds in self._progress.newly_complete():
                counts = [v.counted(area.verdicts[v]) for v in SHOWN if area.verdicts[v]]
                if not counts:
                    continue  # nothing of it is selected
                self._output.line(f"{area.area:<5} {', '.join(counts)}   {seconds:.1f} s")
