"""2026-04: like 2024-10; what it adds to event records does not concern the RM."""

from dataclasses import replace
from typing import Final

from siwire import REVISIONS
from siwire.r2026_04 import si_pb2 as si

from sirm.codec import callbacks, r2024_10

CODEC: Final = replace(r2024_10.CODEC, revision=REVISIONS["2026-04"], callbacks=callbacks.of(si))
