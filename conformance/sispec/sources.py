"""Reads and compiles the specification that a command-line argument names."""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.message import DecodeError
from siwire import constants as si_constants
from siwire.revisions import Revision, find_revision, note_on

from sispec.blocks import Block, BlockKind
from sispec.compiling import SI_FILE, compile_source, declared_lines
from sispec.go_api import api_of
from sispec.go_code import GO_MESSAGE
from sispec.model import ApiMethod, Constant, Spec, SpecError, UnreadableSpec
from sispec.prose import read_sentences
from sispec.schema import revision_file
from sispec.text import decode, read_spec_text

GIT = "git:"
HEAD = "HEAD"
_DESCRIPTOR_SETS = frozenset({".binpb", ".pb", ".desc", ".protoset", ".fds"})
_CONTROL = frozenset(range(9))  # characters that only descriptor sets have
_PATIENCE = 30.0  # seconds for git

_CASE = {"ARCH": "ARCH", "OS": "OS", "CPU": "CPU", "ID": "ID", "YUNIKORN": "YuniKorn"}


class GitError(Exception):
    """Git cannot provide a version of a file; the message is one sentence."""


def read_spec(argument: str) -> Spec:
    """Read the specification that an argument names.

    A revision of the SI by its name or release line (`2023-12`, `1.8`), `git:REV:PATH` in the
    current repository, or a path: a document, a `.proto` file, a descriptor set. A path that is
    also a revision's name is written `./2023-12`.

    Raises UnreadableSpec with all errors and their lines, and buf.NoCompiler without buf.
    """
    if argument.startswith(GIT):
        return _from_git(argument)
    path = Path(argument)
    try:
        return from_revision(find_revision(argument), argument)
    except LookupError as error:
        if not path.exists():
            message = f"there is no such file; {error}"
            raise UnreadableSpec(argument, [SpecError(message)]) from None
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"the file cannot be read: {error.strerror}"
        raise UnreadableSpec(argument, [SpecError(message)]) from error
    return from_bytes(argument, data, path.suffix)


def from_bytes(name: str, data: bytes, suffix: str) -> Spec:
    """Read a specification from the bytes of a file; its suffix (`.proto`) gives the format."""
    if suffix.lower() in _DESCRIPTOR_SETS or _CONTROL & set(data[:4096]):
        return _from_descriptor_set(name, data)
    content = decode(name, data)
    return _from_proto(name, content) if suffix.lower() == ".proto" else from_text(name, content)


def from_text(name: str, content: str) -> Spec:
    """Read a specification from a document whose lines end with a line feed."""
    text = read_spec_text(name, content)
    file = compile_source(name, text.source)
    return Spec(
        name,
        file,
        text.constants,
        text.sentences,
        declared_lines(file),
        (*text.guesses, *_dangling(file, text.api.values())),
        text.api,
        text.schema,
        content,
        has_text=True,
        has_constants=True,
    )


def _dangling(file: FileDescriptorProto, api: Iterable[ApiMethod]) -> Iterator[str]:
    """Yield messages that the Go API names but no block declares, as after a renaming."""
    declared = {message.name for message in file.message_type}
    declared |= {enum.name for enum in file.enum_type}
    for method in api:
        for name in GO_MESSAGE.findall(method.signature):
            if name not in declared:
                sentence = f"{method.name} names si.{name}, which no block declares"
                yield f"line {method.line}: {sentence}"


def from_revision(revision: Revision, name: str = "") -> Spec:
    """Return a revision of the SI: schema, constants and Go API, without prose, comments, lines."""
    note = note_on(name)
    known = si_constants.KNOWN_IN[revision.name]
    named = {
        text_name(key): value
        for key, value in vars(si_constants).items()
        if key.isupper() and isinstance(value, str) and value in known
    }
    constants = {key: Constant(key, value) for key, value in named.items()}
    return Spec(
        name or revision.name,
        revision_file(revision.name),
        constants,
        guesses=(note,) if note else (),
        api=api_of(revision.name),
        has_constants=True,
    )


def _from_proto(name: str, content: str) -> Spec:
    file = compile_source(name, content)
    lines = content.split("\n")
    block = Block(BlockKind.PROTOBUF, 1, tuple(lines))
    sentences = read_sentences(lines, [block], synchronised=True)
    return Spec(name, file, {}, sentences, declared_lines(file), source=content)


def _from_descriptor_set(name: str, data: bytes) -> Spec:
    """Read the only file of the set that is not Google's, or the one called si.proto."""
    try:
        files = list(FileDescriptorSet.FromString(data).file)
    except DecodeError:
        files = []
    if not any(file.name for file in files):
        message = "the file is binary but not a descriptor set: give a .md, a .proto or a .binpb"
        raise UnreadableSpec(name, [SpecError(message)])
    own = [file for file in files if not file.name.startswith("google/protobuf/")]
    chosen = own if len(own) == 1 else [file for file in own if file.name == SI_FILE]
    if len(chosen) != 1:
        names = ", ".join(file.name for file in own) or "none but Google's"
        message = f"the descriptor set should have one file or an {SI_FILE}; it has {names}"
        raise UnreadableSpec(name, [SpecError(message)])
    return Spec(name, chosen[0], lines=declared_lines(chosen[0]))


def _from_git(argument: str) -> Spec:
    revision, separator, path = argument.removeprefix(GIT).partition(":")
    if not (separator and path) or revision.startswith("-"):
        message = "write git:REV:PATH, for example git:HEAD~1:scheduler-interface-spec.md"
        raise UnreadableSpec(argument, [SpecError(message)])
    try:
        done = _git("cat-file", "blob", f"{revision}:{path}")
    except GitError as error:
        raise UnreadableSpec(argument, [SpecError(str(error))]) from error
    if done.returncode:
        sent = re.sub(r"^fatal: ", "", " ".join(done.stderr.decode(errors="replace").split()))
        message = f"git has no such file: {sent}"
        raise UnreadableSpec(argument, [SpecError(message)])
    return from_bytes(argument, done.stdout, PurePosixPath(path).suffix)


def version_at(file: str, commit: str = HEAD) -> str | None:
    """Return `git:COMMIT:PATH` of a file at a commit, under its old name if it was renamed since.

    None if the file is new. Raises GitError outside of a repository and for an unknown commit.
    """
    folder = _git_output("rev-parse", "--show-prefix")
    if folder is None:
        raise GitError("not in a git repository: compare two files with siconform spec diff")
    path = os.path.normpath(Path(folder.rstrip("\n"), os.path.relpath(file)))
    if path.startswith(os.pardir):
        raise GitError(f"{file} is outside of the repository of this folder")
    known = not commit.startswith("-") and _git_output(
        "rev-parse", "--verify", "--quiet", f"{commit}^0"
    )
    if not known:
        if commit == HEAD:  # before the first commit
            return None
        raise GitError(f'"{commit}" is not a commit here: was it fetched? (in CI: fetch-depth: 0)')
    if _git_output("cat-file", "-e", f"{commit}:{path}") is None:
        path = _name_before(path, commit)
    return f"{GIT}{commit}:{path}" if path else None


def _name_before(path: str, commit: str) -> str:
    """Return the path the file was renamed from since the commit; "" if it is new."""
    renames = ("--find-renames", "--diff-filter=R", "--name-status", "-z")
    fields = (_git_output("diff", *renames, commit, "--") or "").split("\0")
    # R095, the old path, the new path, R100, ...
    return dict(zip(fields[2::3], fields[1::3], strict=False)).get(path, "")


def _git_output(*arguments: str) -> str | None:
    """Return the standard output of git; None if it fails."""
    done = _git(*arguments)
    return None if done.returncode else done.stdout.decode(errors="surrogateescape")


def _git(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = ["git", *arguments]
    try:
        return subprocess.run(  # noqa: S603  # fixed commands, their arguments no options
            command, capture_output=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(f"git failed: {error}") from error


def text_name(key: str) -> str:
    """Return the SI's name of a constant: `HOST_NAME` is `HostName`."""
    return "".join(_CASE.get(word, word.capitalize()) for word in key.split("_"))
