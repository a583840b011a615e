"""Shows which mutants of the scheduler ``siconform check-trace`` detects in ordinary work.

Run as ``python -m mutation.traces [NAME ...]``. An RM works for an ordinary day with each mutant,
and the monitors of both sides check the trace of it; nothing else evaluates it. The traces and
``detected.json`` are written to build/traces/REVISION. The exit code is 1 if anything is detected
about the unmodified reference.
"""

import gc
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import click
import msgspec
from siconform.catalogue import Side
from siconform.monitors.registry import MONITORS
from siconform.monitors.trace_result import TraceVerdict
from siconform.monitors.traces import check_trace
from siconform.protocol.queue_configurations import conformance_queues
from sireference.codec import Policies
from siwire import find_revision

from mutation import mixed_workload
from mutation.evaluating import ROOT
from mutation.known import load
from mutation.main_revision import NAME
from mutation.mutant import Change, of_side
from mutation.patching import Patch
from mutation.proxy import NONE
from mutation.recorded import Link

_FOLDER: Final = ROOT / "build" / "traces"
_SECONDS: Final = 120  # for one mutant, however busy the machine
_RM: Final = "rm-1"


class Detected(msgspec.Struct, frozen=True):
    """What the monitors found in the trace of one mutant."""

    name: str
    summary: str = ""
    breaks: tuple[str, ...] = ()
    has_fired: bool = False
    violated: Mapping[str, str] = {}
    """The first violation of each requirement."""
    held: Mapping[str, int] = {}
    problem: str = ""  # that cut the work short

    @property
    def own(self) -> list[str]:
        """The violated requirements that it is made to break."""
        return [one for one in self.breaks if one in self.violated]

    @property
    def outcome(self) -> str:
        """Who detected it."""
        if self.own:
            return "own"
        return "other" if self.violated else "not"


_MONITORED: Final = frozenset(name for monitor in MONITORS for name in monitor.requirements)


def _is_monitored(mutant: Change | Detected) -> bool:
    """Return whether a monitor is about a requirement that it breaks."""
    return any(one in _MONITORED for one in mutant.breaks)


class _Inside(Patch):
    """Notes here that the change took effect."""

    has_fired = False

    def fires(self) -> None:
        _Inside.has_fired = True


@click.command(help=__doc__)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--revision", default=NAME, show_default=True, help="Revision of the SI.")
@click.option("--jobs", default=2, show_default=True, help="Number of mutants at a time.")
@click.option("--monitored", is_flag=True, help="Only those of a requirement with a monitor.")
@click.option("--barriers", is_flag=True, help="Send barriers, as the kit's RM does.")
def main(
    names: Sequence[str], *, revision: str, jobs: int, monitored: bool, barriers: bool
) -> None:
    """Record and check the traces and print what was detected."""
    load()
    mutants = {
        name: change
        for name, change in of_side(Side.SCHEDULER).items()
        if not change.is_variant and change.revision == revision
    }
    chosen = names or sorted(mutants, key=lambda name: not _is_monitored(mutants[name]))
    unknown = [name for name in names if name not in mutants]
    if unknown:
        raise click.UsageError(f"unknown mutant of a scheduler of {revision}: {', '.join(unknown)}")
    if monitored:
        chosen = [name for name in chosen if _is_monitored(mutants[name])]
    reference = detected(NONE, revision, barriers=barriers)  # fills caches before the forks
    gc.freeze()
    width = max(map(len, mutants))
    found = []
    tasks = [(name, revision, barriers) for name in chosen]
    with get_context("fork").Pool(jobs, maxtasksperchild=1) as pool:
        for one in pool.imap(_detected_in, tasks, chunksize=1):
            found.append(one)
            click.echo(f"{one.name:{width}}  {_result(one)}")
    results = folder_of(revision, barriers=barriers) / "detected.json"
    results.write_bytes(msgspec.json.format(msgspec.json.encode([reference, *found])))
    click.echo("\n".join(_totals(reference, found)))
    sys.exit(bool(reference.violated or reference.problem))


def _detected_in(task: tuple[str, str, bool]) -> Detected:
    """Return what is detected about one; it is alone in its process."""
    name, revision, barriers = task
    signal.signal(signal.SIGALRM, _out_of_time)
    return detected(of_side(Side.SCHEDULER).get(name, NONE), revision, barriers=barriers)


def detected(change: Change, revision: str, *, barriers: bool = False) -> Detected:
    """Apply the change in this process, work, and return what the monitors find."""
    known = find_revision(revision)
    queues = conformance_queues()
    groups = {queues.policy_group: Policies().configuration("", str(queues))}
    change.alter(_Inside())
    link = Link(_RM, known, change, Policies(groups))
    problem = ""
    signal.alarm(_SECONDS)  # of a mutant that never ends
    try:
        mixed_workload.work(mixed_workload.WorkingRm(_RM, link, has_barriers=barriers), link)
    except Exception as error:  # noqa: BLE001  # whatever a mutant raises
        problem = f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
    file = folder_of(revision, barriers=barriers) / f"{change.name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(link.lines))
    requirements = check_trace(str(file), known).requirements
    violated = {
        one.requirement.id: next((v.message for v in one.violations), "")
        for one in requirements
        if one.verdict is TraceVerdict.VIOLATED
    }
    held = {one.requirement.id: one.held for one in requirements if one.held}
    has_fired = link.has_fired or _Inside.has_fired
    return Detected(change.name, change.summary, change.breaks, has_fired, violated, held, problem)


def folder_of(revision: str, *, barriers: bool) -> Path:
    """Return where the traces of a revision are written."""
    return _FOLDER / (f"{revision}-with-barriers" if barriers else revision)


def _out_of_time(*_: object) -> None:
    raise TimeoutError(f"it took more than {_SECONDS} s")


def _result(one: Detected) -> str:
    problem = f"; {one.problem}" if one.problem else ""
    if one.violated:
        who = "own" if one.own else "other"
        return f"{who}: {' '.join(one.own or one.violated)}{problem}"
    why = "" if one.has_fired else ", never fired"
    if not _is_monitored(one):
        why = ", no monitor"
    return f"not detected{why}: {' '.join(one.breaks)}{problem}"


def _totals(reference: Detected, found: Sequence[Detected]) -> Iterator[str]:
    def line(some: Sequence[Detected], which: str) -> str:
        count = Counter(one.outcome for one in some)
        return (
            f"{len(some)} {which}: {count['own'] + count['other']} detected, "
            f"{count['own']} by a requirement of their own; {count['not']} not detected"
        )

    yield line(found, "mutants")
    monitored = [one for one in found if _is_monitored(one)]
    yield line(monitored, "of a requirement with a monitor")
    yield line([one for one in monitored if one.has_fired], "of these that took effect")
    wrong = [f"{name}: {message}" for name, message in reference.violated.items()]
    yield f"unmodified reference: {len(reference.held)} requirements exercised"
    yield from (f"  WRONG: {one}" for one in (*wrong, reference.problem) if one)


if __name__ == "__main__":
    main()
