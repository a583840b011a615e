"""Hooks around each test: guard its target, turn outcomes and monitors into evidence."""

import re
import traceback
from collections.abc import Generator, Iterable
from functools import cached_property

import msgspec
import pytest

from siconform import monitors
from siconform.catalogue import Side, known_requirements
from siconform.catalogue.features import FEATURES, find_feature, not_offered
from siconform.config.options import Settings
from siconform.expecting.waits import listen
from siconform.monitors import MonitorResult
from siconform.outcomes import (
    LacksMandatoryFeature,
    NotOffered,
    PreconditionFailed,
    TargetLost,
    inexpressible_in,
)
from siconform.output import side_by_side
from siconform.output.baseline_match import mark_capabilities, mark_challenged, why_not
from siconform.output.failure_text import block, text_of
from siconform.output.stable_messages import stable
from siconform.protocol.notifications import StreamEnded
from siconform.recording import exchange_text
from siconform.recording.history import Exchange
from siconform.recording.history_verdict import HistoryVerdict
from siconform.running import labels, report_payload
from siconform.running.deadlines_met import FinishedWaits
from siconform.running.edited_spec import mask_inexpressible, mask_violations
from siconform.running.history_files import HistoryFiles, NotKept
from siconform.running.outcome_mapping import PhaseResult, result_of_body, result_of_setup
from siconform.running.report_payload import Payload
from siconform.running.selecting import MUTANT, REQUIREMENTS, Selection
from siconform.running.stash import HISTORY, PROBED_BEHAVIOUR
from siconform.running.target_lease import TargetLease
from siconform.targets import TargetUnavailable
from siconform.verdicts import BAD, REACHED, Evidence, Verdict, worst_first

_OF_THE_TRANSPORT = re.compile(
    r"socket closed|connection (reset|refused|dropped|aborted)|broken pipe|failed to connect|goaway"
    r"|recvmsg|end of tcp stream",
    re.IGNORECASE,
)
"""Status details that gRPC itself produces when the peer is gone."""


class TestHooks:
    """Test hooks, one instance per process that runs tests."""

    def __init__(self, settings: Settings, lease: TargetLease, selection: Selection) -> None:
        self._settings = settings
        self._lease = lease
        self._selection: Selection | None = selection
        self._histories = HistoryFiles(settings.results)
        self._waits = FinishedWaits()
        self._listed: set[str] = set()  # monitors reported to the controller
        listen(self._waits)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Do not start a test that is invalid or has no target."""
        labels.label(item, item.stash[REQUIREMENTS])
        if MUTANT in item.stash:
            raise BrokenTest(item.stash[MUTANT])
        if _uses_target(item) and self._lease.given_up:
            raise TargetLost(self._lease.given_up)
        self._check_offered(item)

    def _check_offered(self, item: pytest.Item) -> None:
        """Skip tests of features in --without; fail if the specification demands the feature.

        A test of several requirements needs the features of all of them.
        """
        known = (known_requirements()[i] for i in self._of_revision(item.stash[REQUIREMENTS]))
        needed = {find_feature(name) for requirement in known for name in requirement.features}
        for feature in sorted(needed & self._settings.terms.without):
            demanded = FEATURES[feature].demanded_by
            if demanded and self._settings.side is Side.SCHEDULER:
                raise LacksMandatoryFeature(
                    f"--without {feature}, but the specification demands it", expected=demanded
                )
            raise NotOffered(not_offered(feature))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add the evidence of this phase to its report."""
        report = yield
        raised = call.excinfo.value if call.excinfo is not None else None
        if report.when == "setup":
            self._send_selection(report)
            result = result_of_setup(raised)
            if result is not None:
                result = mask_inexpressible(result, item.stash.get(HISTORY, None))
                self._report(item, report, result, [])
        elif report.when == "call":
            result = self._unless_dead(item, result_of_body(raised))
            result = mask_inexpressible(result, item.stash.get(HISTORY, None))
            self._report(item, report, result, self._monitored(item, report))
            self._report_observed(item, report)
        elif raised is not None:
            self._report_teardown(item, report, raised)
        return report

    def _lacks(self, item: pytest.Item) -> frozenset[str]:
        without = self._settings.terms.without
        observed = item.stash.get(PROBED_BEHAVIOUR, None)
        return without if observed is None else observed.lacks(without)

    def _report_observed(self, item: pytest.Item, report: pytest.TestReport) -> None:
        report_payload.put(report, Payload.WAITED, self._waits.taken())
        observed = item.stash.get(PROBED_BEHAVIOUR, None)
        if observed is not None:
            exchange = item.stash.get(HISTORY, None)
            received = {
                "habits": dict(observed.received()),
                "slowest": observed.latency.slowest,
                "virtual": exchange is not None and exchange.history.clock.is_virtual,
            }
            report_payload.put(report, Payload.OBSERVED, received)

    def _send_selection(self, report: pytest.TestReport) -> None:
        if self._selection is not None:
            report_payload.put(report, Payload.SELECTION, self._selection.record())
            self._selection = None

    def _unless_dead(self, item: pytest.Item, result: PhaseResult) -> PhaseResult:
        """Return COULD_NOT_RUN if the target died: it neither passes nor fails.

        This includes a precondition that failed because the target died.
        """
        failed_precondition = type(result.outcome) is PreconditionFailed
        if not (result.verdict in REACHED or failed_precondition) or not _uses_target(item):
            return result
        gone = self._lease.gone(_broken(item.stash.get(HISTORY, None)))
        if not gone:
            return result
        lost = TargetLost(gone, expected=result.outcome.expected if result.outcome else "")
        return PhaseResult(Verdict.COULD_NOT_RUN, gone, lost)

    def _monitored(self, item: pytest.Item, report: pytest.TestReport) -> list[Evidence]:
        exchange = item.stash.get(HISTORY, None)
        if exchange is None:
            return []
        try:
            results = monitors.check(exchange, self._lacks(item), self._settings.side)
        except Exception as error:  # noqa: BLE001  # any exception of a monitor is an error of the kit
            sentence = f"{item.nodeid}: error in a monitor: {type(error).__name__}: {error}"
            report_payload.put(report, Payload.KIT_ERROR, sentence)
            report.outcome = "failed"
            report.longrepr = traceback.format_exc()
            return []
        findings = [
            (result, ids)
            for result in results
            if (ids := [i for i in result.requirements if i in self._tested])
        ]
        self._count(report, findings)
        history = self._histories.name(item.nodeid, exchange)
        violations = [
            Evidence(
                identifier,
                Verdict.FAIL,
                item.nodeid,
                stable(result.violation),
                monitor=result.monitor,
                history=history,
            )
            for result, ids in findings
            if result.violation
            for identifier in ids
        ]
        return mask_violations(violations, exchange)

    def _count(
        self, report: pytest.TestReport, findings: Iterable[tuple[MonitorResult, list[str]]]
    ) -> None:
        """Report monitors without violation: each time they held, and once that they exist."""
        counted = []
        for result, ids in findings:
            if not result.violation and (result.held or result.monitor not in self._listed):
                self._listed.add(result.monitor)
                counted.append([result.monitor, ids, bool(result.held)])
        report_payload.put(report, Payload.MONITORED, counted)

    def _report(
        self,
        item: pytest.Item,
        report: pytest.TestReport,
        result: PhaseResult,
        monitored: list[Evidence],
    ) -> None:
        message = result.message
        if isinstance(result.outcome, TargetLost):
            at_start = report.when == "setup" or isinstance(result.outcome, TargetUnavailable)
            message = self._lease.lost(result.message, at_start=at_start)
            report_payload.put(report, Payload.TARGET, {"lost": message, "at_start": at_start})
        elif report.when == "call" and _uses_target(item):
            self._lease.answered()
            met, address = result.verdict is Verdict.PASS, self._lease.address()
            report_payload.put(report, Payload.TARGET, {"met": met, "address": address})
        history = self._histories.name(item.nodeid, item.stash.get(HISTORY, None))
        own = [
            Evidence(
                identifier,
                result.verdict,
                item.nodeid,
                stable(message),
                report.duration,
                recorded=_recorded(item),
                history=history,
            )
            for identifier in item.stash[REQUIREMENTS]
            if identifier in self._tested
        ]
        if not self._of_revision(item.stash[REQUIREMENTS]) and result.verdict in BAD:
            report_payload.put(report, Payload.KIT_ERROR, f"{item.nodeid}: {message}")
        own = mark_challenged(mark_capabilities(own))
        monitored = mark_challenged(mark_capabilities(monitored))
        everything = own + monitored
        if history:
            whole = any(e.bad or e.verdict is Verdict.CHALLENGED for e in everything)
            self._keep(item, report, whole=whole)
        report_payload.put(report, Payload.EVIDENCE, [e.record() for e in everything])
        item.user_properties.extend(
            ("verdict", f"{e.requirement} {e.verdict}") for e in everything if e in own or e.bad
        )
        self._settle(item, report, result, everything)

    def _settle(
        self,
        item: pytest.Item,
        report: pytest.TestReport,
        result: PhaseResult,
        evidence: list[Evidence],
    ) -> None:
        """Set pytest's outcome of the test: failed, xfailed or skipped."""
        bad = [
            e
            for e in evidence
            if e.verdict is Verdict.CHALLENGED or (e.bad and not inexpressible_in(e.message))
        ]
        if not bad:
            if result.verdict is not Verdict.PASS and MUTANT not in item.stash:
                why = Verdict.NOT_SELECTED.label
                if evidence:
                    why = f"{evidence[0].verdict.label}: {evidence[0].message}"
                report.outcome = "skipped"
                report.longrepr = (str(item.path), item.location[1] or 0, why)
            return
        known = self._settings.baseline
        unexplained = [e for e in bad if e.bad and not known.explaining(e)]
        received = worst_first(unexplained or bad)
        details = str(report.longrepr) if received[0].verdict is Verdict.KIT_ERROR else ""
        exchange = item.stash.get(HISTORY, None)
        notes = exchange.remarks() if exchange else ()
        is_random = item.get_closest_marker("explores") is not None
        about = block(received, result.outcome, details, notes, is_random=is_random)
        if exchange is not None and about.history:
            self._add_verdict(item, report, HistoryVerdict.of(received[0], result.outcome))
        lines = exchange_text.lines(exchange.records()) if exchange else []
        rows = side_by_side.rows(lines, None)
        report.longrepr = text_of(about, rows, self._settings.command_line, self._settings.side)
        if unexplained:
            report.outcome = "failed"
        else:
            report.outcome = "skipped"
            reason = why_not(received[0], known)
            is_known = received[0].verdict is not Verdict.CHALLENGED
            report.wasxfail = f"{Verdict.BASELINED.label}: {reason}" if is_known else reason
            about = msgspec.structs.replace(about, known=reason)
        report_payload.put(report, Payload.FAILURE, msgspec.to_builtins(about))

    def _keep(self, item: pytest.Item, report: pytest.TestReport, *, whole: bool) -> None:
        """Write the history; a write error is an error of the kit."""
        try:
            self._histories.keep(item.nodeid, item.stash[HISTORY], with_messages=whole)
        except NotKept as error:
            report_payload.put(report, Payload.KIT_ERROR, str(error))

    def _add_verdict(
        self, item: pytest.Item, report: pytest.TestReport, evaluated: HistoryVerdict
    ) -> None:
        try:
            self._histories.add_verdict(item.nodeid, evaluated)
        except NotKept as error:
            report_payload.put(report, Payload.KIT_ERROR, str(error))

    def _report_teardown(
        self, item: pytest.Item, report: pytest.TestReport, raised: BaseException
    ) -> None:
        """Handle an exception in the teardown: failures of the target are only noted."""
        result = result_of_body(raised)
        if isinstance(raised, TargetLost):
            self._lease.lost(result.message, at_start=False)
        if result.verdict is Verdict.KIT_ERROR:
            self._report(item, report, result, [])
        else:
            report_payload.put(
                report, Payload.NOTE, f"{item.nodeid}: clean-up failed: {result.message}"
            )
            report.outcome = "passed"
            report.longrepr = None

    @cached_property
    def _tested(self) -> frozenset[str]:
        """The requirements of the revision that were chosen."""
        chosen = self._settings.chosen
        of_revision = self._of_revision(tuple(known_requirements()))
        return frozenset(i for i in of_revision if chosen is None or i in chosen)

    def _of_revision(self, ids: tuple[str, ...]) -> list[str]:
        revision = self._settings.revision.name
        known = known_requirements()
        return [i for i in ids if i in known and revision in known[i].revisions]


class BrokenTest(Exception):  # an error of the suite
    """The test is invalid."""


def _recorded(item: pytest.Item) -> tuple[str, ...]:
    exchange = item.stash.get(HISTORY, None)
    return tuple(stable(capability) for capability in exchange.recorded) if exchange else ()


def _broken(exchange: Exchange | None) -> str:
    """Return the transport's error if a connection broke during the test, or ""."""
    for entry in exchange.entries() if exchange is not None else ():
        ended = entry.content
        if not isinstance(ended, StreamEnded) or ended.status != "UNAVAILABLE":
            continue
        if _OF_THE_TRANSPORT.search(ended.details):
            return ended.details
    return ""


def _uses_target(item: pytest.Item) -> bool:
    return "target" in getattr(item, "fixturenames", ())
