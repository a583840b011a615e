"""The options of the kit: what each is called, what its value is, and what it does."""

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
SELECTED: Final = "build/conformance-selected"
"""Where the results of a part of the suite go, so that those of a whole run stay."""

COLOR: Final = "--color"
STARTED_AS: Final = "--started-as"  # no option for people: the command and its options, as JSON
EDITED: Final = "--edited"  # no option for people: the descriptor set `siconform spec try` made
FAILING: Final = "--failing"  # the same: seconds of tests that fail, all together, that are enough
MEANT: Final = "--meant"  # the same: the ids and areas among the words, where a list is kept
EXPLORING: Final = 10.0  # seconds of a run
FAIL_ON: Final = "--fail-on"
SEED: Final = 2023  # of the arbitrary histories a run makes
NO_BASELINE: Final = "none"  # as the value of --baseline
TARGET_FILE: Final = "--target-file"
NO_FILE: Final = "none"  # as its value
FROM_APPLICATION: Final = "application"  # as the value of --placeholder-timeout


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its flag, what its value is called, what it does."""

    flag: str
    metavar: str  # "" for a switch
    help: str
    of_the_target: bool = True  # which one is meant and how long it takes, whatever is done with it
    of_pytest: bool = False  # pytest has one of the same name, which is given in its words
    several: bool = False  # whether it may be given several times


_EACH: Final = "may be given several times, or several after commas"


def _chooses(flag: str, metavar: str, message: str) -> Option:
    return Option(flag, metavar, message, of_the_target=False, several=True)


SELECTION: Final = (
    _chooses(AREA, "AREA", f"only requirements of this area, such as NODE; {_EACH}"),
    _chooses(LEVEL, "LEVEL", f"only {', '.join(Level)}; {_EACH}"),
    _chooses(AUTHORITY, "AUTHORITY", f"only what this says: {', '.join(Authority)}; {_EACH}"),
    _chooses(FEATURE, "FEATURE", f"only what presupposes this feature; {_EACH}"),
    _chooses(TEXT, "WORDS", "only what says these words; may be given several times"),
    _chooses(INCLUDE, "FILE", "only what this file lists, an id or an area on each line"),
    _chooses(SKIP, "FILE", "leave out what this file lists, in the same form"),
    _chooses(PROFILE, "NAME", "judge by exactly these requirements (siconform profiles has them)"),
)
"""Which requirements are meant: the same for ``run``, ``list`` and ``explain``."""

REACHING: Final = (
    Option(
        "--tls",
        "",
        "speak TLS with the scheduler (the other options about TLS turn it on, too)",
    ),
    Option(
        "--tls-ca",
        "FILE",
        "who has signed the scheduler's certificate, in PEM (default: the authorities gRPC trusts)",
    ),
    Option("--tls-cert", "FILE", "the certificate the RM shows, in PEM, where one is asked for"),
    Option("--tls-key", "FILE", "the private key of that certificate, in PEM, without a password"),
    Option(
        "--tls-name",
        "NAME",
        "the host the scheduler's certificate is for, where its address names another",
    ),
    Option(
        "--metadata",
        "KEY=VALUE",
        "metadata for every call and stream (may be given several times); ${NAME} in a value is "
        "taken from the environment, and no value is shown in results",
        several=True,
    ),
)

FILE: Final = (
    Option(
        TARGET_FILE,
        "FILE",
        "the target file that says what is not said here (default: siconform.toml of this folder "
        'or one above it in the same repository); "none" for none',
    ),
    Option(
        "--target-folder",
        "DIR",
        "where --target-command is run (default: here; for a command of a target file its folder)",
    ),
    Option(
        "--wait",
        "SECONDS",
        "how long to wait for a scheduler that runs already, and is perhaps not up yet",
    ),
)

ABOUT: Final = (
    Option(
        "--implementation",
        "NAME",
        "what the scheduler is called in results and certificates",
        of_the_target=False,
    ),
    Option(
        "--implementation-version", "VERSION", "which version of it is judged", of_the_target=False
    ),
    Option(
        "--contact",
        "TEXT",
        "whom to ask about the scheduler: a name, <an address for mail>, a URL",
        of_the_target=False,
    ),
)

OPTIONS: Final = (
    Option(
        "--target",
        "TARGET",
        "the scheduler to judge: HOST:PORT where one listens, or NAME@VERSION for one the kit can "
        "build and start (without it: the embedded reference)",
    ),
    Option(
        "--target-command",
        "COMMAND",
        "start the scheduler by this command, one process per worker; {address} in it becomes the "
        'HOST:PORT to listen on, or the process prints "listening on HOST:PORT"',
    ),
    Option(
        "--revision",
        "REVISION",
        f"the SI revision to speak, by date or alias (default: {DEFAULT_REVISION}, or what the "
        "named target speaks)",
    ),
    Option("--time-scale", "FACTOR", "multiply every deadline, for slow schedulers (default: 1.0)"),
    Option(
        "--placeholder-timeout",
        "SECONDS",
        "how long the scheduler lets a gang wait for its placeholders; "
        f'"{FROM_APPLICATION}" where the execution timeout of an application says it',
    ),
    Option(
        "--waiting-timeout",
        "SECONDS",
        "how long an application with nothing left is waiting before it is completed",
    ),
    Option(
        "--connection-loss-timeout",
        "SECONDS",
        "how long an RM that lost its connection is kept before it is stopped",
    ),
    Option(
        "--longest-timer",
        "SECONDS",
        f"how long one test may wait for a timer of the scheduler (default: {LONGEST_TIMER:g}); "
        "what takes longer could not be judged",
    ),
    Option(
        "--real-clock",
        "",
        "run the embedded reference by the clock on the wall, not by one the kit moves on",
    ),
    Option(
        "--without",
        "FEATURE",
        "the target does not offer this (several: FEATURE,FEATURE): what no text demands does not "
        f"apply then, and what one does fails. Features: {', '.join(Feature)}",
    ),
    Option(
        "--config",
        "FILE",
        "the configuration the RM sends when it registers, in the target's own format, or "
        f'"{NO_CONFIG}" (default: fixtures/queues/conformance.yaml); its queues have to be there',
    ),
    Option(
        "--rm-version",
        "VERSION",
        "the version the RM names when it registers (default: the name of the revision)",
    ),
    Option(
        "--no-proposals",
        "",
        "do not ask the target for short timers in extraConfig when the RM registers",
    ),
    Option(
        "--start-timeout",
        "SECONDS",
        "how long a scheduler the kit starts may take until it listens (default: 30, or what the "
        "named target says)",
    ),
    *REACHING,
    *FILE,
    Option(
        FAIL_ON,
        "LEVEL",
        "MUST or SHOULD: the least binding level that decides the verdict and the exit code "
        "(default: MUST)",
        of_the_target=False,
    ),
    Option(
        "--results",
        "DIR",
        f"where the results go (default: {RESULTS}; for a part of the suite {SELECTED})",
        of_the_target=False,
    ),
    Option(
        "--disruptive",
        "",
        "run tests that may leave the scheduler unusable also where the kit cannot start it again",
        of_the_target=False,
    ),
    Option(
        "--explore",
        "SECONDS",
        "how long to look for trouble with arbitrary histories, always the same ones; 0 for not at "
        f"all (default: {EXPLORING:g}; other ones and smaller: siconform explore)",
        of_the_target=False,
    ),
    Option(
        COLOR,
        "WHEN",
        f"{', '.join(Colour)}: whether what is written has colours (default: {Colour.AUTO}, on a "
        "terminal; NO_COLOR and FORCE_COLOR are heeded)",
        of_the_target=False,
        of_pytest=True,
    ),
    *ABOUT,
    Option(
        "--no-reference",
        "",
        "do not run the tests that fail against the reference too, to show what it does there",
        of_the_target=False,
    ),
    Option("--timings", "", "print how long each phase of the run takes", of_the_target=False),
    Option(
        "--baseline",
        "FILE",
        f'{Verdict.BASELINED.label_for(2)}, or "{NO_BASELINE}" to report every failure (default: '
        "those recorded with the named target)",
        of_the_target=False,
    ),
    *SELECTION,
)
