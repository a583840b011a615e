"""Permitted variants of messages: what may be left out or not reported."""

from functools import partial
from typing import Final

from siwire.ext import extension_pb2 as ext
from siwire.r2023_12 import si_pb2 as si_2023_12

from mutation.event_batches import keep_records
from mutation.main_revision import NAME, si
from mutation.mutant import Wire, keep, variant

_on_the_wire: Final = partial(variant, revision=NAME)


@_on_the_wire("states-without-message", "An update of an application has no message.")
def _(response: si.ApplicationResponse) -> None:
    for update in response.updated:
        update.message = ""


def _skip(name: str, state: str) -> None:
    @_on_the_wire(name, f"The state {state} is left out.")
    def _(response: si.ApplicationResponse) -> None:
        keep(response.updated, lambda update: update.state != state)


_skip("accepted-not-reported", "Accepted")


@variant("starting-not-reported", "The state Starting is left out (2023-12).", revision="2023-12")
def _(response: si_2023_12.ApplicationResponse) -> None:
    keep(response.updated, lambda update: update.state != "Starting")


_skip("running-not-reported", "Running")
_skip("completing-not-reported", "Completing")
_skip("failing-not-reported", "Failing")
_skip("resuming-not-reported", "Resuming")


@_on_the_wire("events-without-message", "Events have no message.")
def _(received: ext.ToRm) -> None:
    if received.kind == ext.EVENT_BATCH:
        for payload in received.payloads:
            record = si.EventRecord.FromString(payload.data)
            record.message = ""
            payload.data = record.SerializeToString()


@_on_the_wire("no-queue-events", "Events of queues are not sent.", departs_from=("SI-EVT-013",))
def _(received: ext.ToRm, wire: Wire) -> None:
    keep_records(received, wire, lambda record: record.type != si.EventRecord.QUEUE)


@_on_the_wire("update-refused-without-reason", "A refused configuration gets no reason.")
def _(outcome: ext.ConfigurationOutcome) -> None:
    outcome.reason = ""
