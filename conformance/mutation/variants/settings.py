"""Permitted variants of how the configuration is given."""

from functools import partial
from typing import Final

from siconform.protocol.queue_configurations import conformance_queues

from mutation.main_revision import NAME, si
from mutation.mutant import variant

_NAME: Final = "conformance"
_NAMED: Final = "fixtures/mutation/configuration-name.txt"  # from the root of the repository
_UNKNOWN: Final = "unknown configuration"
_on_the_wire: Final = partial(variant, revision=NAME)


@_on_the_wire(
    "other-configuration-format",
    "The configuration is the name of one on the scheduler's side.",
    once_failed_by=("SI-REG-001", "SI-REG-002"),
    received=("--config", _NAMED, "--without", "queues"),
)
def _(request: si.RegisterResourceManagerRequest) -> None:
    if request.config:
        is_known = request.config.strip() == _NAME
        request.config = conformance_queues() if is_known else _UNKNOWN
