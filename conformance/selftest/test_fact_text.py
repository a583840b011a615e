"""Facts as text: complete, brief, and comparable between schedulers."""

from siconform.protocol.notifications import AskRejected, Nothing, Released, Termination, UpdateKind
from siconform.protocol.registration import RegistrationAnswered

RELEASED = Released("k", "a", "k", Termination.TIMEOUT, "too long", "default")


def test_the_whole_states_every_field() -> None:
    assert str(RELEASED) == (
        "released k, application a, identity k, TIMEOUT, message too long, partition default"
    )


def test_the_brief_leaves_out_what_reports_nothing() -> None:
    assert RELEASED.in_brief() == "released k, application a, TIMEOUT, message too long"


def test_the_essence_leaves_out_what_is_worded_freely() -> None:
    assert RELEASED.in_essence() == "released k, application a, TIMEOUT"
    assert AskRejected("k", "a", "no").in_essence() == "ask rejected k, application a"


def test_facts_with_a_sentence_of_their_own_keep_it() -> None:
    nothing = Nothing(UpdateKind.NODES)
    assert nothing.in_brief() == "a message on the nodes stream that tells nothing"
    refused = RegistrationAnswered("rm", "INTERNAL", "words")
    assert refused.in_brief() == "registration of rm failed: INTERNAL words"
    assert refused.in_essence() == "registration of rm failed: INTERNAL"
