"""The options of the kit: name, value and help of each."""

from dataclasses import dataclass
from typing import Final

from siwire import DEFAULT_REVISION

from siconform.catalogue import Authority, Level
from siconform.catalogue.features import Feature
from siconform.filters import AREA, AUTHORITY, FEATURE, INCLUDE, LEVEL, PROFILE, SKIP, TEXT
from siconform.running.live.terminal import Colour
from siconform.targets.terms import LONGEST_TIMER, NO_CONFIG
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
NO_BASELINE: Final = "none"  # as the value of --baseline
TARGET_FILE: Final = "--target-file"
NO_FILE: Final = "none"  # as its value
FROM_APPLICATION: Final = "application"  # as the value of --placeholder-timeout


@dataclass(frozen=True, slots=True)
class Option:
    """An option: its flag, the name of its value, its help."""

    flag: str
    metavar: str  # "" for a switch
    help: str
    of_the_target: bool = True  # describes the target, for all commands
    of_pytest: bool = False  # passed to pytest's option of the same name
    several: bool = False  # repeatable


_EACH: Final = "repeatable, or comma-separated"


def _chooses(flag: str, metavar: str, message: str) -> Option:
    return Option(flag, metavar, message, of_the_target=False, several=True)


SELECTION: Final = (
    _chooses(AREA, "AREA", f"Only requirements of this area, such as NODE ({_EACH})"),
    _chooses(LEVEL, "LEVEL", f"Only requirements of this level: {', '.join(Level)} ({_EACH})"),
    _chooses(
        AUTHORITY,
        "AUTHORITY",
        f"Only requirements from this source: {', '.join(Authority)} ({_EACH})",
    ),
    _chooses(FEATURE, "FEATURE", f"Only requirements that need FEATURE ({_EACH})"),
    _chooses(TEXT, "WORDS", "Only requirements that contain WORDS (repeatable)"),
    _chooses(
        INCLUDE, "FILE", "Only requirements listed in FILE, an id or an area per line (repeatable)"
    ),
    _chooses(SKIP, "FILE", "Skip the requirements listed in FILE (repeatable)"),
    _chooses(
        PROFILE, "NAME", "Exactly the requirements of a profile ('siconform profiles' lists them)"
    ),
)
"""Options that select requirements, for ``run``, ``list`` and ``explain``."""

REACHING: Final = (
    Option(
        "--tls",
        "",
        "Use TLS (implied by the other TLS options)",
    ),
    Option(
        "--tls-ca",
        "FILE",
        "CA certificates to trust, in PEM (default: those of gRPC)",
    ),
    Option("--tls-cert", "FILE", "Client certificate of the RM, in PEM"),
    Option("--tls-key", "FILE", "Unencrypted private key of --tls-cert, in PEM"),
    Option(
        "--tls-name",
        "NAME",
        "Host name in the scheduler's certificate (default: that of the address)",
    ),
    Option(
        "--metadata",
        "KEY=VALUE",
        "Metadata for every gRPC call (repeatable); ${NAME} is replaced from the environment; "
        "values are not shown in results",
        several=True,
    ),
)

FILE: Final = (
    Option(
        TARGET_FILE,
        "FILE",
        'Configuration file with defaults of these options, or "none" (default: siconform.toml '
        "in this folder or above it in the repository)",
    ),
    Option(
        "--target-folder",
        "DIR",
        "Working directory of --target-command (default: current, or that of the target file)",
    ),
    Option(
        "--wait",
        "SECONDS",
        "Wait up to SECONDS until the address answers (default: do not wait)",
    ),
)

ABOUT: Final = (
    Option(
        "--implementation",
        "NAME",
        "Name of the scheduler in results and certificates",
        of_the_target=False,
    ),
    Option("--implementation-version", "VERSION", "Version of the scheduler", of_the_target=False),
    Option(
        "--contact",
        "TEXT",
        "Contact for the scheduler: name, <email address>, URL",
        of_the_target=False,
    ),
)

OPTIONS: Final = (
    Option(
        "--target",
        "TARGET",
        "Scheduler to test: HOST:PORT of a running one, or NAME@VERSION of one that the kit can "
        "build (default: the embedded reference)",
    ),
    Option(
        "--target-command",
        "COMMAND",
        "Command that starts the scheduler, once per worker; {address} becomes the HOST:PORT to "
        'listen on; without it the process must print "listening on HOST:PORT"',
    ),
    Option(
        "--revision",
        "REVISION",
        f"SI revision to use, by date or alias (default: {DEFAULT_REVISION}, or that of the named "
        "target)",
    ),
    Option("--time-scale", "FACTOR", "Multiply every deadline, for slow schedulers (default: 1.0)"),
    Option(
        "--placeholder-timeout",
        "SECONDS",
        "Placeholder timeout of the scheduler, if known; "
        f'"{FROM_APPLICATION}" if an application\'s execution timeout sets it',
    ),
    Option(
        "--waiting-timeout",
        "SECONDS",
        "Time until the scheduler completes an application without allocations, if known",
    ),
    Option(
        "--connection-loss-timeout",
        "SECONDS",
        "Time until the scheduler stops an RM that lost its connection, if known",
    ),
    Option(
        "--longest-timer",
        "SECONDS",
        f"Longest wait of a test for a scheduler timer (default: {LONGEST_TIMER:g}); tests of "
        "longer timers are inconclusive",
    ),
    Option(
        "--real-clock",
        "",
        "Run the embedded reference on the real clock (default: virtual time)",
    ),
    Option(
        "--without",
        "FEATURE",
        "The target lacks FEATURE[,FEATURE...]: optional requirements are skipped, mandatory ones "
        f"fail. Features: {', '.join(Feature)}",
    ),
    Option(
        "--config",
        "FILE",
        "Configuration that the RM sends when it registers, in the target's format, or "
        f'"{NO_CONFIG}" (default: fixtures/queues/conformance.yaml); needs the same queues',
    ),
    Option(
        "--rm-version",
        "VERSION",
        "Version that the RM sends when it registers (default: the name of the revision)",
    ),
    Option(
        "--no-proposals",
        "",
        "Do not propose short timers in extraConfig when the RM registers",
    ),
    Option(
        "--start-timeout",
        "SECONDS",
        "Time until a started scheduler must listen (default: 30, or that of the named target)",
    ),
    *REACHING,
    *FILE,
    Option(
        FAIL_ON,
        "LEVEL",
        "Lowest level that decides the verdict and the exit code: MUST or SHOULD (default: MUST)",
        of_the_target=False,
    ),
    Option(
        "--results",
        "DIR",
        f"Results folder (default: {RESULTS}, for partial runs {SELECTED})",
        of_the_target=False,
    ),
    Option(
        "--disruptive",
        "",
        "Also run tests that may leave a scheduler unusable that the kit cannot restart",
        of_the_target=False,
    ),
    Option(
        "--explore",
        "SECONDS",
        "Time budget for randomised testing, 0 to disable it (default: "
        f"{EXPLORING:g}; fixed seed, for others use siconform explore)",
        of_the_target=False,
    ),
    Option(
        COLOR,
        "WHEN",
        f"Colour output: {', '.join(Colour)} (default: {Colour.AUTO}, which respects NO_COLOR and "
        "FORCE_COLOR)",
        of_the_target=False,
        of_pytest=True,
    ),
    *ABOUT,
    Option(
        "--no-reference",
        "",
        "Do not run failed tests against the reference for comparison",
        of_the_target=False,
    ),
    Option("--timings", "", "Print the duration of each phase of the run", of_the_target=False),
    Option(
        LAST_FAILED,
        "",
        "Only requirements that failed or were inconclusive in the latest run (also --lf); results "
        f"go to the results folder with {OF_A_PART} added",
        of_the_target=False,
        of_pytest=True,
    ),
    Option(
        "--baseline",
        "FILE",
        f'File of {Verdict.BASELINED.label_for(2)}, or "{NO_BASELINE}" to report every failure '
        "(default: that of the named target)",
        of_the_target=False,
    ),
    *SELECTION,
)
