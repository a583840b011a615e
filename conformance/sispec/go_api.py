"""The Go API of the known revisions: the methods that each declares, by name and types.

A revision is compared with a specification that has an API, so the declarations are kept:
interface, method, names and types of arguments, results. The surrounding prose is not.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from siwire import REVISIONS

from sispec.model import ApiMethod

_FIRST: Final = "2021-02"
_THREE_STREAMS: Final = "2023-04"
_STOP: Final = "2024-10"


@dataclass(frozen=True, slots=True)
class _Declared:
    """A method with the revisions that have it, from `since` up to and including `until`."""

    name: str
    signature: str
    since: str
    until: str = ""


_REGISTERED: Final = "(*si.RegisterResourceManagerResponse, error)"
_METHODS: Final = (
    _Declared(
        "SchedulerApi.RegisterResourceManager",
        "(request *si.RegisterResourceManagerRequest, callback *ResourceManagerCallback) "
        f"{_REGISTERED}",
        _FIRST,
        _FIRST,
    ),
    _Declared("SchedulerApi.Update", "(request *si.UpdateRequest) error", _FIRST, _FIRST),
    _Declared(
        "SchedulerAPI.RegisterResourceManager",
        "(request *si.RegisterResourceManagerRequest, callback ResourceManagerCallback) "
        f"{_REGISTERED}",
        _THREE_STREAMS,
    ),
    *(
        _Declared(f"SchedulerAPI.{method}", f"(request *si.{request}) error", _THREE_STREAMS)
        for method, request in (
            ("UpdateAllocation", "AllocationRequest"),
            ("UpdateApplication", "ApplicationRequest"),
            ("UpdateNode", "NodeRequest"),
            ("UpdateConfiguration", "UpdateConfigurationRequest"),
        )
    ),
    _Declared("SchedulerAPI.Stop", "()", _STOP),
    _Declared(
        "ResourceManagerCallback.RecvUpdateResponse",
        "(response *si.UpdateResponse) error",
        _FIRST,
        _FIRST,
    ),
    *(
        _Declared(
            f"ResourceManagerCallback.{method}", f"(response *si.{response}) error", _THREE_STREAMS
        )
        for method, response in (
            ("UpdateAllocation", "AllocationResponse"),
            ("UpdateApplication", "ApplicationResponse"),
            ("UpdateNode", "NodeResponse"),
        )
    ),
    *(
        _Declared(f"ResourceManagerCallback.{method}", signature, _THREE_STREAMS)
        for method, signature in (
            ("Predicates", "(args *si.PredicatesArgs) error"),
            (
                "PreemptionPredicates",
                "(args *si.PreemptionPredicatesArgs) *si.PreemptionPredicatesResponse",
            ),
            ("SendEvent", "(events []*si.EventRecord)"),
            (
                "UpdateContainerSchedulingState",
                "(request *si.UpdateContainerSchedulingStateRequest)",
            ),
        )
    ),
    _Declared("StateDumpPlugin.GetStateDump", "() (string, error)", _THREE_STREAMS),
)


def api_of(revision: str) -> Mapping[str, ApiMethod]:
    """Return the methods of a revision's Go API, `Interface.Method`, without comments and lines."""
    return {method.name: method for method in _of(revision)}


def _of(revision: str) -> Iterator[ApiMethod]:
    names = list(REVISIONS)
    at = names.index(revision)
    for declared in _METHODS:
        last = names.index(declared.until) if declared.until else len(names)
        if names.index(declared.since) <= at <= last:
            yield ApiMethod(declared.name, declared.signature)
