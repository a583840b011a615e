"""Shell completion of ids, targets and options."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import click
from click.shell_completion import CompletionItem
from siwire import REVISIONS

from siconform.catalogue import AREAS, Authority, Level, catalogue
from siconform.catalogue.features import Feature
from siconform.profiles import profiles
from siconform.running.option_list import NO_BASELINE, OPTIONS
from siconform.targets import TargetUnavailable
from siconform.targets.named import all_named
from siconform.targets.terms import NO_CONFIG

Offered = Iterable[tuple[str, str]]
"""Words with their descriptions."""


def ids() -> Offered:
    """Return every requirement with its title."""
    return ((identifier, known.title) for identifier, known in catalogue().items())


def targets() -> Offered:
    """Return every named scheduler."""
    try:
        return [(known.full_name, f"{known.title}, SI {known.revision}") for known in all_named()]
    except TargetUnavailable:
        return ()  # a run reports the error


def known_profiles() -> Offered:
    """Return every profile with its description."""
    return [(profile.name, profile.about) for profile in profiles().values()]


def _words(*words: str) -> Callable[[], Offered]:
    return lambda: ((word, "") for word in words)


_VALUES: Final[Mapping[str, Callable[[], Offered]]] = {
    "--target": targets,
    "--revision": _words(*REVISIONS),
    "--without": _words(*Feature),
    "--config": _words(NO_CONFIG),
    "--baseline": _words(NO_BASELINE),
    "--area": _words(*AREAS),
    "--level": _words(*Level),
    "--authority": _words(*Authority),
    "--feature": _words(*Feature),
    "--profile": known_profiles,
    "-k": ids,
}
_FILES: Final = frozenset({"FILE", "DIR"})


def complete_ids(
    ctx: click.Context,  # noqa: ARG001  # click's signature
    param: click.Parameter,  # noqa: ARG001  # the same
    incomplete: str,
) -> list[CompletionItem]:
    """Complete the id of a requirement, ignoring case."""
    return _matching(ids(), incomplete)


def complete_option(
    ctx: click.Context,  # noqa: ARG001  # click's signature
    param: click.Parameter,
    incomplete: str,
) -> list[CompletionItem]:
    """Complete the value of an option shared with ``siconform run``."""
    return _values(param.opts[0], incomplete)


def complete_run(
    ctx: click.Context,
    param: click.Parameter,
    incomplete: str,
) -> list[CompletionItem]:
    """Complete the value of the preceding option, else an id."""
    before = ctx.params.get(param.name or "") or ("",)
    if _takes_value(str(before[-1])):
        return _values(str(before[-1]), incomplete)
    return _matching(ids(), incomplete)


class RunCommand(click.Command):
    """``siconform run``: passes options to pytest, but completes those of the kit."""

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002  # click's signature
        incomplete: str,
    ) -> list[CompletionItem]:
        """Complete an option of the kit."""
        received = [(option.flag, option.help) for option in OPTIONS]
        return _matching(received, incomplete) if incomplete.startswith("-") else []


def _values(flag: str, incomplete: str) -> list[CompletionItem]:
    offered = _matching(_VALUES.get(flag, _words())(), incomplete)
    known = next((option for option in OPTIONS if option.flag == flag), None)
    if known is not None and known.metavar in _FILES:
        offered.append(CompletionItem(incomplete, "dir" if known.metavar == "DIR" else "file"))
    return offered


def _takes_value(flag: str) -> bool:
    return flag == "-k" or any(o.flag == flag and o.metavar for o in OPTIONS)


def _matching(offered: Offered, incomplete: str) -> list[CompletionItem]:
    start = incomplete.upper()
    return [
        CompletionItem(w, help=received) for w, received in offered if w.upper().startswith(start)
    ]
