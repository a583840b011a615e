"""Calls in a process of their own: results, errors, and ends."""

import psutil
import pytest
from siconform.child_call import child_call


def test_returns_what_the_function_returned() -> None:
    with child_call("operator:add", 1, 2) as result:
        assert result() == 3


def test_raises_the_value_error_of_the_function() -> None:
    with (
        child_call("json:loads", "{") as result,
        pytest.raises(ValueError, match="Expecting property name"),
    ):
        result()


def test_process_that_ends_without_result() -> None:
    with (
        child_call("sys:exit", "no more") as result,
        pytest.raises(RuntimeError, match="has ended: no more"),
    ):
        result()


def test_process_ends_with_the_block() -> None:
    before = set(psutil.Process().children(recursive=True))

    with child_call("time:sleep", 1000):
        started = set(psutil.Process().children(recursive=True)) - before

    assert started
    assert not [process for process in started if process.is_running()]
