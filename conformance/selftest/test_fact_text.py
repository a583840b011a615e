"""Facts as text: complete, brief, and comparable between schedulers."""

from siconform.protocol.notifications import AskRejected, Nothing, Released, Termination, UpdateKind
from siconform.protocol.registration import RegistrationAnswered

RELEASED = Released("k", "a", "k", Termination.TIMEOUT, "too long", "default")


def test_full_text_has_every_field() -> None:
    assert str(RELEASED) == (
        "released k, application a, identity k, TIMEOUT, message too long, partition default"
    )


def test_brief_text_omits_empty_fields() -> None:
    assert RELEASED.in_brief() == "released k, application a, TIMEOUT, message too long"


def test_comparable_text_omits_free_wording() -> None:
    assert RELEASED.comparable_text() == "released k, application a, TIMEOUT"
    assert AskRejected("k", "a", "no").comparable_text() == "ask rejected k, application a"


def test_facts_with_custom_text_keep_it() -> None:
    nothing = Nothing(UpdateKind.NODES)
    assert nothing.in_brief() == "a message on the nodes stream without elements"
    refused = RegistrationAnswered("rm", "INTERNAL", "words")
    assert refused.in_brief() == "registration of rm failed: INTERNAL words"
    assert refused.comparable_text() == "registration of rm failed: INTERNAL"
