"""Opening the target: prepared once per run, opened by each worker."""

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from siconform import digests
from siconform.catalogue import Side
from siconform.config.option_list import RM_COMMAND
from siconform.config.option_values import BadOption
from siconform.config.options import Settings
from siconform.config.results_dir import adds
from siconform.protocol.timers import UNKNOWN, Timers
from siconform.targets import Target, TargetUnavailable
from siconform.targets.attached import AttachedTarget, await_address, check_address
from siconform.targets.embedded import (
    EMBEDDED_RM,
    MODULE,
    NAME,
    RM_MODULE,
    TIMERS,
    code,
    embedded,
    embedded_rm,
    embedded_version,
)
from siconform.targets.launch import START_TIMEOUT
from siconform.targets.process import Launch, ProcessTarget
from siconform.targets.rm_target import ANY_PORT, RmTarget, check_can_serve

_COMMAND_TIMEOUT = 30.0  # seconds until a --target-command must listen


def prepare(settings: Settings) -> None:
    """Check that the address answers, or build the target; raise TargetUnavailable."""
    address, access = settings.address, settings.terms.access
    if settings.side is Side.RM:
        _prepare_for_rm(settings)
    elif address and settings.wait is not None:
        await_address(address, settings.revision, access, settings.wait, _report)
    elif address:
        check_address(address, settings.revision, access)
    elif settings.named is not None:
        settings.named.build()


def _prepare_for_rm(settings: Settings) -> None:
    if settings.address:
        check_can_serve(settings.address)
        _report(f"waits up to {_patience(settings):g} s for an RM at {settings.address}")
    elif settings.named is not None:
        settings.named.build()
    elif settings.of_the_kit and not code(RM_MODULE)[0]:
        raise TargetUnavailable(f"the embedded RM, {RM_MODULE}, is not installed")


def _report(sentence: str) -> None:
    sys.stderr.write(f"siconform: {sentence}\n")
    sys.stderr.flush()


def open_target(settings: Settings, worker: str, *, real_clock: bool = False) -> Target:
    """Open the target for a worker; a started process may not be ready on return.

    An RM is started once the kit's scheduler serves.
    """
    if settings.side is Side.RM:
        return _rm_target(settings, worker)
    if settings.address:
        return AttachedTarget(
            settings.address,
            settings.revision,
            settings.time_scale,
            timers=settings.timers,
            stated=settings.timers,
            terms=settings.terms,
        )
    name = f"target-{worker}{'-real-clock' * real_clock}.log"
    log = adds(settings.results, settings.results / "logs" / name)
    target = ProcessTarget(
        _launch(settings, real_clock=real_clock),
        settings.revision,
        settings.time_scale,
        log,
        _traits(settings),
        timers=_timers(settings),
        stated=settings.timers,
        terms=settings.terms,
    )
    target.start()
    return target


def _rm_target(settings: Settings, worker: str) -> RmTarget:
    return RmTarget(
        describe(settings)[0],
        settings.revision,
        settings.time_scale,
        adds(settings.results, settings.results / "logs" / f"target-{worker}.log"),
        None if settings.address else _launch(settings),
        settings.address or ANY_PORT,
        settings.rm_driver,
        _patience(settings),
        settings.terms,
    )


def _patience(settings: Settings) -> float:
    """Return the seconds until an RM must register."""
    usual = START_TIMEOUT if settings.named is None else settings.named.listen_within
    return settings.start_timeout or (settings.address and settings.wait) or usual


def check_command(settings: Settings) -> None:
    """Raise BadOption if the command that starts the target is not a valid command line."""
    try:
        _launch(settings)
    except ValueError as error:
        flag = RM_COMMAND if settings.side is Side.RM else "--target-command"
        raise BadOption(f"{flag} is not a valid command line: {error}") from None


def describe(settings: Settings) -> tuple[str, str]:
    """Return name and version of the target for display; the version may be unknown ("")."""
    is_rm = settings.side is Side.RM
    if settings.of_the_kit:
        return EMBEDDED_RM if is_rm else NAME, embedded_version()
    known = settings.named
    name = settings.address or settings.command if known is None else known.full_name
    return f"rm: {name}" if is_rm else name, known.version if known is not None else ""


def artifacts(settings: Settings) -> dict[str, str]:
    """Return the files that a started target consists of, with SHA-256 digests; else {}.

    They are the program and other files on its command line, or the code of the embedded reference.
    The interpreter of a script is not part of the scheduler.
    """
    if settings.address:
        return {}
    if settings.of_the_kit:
        module = RM_MODULE if settings.side is Side.RM else MODULE
        return {module: digests.of_texts(*code(module))}
    launch = _launch(settings)
    found: dict[str, str] = {}
    for number, word in enumerate(launch.command):
        file = _file_of(word, launch.folder, is_program=number == 0)
        if file is not None:
            found[file.name] = digests.of_file(file)
    return found


def _file_of(word: str, folder: Path | None, *, is_program: bool) -> Path | None:
    located = shutil.which(word, path=os.environ.get("PATH")) if is_program else None
    file = Path(located) if located else (folder or Path.cwd()) / word
    try:
        readable = file.is_file() and os.access(file, os.R_OK)
    except (OSError, ValueError):  # a word that is too long or has a zero byte
        return None
    return file if readable and file.resolve() != Path(sys.executable).resolve() else None


def _launch(settings: Settings, *, real_clock: bool = False) -> Launch:
    launch = _usual_launch(settings, real_clock=real_clock)
    if settings.start_timeout is None:
        return launch
    return replace(launch, timeout=settings.start_timeout)


def _usual_launch(settings: Settings, *, real_clock: bool) -> Launch:
    if settings.named is not None:
        return settings.named.launch()
    if settings.command:
        return Launch.of("the target command", settings.command, _COMMAND_TIMEOUT, settings.folder)
    if settings.side is Side.RM:
        return embedded_rm(settings.revision)
    real_clock = real_clock or settings.real_clock
    return embedded(settings.revision, _timers(settings), real_clock=real_clock)


def _traits(settings: Settings) -> frozenset[str]:
    return settings.named.traits if settings.named is not None else frozenset()


def _timers(settings: Settings) -> Timers:
    """Return the known timers of the target, overridden by the user's."""
    if settings.named is not None:
        return settings.named.timers.with_known(settings.timers)
    return (UNKNOWN if settings.command else TIMERS).with_known(settings.timers)
