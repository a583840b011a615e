"""Texts with a slot: one filling breaks a rule, its twin does not."""

from collections.abc import Callable

import pytest


@pytest.fixture
def fill() -> Callable[[str, str], tuple[str, int, int]]:
    """Give a function that fills the slot `@` and tells where `^`, which it takes out, stood."""

    def filled(text: str, value: str) -> tuple[str, int, int]:
        before = text.partition("^")[0].replace("@", value)
        line = before.count("\n") + 1
        column = len(before.rpartition("\n")[2]) + 1
        return text.replace("^", "").replace("@", value), line, column

    return filled
