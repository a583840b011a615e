"""The order in which asks are served: from the root of the queues down to an ask group."""

from sireference.core.state.application import Application, AskGroup
from sireference.core.state.queue import Queue


def next_ask_group(root: Queue) -> AskGroup | None:
    """The group that is served next below ``root``, None when all wait.

    A group that was notified goes on waiting if it may not go any more by now.
    """
    while True:
        while root.changed_buckets:
            root.changed_buckets.popitem()[0].notify_first()
        first = root.first_served()
        while isinstance(first, Queue):
            first = first.served.top()
        if not isinstance(first, Application):
            return None
        ask_group = first.awake.top()
        if ask_group.waits_in is None or ask_group.waits_in.may_go(ask_group):
            ask_group.unblock()
            return ask_group
        ask_group.dismiss()
