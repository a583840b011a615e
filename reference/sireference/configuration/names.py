"""Valid names of queues, users and groups.

Source: yunikorn-core 1.5.1 `common/configs/configvalidator.go`.
"""

import re

from sireference.configuration.problems import quoted

WILDCARD = "*"

_QUEUE = re.compile("[a-zA-Z0-9_-]{1,64}")
_USER = re.compile("[_a-zA-Z][a-zA-Z0-9:_.@-]*[$]?")
_GROUP = re.compile("[_a-zA-Z][a-zA-Z0-9:_.-]*")


def is_queue_name(name: str) -> bool:
    """Return whether one segment of a queue's full name is well formed."""
    return _QUEUE.fullmatch(name) is not None


def read_user(text: str) -> str:
    """Return a valid user name. Raises ValueError with a clause as reason."""
    if not _USER.fullmatch(text):
        raise ValueError(f"{quoted(text)} cannot be a user")
    return text


def read_group(text: str) -> str:
    """Return a valid group name. Raises ValueError with a clause as reason."""
    if not _GROUP.fullmatch(text):
        raise ValueError(f"{quoted(text)} cannot be a group")
    return text
