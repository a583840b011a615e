"""How it is known that the scheduler has heard everything and told all that follows.

A fence is said in the scheduler's own words only to be rejected: the answer shows how far a stream
is heard. Nothing orders two streams, so each has its own.
"""

import itertools
from typing import Final

from siwire import constants

from mixed.link import ANSWERS_WITHIN, Link
from mixed.speech import Conversation, Item
from mixed.vocabulary import Vocabulary

FENCE: Final = "fence-"
"""The names in fences begin with it."""
_NOWHERE: Final = "nowhere"  # a partition there is not


class Fences:
    """The fences of one RM."""

    def __init__(self, link: Link, native: Vocabulary) -> None:
        self._link = link
        self._native = native
        self._numbers = itertools.count(1)

    def settle(self, spoken_on: Conversation) -> None:
        """Until everything is heard and all that follows is told."""
        others = [one for one in Conversation if one is not spoken_on]
        for conversations in ([spoken_on], others):
            sent = [(one, self._fence(one)) for one in conversations]
            for conversation, name in sent:
                self._link.wait(
                    lambda one=conversation, name=name: self._is_through(one, name),  # type: ignore[misc]  # bound now
                    f"the answer to {name}",
                    ANSWERS_WITHIN,
                )

    def _fence(self, conversation: Conversation) -> str:
        name = f"{FENCE}{next(self._numbers):04d}"
        native = self._native
        if conversation is Conversation.NODES:
            utterance = native.node(name, attributes={constants.NODE_PARTITION: _NOWHERE})
        elif conversation is Conversation.APPLICATIONS:
            utterance = native.application(name, partition=_NOWHERE)
        else:
            utterance = native.ask(Item(name, application="nobody"))
        if not self._link.ended(conversation.method(native.revision)):
            self._link.send(utterance, native.revision)
        return name

    def _is_through(self, conversation: Conversation, name: str) -> bool:
        if self._link.ended(conversation.method(self._native.revision)):
            return True
        return any(name.encode() in heard.data for heard in self._link.heard())
