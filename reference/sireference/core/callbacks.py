"""Callbacks: the RM says what it takes that way."""

from sireference.core import predicates
from sireference.core.books.resource_manager import ResourceManager
from sireference.core.model import Effect, OfferCallbacks


def offer(rm: ResourceManager, event: OfferCallbacks, now: float) -> list[Effect]:
    """From now on the RM takes what it offers, and nothing else; what was asked is asked again."""
    rm.callbacks.offer(event.callbacks)
    return [
        effect
        for partition in rm.partitions.values()
        for effect in predicates.ask_again(partition, now)
    ]
