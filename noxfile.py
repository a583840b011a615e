"""Development and CI sessions; ``nox -l`` lists them, ``nox`` runs the default checks."""

import os
import shutil
import sys
from itertools import product
from pathlib import Path

import nox

nox.needs_version = ">=2025.5"
nox.options.default_venv_backend = "none"  # sessions share the environments below
nox.options.sessions = [
    "lint",
    "typing",
    "contracts",
    "shape",
    "tests",
    "end-to-end",
    "every-revision",
]

REVISIONS = ("2021-02", "2023-04", "2023-08", "2023-12", "2024-10", "2026-04")
CORES = ("1.4.0", "1.5.1", "1.8.0", "1.9.0")
EVALUATED = (
    *(("reference", revision) for revision in REVISIONS),
    ("yunikorn-core@1.4.0", "2023-04"),
    ("yunikorn-core@1.4.0", "2023-08"),
    ("yunikorn-core@1.5.1", "2023-12"),
    ("yunikorn-core@1.8.0", "2024-10"),
    ("yunikorn-core@1.9.0", "2026-04"),
)
"""The schedulers in the table of docs/results, with the revisions they are tested against."""

AXE = "axe-core@4.14.1"
"""The accessibility checker for our pages, from npm."""

KIT_COVERAGE = "conformance/coverage.toml"
PYTEST = ("pytest", "-n", "3", "--dist", "worksteal")  # for two cores: tests often wait
WHOLE_RUNS = "end_to_end"  # the marker of tests that start whole runs
PYPROJECT = nox.project.load_toml("pyproject.toml")
GROUPS = {
    "kit": (),
    "load": ("load",),
    "dev": ("tests", "proto", "lint", "typing", "docs", "browser", "packaging", "nox"),
}
"""Shared virtual environments of the sessions, and their dependency groups."""

AS_BYTECODE = {"PYTHONDONTWRITEBYTECODE": None}
"""A run starts twenty processes: compiling every module in each of them doubles its time."""

ENDS_WITHIN = 15.0
"""Seconds a command has to exit after Ctrl-C, and after SIGTERM, before nox kills it."""


def kit(session: nox.Session, *command: str, **env: str) -> None:
    """Run a command in the environment that users of the kit have."""
    run(session, "kit", *command, **env)


def dev(session: nox.Session, *command: str, **env: str) -> None:
    """Run a command in the development environment."""
    run(session, "dev", *command, **env)


def run(session: nox.Session, environment: str, *command: str, **env: str) -> None:
    """Run a command in an environment, creating it first if it is missing or outdated."""
    programs = installed(session, environment)
    path = os.pathsep.join((str(programs), os.environ.get("PATH", os.defpath)))
    program = str(programs / command[0]) if (programs / command[0]).exists() else command[0]
    variables = {"PATH": path, "VIRTUAL_ENV": str(programs.parent), **AS_BYTECODE, **env}
    session.run(
        program,
        *command[1:],
        env=variables,
        external=True,
        interrupt_timeout=ENDS_WITHIN,
        terminate_timeout=ENDS_WITHIN,
    )


def installed(session: nox.Session, environment: str) -> Path:
    """Return the program folder of an environment that matches the current pyproject.toml."""
    folder = Path(".nox", environment).absolute()
    stamp = folder / "installed.txt"
    state = "\n".join((sys.version, str(folder), Path("pyproject.toml").read_text("utf-8")))
    if not stamp.is_file() or stamp.read_text("utf-8") != state:
        virtualenv = [sys.executable, "-m", "virtualenv", "--quiet", "--clear", str(folder)]
        session.run_install(*virtualenv, external=True)
        tools = nox.project.dependency_groups(PYPROJECT, *GROUPS[environment])
        pip = [str(folder / "bin" / "pip"), "install", "--quiet", "-e", ".", *tools]
        session.run_install(*pip, external=True)
        stamp.write_text(state, "utf-8")
    return folder / "bin"


@nox.session
def conformance(session: nox.Session) -> None:
    """Run the conformance suite: the reference, or -- --target HOST:PORT."""
    kit(session, "python", "-m", "siconform", "run", *session.posargs)


@nox.session(name="every-revision")
def every_revision(session: nox.Session) -> None:
    """Run the conformance suite against the reference and its RM in every revision of the SI."""
    for side, revision in product(("scheduler", "rm"), REVISIONS):
        results = f"build/reference-{side}-{revision}"
        run = ["python", "-m", "siconform", "run", "--side", side, "--revision", revision]
        kit(session, *run, "--results", results, *session.posargs)


@nox.session
def results(session: nox.Session) -> None:
    """Test the schedulers of docs/results again and update the table: -- yunikorn-core@1.5.1."""
    chosen = [run for run in EVALUATED if not session.posargs or run[0] in session.posargs]
    folders = []
    for target, revision in chosen:
        folders.append(f"build/results/{target}-as-{revision}")
        run = ["python", "-m", "siconform", "run", "--results", folders[-1]]
        run += ["--revision", revision]
        run += [] if target == "reference" else ["--target", target]
        kit(session, *run)
    kit(session, "python", "-m", "siconform.reporting.publish", *folders)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests of the wire, the reference and the kit, without whole runs."""
    chosen = session.posargs or ["-m", f"not {WHOLE_RUNS}"]
    dev(session, *PYTEST, *chosen)


@nox.session(name="end-to-end")
def end_to_end(session: nox.Session) -> None:
    """Run the tests that start whole runs as processes."""
    dev(session, *PYTEST, "-m", WHOLE_RUNS, *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Measure coverage of all tests and of runs of both sides in the oldest and newest revision."""
    reference = ["--cov", "--cov-report=term", "--hypothesis-profile=ci"]
    dev(session, *PYTEST, "proto/tests", "reference/tests", "reference/rm_tests", *reference)
    rules = f"--rcfile={KIT_COVERAGE}"
    measuring = ["--cov", f"--cov-config={KIT_COVERAGE}", "--cov-report=", "--cov-fail-under=0"]
    dev(session, *PYTEST, "conformance/selftest", *measuring)
    for side, revision in product(("scheduler", "rm"), (REVISIONS[0], REVISIONS[-1])):
        run = ["siconform", "run", "--side", side, "--revision", revision]
        results = ["--results", f"build/covered-{side}-{revision}"]
        dev(session, "coverage", "run", rules, "-m", *run, *results)
    dev(session, "coverage", "combine", "--quiet", "--append", rules)
    dev(session, "coverage", "report", rules)


@nox.session
def steady(session: nox.Session) -> None:
    """Find flaky tests: repeat them in random order, every second time under load: -- 10."""
    dev(session, "python", "fixtures/testing/steady.py", *session.posargs)


@nox.session
def liveness(session: nox.Session) -> None:
    """Check liveness of the reference in 120,000 random histories, or in a given number: -- 5000.

    There are two properties, and half of the histories are for each.
    """
    histories = int(session.posargs[0]) if session.posargs else 120_000
    pytest = ["pytest", "-p", "no:cacheprovider", "--timeout", "0"]
    number = str(histories // 2)
    dev(session, *pytest, "reference/tests/test_liveness.py", SIREFERENCE_HISTORIES=number)


@nox.session
def browser(session: nox.Session) -> None:
    """Test our pages in a headless Chromium: keyboard, three widths, accessibility (axe-core)."""
    chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    if shutil.which(chromium) is None:
        session.error(f"no {chromium}: apt-get install chromium, or set CHROMIUM to its path")
    if shutil.which("npm") is None:
        session.error("no npm, which fetches axe-core: apt-get install npm")
    name, _, version = AXE.partition("@")
    found = Path("build/axe/node_modules", name, "package.json")
    if not found.exists() or f'"version": "{version}"' not in found.read_text("utf-8"):
        npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--no-save"]
        dev(session, *npm, "--prefix", "build/axe", AXE)
    dev(session, "pytest", "-p", "no:cacheprovider", "conformance/browser", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation in build/docs and check command output; update it: -- --write."""
    check = [] if "--write" in session.posargs else ["--check"]
    dev(session, "python", "-m", "documentation.commands", *check)
    dev(session, "python", "-m", "documentation.mermaid", "build/docs-programs")
    dev(session, "python", "-m", "documentation.generated")
    strictly = ["-E", "-q", "-W", "-n", "--keep-going"]
    dev(session, "sphinx-build", *strictly, "-b", "html", "docs", "build/docs")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and format (ruff); fix what can be fixed: -- --fix."""
    if "--fix" in session.posargs:
        dev(session, "ruff", "check", "--fix", ".")
        dev(session, "ruff", "format", ".")
        return
    dev(session, "ruff", "check", ".")
    dev(session, "ruff", "format", "--check", ".")
    dev(session, "python", "fixtures/testing/retired_words.py")


@nox.session
def typing(session: nox.Session) -> None:
    """Check types (mypy --strict) of all packages and their tests."""
    dev(session, "mypy")


@nox.session
def contracts(session: nox.Session) -> None:
    """Check the import rules between packages (import-linter)."""
    dev(session, "lint-imports", "--no-cache")


@nox.session
def shape(session: nox.Session) -> None:
    """Print the longest files and functions; fail on circular imports."""
    dev(session, "python", "fixtures/testing/shape.py")


@nox.session
def generate(session: nox.Session) -> None:
    """Write the generated files that are committed: descriptor sets, stubs, tables, results."""
    dev(session, "python", "proto/generate.py", *session.posargs)
    dev(session, "python", "reference/tests/state_machines.py", *session.posargs)
    dev(session, "python", "fixtures/targets/yunikorn-core/generate.py", *session.posargs)
    dev(session, "python", "-m", "siconform.reporting.publish", *session.posargs)


@nox.session
def mutation(session: nox.Session) -> None:
    """Run mutation testing: mutants must be killed, permitted variants must pass: -- [NAME ...]."""
    kit(session, "python", "-m", "mutation.matrix", *session.posargs)


@nox.session
def trivial(session: nox.Session) -> None:
    """Check that schedulers that schedule nothing pass almost nothing: -- silent."""
    kit(session, "python", "-m", "mutation.trivial", *session.posargs)


@nox.session
def mixes(session: nox.Session) -> None:
    """Test random combinations of permitted variants, minutes each: -- --of by_key 17."""
    kit(session, "python", "-m", "mutation.mixes", *session.posargs)


@nox.session(name="same-verdicts")
def same_verdicts(session: nox.Session) -> None:
    """Check that verdicts do not depend on test order or workers: -- --revision R."""
    dev(session, "python", "-m", "mutation.same_verdicts", *session.posargs)


@nox.session
def soak(session: nox.Session) -> None:
    """Check that memory stays flat: -- core --lifecycles 1000000, or -- grpc --minutes 30."""
    modes = [session.posargs] if session.posargs else [["core"], ["grpc"]]
    for mode in modes:
        kit(session, "python", "-m", "benchmarks.soak", *mode)


@nox.session
def load(session: nox.Session) -> None:
    """Load one scheduler with many RMs: -- --users 100 --target HOST:PORT; a sample: -- --check."""
    run(session, "load", "python", "fixtures/load/run.py", *session.posargs)


@nox.session
def wheel(session: nox.Session) -> None:
    """Build wheel and sdist, install them with two Pythons, and use them offline: -- --core.

    With --core the installed wheel also builds and tests a real yunikorn-core.
    """
    dev(session, "python", "-m", "packaged", *session.posargs)


@nox.session
def adapter(session: nox.Session) -> None:
    """Test the Go adapter for yunikorn-core against all real cores, and the tap."""
    build_cores(session, *CORES)
    tests = ("fixtures/targets/yunikorn-core/tests", "fixtures/targets/tap/tests")
    dev(session, "pytest", "-n", "4", *tests, *session.posargs)  # they wait most of the time


@nox.session(name="yunikorn-core")
def yunikorn_core(session: nox.Session) -> None:
    """Build the adapters for Apache yunikorn-core: -- 1.5.1."""
    build_cores(session, *(session.posargs or CORES))


@nox.session
def kubernetes(session: nox.Session) -> None:
    """Run Kubernetes in front of the reference, or -- --target HOST:PORT; a sample: -- --check."""
    kit(session, "python", "fixtures/rms/kubernetes/run.py", *session.posargs)


@nox.session(name="kubernetes-workloads")
def kubernetes_workloads(session: nox.Session) -> None:
    """Check what Kubernetes shows for the workloads in fixtures/rms/kubernetes: -- [NAME ...]."""
    kit(session, "python", "fixtures/rms/kubernetes/workloads.py", *session.posargs)


@nox.session(name="kubernetes-tests")
def kubernetes_tests(session: nox.Session) -> None:
    """Test Kubernetes as a resource manager, with its Go tests; its first build takes a while."""
    dev(session, "pytest", "fixtures/rms/kubernetes/tests", *session.posargs)


def build_cores(session: nox.Session, *versions: str) -> None:
    """Build the adapter of each version, unless it is up to date."""
    for version in versions:
        build = "fixtures/targets/yunikorn-core/build.py"
        kit(session, "python", build, version, "--output", "build/targets")
