"""What an RM gives back. There is always more of the application, which is to stay."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from siwire import Capability

from mixed.play import Build, Play
from mixed.scheduler import living, waiting
from mixed.speech import Item, Utterance
from mixed.statements import Kind
from mixed.vocabulary import Vocabulary

_HELD: Final = tuple(Item(f"k{n}", node="n1", identity=f"existing-{n}") for n in (1, 2))
_ONE: Final = _HELD[0]


def _existing(item: Item, native: Vocabulary) -> Utterance:
    return native.existing(item)


def _reports(native: Vocabulary) -> Iterator[Build]:
    """Two allocations come back: with their node where that can be said."""
    if native.revision.can(Capability.EXISTING_ALLOCATIONS_WITH_NODE):
        yield lambda native: native.node("n1", existing=_HELD)
        return
    yield lambda native: native.node("n1")
    for item in _HELD:
        yield partial(_existing, item)


def _given_held(play: Play) -> None:
    """Two allocations that the RM reported, and an ask that waits."""
    play.given(
        lambda native: native.application("a1"),
        *_reports(play.native),
        lambda native: native.ask(Item("k3", memory=20)),
    )


def releases_one(play: Play) -> None:
    """One of two allocations that the RM reported is released, by its identity."""
    _given_held(play)

    play.says(lambda rm: rm.release("a1", play.identity_of(_ONE)))

    play.is_told(Kind.RELEASED, "k1")
    play.changes(lost=(living("k1"),))


def releases_one_with_its_key(play: Play) -> None:
    """The same is released by its identity and its key."""
    _given_held(play)

    play.says(lambda rm: rm.release("a1", play.identity_of(_ONE), key=_ONE.key))

    play.is_told(Kind.RELEASED, "k1")
    play.changes(lost=(living("k1"),))


def releases_all(play: Play) -> None:
    """All allocations of an application are released; from 2024-10 on asks are among them."""
    _given_held(play)
    asks_too = () if play.rm.revision.can(Capability.ASKS_APART) else (waiting("k3"),)

    play.says(lambda rm: rm.release("a1", ""))

    play.is_told(Kind.RELEASED, "k1")
    play.is_told(Kind.RELEASED, "k2")
    play.changes(lost=(living("k1"), living("k2"), *asks_too))


def releases_what_it_was_told(play: Play) -> None:
    """One of two allocations that the scheduler made is released, by the identity that was read."""
    play.given(
        lambda native: native.node("n1"),
        lambda native: native.application("a1"),
        lambda native: native.ask(Item("k1")),
        lambda native: native.ask(Item("k2")),
    )

    play.says(lambda rm: rm.release("a1", play.identity("k1")))

    play.is_told(Kind.RELEASED, "k1")
    play.changes(lost=(living("k1"),))


def withdraws_an_ask(play: Play) -> None:
    """An ask that waits is withdrawn."""
    _given_held(play)

    play.says(lambda rm: rm.withdrawal("a1", "k3"))

    play.changes(lost=(waiting("k3"),))


STEPS: Final = (
    releases_one,
    releases_one_with_its_key,
    releases_all,
    releases_what_it_was_told,
    withdraws_an_ask,
)
