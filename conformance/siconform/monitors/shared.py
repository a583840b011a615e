"""Rules that share one analysis of an RM's messages, so that it is made once for all of them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from siconform.monitors.monitor import NOTHING_TO_EVALUATE, EntryFinding, Evaluator
from siconform.recording.history import Entry

Findings = Mapping[str, EntryFinding]
"""The findings for one entry, by the name of the rule."""

NO_FINDINGS: Final[Findings] = MappingProxyType({})

Analysis = Callable[[Entry], Findings]
"""Called in order with the entries of one RM registration; returns the findings of all rules."""


class SharedAnalysis:
    """The rules of one analysis.

    The first of them in the list of monitors observes everything that the analysis needs, and is
    never left out if another is not. The others observe what they may find something in.

    The evaluators of an RM are created one after the other: a rule that is asked for a second time
    begins a new analysis.
    """

    def __init__(self, begins: Callable[[], Analysis]) -> None:
        self._begins = begins
        self._latest = _Once(begins())
        self._taken: set[str] = set()

    def rule(self, name: str) -> Evaluator:
        """Return an evaluator with the findings of this rule."""
        if name in self._taken:
            self._latest = _Once(self._begins())
            self._taken = set()
        self._taken.add(name)
        analysis = self._latest

        def evaluate(entry: Entry) -> EntryFinding:
            if entry is not analysis.entry:
                analysis.observe(entry)
            findings = analysis.findings
            return findings.get(name) if findings else NOTHING_TO_EVALUATE

        return evaluate


class _Once:
    """An analysis that sees each entry once, however many rules ask for its findings."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self.entry: Entry | None = None
        self.findings = NO_FINDINGS

    def observe(self, entry: Entry) -> None:
        self.entry, self.findings = entry, self._analysis(entry)
