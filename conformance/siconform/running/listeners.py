"""The outputs of ``siconform run``: the one list of those who receive its events."""

import os
import sys
from pathlib import Path

import pytest

from siconform.config.open_target import describe
from siconform.config.options import Settings
from siconform.output.area_lines import AreaLines
from siconform.output.console import Console, LastLine
from siconform.output.events import Listener
from siconform.output.github import Annotations, JobSummary
from siconform.output.junit import Junit
from siconform.output.live.durations import Durations
from siconform.output.live.live_view import LiveView
from siconform.output.live.output import Output
from siconform.output.live.progress import RunProgress
from siconform.output.live.terminal import Terminal
from siconform.output.phases import Phases
from siconform.output.results_files import CertificateFiles, Page, ResultsFile
from siconform.output.slowest import Slowest


def listeners(config: pytest.Config, settings: Settings) -> list[Listener]:
    """Return the outputs in the order in which they receive each event: files, then the screen."""
    option, folder = config.option, settings.results
    output = Output(Terminal.of(sys.stdout, option.color), option.verbose)
    target = " ".join((*describe(settings), "as", settings.implemented))
    progress = RunProgress()
    made: list[Listener] = [progress, Durations(config, target, progress)]
    if output.terminal.is_live and output.verbosity == 0 and not _writes_directly(config):
        made.append(LiveView(output, folder, progress))
    made += [ResultsFile(folder), Page(folder), CertificateFiles(folder), Junit(config)]
    if option.durations is not None:
        made.append(Slowest(output, option.durations, option.durations_min or 0.0))
    for_github = output.verbosity >= 0 and bool(os.environ.get("GITHUB_ACTIONS"))
    if for_github:
        made.append(Annotations(output))
    made.append(Console(output, settings, progress))
    if output.verbosity >= 0 and not output.terminal.stream.isatty():
        made.append(AreaLines(output, progress))
    if option.timings:
        made.append(Phases(output))
    made.append(LastLine(output, folder))
    if for_github and (file := os.environ.get("GITHUB_STEP_SUMMARY")):
        made.append(JobSummary(Path(file), settings.command_line))
    return made


def _writes_directly(config: pytest.Config) -> bool:
    """Return whether pytest or the tests write to the terminal directly."""
    return bool(config.getoption("usepdb") or config.getoption("capture") == "no")
