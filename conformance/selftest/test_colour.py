"""Colour: --color, NO_COLOR, FORCE_COLOR and the terminal decide, in this order."""

import io
import os
from pathlib import Path

import pytest
from siconform.commands.launching import arguments
from siconform.config.option_values import BadOption
from siconform.output.live.terminal import Terminal

from .commands import siconform

pytestmark = pytest.mark.end_to_end


class Tty(io.StringIO):
    """A minimal terminal."""

    def isatty(self) -> bool:
        return True


XTERM = {"TERM": "xterm-256color"}
DUMB = {"TERM": "dumb"}


@pytest.mark.parametrize(
    ("asked", "environment", "on_a_terminal", "in_a_pipe"),
    [
        ("", XTERM, True, False),
        ("auto", XTERM, True, False),
        ("", DUMB, False, False),
        ("", XTERM | {"NO_COLOR": "1"}, False, False),
        ("", XTERM | {"NO_COLOR": ""}, True, False),
        ("", XTERM | {"FORCE_COLOR": "1"}, True, True),
        ("", XTERM | {"FORCE_COLOR": ""}, True, False),
        ("", XTERM | {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ("always", XTERM | {"NO_COLOR": "1"}, True, True),
        ("never", XTERM | {"FORCE_COLOR": "1"}, False, False),
        ("yes", DUMB, True, True),
        ("no", XTERM, False, False),
    ],
)
def test_colour_precedence(
    *, asked: str, environment: dict[str, str], on_a_terminal: bool, in_a_pipe: bool
) -> None:
    assert Terminal.of(Tty(), asked, environment).colour is on_a_terminal
    assert Terminal.of(io.StringIO(), asked, environment).colour is in_a_pipe


@pytest.mark.parametrize(
    ("environment", "is_live"), [(XTERM, True), (DUMB, False), (XTERM | {"NO_COLOR": "1"}, True)]
)
def test_live_lines_need_capable_terminal(*, environment: dict[str, str], is_live: bool) -> None:
    assert Terminal.of(Tty(), "", environment).is_live is is_live
    assert not Terminal.of(io.StringIO(), "", environment | {"FORCE_COLOR": "1"}).is_live


@pytest.mark.parametrize(
    ("given", "received"),
    [
        (["--color", "always"], ["--color", "yes"]),
        (["--color=never", "-x"], ["-x", "--color", "no"]),
        (["--color", "auto"], ["--color", "auto"]),
        (["--color", "yes"], ["--color", "yes"]),
    ],
)
def test_colour_option_is_passed_to_pytest(given: list[str], received: list[str]) -> None:
    words = arguments([*given, "-n0"])

    assert [w for w in words if w in received] == received
    assert sum(word.startswith("--color") for word in words) == 1


def test_invalid_value_is_usage_error(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match='--color "sometimes" must be one of auto, always, never'):
        arguments(["--color", "sometimes"])
    done = siconform("run", "--color", "sometimes", cwd=tmp_path)
    assert done.returncode == 4
    assert done.stderr == 'siconform: --color "sometimes" must be one of auto, always, never\n'


def test_colour_in_pipe_on_request(tmp_path: Path) -> None:
    plain = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "NO_COLOR")}
    run = ("run", "-k", "nothing_like_it", "-n0")

    without = siconform(*run, cwd=tmp_path, env=plain).stdout
    coloured = siconform(*run, "--color", "always", cwd=tmp_path, env=plain).stdout

    assert "\x1b" not in without
    assert "\x1b[33m\x1b[1mINCOMPLETE" in coloured
