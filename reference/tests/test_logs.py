"""Logs: format and content of records."""

import json
import logging
import sys
from collections.abc import Iterator

import pytest
from sireference.shell.logs import LOGGER, JsonLines, TextLines, fields, set_up


def record(
    message: str = "resource manager: %s", *arguments: object, **more: object
) -> logging.LogRecord:
    made = LOGGER.makeRecord(
        "sireference", logging.WARNING, "file.py", 1, message, arguments, None, extra=fields(**more)
    )
    made.created = 1_700_000_000.25
    return made


def test_json_is_one_object_per_line() -> None:
    line = JsonLines().format(record("resource manager: %s", "Register", rm="r\nm", n=1))

    assert "\n" not in line
    assert json.loads(line) == {
        "time": "2023-11-14T22:13:20.250+00:00",
        "level": "warning",
        "says": "resource manager: Register",
        "rm": "r\nm",
        "n": 1,
    }


def test_text_is_one_line() -> None:
    line = TextLines().format(record("resource manager: %s", "Register", rm="r\nm"))

    assert line == ('2023-11-14T22:13:20.250+00:00 WARNING resource manager: Register rm="r\\nm"')


@pytest.mark.parametrize("form", [JsonLines(), TextLines()])
def test_exceptions_are_logged_in_full(form: logging.Formatter) -> None:
    made = record("oh")
    try:
        int("too bad")
    except ValueError:
        made.exc_info = sys.exc_info()

    assert "ValueError: invalid literal" in form.format(made)


@pytest.fixture
def as_before() -> Iterator[None]:
    loggers = [LOGGER, *map(logging.getLogger, ("asyncio", "grpc"))]
    before = [(one.handlers, one.level, one.propagate) for one in loggers]
    yield
    for one, (handlers, level, propagates) in zip(loggers, before, strict=True):
        one.handlers, one.propagate = handlers, propagates
        one.setLevel(level)


@pytest.mark.usefixtures("as_before")
def test_only_the_chosen_level_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    set_up("warning", "json")
    LOGGER.info("not this")
    LOGGER.warning("but this")

    received = capsys.readouterr()

    assert received.out == ""
    assert [json.loads(line)["says"] for line in received.err.splitlines()] == ["but this"]


@pytest.mark.usefixtures("as_before")
@pytest.mark.parametrize("name", ["asyncio", "grpc._cython.cygrpc"])
def test_libraries_log_in_the_same_format(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    set_up("warning", "json")
    logging.getLogger(name).error("oh")

    (line,) = capsys.readouterr().err.splitlines()

    assert json.loads(line)["says"] == "oh"
