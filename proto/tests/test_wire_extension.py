"""The optional extension: its calls, its own pool, and embedded SI messages."""

import pytest
from google.protobuf import descriptor_pool
from siwire import REVISIONS, Revision, rpc
from siwire.ext import extension_pb2 as ext


def test_scheduler_extension_has_its_calls() -> None:
    service = ext.DESCRIPTOR.services_by_name["SchedulerExtension"]

    calls = {name: method.kind for name, method in rpc.methods_of(service).items()}

    assert calls == {
        "Describe": "unary_unary",
        "Callbacks": "stream_stream",
        "ApplyConfiguration": "unary_unary",
        "Snapshot": "unary_unary",
        "ReadMetrics": "unary_unary",
        "AdvanceClock": "unary_unary",
    }


def test_driver_of_an_rm_has_one_call() -> None:
    method = rpc.methods_of(ext.DESCRIPTOR.services_by_name["RmDriver"])["Drive"]

    assert (method.path, method.kind) == ("/siconform.ext.v1.RmDriver/Drive", "unary_unary")
    assert (method.request, method.response) == (ext.DriveCommand, ext.DriveOutcome)


def test_extension_is_not_in_the_default_pool() -> None:
    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName("siconform.ext.v1.Facets")


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)
def test_message_of_any_revision_is_carried_unchanged(revision: Revision) -> None:
    asked = revision.si.PredicatesArgs(allocationKey="key-1", nodeID="node-1", allocate=True)
    payload = ext.SiPayload(
        full_name=asked.DESCRIPTOR.full_name, data=asked.SerializeToString(deterministic=True)
    )

    carried = ext.ToRm.FromString(
        ext.ToRm(call_id=1, kind=ext.PLACEMENT_CHECK, payloads=[payload]).SerializeToString()
    )

    assert carried.payloads[0].full_name == "si.v1.PredicatesArgs"
    assert revision.si.PredicatesArgs.FromString(carried.payloads[0].data) == asked
