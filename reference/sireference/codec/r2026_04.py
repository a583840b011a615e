"""2026-04: like 2024-10, with one more detail in event records."""

from dataclasses import replace
from functools import partial
from typing import Final

from siwire import REVISIONS
from siwire.r2026_04 import si_pb2 as si

from sireference.codec import callbacks, r2024_10, reading
from sireference.codec.three_streams import codec
from sireference.core.model import Ask, NewApplication, PreemptionQuestion

CALLBACKS: Final = callbacks.CallbackCodec(
    callbacks.all_of(
        si.PredicatesArgs,
        partial(callbacks.detail_records, si.EventRecord),
        partial(callbacks.spelled_state, si.UpdateContainerSchedulingStateRequest),
    )
    | {PreemptionQuestion: partial(callbacks.preemption, si.PreemptionPredicatesArgs)},
    partial(callbacks.preemption_answer, si.PreemptionPredicatesResponse),
)
READING: Final = replace(
    r2024_10.READING,
    copied_by_asks=reading.copied(Ask, si.Allocation),
    copied_by_applications=reading.copied(NewApplication, si.AddApplicationRequest),
)
SLOTS: Final = r2024_10.SLOTS
RULES: Final = replace(
    r2024_10.RULES, event_details=callbacks.details(si.EventRecord.ChangeDetail.keys())
)
CODEC: Final = codec(REVISIONS["2026-04"], READING, SLOTS, CALLBACKS, RULES)
