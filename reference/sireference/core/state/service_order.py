"""Service order: from the root queue down to the next ask group."""

from sireference.core.state.application import Application, AskGroup
from sireference.core.state.queue import Queue


def next_ask_group(root: Queue) -> AskGroup | None:
    """Return the group to serve next below ``root``, None when all wait.

    A notified group that cannot be placed any more goes on waiting.
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
        if ask_group.waits_in is None:
            return ask_group
        if ask_group.waits_in.may_go(ask_group):
            ask_group.unblock()
            return ask_group
        ask_group.dismiss()
