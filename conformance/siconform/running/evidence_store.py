"""The evidence of a run and the results of its requirements."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from siconform.catalogue import Requirement, Side, catalogue, own_requirements
from siconform.config.options import Settings
from siconform.output.failure_text import FailureBlock
from siconform.policy import ExitCode, RequirementResult, RunStatus
from siconform.running.deadlines_met import DeadlinesMet
from siconform.running.index import cited, tests_by_requirement
from siconform.running.report_payload import Payload
from siconform.verdicts import OTHER_SIDE, Evidence, Verdict, decisive


@dataclass(slots=True)
class EvidenceStore:
    """All evidence reported during a run, in its controller."""

    settings: Settings
    evidence: list[Evidence] = field(default_factory=list)
    monitored: dict[tuple[str, str], int] = field(default_factory=dict)  # tests in which it held
    tests: dict[str, list[str]] = field(default_factory=dict)
    tests_seen: set[str] = field(default_factory=set)  # tests with evidence
    left_out: dict[str, str] = field(default_factory=dict)
    observed: dict[str, dict[str, None]] = field(default_factory=dict)
    addresses: dict[str, None] = field(default_factory=dict)  # of targets started by the kit
    slowest_placement: float = 0.0
    kit_errors: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failures: list[FailureBlock] = field(default_factory=list)
    deadlines: DeadlinesMet = field(default_factory=DeadlinesMet)
    on_virtual_time: bool = False
    ended_early: str = ""
    not_begun: str = ""  # why no test was started
    met_target: bool = False
    lost_at_start: str = ""

    def receive(self, test: str, payload: Payload, content: Any) -> None:
        """Store a payload of a report."""
        match payload:
            case Payload.EVIDENCE:
                self._observe(test, content)
            case Payload.MONITORED:
                for monitor, requirements, held in content:
                    for requirement in requirements:
                        key = (requirement, monitor)
                        self.monitored[key] = self.monitored.get(key, 0) + held
            case Payload.SELECTION:
                self.tests.update(content["tests"])
                self.left_out.update(content["left_out"])
            case Payload.TARGET:
                self._note_contact(content)
            case Payload.OBSERVED:
                self._note_behaviour(content)
            case Payload.WAITED:
                self.deadlines.observe(test, content)
            case Payload.KIT_ERROR | Payload.NOTE | Payload.FAILURE:
                self._note_for_people(payload, content)

    def _note_for_people(self, payload: Payload, content: Any) -> None:
        if payload is Payload.KIT_ERROR:
            self.broke(content)
        elif payload is Payload.NOTE:
            self.notes.append(content)
        else:
            self.failures.append(msgspec.convert(content, FailureBlock))

    def _note_contact(self, received: Mapping[str, Any]) -> None:
        self.met_target = self.met_target or received.get("met", False)
        if received.get("address"):
            self.addresses[received["address"]] = None
        if received.get("at_start") and not self.lost_at_start:
            self.lost_at_start = received["lost"]

    def _note_behaviour(self, received: Mapping[str, Any]) -> None:
        self.on_virtual_time = self.on_virtual_time or received["virtual"]
        self.slowest_placement = max(self.slowest_placement, received["slowest"])
        for name, value in received["habits"].items():
            self.observed.setdefault(name, {})[value] = None

    def broke(self, what: str) -> None:
        """Record an error of the kit that belongs to no requirement."""
        if what not in self.kit_errors:  # all workers report it
            self.kit_errors.append(what)

    def crashed(self, test: str, message: str) -> None:
        """Record that a worker died in this test."""
        ids = self.tests.get(test) or _cited_by(test, self.settings.side)
        for identifier in ids:
            self.evidence.append(Evidence(identifier, Verdict.KIT_ERROR, test, message))
        if not ids:
            self.broke(f"{test}: {message}")

    def behaviour(self) -> dict[str, str]:
        """Return the probed behaviour of the target; workers may observe different values."""
        slowest = self.slowest_placement  # 0 without a placement
        latency = {"slowest placement": f"{slowest:.1g} s"} if self.observed and slowest else {}
        observed = sorted(self.observed.items())  # independent of worker order
        return {**latency, **{name: " / ".join(values) for name, values in observed}}

    def requirements(self) -> list[RequirementResult]:
        """Return the results of all requirements of the revision, in catalogue order."""
        revision = self.settings.revision.name
        by_requirement = self._by_requirement()
        citing = self._citing()
        return [
            self._result(r, by_requirement.get(r.id, []), citing.get(r.id, ()))
            for r in catalogue().values()
            if revision in r.revisions
        ]

    def own_requirements(self) -> list[RequirementResult]:
        """Return the results of all requirements of the user's own catalogues."""
        by_requirement = self._by_requirement()
        citing = self._citing()
        return [
            self._result(r, by_requirement.get(r.id, []), citing.get(r.id, ()))
            for r in own_requirements().values()
        ]

    def status(self, ended_by: int) -> RunStatus:
        """Return how the run went; ``ended_by`` is pytest's exit code."""
        baseline = self.settings.baseline
        whole = ended_by in (ExitCode.OK, ExitCode.NON_CONFORMANT) and not self.not_begun
        evidence = [*self.evidence, *self._monitor_evidence()]
        return RunStatus(
            revision=self.settings.implemented,
            side=self.settings.side,
            unreachable=self.unreachable(),
            kit_errors=tuple(self.kit_errors),
            stale=baseline.stale(evidence, self._unfinished()) if whole else (),
            flaky=baseline.flaky(evidence),
            with_baseline=bool(baseline.file),
            ended_early=self.ended_early,
            ended_by=ended_by,
            chosen=self.settings.chosen,
            profile=self.settings.profile,
            fail_on=self.settings.fail_on,
            partial=self.settings.partial,
        )

    def unreachable(self) -> str:
        """Return the error if no test reached the target, or ""."""
        lost = self.not_begun or ("" if self.met_target else self.lost_at_start)
        return f"siconform: {lost}" if lost else ""

    @property
    def has_tested(self) -> bool:
        """Whether a test has ended that was not prevented by a lack of a target."""
        return bool(self.evidence) and not self.unreachable()

    def _observe(self, test: str, records: Iterable[Mapping[str, Any]]) -> None:
        self.tests_seen.add(test)
        self.evidence.extend(map(Evidence.read, records))

    def _monitor_evidence(self) -> Iterator[Evidence]:
        """Yield evidence by monitor and requirement; a partial run may lack a precondition."""
        unseen = self._unseen()
        for (identifier, monitor), times in self.monitored.items():
            verdict, message = unseen, "its precondition never held in the tests that ran"
            if times:
                verdict, message = Verdict.PASS, f"held in {times} tests"
            yield Evidence(identifier, verdict, f"monitor {monitor}", message, monitor=monitor)

    def _unseen(self) -> Verdict:
        """Return the verdict of a monitor whose precondition never held."""
        if not self._chose_the_whole_suite():
            return Verdict.NOT_SELECTED
        return Verdict.NOT_REACHED if self.not_reached() else Verdict.COULD_NOT_RUN

    def _chose_the_whole_suite(self) -> bool:
        collected = {test.partition("[")[0] for test in self.tests if test not in self.left_out}
        revision = self.settings.revision.name
        return all(
            collected.issuperset(tests)
            for identifier, tests in tests_by_requirement(self.settings.side).items()
            if identifier in catalogue() and revision in catalogue()[identifier].revisions
        )

    def not_reached(self) -> Mapping[str, list[str]]:
        """Return the selected tests without evidence, with their requirements."""
        observed = self.tests_seen.union(e.test for e in self.evidence)
        return {
            test: ids
            for test, ids in self.tests.items()
            if test not in self.left_out and test not in observed
        }

    def _missing(self) -> Iterator[Evidence]:
        """Yield evidence for tests that were left out or not reached."""
        not_reached = self.not_reached()
        for test, ids in self.tests.items():
            if test in self.left_out:
                reason = self.left_out[test]
                verdict = Verdict.NOT_SELECTED
            elif test in not_reached:
                verdict = Verdict.NOT_REACHED
                reason = f"{verdict.label}: {self.ended_early or 'no result'}"
            else:
                continue
            for identifier in ids:
                yield Evidence(identifier, verdict, test, reason)

    def _by_requirement(self) -> Mapping[str, list[Evidence]]:
        by_requirement: dict[str, list[Evidence]] = {}
        for evidence in (*self.evidence, *self._monitor_evidence(), *self._missing()):
            by_requirement.setdefault(evidence.requirement, []).append(evidence)
        return by_requirement

    def _citing(self) -> Mapping[str, tuple[str, ...]]:
        citing = {i: list(names) for i, names in cited(self.settings.side).items()}
        for test, ids in self.tests.items():
            for identifier in ids:
                citing.setdefault(identifier, []).append(test.partition("[")[0])
        return {identifier: tuple(dict.fromkeys(names)) for identifier, names in citing.items()}

    def _result(
        self, requirement: Requirement, evidence: list[Evidence], tests: tuple[str, ...]
    ) -> RequirementResult:
        chosen = self.settings.chosen
        applies = self.settings.side in requirement.sides
        if applies and chosen is not None and requirement.id not in chosen:
            words = Verdict.NOT_SELECTED.label
            return RequirementResult(requirement, Verdict.NOT_SELECTED, words, tests=tests)
        entries = self.settings.baseline.about(requirement.id)
        evaluated = tuple(self.explained(e) for e in evidence)
        settled = decisive(evaluated)
        if settled is not None:
            reason = "" if settled.verdict is Verdict.PASS else settled.message
            return RequirementResult(
                requirement, settled.verdict, reason, evaluated, tests, entries
            )
        if not tests:
            return _untested(requirement, self.settings.side)
        if self.not_begun:
            return RequirementResult(
                requirement, Verdict.COULD_NOT_RUN, self.not_begun, tests=tests, entries=entries
            )
        verdict = Verdict.NOT_SELECTED
        reason = verdict.label
        if self.ended_early and not self.tests:
            verdict = Verdict.NOT_REACHED
            reason = f"{verdict.label}: {self.ended_early}"
        return RequirementResult(requirement, verdict, reason, tests=tests)

    def explained(self, evidence: Evidence) -> Evidence:
        """Mark the evidence as a known failure if a baseline entry matches it."""
        if not evidence.bad:
            return evidence
        entries = self.settings.baseline.explaining(evidence)
        if not entries:
            return evidence
        known = "known, flaky" if entries[0].flaky else "known"
        message = f"{evidence.message} ({known}: {entries[0].reason})"
        return replace(evidence, verdict=Verdict.BASELINED, message=message)

    def _unfinished(self) -> frozenset[str]:
        """Return the requirements with a test that was not selected or not reached."""
        missing = frozenset(e.requirement for e in self._missing())
        chosen = self.settings.chosen
        return missing if chosen is None else missing.union(catalogue().keys() - chosen)


def _untested(requirement: Requirement, side: Side) -> RequirementResult:
    if side not in requirement.sides:
        apart = OTHER_SIDE[side]
        return RequirementResult(requirement, apart, apart.row.meaning)
    if reason := requirement.not_tested_on(side):
        return RequirementResult(requirement, Verdict.EXCLUDED, reason)
    return RequirementResult(requirement, Verdict.NO_TEST_YET, "")


def _cited_by(test: str, side: Side) -> list[str]:
    name = test.partition("[")[0]
    return [identifier for identifier, tests in cited(side).items() if name in tests]
