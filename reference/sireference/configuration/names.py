"""What queues, users and groups may be called.

Source: yunikorn-core 1.5.1 `common/configs/configvalidator.go`.
"""

import re
import warnings

from sireference.configuration.problems import quoted

WILDCARD = "*"

_QUEUE = re.compile("[a-zA-Z0-9_-]{1,64}")
_USER = re.compile("[_a-zA-Z][a-zA-Z0-9:_.@-]*[$]?")
_GROUP = re.compile("[_a-zA-Z][a-zA-Z0-9:_.-]*")
# A word with one of these is an expression, not a name.
_SPECIAL = re.compile(r"[\^$*+?()\[{}|]")


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


def is_expression(text: str) -> bool:
    """Tell whether the text is meant as a regular expression."""
    return _SPECIAL.search(text) is not None


def check_expression(text: str) -> str:
    """Give back a regular expression that compiles; ValueError says what is wrong, as a clause."""
    try:
        with warnings.catch_warnings(action="ignore"):  # Python's doubts about Go's expressions
            re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{quoted(text)} is not a regular expression: {error}") from error
    return text
