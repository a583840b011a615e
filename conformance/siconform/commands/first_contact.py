"""The first contact with a scheduler: what a run needs of it, checked within seconds."""

import os
import queue
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from typing import Any, Final

import click
from siwire import find_revision

from siconform.catalogue.features import Feature
from siconform.config.command_line import PROGRAM, RUN, CommandLine, without_option
from siconform.config.command_settings import header, results_folder, settings_of
from siconform.config.open_target import open_target, prepare
from siconform.config.option_values import BadOption
from siconform.config.options import Settings
from siconform.config.results_dir import CannotWrite
from siconform.expecting.deadlines import Deadlines
from siconform.expecting.probed_behaviour import ProbedBehaviour
from siconform.outcomes import NotForThisTarget, Outcome, PreconditionFailed, in_short
from siconform.policy import ExitCode
from siconform.protocol.facets import Facet
from siconform.protocol.handles import Application
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    NodeAccepted,
    Released,
    UpdateKind,
)
from siconform.protocol.queue_configurations import leaf_queues
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import Action, ApplicationRemoval, ApplicationRequest, NodeRequest
from siconform.protocol.timers import Timers
from siconform.recording.history import History
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.session import Session
from siconform.rm.steps.applications import DEFAULT_QUEUE
from siconform.targets import Target
from siconform.targets.attached import check_address
from siconform.transport.connection import Connection
from siconform.transport.extension import Extension

LIMIT: Final = 10.0  # seconds of a first contact, times --time-scale
_REMOVAL: Final = 1.0  # of these, to remove what a contact without an end created
_SLOW: Final = 0.6  # seconds per allocation: with more, probing does not fit into the limit
_DEADLINES: Final = Deadlines(register=5.0, grace=0.0)
_REACHABLE: Final = "reachable"
_OPTIONAL: Final = ("timers", "features")
_TIMERS: Final = {
    "placeholder timeout": "placeholder",
    "waiting timeout": "waiting_to_completed",
    "connection loss": "connection_loss",
}
_FLAGS: Final = {
    "--placeholder-timeout": "placeholder",
    "--waiting-timeout": "waiting_to_completed",
    "--connection-loss-timeout": "connection_loss",
}
_UNKNOWN: Final = "unknown"
_UNDESCRIBED: Final = "the scheduler does not describe itself"
_wrap: Final = partial(textwrap.fill, width=100, break_long_words=False, break_on_hyphens=False)


class NotReady(Exception):
    """A step failed, which has been reported."""


def check(given: Mapping[str, Any], results: str) -> int:
    """Make the first contact, print each result at once, and return the exit code."""
    try:
        settings = settings_of("check", given, results)
        with nullcontext() if settings.address else results_folder(settings, lambda _: None):
            header(settings)
            return FirstContact(settings).makes()
    except (BadOption, CannotWrite) as error:
        click.echo(f"siconform: {error}", err=True)
        return ExitCode.USAGE if isinstance(error, BadOption) else ExitCode.KIT_ERROR


class FirstContact:
    """One contact; its steps run on a separate thread, so that none exceeds the limit."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._deadlines = _DEADLINES.scaled(settings.time_scale)
        self._leftovers: Connection | None = None  # on which something may have to be removed
        self._step = _REACHABLE
        self._failure = ("", "", "")  # the first failed step, what to do, the command for it
        self._look = "look at the messages of the test; a slow scheduler needs --time-scale 2"
        self._over = False

    def makes(self) -> int:
        """Run all steps, end everything, and print the conclusion; return the exit code."""
        limit = LIMIT * self._settings.time_scale
        patience = limit - _REMOVAL + (self._settings.wait or 0.0)
        with ExitStack() as ends, suppress(NotReady):
            target = self._opens(ends)
            if not _within(patience, partial(self._talks, target, ends)):
                self._is_out_of_time(limit)
        return self._concludes()

    def _opens(self, ends: ExitStack) -> Target:
        """Return the target; one that the kit starts listens then."""
        with self._during(_REACHABLE, "correct the command or the target", self._again()):
            if not self._settings.address:
                prepare(self._settings)
            target = open_target(self._settings, "check")
            ends.callback(target.stop)
            _ = target.address
        return target

    def _talks(self, target: Target, ends: ExitStack) -> None:
        with suppress(NotReady):
            self._reaches(target)
            name = f"check-{os.getpid()}-{int(time.time())}"
            session = Session(target, self._deadlines, name, ProbedBehaviour(probed=True))
            ends.callback(session.discard)
            ends.callback(self._removes_leftovers)
            rm = self._registers(session)
            try:
                self._takes_part(rm)
            finally:
                self._cleans_up(rm)
            if not any(self._failure):
                self._describes(session)

    def _reaches(self, target: Target) -> None:
        access = self._settings.terms.access
        first = "start the scheduler, or correct its address, port or TLS options"
        with self._during(_REACHABLE, first, self._again()):
            if self._settings.address:
                prepare(self._settings)
            else:
                check_address(target.address, self._settings.revision, access)
            how = "without TLS" if access.tls is None else "with TLS"
            self._reports("ok", f"a gRPC server answers at {target.address} {how}")
        with self._during("revision", "correct --revision", self._again()):
            self._reports("ok", self._revision(target.address))

    def _revision(self, address: str) -> str:
        """Return the revision and how it is known; NotReady if it is another one."""
        ours, terms = self._settings.revision, self._settings.terms
        extension = Extension(address, self._deadlines.ack, access=terms.access)
        connection = Connection(address, ours, PROGRAM, History(), access=terms.access)
        described = frozenset[str]()
        try:
            connection.connects(self._deadlines.connect)
            stated = extension.facets.revision
            with suppress(NotForThisTarget):
                description = connection.asks_for_description(self._deadlines.ack)
                described = frozenset() if description is None else description.implemented()
        finally:
            connection.close()
            extension.close()
        names, how, is_stated = described, "as its reflection describes", False
        with suppress(LookupError):
            names, is_stated = frozenset({find_revision(stated).name}), True
            how = "as its extension states"
        if ours.name in names:
            return f"SI {ours}, {how}"
        if terms.revision_given and not is_stated:
            other = f"its reflection describes SI {max(names)}" if names else _UNDESCRIBED
            return f"SI {ours}, as given; {other}"
        if not names:
            self._look = f"if the scheduler does not implement SI {ours}, give --revision"
            return f"SI {ours}, assumed: {_UNDESCRIBED}"
        other = max(names)
        again = self._again("--revision", other)
        raise self._fails(f"SI {other}, {how}, not {ours}", f"give --revision {other}", again)

    def _registers(self, session: Session) -> ResourceManager:
        first = (
            "correct what the scheduler rejects; the kit sends the configuration of 'siconform "
            "queues conformance' (--config FILE sends another, --config none sends none)"
        )
        begun = time.monotonic()
        self._step = "registration"
        try:
            rm = session.resource_manager("check")
        except Outcome as outcome:
            answers = [entry.content for entry in session.history.since(0)]
            refusals = [
                f"{one.status} {one.details}".rstrip()
                for one in answers
                if isinstance(one, RegistrationAnswered) and one.status != "DEADLINE_EXCEEDED"
            ]
            message = refusals[-1] if refusals else outcome.message
            raise self._fails(message, first, self._again()) from None
        self._leftovers = rm.connection
        self._reports("ok", f"accepted in {time.monotonic() - begun:.2f} s")
        return rm

    def _takes_part(self, rm: ResourceManager) -> None:
        """Have applications and a node accepted, and an allocation made and released."""
        with rm.unordered():
            with self._during("queues", self._look, self._runs("SI-APP-001")):
                application = self._submits(rm)
            with self._during("node", self._look, self._runs("SI-NODE-001")):
                rm.expect(NodeAccepted(rm.registers_node()))
                self._reports("ok", "accepted")
            with self._during("allocation", self._look, self._runs("SI-ASK-001")):
                begun = time.monotonic()
                allocation = rm.expect(Allocated(rm.asks(application)))
                rm.latency.measured(time.monotonic() - begun, 0.0)
                rm.releases(allocation)
                rm.expect(Released(identity=allocation.identity))
                self._reports("ok", f"made in {rm.latency.slowest:.2f} s, then released")

    def _submits(self, rm: ResourceManager) -> Application:
        """Submit an application to every queue; return the one in the default queue."""
        configured = Feature.QUEUES not in rm.terms.without
        queues = leaf_queues() if configured else (DEFAULT_QUEUE,)
        sent = {name: rm.submits_application(queue=name) for name in queues}
        refused: dict[str, str] = {}
        for name, application in sent.items():
            rejected = ApplicationRejected(application)
            verdict = rm.expect_one_of(ApplicationAccepted(application), rejected)
            if isinstance(verdict, ApplicationRejected):
                refused[name] = in_short(verdict.reason) or "no reason given"
        if not refused:
            which = f"all {len(queues)} queues of the suite" if configured else DEFAULT_QUEUE
            self._reports("ok", f"an application is accepted in {which}")
            return sent[DEFAULT_QUEUE]
        failure = self._fails(
            f"an application is rejected in {len(refused)} of {len(queues)}: "
            f"{', '.join(refused)} (reason: {next(iter(refused.values()))})",
            "give the scheduler these queues, or leave them out with --without queues",
            f"{PROGRAM} queues conformance > queues.yaml",
        )
        if DEFAULT_QUEUE in refused:
            raise failure
        return sent[DEFAULT_QUEUE]

    def _cleans_up(self, rm: ResourceManager) -> None:
        self._step = "clean-up"
        problems = rm.leaves()
        if problems:
            then = self._runs("SI-APP-001")
            raise self._fails("; ".join(problems), self._look, then)
        self._leftovers = None
        self._reports("ok", "its applications and nodes are removed")

    def _describes(self, session: Session) -> None:
        """Print the timers and optional features, as far as a few messages show them."""
        with self._during("timers", self._look, self._again()):
            rm = session.resource_manager("features")
            self._leftovers = rm.connection
            self._reports("ok", self._timers(rm))
        with self._during("features", self._look, self._again()):
            offered = [facet.value for facet in Facet if rm.is_offered(facet)]
            self._reports("ok", f"extension: {', '.join(offered) or 'none, which is optional'}")
            found = self._features(session, rm)
            self._leftovers = None
            self._reports("ok", "; ".join(f"{name}: {value}" for name, value in found.items()))

    def _timers(self, rm: ResourceManager) -> str:
        profile = rm.profile
        sources: tuple[tuple[str, Timers], ...] = (
            ("stated", profile.stated),
            ("as its extension states" if self._settings.address else "known", rm.timers),
            ("proposed", rm.terms.proposed_timers(profile.stated, self._settings.time_scale)),
        )
        words = "; ".join(f"{words} {_known(sources, name)}" for words, name in _TIMERS.items())
        known = (("", rm.timers),)
        flags = [f for f, name in _FLAGS.items() if _known(known, name) == _UNKNOWN]
        return f"{words}. Not tested unless you state {', '.join(flags)}" if flags else words

    def _features(self, session: Session, rm: ResourceManager) -> Mapping[str, str]:
        """Return the features by name; those that take seconds only of a scheduler that is fast."""
        found = {} if Feature.GANG in rm.terms.without else {"a gang": _gang(rm)}
        problems = rm.leaves()
        if problems:
            raise PreconditionFailed("; ".join(problems))
        latency = session.observed.latency.slowest
        if latency > _SLOW * self._settings.time_scale:
            found["others"] = f"probed by a run, as an allocation takes {latency:.1f} s"
        else:
            session.observed.probed = False
            session.resource_manager("probe")  # probes the target first, as for a run
            found |= session.observed.received()
        return {**found, "preemption": "tested by a run only"}

    def _removes_leftovers(self) -> None:
        """Request the removal of everything created, and wait only until that is sent."""
        connection = self._leftovers
        if connection is None:
            return
        sent = [entry.content for entry in connection.history.since(0) if entry.sent_by_rm]
        applications = [one for one in sent if isinstance(one, ApplicationRequest)]
        nodes = {one.node for one in sent if isinstance(one, NodeRequest)}
        removals = [ApplicationRemoval(one.application, one.partition) for one in applications]
        connection.send_all(UpdateKind.APPLICATIONS, removals)
        ends = [NodeRequest(node, Action.DECOMMISSION) for node in sorted(nodes)]
        connection.send_all(UpdateKind.NODES, ends)
        for kind in UpdateKind:
            connection.half_closes(kind)
        connection.history.look(
            lambda: not any(map(connection.is_open, UpdateKind)) or None, _REMOVAL
        )

    def _is_out_of_time(self, limit: float) -> None:
        if self._step in _OPTIONAL:
            self._reports("-", f"not all known within {limit:g} s")
        else:
            slower = "--time-scale", f"{2 * self._settings.time_scale:g}"
            first = f"give {' '.join(slower)} to a slow scheduler"
            self._fails(f"not finished within {limit:g} s", first, self._again(*slower))
        self._over = True

    def _concludes(self) -> int:
        step, first, then = self._failure
        if not step:
            run = CommandLine(RUN, self._settings.command_line.options)
            click.echo(f"\nReady for a run.\nNext:  {run}")
            return ExitCode.OK
        click.echo(f"\nNot ready. First: {first}.\nNext:  {then}")
        return ExitCode.NOTHING_RAN if step == _REACHABLE else ExitCode.NON_CONFORMANT

    @contextmanager
    def _during(self, step: str, first: str, then: str) -> Iterator[None]:
        """Report a failure of the step in this block and raise NotReady."""
        self._step = step
        try:
            yield
        except Outcome as outcome:
            expected = f"; expected: {outcome.expected}" if outcome.expected else ""
            raise self._fails(f"{outcome.message}{expected}", first, then) from None

    def _fails(self, message: str, first: str, then: str) -> NotReady:
        """Report that the current step failed; the first failure is the one to act on."""
        self._reports("FAILED", message)
        if not any(self._failure):
            self._failure = (self._step, first, then)
        return NotReady(self._step)

    def _reports(self, mark: str, message: str) -> None:
        if not self._over:
            head = f"{mark:<6}  {self._step:<12}  "
            click.echo(_wrap(head + message, subsequent_indent=" " * len(head)))

    def _again(self, flag: str = "", value: str = "") -> str:
        options = self._settings.command_line.options
        more = (*without_option(options, flag), flag, value) if flag else options
        return str(CommandLine((PROGRAM, "check"), tuple(more)))

    def _runs(self, identifier: str) -> str:
        return CommandLine(RUN, self._settings.command_line.options).again(identifier)


def _within(seconds: float, talks: Callable[[], None]) -> bool:
    """Run the function on a thread; return whether it ended in time."""
    ended: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()

    def runs() -> None:
        try:
            talks()
        except BaseException as error:  # noqa: BLE001  # raised by the caller
            ended.put(error)
        ended.put(None)

    threading.Thread(target=runs, name="first contact", daemon=True).start()
    try:
        error = ended.get(timeout=seconds)
    except queue.Empty:
        return False
    if error is not None:
        raise error
    return True


def _gang(rm: ResourceManager) -> str:
    try:
        gang = rm.submits_gang()
        verdict = rm.expect_one_of(ApplicationAccepted(gang), ApplicationRejected(gang))
    except Outcome as outcome:
        return outcome.message
    if isinstance(verdict, ApplicationRejected):
        return f"rejected ({in_short(verdict.reason) or 'no reason given'})"
    return "accepted"


def _known(sources: Sequence[tuple[str, Timers]], name: str) -> str:
    """Return the first known duration of this timer, and how it is known."""
    for how, timers in sources:
        if name == "placeholder" and timers.placeholder_from_application_timeout:
            return f"that of the application ({how})"
        seconds: float | None = getattr(timers, name)
        if seconds is not None:
            return f"{seconds:g} s ({how})"
    return _UNKNOWN
