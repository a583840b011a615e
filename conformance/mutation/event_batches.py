"""Changes of batches of event records; a batch that has no records left is not sent."""

from collections.abc import Callable

from siwire.ext import extension_pb2 as ext

from mutation.main_revision import si
from mutation.mutant import Wire, keep


def keep_records(received: ext.ToRm, wire: Wire, is_kept: Callable[[si.EventRecord], bool]) -> None:
    """Keep only these records of a batch."""
    if received.kind == ext.EVENT_BATCH:
        keep(received.payloads, lambda one: is_kept(si.EventRecord.FromString(one.data)))
        wire.is_dropped = not received.payloads
