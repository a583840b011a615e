"""Plans a new revision: which files of a checkout are new, how others change, what is open."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from siwire.revisions import Revision

from siconform.catalogue import Requirement
from siconform.spec.changes import compare
from siconform.spec.compiling import compile_source
from siconform.spec.laying import capabilities, decisions, modules, wire_records
from siconform.spec.laying.decisions import Decision, Topic
from siconform.spec.laying.declaration import declaration
from siconform.spec.laying.golden_messages import GoldenMessages, golden_messages
from siconform.spec.laying.requirement_work import (
    RequirementWork,
    catalogue_edits,
    requirement_work,
    returning,
)
from siconform.spec.laying.schema_table import schema_table
from siconform.spec.laying.source_edits import NotLaidError, in_unions
from siconform.spec.laying.wire_records import ConstantWork, Succession
from siconform.spec.model import Sentence, Spec, UnreadableSpec
from siconform.spec.places import Carriers, Footing, elements, sources_of
from siconform.spec.rules import compare_rules
from siconform.spec.schema import schema_of
from siconform.spec.sources import from_revision

NAME: Final = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")
BYTES: Final = "fixtures/golden/bytes"
SCHEMA: Final = "fixtures/golden/schema"
CATALOGUE: Final = "conformance/siconform/catalogue"


@dataclass(frozen=True)
class Known:
    """What there is: revisions oldest first, requirements, and files of the checkout by path."""

    revisions: Sequence[Revision]
    requirements: Sequence[Requirement]
    files: Mapping[str, str]

    def text(self, path: str) -> str:
        """A file of the checkout; raises NotLaidError where there is none."""
        if path not in self.files:
            raise NotLaidError(f"the checkout has no {path}: use the kit of the same checkout")
        return self.files[path]


@dataclass(frozen=True)
class Plan:
    """What a new revision writes, and what is left to people."""

    of: Succession
    new: Mapping[str, str]
    """New files by path."""
    edited: Mapping[str, str]
    """Files by path as they will be."""
    decisions: tuple[Decision, ...]
    requirements: tuple[RequirementWork, ...] = ()
    constants: ConstantWork = field(default_factory=lambda: ConstantWork((), (), ()))


def plan(spec: Spec, name: str, known: Known, old: Spec | None = None) -> Plan:
    """What the text `spec` needs as the revision `name`, after the newest one that is known.

    `old` is that one's text, where there is one: rules are new beside its rules. Raises
    NotLaidError where the name or the text will not do, or the checkout has a part of it already.
    """
    of = _succession(spec, name, known)
    return _Planning(spec, of, known, old).plan()


def _succession(spec: Spec, name: str, known: Known) -> Succession:
    newest = known.revisions[-1].name
    if not NAME.fullmatch(name):
        raise NotLaidError(f'"{name}" is no name of a revision: write its year and month, 2027-01')
    if name in {one.name for one in known.revisions}:
        raise NotLaidError(f"there is a revision {name} already: name another one")
    if name < newest:
        raise NotLaidError(
            f"{name} is older than {newest}: a revision is laid down after the newest one"
        )
    if not spec.has_text:
        raise NotLaidError(f"{spec.name} is no text: constants and rules are read from one")
    of = Succession(newest, name)
    there = [
        path
        for path in known.files
        if re.search(rf"(?:^|/)(?:{name}|{of.package})(?:[./]|$)", path)
    ]
    there += [
        path for path in _EDITED if re.search(rf'"{name}"|\b{of.package}\b', known.text(path))
    ]
    if there:
        raise NotLaidError(
            f"the checkout has a part of {name} already, {there[0]}: finish it by hand, or take "
            "back what an earlier attempt wrote (git status shows it)"
        )
    return of


_CODECS: Final = f"{modules.CODECS}/__init__.py"
_DIALECTS: Final = f"{modules.DIALECTS}/registry.py"
_EDITED: Final = (
    wire_records.GENERATE,
    wire_records.REVISIONS,
    wire_records.CONSTANTS,
    wire_records.PYPROJECT,
    wire_records.NOXFILE,
    wire_records.COUNTS,
    wire_records.TABLE,
    _CODECS,
    _DIALECTS,
)


class _Planning:
    def __init__(self, spec: Spec, of: Succession, known: Known, old: Spec | None) -> None:
        self.spec, self.of, self.known, self.old = spec, of, known, old
        self.file = _bare(spec.file)
        self.before = from_revision(known.revisions[-1])
        self.changes = compare(self.before, spec)
        self.footing = Footing(spec)
        self.left: dict[str, tuple[str, ...]] = {}
        self.golden = self._golden()
        self.constants = self._constants()
        self.work = requirement_work(known.requirements, of.before, self.footing)
        declared = elements(self.file)
        self.capabilities = wire_records.capability_change(
            known.revisions[-1].capabilities,
            capabilities.shown(elements(self.before.file)),
            capabilities.shown(declared),
        )

    def plan(self) -> Plan:
        edited = {path: text for path, text in self._edited() if text != self.known.files[path]}
        decided = [*dict.fromkeys(self._decisions())]
        decided.sort(key=lambda one: list(Topic).index(one.topic))
        return Plan(self.of, dict(self._new()), edited, tuple(decided), self.work, self.constants)

    def _golden(self) -> GoldenMessages:
        folder = f"{BYTES}/{self.of.before}/"
        older = {
            path.removeprefix(folder).removesuffix(".json"): text
            for path, text in sorted(self.known.files.items())
            if path.startswith(folder) and path.endswith(".json")
        }
        return golden_messages(self.file, self.before.file, older)

    def _constants(self) -> ConstantWork:
        values = {
            name: constant.value
            for revision in self.known.revisions
            for name, constant in from_revision(revision).constants.items()
        }
        return wire_records.constant_work(self.spec.constants, self.before.constants, values)

    @property
    def _has_other_messages(self) -> bool:
        return bool(self._changed_messages())

    def _changed_messages(self) -> list[str]:
        before, after = schema_of(self.before.file).messages, schema_of(self.file).messages
        return [name for name, one in after.items() if before.get(name, one).fields != one.fields]

    def _new(self) -> Iterator[tuple[str, str]]:
        name = self.of.name
        yield f"proto/si/{name}/si.proto", _declared(self.file, name)
        yield f"{SCHEMA}/{name}.yaml", schema_table(self.file, name)
        for case, said in self.golden.said.items():
            yield f"{BYTES}/{name}/{case}.json", said
            yield f"{BYTES}/{name}/{case}.hex", self.golden.wire[case]
        older = self.known.text(f"{modules.CODECS}/{self.of.package_before}.py")
        yield f"{modules.CODECS}/{self.of.package}.py", modules.codec_module(older, self.of)
        if self._has_other_messages:
            registry = self.known.text(_DIALECTS)
            path = f"{modules.DIALECTS}/{self.of.package}.py"
            yield path, modules.dialect_module(registry, self.of)

    def _edited(self) -> Iterator[tuple[str, str]]:
        of, text = self.of, self.known.text
        registry = text(_DIALECTS)
        has_module = self._has_other_messages
        order = list(self.spec.constants)
        yield wire_records.GENERATE, wire_records.in_generator(text(wire_records.GENERATE), of)
        yield (
            wire_records.REVISIONS,
            wire_records.in_revisions(text(wire_records.REVISIONS), of, *self.capabilities),
        )
        yield (
            wire_records.CONSTANTS,
            wire_records.in_constants(text(wire_records.CONSTANTS), of, self.constants, order),
        )
        table = wire_records.in_constant_table(text(wire_records.TABLE), of, self.constants)
        yield wire_records.TABLE, table
        yield (
            wire_records.COUNTS,
            wire_records.in_counts(text(wire_records.COUNTS), of, self.constants),
        )
        yield wire_records.PYPROJECT, wire_records.in_layers(text(wire_records.PYPROJECT), of)
        yield wire_records.NOXFILE, wire_records.in_noxfile(text(wire_records.NOXFILE), of)
        yield _CODECS, modules.in_codecs(text(_CODECS), of)
        yield _DIALECTS, modules.in_dialects(registry, of, has_module=has_module)
        yield from self._unions()
        areas = {
            path: one
            for path, one in self.known.files.items()
            if path.startswith(f"{CATALOGUE}/") and path.endswith(".yaml")
        }
        yield from catalogue_edits(self.work, areas, of.before, of.name).items()

    def _unions(self) -> Iterator[tuple[str, str]]:
        """The shared modules with the messages that still have all they had."""
        before, after = schema_of(self.before.file).messages, schema_of(self.file).messages
        fitting = {
            name: name in after and one.fields.items() <= after[name].fields.items()
            for name, one in before.items()
        }
        for path in modules.shared_modules(self.known.files, self.of):
            packages = (self.of.package_before, self.of.package)
            text, self.left[path] = in_unions(self.known.files[path], packages, fitting)
            yield path, text

    def _decisions(self) -> Iterator[Decision]:
        for guess in self.spec.guesses:
            yield Decision(Topic.TEXT, guess)
        yield from decisions.of_changes(self.changes)
        yield from decisions.of_capabilities(*self.capabilities)
        yield from decisions.of_constants(self.constants)
        yield from decisions.of_requirements(self.work, self.of)
        back = returning(self.known.requirements, self.of.before, self.footing)
        yield from decisions.of_returning(back)
        yield from decisions.of_rules(self._rules())
        yield from decisions.of_messages(self.left, self._changed_messages())
        yield from decisions.of_golden(self.golden)
        named = {p: t for p, t in self.known.files.items() if _may_name(p)}
        yield from decisions.of_tests(named, self.of)
        yield from decisions.of_names(self.of)

    def _rules(self) -> Iterator[Sentence]:
        """The rules that no requirement covers: new ones beside an old text, else all."""
        if self.old is not None:
            for change in compare_rules(self.old, self.spec, self.known.requirements):
                if change.is_uncovered:
                    yield change.sentence
            return
        covered = Carriers(self.footing, sources_of(self.known.requirements))
        for one in self.spec.sentences:
            if one.is_rule and not covered.of(one.text, one.place):
                yield one


def _may_name(path: str) -> bool:
    is_test = re.match(r"(?:proto/tests|reference/tests|conformance/selftest)/", path)
    return bool(is_test) or path in ("README.md", "CHANGELOG.md")


def _declared(file: FileDescriptorProto, name: str) -> str:
    """The declaration, which is compiled to see that it says the same."""
    source = declaration(file, name)
    try:
        is_same = _bare(compile_source("si.proto", source)) == file
    except UnreadableSpec:
        is_same = False
    if not is_same:
        raise NotLaidError(
            "the text declares something that no text of the SI did, and that is not written as "
            "it is meant: groups, extension ranges and values of options that are messages"
        )
    return source


def _bare(file: FileDescriptorProto) -> FileDescriptorProto:
    bare = FileDescriptorProto()
    bare.CopyFrom(file)
    bare.ClearField("source_code_info")
    return bare


def steps(of: Succession) -> Iterable[str]:
    """What is run after a plan is written, in this order."""
    return (
        "python proto/generate.py",
        "pytest proto/tests",
        f"python -m siconform.catalogue.drift FOLDER  (with the text as {of.name}.md in it)",
        "mypy; lint-imports; pytest reference/tests conformance/selftest",
        "python -m tests.traces  (in reference)",
        "nox -s every-revision results generate",
    )
