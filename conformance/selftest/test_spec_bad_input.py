"""Input that cannot be compared gets clear errors with the line, and nothing is written.

What else is wrong in a text: test_spec_text.py and test_spec_sources.py.
"""

import sysconfig
from pathlib import Path

import pytest
from selftest.spec_author import author_text, edited_text
from selftest.spec_commands_run import committed, spec, untouched
from selftest.spec_texts import line_of
from sispec import buf

from .commands import siconform

UNREADABLE, WRONG = 2, 4
_PRIORITY = "  int32 priority = 6;"
_IMPORT = 'import "google/protobuf/descriptor.proto";'
_TWICE = (
    "field number `5` used more than once in Allocation, in `int32 priority = 5;`: take a number "
    "that was"
)


def _with(before: str, after: str) -> bytes:
    return edited_text((before, after)).encode()


DUPLICATED = _with(_PRIORITY, "  int32 priority = 5;")
LINE = line_of(author_text(), "int32 priority")
AT_IMPORT = line_of(author_text(), _IMPORT)
BAD_TEXTS: dict[str, tuple[bytes, str]] = {
    "a duplicated number": (DUPLICATED, f"line {LINE}: {_TWICE} never used"),
    "a duplicated number in an enum of a message": (
        _with("    DRAIN_NODE = 3;", "    DRAIN_NODE = 2;"),
        (
            f"line {line_of(author_text(), 'DRAIN_NODE = 3')}: enum value `2` used more than once "
            "in NodeInfo.ActionFromRM, in `DRAIN_NODE = 2;`"
        ),
    ),
    "a duplicated name": (
        _with(_PRIORITY, "  int32 nodeID = 6;"),
        (
            f"line {LINE}: `nodeID` declared multiple times, in `int32 nodeID = 6;`: names must "
            "be unique, and enum values share the scope around their enum"
        ),
    ),
    "a missing import": (
        _with(f"{_IMPORT}\n", ""),
        (
            f"line {AT_IMPORT + 3}: expected built-in options message, found message type ``, in "
            '`extend google.protobuf.FieldOptions {`: import "google/protobuf/descriptor.proto"'
            " first"
        ),
    ),
    "no syntax": (
        _with('syntax = "proto3";\n', ""),
        'the protobuf does not begin with `syntax = "proto3";`: write that first',
    ),
    "blank": (b" \r\n\t\n", "the file is empty: give one with protobuf blocks"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "good.md").write_text(author_text(), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("bad", BAD_TEXTS)
def test_invalid_text_is_one_sentence(bad: str, folder: Path) -> None:
    data, sentence = BAD_TEXTS[bad]
    (folder / "bad.md").write_bytes(data)

    for arguments in (
        ("diff", "good.md", "bad.md"),
        ("diff", "bad.md", "good.md", "--format", "json", "-o", "report.json"),
        ("diff", "bad.md", "bad.md", "--format", "markdown"),
        ("extract", "bad.md", "-o", "out"),
    ):
        with untouched(folder):
            done = spec(*arguments)

        assert done.exit_code == UNREADABLE
        assert done.stdout == ""
        (received,) = done.stderr.splitlines()
        assert received.startswith("siconform: bad.md: ")
        assert received.endswith(sentence)


def test_impact_and_check_report_bad_text(folder: Path) -> None:
    (folder / "bad.md").write_bytes(DUPLICATED)
    committed(folder)

    for arguments in (("impact", "good.md", "bad.md"), ("check", "good.md", "bad.md")):
        done = spec(*arguments)

        assert (done.exit_code, done.stdout) == (UNREADABLE, "")
        assert done.stderr == f"siconform: bad.md: line {LINE}: {_TWICE} never used\n"


def test_errors_of_both_sides(folder: Path) -> None:
    (folder / "one.md").write_bytes(DUPLICATED)
    (folder / "two.md").write_bytes(b"")

    done = spec("diff", "one.md", "two.md")

    assert [line.split(": ")[1] for line in done.stderr.splitlines()] == ["one.md", "two.md"]


def test_many_errors_are_shortened(folder: Path) -> None:
    bad = author_text().replace("  string ", "  required string ")
    (folder / "bad.md").write_text(bad, "utf-8")

    received = spec("diff", "good.md", "bad.md").stderr.splitlines()

    assert len(received) == 21
    assert received[-1].startswith("siconform: bad.md: and ")


def test_crlf_and_lost_fences_are_read(folder: Path) -> None:
    text = author_text()
    (folder / "crlf.md").write_bytes(text.replace("\n", "\r\n").encode())
    lines = [line for line in text.split("\n") if not line.startswith("```")]
    (folder / "lost.md").write_text("\n".join(lines), "utf-8")

    assert spec("diff", "good.md", "crlf.md", "--fail-on", "all").stdout.startswith("NO CHANGE")
    done = spec("diff", "good.md", "lost.md", "--fail-on", "all")
    assert done.exit_code == 0
    assert "lost.md: The fences are lost: 37 pieces from line 14 to " in done.stdout


ARGUMENTS: tuple[tuple[tuple[str, ...], int, str], ...] = (
    (("diff", "good.md", "git:HEAD:x.md"), UNREADABLE, "git has no such file: not a git repo"),
    (("extract", "2024-10"), UNREADABLE, "it has no protobuf source: give a specification or"),
    (("extract", "good.md", "-o", "folder"), WRONG, "name a new or empty folder"),
    (("extract", "good.md", "-o", "good.md/out"), WRONG, "its parent is not a folder"),
    (("diff", "2023-08", "2023-12", "-o", "folder"), WRONG, "folder cannot be written: Is a dir"),
    (("diff", "2023-08", "2023-12", "-o", "good.md/a"), WRONG, "its parent is not a folder"),
    (("check", "good.md"), WRONG, "not in a git repository: compare two files with"),
    (("diff", "good.md"), WRONG, "Missing argument 'NEW'"),
    (("diff", "good.md", "good.md", "--format", "pdf"), WRONG, "'pdf' is not one of"),
    (("diff", "good.md", "good.md", "--fail-on", "luck"), WRONG, "'luck' is not one of"),
    (("check",), WRONG, "Missing argument 'FILE...'"),
)


@pytest.mark.parametrize(("arguments", "code", "message"), ARGUMENTS, ids=lambda one: str(one)[:40])
def test_invalid_arguments_are_one_sentence(
    arguments: tuple[str, ...], code: int, message: str, folder: Path
) -> None:
    (folder / "folder").mkdir()
    (folder / "folder" / "kept").write_text("kept", "utf-8")

    with untouched(folder):
        done = spec(*arguments)

    assert (done.exit_code, done.stdout) == (code, "")
    (received,) = done.stderr.splitlines()
    assert message in received


def test_missing_compiler_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> str:
        raise buf.NoCompiler("the protobuf compiler buf is not installed")

    monkeypatch.setattr(buf, "executable", gone)

    done = spec("diff", "good.md", "2024-10")

    assert folder.exists()
    assert (done.exit_code, done.stdout) == (WRONG, "")
    assert done.stderr == "siconform: the protobuf compiler buf is not installed\n"


def test_threads_find_the_compiler_without_sysconfig(monkeypatch: pytest.MonkeyPatch) -> None:
    # both specifications of a diff are read at once, and the first use of sysconfig may raise then
    monkeypatch.delattr(sysconfig, "get_path")

    assert Path(buf.executable()).name == "buf"


def test_revisions_need_no_compiler_or_buf(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> str:
        raise buf.NoCompiler("the protobuf compiler buf is not installed")

    monkeypatch.setattr(buf, "executable", gone)

    done = spec("diff", "2023-08", "2023-12")

    assert done.exit_code == 1
    assert "buf was not run: the protobuf compiler buf is not installed" in done.stdout


def test_process_exits_without_traceback(folder: Path) -> None:
    (folder / "bad.md").write_bytes(DUPLICATED)

    done = siconform("spec", "diff", "good.md", "bad.md", cwd=folder)

    assert "Traceback" not in done.stderr, done.stderr
    assert (done.returncode, done.stdout) == (UNREADABLE, "")
