"""From what the user asked for to a target: checked once, then opened by each worker."""

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from siconform import digests
from siconform.protocol.timers import UNKNOWN, Timers
from siconform.running.option_values import BadOption
from siconform.running.options import Settings
from siconform.running.results_dir import adds
from siconform.targets import Target
from siconform.targets.attached import AttachedTarget, await_address, check_address
from siconform.targets.embedded import MODULE, NAME, TIMERS, code, embedded, embedded_version
from siconform.targets.process import Launch, ProcessTarget

_COMMAND_TIMEOUT = 30.0  # seconds a --target-command has to listen


def prepare(settings: Settings) -> None:
    """Before any test: see that an address answers, build what has to be built.

    TargetUnavailable when there is nothing to talk to.
    """
    address, access = settings.address, settings.terms.access
    if address and settings.wait is not None:
        await_address(address, settings.revision, access, settings.wait, _report)
    elif address:
        check_address(address, settings.revision, access)
    elif settings.named is not None:
        settings.named.build()


def _report(sentence: str) -> None:
    sys.stderr.write(f"siconform: {sentence}\n")
    sys.stderr.flush()


def open_target(settings: Settings, worker: str, *, real_clock: bool = False) -> Target:
    """The target for one worker; a process of ours is starting when this returns."""
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


def check_command(settings: Settings) -> None:
    """BadOption when the command line of --target-command cannot be read."""
    try:
        _launch(settings)
    except ValueError as error:
        raise BadOption(f"--target-command cannot be read: {error}") from None


def describe(settings: Settings) -> tuple[str, str]:
    """Name and version of the target, for people and results; the version may be unknown ("")."""
    if settings.address:
        return settings.address, ""
    if settings.named is not None:
        return settings.named.full_name, settings.named.version
    if settings.command:
        return settings.command, ""
    return NAME, embedded_version()


def artifacts(settings: Settings) -> dict[str, str]:
    """What a target the kit starts is started from, and the SHA-256 digest of each; {} for others.

    The program, and whatever else its command line names that is a file; of the embedded reference
    the code it consists of. The interpreter of a script is no part of the scheduler.
    """
    if settings.address:
        return {}
    if settings.of_the_kit:
        return {MODULE: digests.of_texts(*code())}
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
    except (OSError, ValueError):  # a word too long for a name, or with a zero byte
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
    real_clock = real_clock or settings.real_clock
    return embedded(settings.revision, _timers(settings), real_clock=real_clock)


def _traits(settings: Settings) -> frozenset[str]:
    return settings.named.traits if settings.named is not None else frozenset()


def _timers(settings: Settings) -> Timers:
    """What is known of the target, and what the user knows better."""
    if settings.named is not None:
        return settings.named.timers.with_known(settings.timers)
    return (UNKNOWN if settings.command else TIMERS).with_known(settings.timers)
