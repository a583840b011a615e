"""What queues, users and groups may be called.

Source: yunikorn-core 1.5.1 `common/configs/configvalidator.go`.
"""

import re

from sireference.configuration.problems import quoted

WILDCARD = "*"

_QUEUE = re.compile("[a-zA-Z0-9_-]{1,64}")
_USER = re.compile("[_a-zA-Z][a-zA-Z0-9:_.@-]*[$]?")
_GROUP = re.compile("[_a-zA-Z][a-zA-Z0-9:_.-]*")


def is_queue_name(name: str) -> bool:
    """Tell whether one segment of a queue's full name is well formed."""
    return _QUEUE.fullmatch(name) is not None


def read_user(text: str) -> str:
    """Give back what can be a user; ValueError says what is wrong, as a clause."""
    if not _USER.fullmatch(text):
        raise ValueError(f"{quoted(text)} cannot be a user")
    return text


def read_group(text: str) -> str:
    """Give back what can be a group; ValueError says what is wrong, as a clause."""
    if not _GROUP.fullmatch(text):
        raise ValueError(f"{quoted(text)} cannot be a group")
    return text
