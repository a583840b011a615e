"""A made-up next revision, laid down in a copy of the checkout: whole, usable, and only once."""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import siconform.spec.checkout
from click.testing import CliRunner
from selftest.spec_laying import CHECKOUT, constants_of, text_of
from siconform.catalogue import catalogue
from siconform.commands.spec_commands import spec_group
from siconform.spec.laying import telling, writing
from siconform.spec.laying.decisions import Topic
from siconform.spec.laying.plan import Known, Plan, plan
from siconform.spec.laying.source_edits import NotLaidError
from siconform.spec.sources import from_text
from siwire import REVISIONS

pytestmark = pytest.mark.end_to_end

NAME, BEFORE = "2027-01", "2026-04"
COPIED = (
    "proto",
    "fixtures/golden",
    "reference/sireference",
    "conformance/siconform/catalogue",
    "conformance/siconform/transport/dialects",
)
FILES = ("pyproject.toml", "noxfile.py")
WIRE_TESTS = ("schema", "golden_bytes", "constants")
_USES_IT = """
from sireference.codec import codec_for
from siwire import find_revision
revision = find_revision("2027-01")
allocation = revision.si.Allocation(colour="red")
print(codec_for(revision).revision, allocation.colour, len(revision.capabilities))
"""


def edited_text() -> str:
    """2026-04 with a field more and a constant fewer."""
    declared = (CHECKOUT / f"proto/si/{BEFORE}/si.proto").read_text("utf-8")
    field = "  bool originator = 14;\n"
    assert field in declared
    rows = {name: value for name, value in constants_of(BEFORE).items() if name != "Foreign"}
    return text_of(BEFORE, declared.replace(field, f"{field}  string colour = 16;\n"), rows)


def known_in(root: Path) -> Known:
    files = writing.read_checkout(root)
    return Known(tuple(REVISIONS.values()), tuple(catalogue().values()), files)


def planned(root: Path, name: str = NAME) -> tuple[Plan, Mapping[str, str]]:
    known = known_in(root)
    return plan(from_text("text.md", edited_text()), name, known), known.files


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    root = tmp_path / "copy"
    ignored = shutil.ignore_patterns("__pycache__")
    for folder in COPIED:
        shutil.copytree(CHECKOUT / folder, root / folder, ignore=ignored)
    for file in FILES:
        shutil.copy(CHECKOUT / file, root / file)
    return root


def snapshot(root: Path) -> Mapping[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else b""
        for path in sorted(root.rglob("*"))
        if "__pycache__" not in path.parts
    }


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    paths = [str(root / one) for one in ("reference", "proto")] + [str(CHECKOUT / "conformance")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(  # noqa: S603 - our own arguments
        [sys.executable, *arguments],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_next_revision_is_made_tested_and_used(copy: Path) -> None:
    if not writing.can_generate():
        pytest.skip("proto/generate.py needs the group proto")
    what, files = planned(copy)

    writing.write(what, copy, files)
    complaint = writing.generate(copy)

    assert complaint == ""
    wire = [f"proto/tests/test_wire_{name}.py" for name in WIRE_TESTS]
    tested = run(copy, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "-k", NAME, *wire)
    assert tested.returncode == 0, tested.stdout
    used = run(copy, "-c", _USES_IT)
    claimed = len(REVISIONS[BEFORE].capabilities)
    assert used.stdout.split() == [NAME, "red", str(claimed)], used.stderr


def test_the_wire_tests_notice_golden_bytes_that_are_wrong(copy: Path) -> None:
    if not writing.can_generate():
        pytest.skip("proto/generate.py needs the group proto")
    what, files = planned(copy)
    writing.write(what, copy, files)
    assert writing.generate(copy) == ""
    golden = copy / f"fixtures/golden/bytes/{NAME}/Allocation-new-fields.hex"
    golden.write_text(golden.read_text("utf-8").replace("63 6f 6c", "63 6f 6d"), "utf-8")

    test = "proto/tests/test_wire_golden_bytes.py"
    tested = run(copy, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "-k", NAME, test)

    assert tested.returncode == 1
    assert "Allocation-new-fields" in tested.stdout


def test_a_second_one_is_refused_and_changes_nothing(copy: Path) -> None:
    what, files = planned(copy)
    writing.write(what, copy, files)
    before = snapshot(copy)

    with pytest.raises(NotLaidError, match=f"has a part of {NAME} already, .*git status"):
        planned(copy)
    assert snapshot(copy) == before


@pytest.mark.parametrize(
    "part",
    [
        f"proto/si/{NAME}/si.proto",
        f"fixtures/golden/schema/{NAME}.yaml",
        f"fixtures/golden/bytes/{NAME}/Resource-limits.json",
        "proto/siwire/r2027_01/__init__.py",
        "reference/sireference/codec/r2027_01.py",
    ],
)
def test_a_part_of_an_earlier_attempt_is_named(copy: Path, part: str) -> None:
    (copy / part).parent.mkdir(parents=True, exist_ok=True)
    (copy / part).write_text("", "utf-8")

    with pytest.raises(NotLaidError, match=part):
        planned(copy)


def test_a_line_of_an_earlier_attempt_is_named(copy: Path) -> None:
    with (copy / "noxfile.py").open("a") as file:
        file.write(f'MORE = ("{NAME}",)\n')

    with pytest.raises(NotLaidError, match=r"already, noxfile\.py"):
        planned(copy)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("2027-13", '"2027-13" is no name of a revision: write its year and month, 2027-01'),
        ("next", '"next" is no name of a revision: write its year and month, 2027-01'),
        ("2027-01\n", '"2027-01\n" is no name of a revision: write its year and month, 2027-01'),
        (BEFORE, f"there is a revision {BEFORE} already: name another one"),
        ("2025-05", f"2025-05 is older than {BEFORE}: a revision is laid down after the newest"),
    ],
)
def test_a_name_that_will_not_do_is_refused(name: str, says: str) -> None:
    with pytest.raises(NotLaidError) as refused:
        planned(CHECKOUT, name)

    assert str(refused.value).startswith(says)


def test_a_checkout_of_another_shape_is_refused(copy: Path) -> None:
    (copy / "proto/generate.py").write_text("SOURCES = ()\n", "utf-8")

    with pytest.raises(NotLaidError, match="use the kit of the same checkout"):
        planned(copy)


def test_a_write_that_fails_leaves_all_as_it_was(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(copy)
    what, files = planned(copy)
    replace = Path.replace
    written: list[str] = []

    def full(self: Path, target: Path) -> Path:
        written.append(str(target))
        if str(target).endswith("pyproject.toml") and written.count(str(target)) == 1:
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", full)

    with pytest.raises(OSError, match="No space left"):
        writing.write(what, copy, files)
    assert len(written) > 1
    assert snapshot(copy) == before


def test_a_file_that_was_changed_meanwhile_is_not_overwritten(copy: Path) -> None:
    what, files = planned(copy)
    with (copy / "noxfile.py").open("a") as file:
        file.write("# mine\n")
    before = snapshot(copy)

    with pytest.raises(NotLaidError, match=r"noxfile\.py was changed meanwhile"):
        writing.write(what, copy, files)
    assert snapshot(copy) == before


def test_files_keep_their_mode(copy: Path) -> None:
    (copy / "noxfile.py").chmod(0o755)
    what, files = planned(copy)

    writing.write(what, copy, files)

    assert stat.S_IMODE((copy / "noxfile.py").stat().st_mode) == 0o755


def test_messages_that_still_have_all_they_had_are_in_the_unions() -> None:
    what, _ = planned(CHECKOUT)
    shared = what.edited["reference/sireference/codec/messages.py"]
    theirs = what.edited["conformance/siconform/transport/dialects/messages.py"]
    called = what.edited["reference/sireference/codec/callbacks.py"]

    assert "from siwire.r2027_01 import si_pb2 as si2701\n" in shared
    assert "KeyedAllocation: TypeAlias = si2410.Allocation | si2604.Allocation | si2701." in shared
    assert "from siwire.r2027_01 import si_pb2 as si27\n" in theirs
    assert "    si2604.EventRecord,\n    si2701.EventRecord,\n" in called


def test_a_message_that_lost_a_field_is_left_out_and_told() -> None:
    declared = (CHECKOUT / f"proto/si/{BEFORE}/si.proto").read_text("utf-8")
    text = text_of(BEFORE, declared.replace("  bool originator = 14;\n", ""))
    what = plan(from_text("text.md", text), NAME, known_in(CHECKOUT))

    told = [one.says for one in what.decisions if one.topic is Topic.MESSAGE]
    assert "si2701.Allocation\n" not in what.edited["reference/sireference/codec/messages.py"]
    assert any(": KeyedAllocation (Allocation) is left" in says for says in told)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, copy: Path) -> list[str]:
    text = tmp_path / "text.md"
    text.write_text(edited_text(), "utf-8")
    monkeypatch.setattr(siconform.spec.checkout, "find_root", lambda: copy)
    monkeypatch.setattr(writing, "can_generate", lambda: False)
    return ["new", NAME, "--from", str(text)]


def test_the_command_tells_files_decisions_and_what_is_next(command: list[str], copy: Path) -> None:
    done = CliRunner().invoke(spec_group, command)

    assert done.exit_code == 0, done.output
    assert (copy / f"proto/si/{NAME}/si.proto").is_file()
    assert f"  new      proto/si/{NAME}/si.proto\n" in done.output
    assert f"  new      fixtures/golden/bytes/{NAME}/ (56 files)\n" in done.output
    assert "  changed  proto/siwire/revisions.py\n" in done.output
    assert "  - Allocation.colour: field added (16 string)\n" in done.output
    assert done.output.index("decisions for a person") < done.output.index("\nnext\n")
    assert "\n  python proto/generate.py\n" in done.output
    again = CliRunner().invoke(spec_group, command)
    assert again.exit_code == 4
    assert again.output.startswith("siconform: nothing is written: the checkout has a part of")
    assert again.output.count("\n") == 1


def test_a_dry_run_writes_nothing(command: list[str], copy: Path) -> None:
    before = snapshot(copy)

    done = CliRunner().invoke(spec_group, [*command, "--dry-run"])

    assert done.exit_code == 0
    assert snapshot(copy) == before


def test_a_generator_that_fails_takes_everything_back(
    command: list[str], copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(copy)
    monkeypatch.setattr(writing, "can_generate", lambda: True)
    monkeypatch.setattr(writing, "generate", lambda _: "protoc: refused")

    done = CliRunner().invoke(spec_group, command)

    assert done.exit_code == 4
    assert "nothing is written, as proto/generate.py failed: protoc: refused" in done.output
    assert snapshot(copy) == before


def test_without_a_checkout_there_is_one_sentence(
    command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(siconform.spec.checkout, "find_root", lambda: None)

    done = CliRunner().invoke(spec_group, command)

    assert done.exit_code == 4
    assert done.output == (
        "siconform: a revision is laid down in a checkout of the kit: run the one of a clone\n"
    )


def test_a_text_that_does_not_compile_is_named_with_its_line(
    command: list[str], copy: Path
) -> None:
    before = snapshot(copy)
    text = Path(command[-1])
    text.write_text(text.read_text("utf-8").replace("colour = 16", "colour = 14"), "utf-8")

    done = CliRunner().invoke(spec_group, command)

    assert done.exit_code == 2
    assert "line " in done.output
    assert snapshot(copy) == before


def test_many_files_of_a_folder_are_counted() -> None:
    what, _ = planned(CHECKOUT)

    lines = list(telling.written_lines(what))
    assert len([line for line in lines if "golden/bytes" in line]) == 1
