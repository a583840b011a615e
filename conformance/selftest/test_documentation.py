"""The pages of docs: their commands run, and their links resolve."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from documentation import generated
from documentation.blocks import CHECKOUT, DOCS, Block, blocks, compared, prepared_by
from documentation.commands import accounted, difference, main, page_of
from documentation.shell import Shell
from siconform.catalogue import catalogue, document, subjects

_BARRIER = re.compile(r"^ *```(.*)$", re.MULTILINE)
_SHELLS = frozenset({"", "sh", "bash", "shell", "shell-session"})
_LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
COMMITTED = sorted(p for p in DOCS.rglob("*.md") if not p.is_relative_to(generated.FOLDER))
_ANCHOR = re.compile(r'^<a id="(\S+)"></a>$', re.MULTILINE)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    with Shell(tmp_path) as opened:
        yield opened


def page(body: str, kind: str = "console") -> str:
    return f"# A page\n\n```{kind}\n{body}```\n\nSome text.\n"


def test_page_shows_output_of_commands() -> None:
    made = page_of(page("$ echo one\n$ echo two; exit 3\n$ echo $?\n"))

    assert made == page("$ echo one\none\n$ echo two; exit 3\ntwo\n$ echo $?\n3\n")


def test_commands_of_page_share_folder() -> None:
    text = "<!-- prepared by: echo there > file -->\n" + page("$ cat file\n")

    assert prepared_by(text) == ["echo there > file"]
    assert "$ cat file\nthere\n" in page_of(text)


def test_command_with_continuation_lines() -> None:
    body = "$ cat <<'END'\n> one\n> END\n"

    assert page_of(page(body)) == page(f"{body}one\n")


def test_block_with_reason_is_not_run() -> None:
    text = page("# not run: it would take a day\n$ exit 1\nas it was\n")

    assert page_of(text) == text
    assert accounted({Path("page.md"): text}) == [
        "0 commands of 1 pages were run, 1 blocks were not:",
        "  page.md: it would take a day",
    ]


def test_diff_block_edits_file() -> None:
    text = "<!-- prepared by: printf 'a\\nb\\n' > text.md -->\n" + page(" a\n-b\n+c\n", "diff")

    assert "$ cat text.md\na\nc\n" in page_of(text + page("$ cat text.md\n"))


def test_diff_that_does_not_match_is_rejected(shell: Shell) -> None:
    (shell.folder / "text.md").write_text("a\n", "utf-8")

    with pytest.raises(ValueError, match=r"text.md does not contain exactly once:"):
        shell.edits("-b\n+c\n")


def test_background_command_shows_first_line_and_ends(tmp_path: Path) -> None:
    with Shell(tmp_path) as shell:
        received = shell.runs("bash -c 'echo listening on 127.0.0.1:9080; exec sleep 60' &")
        ((process, _),) = shell._background
        assert process.poll() is None

    assert received == "listening on 127.0.0.1:9080\n"
    assert process.poll() is not None


def test_silent_background_command_is_rejected(shell: Shell) -> None:
    with pytest.raises(TimeoutError, match="no output before it ended"):
        shell.runs("true &")


def test_address_is_replaced_by_free_port_and_back(shell: Shell) -> None:
    received = shell.runs("echo 127.0.0.1:9080 | tee address")

    assert received == "127.0.0.1:9080\n"
    assert (shell.folder / "address").read_text("utf-8") != received


@pytest.mark.parametrize(
    ("kind", "one", "other", "differs"),
    [
        ("console", "after 0.31 s", "after 12.04 s", False),
        ("console", "12 pass   1.3 s", "12 pass        6 s", False),
        ("console", "12 pass", "13 pass", True),
        ("console figures", "12 pass", "13 pass", False),
        ("console figures", "12 pass", "12 fail", True),
        (
            "console figures",
            "\ntime s  this target\n0.1 a\n0.2 b",
            "\ntime s  this target\n0.1 b",
            False,
        ),
        ("console figures", "8 of 9 tests, 1 failed\n1 pass", "1 pass", False),
        ("console", "8 of 9 tests, 1 failed\n1 pass", "1 pass", True),
        ("console figures", "NODE  1 pass, 2 known failures   2.3 s\n1 pass", "1 pass", False),
        ("text", "12 pass", "12 fail", True),
    ],
)
def test_times_and_figures_are_masked(kind: str, one: str, other: str, *, differs: bool) -> None:
    pages = [page(f"$ command\n{sent}\n", kind) for sent in (one, other)]

    assert (compared(pages[0]) != compared(pages[1])) is differs
    assert bool(difference(*pages)) is differs


def test_differing_page_fails_check_and_is_rewritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "page.md"
    file.write_text(page("$ echo one\ntwo\n"), "utf-8")

    assert main(["--check", str(file)]) == 1
    assert "-two\n+one\n" in capsys.readouterr().out
    assert main([str(file)]) == 0
    assert main(["--check", str(file)]) == 0


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.name)
def test_blocks_have_a_kind(path: Path) -> None:
    kinds = _BARRIER.findall(path.read_text("utf-8"))[::2]

    assert _SHELLS.isdisjoint(kinds), "commands go into a block `console`, after `$ `"


def test_page_commands_have_a_prompt() -> None:
    without = [
        (path.name, block)
        for path in COMMITTED
        for block in blocks(path.read_text("utf-8"))
        if block.kind != "diff" and not block.commands
    ]

    assert without == []


def test_requirement_anchors_are_unique() -> None:
    places = _ANCHOR.findall(document.page(catalogue().values(), subjects()))

    assert len(places) == len(set(places))
    assert {name.lower() for name in catalogue()} <= set(places)


def test_every_page_is_in_the_menu_once() -> None:
    menu = (DOCS / "_toc.yml").read_text("utf-8")
    files = re.findall(r"(?:file|root): (\S+)", menu)
    listed = [DOCS / f"{name}.md" for name in files if not name.startswith("generated/")]
    listed += [
        path for glob in re.findall(r"glob: (\S+)", menu) for path in DOCS.glob(f"{glob}.md")
    ]

    assert yaml.safe_load(menu)["root"] == "index"
    assert sorted(listed) == COMMITTED


@pytest.mark.parametrize("path", [CHECKOUT / "README.md", *COMMITTED], ids=lambda path: path.name)
def test_page_links_resolve(path: Path) -> None:
    linked = [path.parent / link for link in _LINK.findall(path.read_text("utf-8"))]

    assert [str(to) for to in linked if not to.exists()] == []
    assert [to for to in linked if to.resolve().is_relative_to(generated.FOLDER)] == []


def test_block_commands() -> None:
    block = Block("console", "$ one\nsays\n$ two \\\n> three\n")

    assert block.commands == ["one", "two \\\nthree"]
    assert block.reason == ""
