"""Configurations with a placeholder: one value breaks a rule, its counterpart does not."""

from collections.abc import Callable

import pytest


@pytest.fixture
def fill() -> Callable[[str, str], tuple[str, int, int]]:
    """Return a function that replaces `@`, removes `^` and returns the position of `^`."""

    def filled(text: str, value: str) -> tuple[str, int, int]:
        before = text.partition("^")[0].replace("@", value)
        line = before.count("\n") + 1
        column = len(before.rpartition("\n")[2]) + 1
        return text.replace("^", "").replace("@", value), line, column

    return filled
