"""What a target offers through the extension, and requirements that need more."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from patience import patient
from siconform.expecting.deadlines import Deadlines
from siconform.outcomes import NotOffered, PreconditionFailed, TargetLost
from siconform.protocol.facets import NONE, Facet
from siconform.protocol.timers import Timers
from siconform.recording.clock import VirtualClock
from siconform.recording.history import History
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.session import _implements
from siconform.targets.profile import TargetProfile
from siconform.targets.proposal import proposal
from siconform.targets.terms import LONGEST_TIMER
from siconform.transport.extension import SERVICE, Extension
from siconform.verdicts import Verdict
from siwire import REVISIONS, rpc
from siwire.ext import extension_pb2 as ext

from .resource_managers import rm_on
from .serving import served

Serve = Callable[..., Extension]
Run = Callable[..., Any]
SOME = ext.Facets(
    si_profile="2023-12",
    callbacks=[ext.EVENT_BATCH, ext.STORE_CONFIGURATION, ext.PLACEMENT_CHECK],
    snapshot=True,
    timers=ext.Timers(waiting_to_completed=1500, connection_loss=0),
)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server with these calls of the extension; return a client."""
    with ExitStack() as opened:

        def start(facets: ext.Facets | None = None, **behaviours: Callable[..., Any]) -> Extension:
            if facets is not None:
                behaviours["Describe"] = lambda _query, _context: facets

            def prepare(server: grpc.Server) -> None:
                if behaviours:
                    server.add_generic_rpc_handlers((rpc.handlers(SERVICE, behaviours),))

            client = Extension(opened.enter_context(served(prepare)), timeout=patient(2))
            opened.callback(client.close)
            return client

        yield start


def test_target_without_extension_offers_nothing(serve: Serve) -> None:
    assert serve().facets == NONE


def test_offered_facets_are_read(serve: Serve) -> None:
    facets = serve(SOME).facets

    assert facets.offered == {Facet.EVENTS, Facet.PLACEMENT_CHECKS, Facet.SNAPSHOT}
    assert facets.revision == "2023-12"
    assert facets.several_rms is False
    assert facets.timers == Timers(waiting_to_completed=1.5)


def test_describe_is_called_once(serve: Serve) -> None:
    asked = []

    def describe(query: ext.DescribeQuery, _context: Any) -> ext.Facets:
        asked.append(query.rm_id)
        return SOME

    client = serve(Describe=describe)
    for _ in range(3):
        assert client.offers(Facet.SNAPSHOT)

    assert asked == [""]


def test_unoffered_facet_is_not_called(serve: Serve) -> None:
    client = serve(ext.Facets(), Snapshot=lambda _query, _context: ext.SnapshotResult())

    with pytest.raises(NotOffered, match="does not offer the extension's snapshot"):
        client.snapshot("rm")


def test_failing_offered_facet_is_inconclusive(serve: Serve) -> None:
    with pytest.raises(
        PreconditionFailed, match="Snapshot, which the target offers, ended with UNIMPL"
    ):
        serve(SOME).snapshot("rm")


def test_configuration_error_status_is_rejection(serve: Serve) -> None:
    def refuse(_change: Any, context: Any) -> None:
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, "who are you")

    client = serve(ext.Facets(configuration=True), ApplyConfiguration=refuse)
    outcome = client.applies(ext.ConfigurationChange())

    assert not outcome.applied
    assert outcome.reason == "FAILED_PRECONDITION who are you"


@pytest.mark.parametrize(
    ("after", "message"), [(0.0, "the target is gone"), (0.45, "no answer to Apply")]
)
def test_configuration_cancelled_at_deadline_is_unanswered(
    serve: Serve, after: float, message: str
) -> None:
    def cancels(_change: Any, context: Any) -> None:
        time.sleep(after)
        context.abort(grpc.StatusCode.CANCELLED, "")

    client = serve(ext.Facets(configuration=True), ApplyConfiguration=cancels)
    client._timeout = 0.5

    with pytest.raises(PreconditionFailed, match=message):
        client.applies(ext.ConfigurationChange())


def test_gone_target_raises_target_lost() -> None:
    client = Extension("127.0.0.1:1", timeout=1.0)

    with pytest.raises(TargetLost, match="the target is gone"):
        _ = client.facets
    client.close()


def test_user_timers_override_rm_timers(serve: Serve) -> None:
    def describe(query: ext.DescribeQuery, _context: Any) -> ext.Facets:
        own = 1500 if query.rm_id == "rm" else 30_000
        return ext.Facets(timers=ext.Timers(waiting_to_completed=own, placeholder_default=own))

    known = Timers(waiting_to_completed=30.0, connection_loss=60.0)
    rm = _rm(serve(Describe=describe), TargetProfile(known, Timers(placeholder=3.0)))

    assert rm.timers == Timers(placeholder=3.0, waiting_to_completed=1.5, connection_loss=60.0)


def test_any_timer_is_fine_on_virtual_time() -> None:
    known = Timers(placeholder=20 * LONGEST_TIMER)
    rm = _rm(None, TargetProfile(known), is_virtual=True)

    assert rm.placeholder_timeout() == 20 * LONGEST_TIMER


@pytest.mark.parametrize(
    ("known", "time_scale", "proposed"),
    [
        (Timers(), 1.0, ("3", "1.5", "2")),
        (Timers(waiting_to_completed=5.0), 1.0, ("3", "5", "2")),
        (Timers(connection_loss=3.0), 2.0, ("6", "3", "3")),
    ],
)
def test_proposed_timers_are_in_seconds_of_the_user_or_scaled(
    known: Timers, time_scale: float, proposed: tuple[str, str, str]
) -> None:
    keys = (f"siconform.timers.{name}" for name in ("placeholder", "waiting", "connection_loss"))

    assert proposal(known, time_scale=time_scale) == dict(zip(keys, proposed, strict=True))


def test_revision_mismatch_is_reported_from_description(serve: Serve) -> None:
    facets = serve(SOME).facets
    _implements(facets, REVISIONS["2023-12"])
    _implements(NONE, REVISIONS["2023-08"])

    with pytest.raises(
        TargetLost, match="implements SI 2023-12, not 2023-08: give --revision 2023-12"
    ):
        _implements(facets, REVISIONS["2023-08"])


def test_requirement_of_unoffered_facet_is_not_applicable(conformance: Run) -> None:
    outcome = conformance(
        '@requirement("SI-CONN-006")\n'
        "def test_one(target):\n"
        "    raise NotOffered('the target does not offer the extension\\'s snapshot')\n"
        '@requirement("SI-NODE-004")\n'
        "def test_two(target): pass\n"
    )

    assert outcome.code == 0
    assert outcome.verdict("SI-CONN-006") == "not-applicable"
    assert outcome.reason("SI-CONN-006") == "the target does not offer the extension's snapshot"
    assert Verdict.NOT_APPLICABLE.counted(1) in outcome.out
    assert "SI-CONN-006: the target does not offer the extension's snapshot" in outcome.out


def _rm(
    extension: Extension | None, profile: TargetProfile, *, is_virtual: bool = False
) -> ResourceManager:
    line = SimpleNamespace(rm_id="rm", history=History())
    if is_virtual:
        line.history.clock = VirtualClock(line)
    return rm_on(line, Deadlines(), extension=extension, profile=profile)
