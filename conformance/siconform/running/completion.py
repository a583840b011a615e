"""What a shell offers while somebody types a command of the kit: ids, targets, options."""

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
"""Words, and what each is."""


def ids() -> Offered:
    """Every requirement with its title."""
    return ((identifier, known.title) for identifier, known in catalogue().items())


def targets() -> Offered:
    """Every scheduler the kit knows by name."""
    try:
        return [(known.full_name, f"{known.title}, SI {known.revision}") for known in all_named()]
    except TargetUnavailable:
        return ()  # a run says what is wrong


def known_profiles() -> Offered:
    """Every profile with what it is about."""
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
    """Requirements that begin like this, in any case."""
    return _matching(ids(), incomplete)


def complete_option(
    ctx: click.Context,  # noqa: ARG001  # click's signature
    param: click.Parameter,
    incomplete: str,
) -> list[CompletionItem]:
    """Values of an option that a command shares with ``siconform run``."""
    return _values(param.opts[0], incomplete)


def complete_run(
    ctx: click.Context,
    param: click.Parameter,
    incomplete: str,
) -> list[CompletionItem]:
    """The value of the option before it, else an id."""
    before = ctx.params.get(param.name or "") or ("",)
    if _takes_value(str(before[-1])):
        return _values(str(before[-1]), incomplete)
    return _matching(ids(), incomplete)


class RunCommand(click.Command):
    """``siconform run``, which leaves its options to pytest and offers its own all the same."""

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002  # click's signature
        incomplete: str,
    ) -> list[CompletionItem]:
        """Options of the kit that begin like this."""
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
