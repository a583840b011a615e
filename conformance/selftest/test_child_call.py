"""Calls in a process of their own: results, errors, and ends."""

import psutil
import pytest
from siconform.child_call import ChildCall


def test_returns_what_the_function_returned() -> None:
    with ChildCall("operator:add", 1, 2) as call:
        assert call.result() == 3


def test_raises_the_value_error_of_the_function() -> None:
    with (
        ChildCall("json:loads", "{") as call,
        pytest.raises(ValueError, match="Expecting property name"),
    ):
        call.result()


def test_process_that_ends_without_result() -> None:
    with (
        ChildCall("sys:exit", "no more") as call,
        pytest.raises(RuntimeError, match="has ended: no more"),
    ):
        call.result()


def test_process_ends_with_the_block() -> None:
    before = set(psutil.Process().children(recursive=True))

    with ChildCall("time:sleep", 1000):
        started = set(psutil.Process().children(recursive=True)) - before

    assert started
    assert not [process for process in started if process.is_running()]
