"""What a person or CI runs; ``nox -l`` lists it, ``nox`` alone runs everything CI checks."""

import os
import shutil

import nox

nox.needs_version = ">=2025.5"
nox.options.default_venv_backend = "virtualenv"
nox.options.reuse_existing_virtualenvs = True
nox.options.error_on_missing_interpreters = True
nox.options.sessions = ["lint", "typing", "contracts", "shape", "tests", "every-revision"]

REVISIONS = ("2021-02", "2023-04", "2023-08", "2023-12", "2024-10", "2026-04")
JUDGED = (
    *(("reference", revision) for revision in REVISIONS),
    ("yunikorn-core@1.4.0", "2023-04"),
    ("yunikorn-core@1.4.0", "2023-08"),
    ("yunikorn-core@1.5.1", "2023-12"),
    ("yunikorn-core@1.8.0", "2024-10"),
    ("yunikorn-core@1.9.0", "2026-04"),
)
"""What docs/results has a page about, and by which revision it is judged."""

AXE = "axe-core@4.14.1"
"""The accessibility checker that looks at our pages, from npm."""

KIT_COVERAGE = "conformance/coverage.toml"
PYPROJECT = nox.project.load_toml("pyproject.toml")


def install(session: nox.Session, *groups: str) -> None:
    """The project, editable, and the pinned tools of these dependency groups."""
    session.install("-e", ".", *nox.project.dependency_groups(PYPROJECT, *groups))


@nox.session
def conformance(session: nox.Session) -> None:
    """Judge the embedded reference, or any scheduler: nox -s conformance -- --target HOST:PORT."""
    install(session)
    session.run("python", "-m", "siconform", "run", *session.posargs)


@nox.session(name="every-revision")
def every_revision(session: nox.Session) -> None:
    """Judge the embedded reference in every revision of the SI."""
    install(session)
    for revision in REVISIONS:
        results = f"build/reference-{revision}"
        run = ["python", "-m", "siconform", "run", "--revision", revision, "--results", results]
        session.run(*run, *session.posargs)


@nox.session
def results(session: nox.Session) -> None:
    """Judge the schedulers of docs/results anew and write their pages: -- yunikorn-core@1.5.1."""
    install(session)
    chosen = [run for run in JUDGED if not session.posargs or run[0] in session.posargs]
    folders = []
    for target, revision in chosen:
        folders.append(f"build/results/{target}-as-{revision}")
        run = ["python", "-m", "siconform", "run", "--results", folders[-1]]
        run += ["--revision", revision]
        run += [] if target == "reference" else ["--target", target]
        session.run(*run)
    session.run("python", "-m", "siconform.reporting.publish", *folders)


@nox.session
def tests(session: nox.Session) -> None:
    """Run all tests of the wire, the reference and the kit, and print what those leave untested."""
    install(session, "tests", "proto")
    pytest = ["pytest", "-n", "2", "--dist", "worksteal"]
    if session.posargs:
        session.run(*pytest, *session.posargs)
        return
    session.run(*pytest, "proto/tests")
    session.run(*pytest, "reference/tests", "--cov")
    measuring = ["--cov", f"--cov-config={KIT_COVERAGE}", "--cov-report=", "--cov-fail-under=0"]
    session.run(*pytest, "conformance/selftest", *measuring)
    measure_runs(session)


def measure_runs(session: nox.Session) -> None:
    """Add what a run in the oldest and in the newest revision covers of the kit, and report."""
    rules = f"--rcfile={KIT_COVERAGE}"
    for revision in (REVISIONS[0], REVISIONS[-1]):
        run = ["siconform", "run", "--revision", revision, "--results", f"build/covered-{revision}"]
        session.run("coverage", "run", rules, "-m", *run)
    session.run("coverage", "combine", "--quiet", "--append", rules)
    session.run("coverage", "report", rules)


@nox.session
def liveness(session: nox.Session) -> None:
    """Play 120,000 small histories, or as many as told: no ask waits that could be placed: -- 5000.

    There are two laws, and half of the histories are for each.
    """
    install(session, "tests")
    histories = int(session.posargs[0]) if session.posargs else 120_000
    session.run(
        "pytest",
        *("-p", "no:cacheprovider", "--timeout", "0", "reference/tests/test_liveness.py"),
        env={"SIREFERENCE_HISTORIES": str(histories // 2)},
    )


@nox.session
def browser(session: nox.Session) -> None:
    """Look at our pages in a headless Chromium, by keyboard, at three widths, with axe-core."""
    chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    if shutil.which(chromium) is None:
        session.error(f"no {chromium}: apt-get install chromium, or say in CHROMIUM where one is")
    if shutil.which("npm") is None:
        session.error("no npm, which fetches axe-core: apt-get install npm")
    install(session, "tests", "browser")
    npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--no-save"]
    session.run(*npm, "--prefix", "build/axe", AXE, external=True)
    session.run("pytest", "-p", "no:cacheprovider", "conformance/browser", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site of docs to build/docs; pages show what their commands print: -- --write."""
    install(session, "docs")
    check = [] if "--write" in session.posargs else ["--check"]
    session.run("python", "-m", "documentation.commands", *check)
    session.run("python", "-m", "documentation.mermaid", "build/docs-programs")
    strictly = ["-E", "-q", "-W", "-n", "--keep-going"]
    session.run("sphinx-build", *strictly, "-b", "html", "docs", "build/docs")
    session.run("python", "-m", "documentation.links", "build/docs")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and format (ruff); -- --fix mends what can be mended."""
    install(session, "lint")
    if "--fix" in session.posargs:
        session.run("ruff", "check", "--fix", ".")
        session.run("ruff", "format", ".")
        return
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def typing(session: nox.Session) -> None:
    """Check types (mypy --strict) over all three packages and their tests."""
    install(session, "typing", "tests", "browser", "docs")
    session.install("nox")
    session.run("mypy")


@nox.session
def contracts(session: nox.Session) -> None:
    """Check that the arrows between the packages point one way (import-linter)."""
    install(session, "lint")
    session.run("lint-imports", "--no-cache")


@nox.session
def shape(session: nox.Session) -> None:
    """Print the longest files and functions, name what is too much, and look for import circles."""
    install(session, "lint")
    session.run("python", "reference/shape.py")
    session.run("python", "reference/import_graph.py", "--check")


@nox.session
def generate(session: nox.Session) -> None:
    """Write the generated files anew: descriptor sets, stubs, pages, results."""
    install(session, "proto", "lint", "spec")
    session.run("python", "proto/generate.py", *session.posargs)
    session.run("python", "-m", "siconform.catalogue.document", *session.posargs)
    session.run("python", "reference/tests/requirement_table.py", *session.posargs)
    session.run("python", "reference/tests/state_machines.py", *session.posargs)
    session.run("python", "reference/import_graph.py", *session.posargs)
    session.run("python", "reference/state_writers.py", *session.posargs)
    session.run("python", "fixtures/targets/yunikorn-core/generate.py", *session.posargs)
    session.run("python", "-m", "siconform.reporting.publish", *session.posargs)
    session.run("python", "-m", "proof.rules", *session.posargs)
    session.run("python", "-m", "mixed", *session.posargs)
    session.run("python", "-m", "siconform.spec.chain", *session.posargs)
    session.run("python", "-m", "documentation.reading_order", *session.posargs)


@nox.session
def proof(session: nox.Session) -> None:
    """Judge faulty schedulers, and legal ones of another manner: nox -s proof -- [NAME ...]."""
    install(session)
    session.run("python", "-m", "proof.matrix", *session.posargs)


@nox.session
def trivial(session: nox.Session) -> None:
    """Judge schedulers that schedule nothing: nearly nothing may pass: nox -s trivial -- silent."""
    install(session)
    session.run("python", "-m", "proof.trivial", *session.posargs)


@nox.session
def mixes(session: nox.Session) -> None:
    """Judge legal schedulers made by chance, minutes each: nox -s mixes -- --of by_key 17."""
    install(session)
    session.run("python", "-m", "proof.mixes", *session.posargs)


@nox.session(name="same-verdicts")
def same_verdicts(session: nox.Session) -> None:
    """Compare verdicts in order, shuffled, by one and two workers, and alone: -- --revision R."""
    install(session, "tests")
    session.run("python", "-m", "proof.same_verdicts", *session.posargs)


@nox.session
def soak(session: nox.Session) -> None:
    """See whether memory stays flat: -- core --lives 1000000, or -- grpc --minutes 30."""
    install(session)
    modes = [session.posargs] if session.posargs else [["core"], ["grpc"]]
    for mode in modes:
        session.run("python", "-m", "benchmarks.soak", *mode)


@nox.session
def wheel(session: nox.Session) -> None:
    """Build wheel and sdist, install them with two Pythons, and use them offline: -- --core.

    With --core a real yunikorn-core is built and judged by the wheel alone, too.
    """
    install(session, "packaging")
    session.run("python", "-m", "packaged", *session.posargs)


@nox.session
def adapter(session: nox.Session) -> None:
    """Test the Go program that makes yunikorn-core a target, against all real cores."""
    install(session, "tests")
    session.run("pytest", "fixtures/targets/yunikorn-core/tests", *session.posargs)


@nox.session(name="yunikorn-core")
def yunikorn_core(session: nox.Session) -> None:
    """Build the adapters that make Apache yunikorn-core a target: nox -s yunikorn-core -- 1.5.1."""
    for version in session.posargs or ("1.4.0", "1.5.1", "1.8.0", "1.9.0"):
        build = "fixtures/targets/yunikorn-core/build.py"
        session.run("python", build, version, "--output", "build/targets")
