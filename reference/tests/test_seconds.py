"""Durations out of range are rejected at every entry point."""

import math
import re
from dataclasses import fields
from typing import Any

import pytest
from sireference.core.model import Settings
from sireference.seconds import LONGEST_SECONDS
from sireference.shell.extension.facets import facets, milliseconds
from sireference.shell.options import Limits
from siwire import DEFAULT_REVISION

TIMES = [field.name for field in fields(Settings) if field.type is float]
DESCRIBED = (
    "connection_loss",
    "placeholder_default",
    "waiting_to_completed",
    "starting_to_running",
    "retention",
)

of_no_time = pytest.mark.parametrize("seconds", [math.nan, math.inf, 1e308, 1e10, -1.0, -math.inf])


def test_eight_settings_are_times() -> None:
    assert len(TIMES) == 8


@of_no_time
@pytest.mark.parametrize("name", TIMES)
def test_invalid_time_in_settings_is_named(name: str, seconds: float) -> None:
    chosen: dict[str, Any] = {name: seconds}

    message = f"{name}: {seconds!r} is not from 0 to 9223372036 seconds (292 years)"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Settings(**chosen)


@of_no_time
def test_invalid_time_in_limits_is_named(seconds: float) -> None:
    message = f"callback_timeout: {seconds!r} is not from 0 to 9223372036 seconds (292 years)"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Limits(callback_timeout=seconds)


def test_the_longest_time_there_is_can_be_described() -> None:
    chosen: dict[str, Any] = dict.fromkeys(TIMES, LONGEST_SECONDS)

    timers = facets(DEFAULT_REVISION, Settings(**chosen), is_virtual=False).timers

    assert [getattr(timers, name) for name in DESCRIBED] == [9_223_372_036_000] * 5


@pytest.mark.parametrize("seconds", [1e300, math.inf])
def test_milliseconds_fit_an_int64(seconds: float) -> None:
    assert milliseconds(seconds) == 9_223_372_036_000
