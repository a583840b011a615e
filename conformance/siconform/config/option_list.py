"""The options of the kit: name, value, help, and key in the target file of each.

The declarations serve the command line, pytest, ``--help``, completion and the target file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from siwire import DEFAULT_REVISION

from siconform.catalogue import Authority, Level
from siconform.catalogue.features import Feature
from siconform.config import option_values as kinds
from siconform.config.option_values import FROM_APPLICATION, NONE, BadOption, Colour, Kind
from siconform.filters import AREA, AUTHORITY, FEATURE, INCLUDE, LEVEL, PROFILE, SKIP, TEXT
from siconform.targets.terms import LONGEST_TIMER
from siconform.verdicts import Verdict

RESULTS: Final = "build/conformance"
OF_A_PART: Final = "-selected"  # added to the results folder
SELECTED: Final = f"{RESULTS}{OF_A_PART}"
"""Results folder of partial runs, so that the results of a complete run are kept."""

COLOR: Final = "--color"
STARTED_AS: Final = "--started-as"  # internal: the command and its options, as JSON
EDITED: Final = "--edited"  # internal: the descriptor set of `siconform spec try`
FAILING: Final = "--failing"  # internal: stop after this many seconds of failing tests
FAILED_IN: Final = "--failed-in"  # internal: what --last-failed selects, as JSON
LAST_FAILED: Final = "--last-failed"
MEANT: Final = "--meant"  # internal: the ids and areas given as arguments
EXPLORING: Final = 10.0  # seconds, default of a run
FAIL_ON: Final = "--fail-on"
SEED: Final = 2023  # of the random histories of a run
TARGET_FILE: Final = "--target-file"


@dataclass(frozen=True, slots=True)
class Option:
    """An option: its flag, the name of its value, its help, and its place in the target file."""

    flag: str
    metavar: str  # "" for a switch
    help: str
    of_the_target: bool = True  # describes the target, for all commands
    of_pytest: bool = False  # passed to pytest's option of the same name
    several: bool = False  # repeatable
    kind: Kind = kinds.TEXT
    key: str = ""  # dotted, if not made from the flag

    @property
    def place(self) -> str:
        """Its dotted key in the target file."""
        table = "target" if self.of_the_target else "run"
        return self.key or f"{table}.{self.flag.removeprefix('--').replace('-', '_')}"

    @property
    def is_path(self) -> bool:
        """Whether its value is a file or folder."""
        return self.metavar in ("FILE", "DIR")

    @property
    def negated(self) -> bool:
        """Whether its key is the opposite of this switch."""
        return self.flag.startswith("--no-")

    def read(self, text: str | None) -> Any:
        """Return the value of a word, None for None; raise BadOption for an invalid one."""
        if text is None:
            return None
        try:
            return self.kind.read(text)
        except LookupError as error:
            sentence = str(error)
            begun = f"{self.flag} " if sentence.startswith('"') else ""
            raise BadOption(f"{begun}{sentence}") from None

    def refuse_empty(self, text: str | None) -> None:
        """Refuse an empty value: an unset shell variable must not select another target."""
        if text is not None and not text.strip():
            raise BadOption(
                f"{self.flag} is empty (an unset variable?): give a value or omit the option"
            )


# fmt: off
_EACH: Final = "repeatable, or comma-separated"


def _chooses(flag: str, kind: Kind, metavar: str, message: str) -> Option:
    return Option(flag, metavar, message, of_the_target=False, several=True, kind=kind)


SELECTION: Final = (
    _chooses(AREA, kinds.AREA, "AREA", f"Only requirements of this area, such as NODE ({_EACH})"),
    _chooses(LEVEL, kinds.LEVEL, "LEVEL",
        f"Only requirements of this level: {', '.join(Level)} ({_EACH})"),
    _chooses(AUTHORITY, kinds.AUTHORITY, "AUTHORITY",
        f"Only requirements from this source: {', '.join(Authority)} (your own "
        f"catalogue); {_EACH}"),
    _chooses(FEATURE, kinds.FEATURE, "FEATURE", f"Only requirements that need FEATURE ({_EACH})"),
    _chooses(TEXT, kinds.TEXT, "WORDS", "Only requirements that contain WORDS (repeatable)"),
    _chooses(INCLUDE, kinds.LIST, "FILE",
        "Only requirements listed in FILE, an id or an area per line (repeatable)"),
    _chooses(SKIP, kinds.LIST, "FILE", "Skip the requirements listed in FILE (repeatable)"),
    _chooses(PROFILE, kinds.PROFILE, "NAME",
        "Exactly the requirements of a profile ('siconform profiles' lists them)"),
)
"""Options that select requirements, for ``run``, ``list`` and ``explain``."""

REACHING: Final = (
    Option("--tls", "", "Use TLS (implied by the other TLS options)", key="target.tls.enabled"),
    Option("--tls-ca", "FILE", "CA certificates to trust, in PEM (default: those of gRPC)",
        kind=kinds.FILE, key="target.tls.ca"),
    Option("--tls-cert", "FILE", "Client certificate of the RM, in PEM", kind=kinds.FILE,
        key="target.tls.cert"),
    Option("--tls-key", "FILE", "Unencrypted private key of --tls-cert, in PEM", kind=kinds.FILE,
        key="target.tls.key"),
    Option("--tls-name", "NAME",
        "Host name in the scheduler's certificate (default: that of the address)",
        key="target.tls.name"),
    Option("--metadata", "KEY=VALUE",
        "Metadata for every gRPC call (repeatable); ${NAME} is replaced from the environment; "
        "values are not shown in results", kind=kinds.METADATA, several=True),
)

WAIT: Final = "--wait"

SIDE: Final = "--side"
RM: Final = "--rm"
RM_COMMAND: Final = "--rm-command"
LISTEN: Final = "--listen"
RM_DRIVER: Final = "--rm-driver"
RMS: Final = (RM, RM_COMMAND, LISTEN)
"""Options that name an RM to test."""

TARGETS: Final = ("--target", "--target-command", *RMS)
"""Options that name what to test; they exclude each other."""

OF_RMS: Final = (
    Option(SIDE, "SIDE", "Side to test, scheduler or rm (resource manager, RM); implied by the "
        "options that name a target (default: scheduler)", kind=kinds.SIDE),
    Option(RM, "NAME@VERSION", "RM to test, one that the kit can build ('siconform targets' lists "
        "them; default with --side rm: the embedded RM)", kind=kinds.NAMED_RM),
    Option(RM_COMMAND, "COMMAND",
        "Command that starts the RM to test, once per worker; {address} becomes the HOST:PORT of "
        "the kit's scheduler, {driver} that on which the driver of the RM must listen",
        kind=kinds.COMMAND),
    Option(LISTEN, "HOST:PORT", "Address on which the kit's scheduler waits for an RM that you "
        "start (--wait: for how long, default 30 s)", kind=kinds.ADDRESS),
    Option(RM_DRIVER, "HOST:PORT", "Address of the driver of an RM that you start (with --listen)",
        kind=kinds.ADDRESS),
)
"""Options of a run against a resource manager."""

_TO_TEST: Final = (
    Option("--target", "TARGET",
        "Scheduler to test: HOST:PORT of a running one, or NAME@VERSION of one that the kit can "
        "build (default: the embedded reference)", kind=kinds.TARGET),
    Option("--target-command", "COMMAND",
        "Command that starts the scheduler, once per worker; {address} becomes the HOST:PORT to "
        'listen on; without it the process must print "listening on HOST:PORT"', kind=kinds.COMMAND,
        key="target.command"),
    *OF_RMS,
    Option("--revision", "REVISION",
        f"SI revision to use, by date or release line (default: {DEFAULT_REVISION}, or that of "
        "the named target)", kind=kinds.REVISION),
    Option(TARGET_FILE, "FILE",
        'Configuration file with defaults of these options, or "none" (default: siconform.toml '
        "in this folder or above it in the repository)"),
    Option("--target-folder", "DIR",
        "Working directory of the target's command (default: current, or that of the target file)",
        kind=kinds.FOLDER, key="target.folder"),
)

_KNOWN: Final = (
    Option("--without", "FEATURE",
        "The target lacks FEATURE[,FEATURE...]: optional requirements are skipped, mandatory ones "
        f"fail. Features: {', '.join(Feature)}", kind=kinds.FEATURES),
    Option("--config", "FILE",
        "Configuration that the RM sends when it registers, in the target's format, or "
        f'"{NONE}" (default: fixtures/queues/conformance.yaml); needs the same queues',
        kind=kinds.FILE_OR_NONE, key="target.configuration"),
    Option("--rm-version", "VERSION",
        "Version that the RM sends when it registers (default: the name of the revision)"),
    Option("--no-proposals", "", "Do not propose short timers in extraConfig when the RM registers",
        key="target.proposals"),
    Option("--time-scale", "FACTOR", "Multiply every deadline, for slow schedulers (default: 1.0)",
        kind=kinds.SECONDS),
    Option("--placeholder-timeout", "SECONDS", "Placeholder timeout of the scheduler, if known; "
        f'"{FROM_APPLICATION}" or "{FROM_APPLICATION},SECONDS" if an application can set it',
        kind=kinds.TIMER, key="target.timers.placeholder"),
    Option("--waiting-timeout", "SECONDS",
        "Time until the scheduler completes an application without allocations, if known",
        kind=kinds.SECONDS, key="target.timers.waiting"),
    Option("--connection-loss-timeout", "SECONDS",
        "Time until the scheduler stops an RM that lost its connection, if known",
        kind=kinds.SECONDS, key="target.timers.connection_loss"),
    Option("--longest-timer", "SECONDS",
        f"Longest wait of a test for a scheduler timer (default: {LONGEST_TIMER:g}); tests of "
        f"longer timers are {Verdict.COULD_NOT_RUN.label}", kind=kinds.SECONDS,
        key="target.timers.longest"),
    Option("--real-clock", "",
        "Run the embedded reference on the real clock (default: virtual time)",
        key="run.real_clock"),
)

_CONNECTING: Final = (
    Option(WAIT, "SECONDS",
        "Wait up to SECONDS until the address answers (default: do not wait)", kind=kinds.SECONDS),
    Option("--start-timeout", "SECONDS",
        "Time until a started scheduler must listen, or an RM must register (default: 30, or that "
        "of the named target)", kind=kinds.SECONDS),
    *REACHING,
)

_RUNNING: Final = (
    Option("--explore", "SECONDS", "Time budget for randomised testing, 0 to disable it (default: "
        f"{EXPLORING:g}; fixed seed, for others use siconform explore)", kind=kinds.SECONDS_OR_ZERO,
        of_the_target=False),
    Option("--disruptive", "",
        "Also run tests that may leave a scheduler unusable that the kit cannot restart",
        of_the_target=False),
    Option("--no-reference", "", "Do not run failed tests against the reference for comparison",
        key="run.reference", of_the_target=False),
    Option("--baseline", "FILE",
        f'File of {Verdict.BASELINED.label_for(2)}, or "{NONE}" to report every failure '
        "(default: that of the named target)", kind=kinds.FILE_OR_NONE, key="target.baseline",
        of_the_target=False),
    Option(FAIL_ON, "LEVEL",
        "Lowest level that decides the verdict and the exit code: MUST or SHOULD (default: MUST)",
        kind=kinds.DECIDING_LEVEL, of_the_target=False),
    Option("--results", "DIR", f"Results folder (default: {RESULTS}, for partial runs {SELECTED})",
        of_the_target=False),
    Option("--implementation", "NAME", "Name of the scheduler in results and certificates",
        key="target.implementation.name", of_the_target=False),
    Option("--implementation-version", "VERSION", "Version of the scheduler",
        key="target.implementation.version", of_the_target=False),
    Option("--contact", "TEXT", "Contact for the scheduler: name, <email address>, URL",
        kind=kinds.CONTACT, key="target.contact", of_the_target=False),
    Option(COLOR, "WHEN",
        f"Colour output: {', '.join(Colour)} (default: {Colour.AUTO}, which respects NO_COLOR and "
        "FORCE_COLOR)", kind=kinds.COLOUR, of_the_target=False, of_pytest=True),
    Option("--timings", "", "Print the duration of each phase of the run", of_the_target=False),
)

_SELECTING: Final = (
    Option(LAST_FAILED, "",
        f"Only requirements that failed or were {Verdict.COULD_NOT_RUN.label} in the latest run "
        f"(also --lf); results go to the results folder with {OF_A_PART} added",
        of_the_target=False, of_pytest=True),
    *SELECTION,
)

GROUPS: Final[Mapping[str, tuple[Option, ...]]] = MappingProxyType({
    "What to test": _TO_TEST,
    "Properties of the scheduler": _KNOWN,
    "Connection": _CONNECTING,
    "The run": _RUNNING,
    "Selection of requirements": _SELECTING,
})
"""The options of ``siconform run`` by heading of its help."""

OPTIONS: Final = tuple(option for group in GROUPS.values() for option in group)

FOR_SCHEDULERS: Final = (
    "--real-clock", "--placeholder-timeout", "--waiting-timeout", "--connection-loss-timeout",
    "--longest-timer", "--config", "--rm-version", "--no-proposals", "--explore", PROFILE,
    *(one.flag for one in REACHING),
)
"""Options without a meaning in a run against a resource manager."""

BY_FLAG: Final[Mapping[str, Option]] = MappingProxyType({one.flag: one for one in OPTIONS})

IN_FILES: Final = (
    Option("--target", "ADDRESS", "HOST:PORT of a running scheduler", kind=kinds.ADDRESS,
        key="target.address"),
    Option("--target", "NAME", "NAME@VERSION of one that the kit can build", kind=kinds.NAMED,
        key="target.known"),
    *(one for one in OPTIONS if one.flag not in ("--target", TARGET_FILE, LAST_FAILED)),
    Option("-n", "N", "Number of workers", kind=kinds.WHOLE_NUMBER, key="run.workers"),
)
"""What the target file may set."""
# fmt: on
