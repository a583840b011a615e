"""The kit has a word for every event of the specification, in the block of its kind."""

import pytest
from siconform.protocol.events import Detail, EventChange, Subject, details_of
from siwire import REVISIONS, Revision

BLOCKS = {
    100: Subject.REQUEST,
    200: Subject.APPLICATION,
    300: Subject.NODE,
    400: Subject.QUEUE,
    600: Subject.USERS,
}


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)
def test_every_event_has_a_word(revision: Revision) -> None:
    record = revision.si.EventRecord.DESCRIPTOR
    for words, enum in ((Subject, "Type"), (EventChange, "ChangeType"), (Detail, "ChangeDetail")):
        if enum in record.enum_types_by_name:
            names = set(record.enum_types_by_name[enum].values_by_name)
            assert names <= {str(word.value) for word in words}


def test_event_detail_matches_its_number_range() -> None:
    numbers = {
        name: value.number
        for revision in REVISIONS.values()
        if "ChangeDetail" in revision.si.EventRecord.DESCRIPTOR.enum_types_by_name
        for name, value in revision.si.EventRecord.ChangeDetail.DESCRIPTOR.values_by_name.items()
    }
    for detail in set(Detail) - {Detail.NONE, Detail.UNDEFINED}:
        block = numbers[detail.value] // 100 * 100
        owners = {subject for subject in BLOCKS.values() if detail in details_of(subject)}
        ends = set(BLOCKS.values()) - {Subject.USERS}
        assert owners == ({BLOCKS[block]} if block in BLOCKS else ends), detail
