"""Records a revision in the wire package: where it is generated, what it can say, its constants."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from siwire.revisions import Capability

from siconform.spec.laying.source_edits import WIDTH, NotLaidError, in_part, inserted, wrapped
from siconform.spec.model import Constant

GENERATE: Final = "proto/generate.py"
REVISIONS: Final = "proto/siwire/revisions.py"
CONSTANTS: Final = "proto/siwire/constants.py"
PYPROJECT: Final = "pyproject.toml"
NOXFILE: Final = "noxfile.py"
COUNTS: Final = "proto/tests/test_wire_constants.py"
TABLE: Final = "fixtures/golden/schema/constants.yaml"


@dataclass(frozen=True, slots=True)
class Succession:
    """A revision and the one it follows."""

    before: str
    name: str

    @property
    def package(self) -> str:
        """The package of its messages: `r2023_12`."""
        return package_of(self.name)

    @property
    def package_before(self) -> str:
        """The one of the revision before it."""
        return package_of(self.before)


def package_of(name: str) -> str:
    """The package of a revision: `r2023_12`."""
    return f"r{name.replace('-', '_')}"


def in_generator(text: str, of: Succession) -> str:
    """proto/generate.py with the declaration of the revision."""
    entry = f'    Source(Path("si/{of.name}"), "si.proto", "{of.package}", "SI {of.name}"),\n'
    return inserted(text, GENERATE, rf'    Source\(Path\("si/{of.before}"\)', entry)


def in_revisions(text: str, of: Succession, gone: Iterable[str], new: Iterable[str]) -> str:
    """proto/siwire/revisions.py with the record; capabilities are names of `Capability`."""
    names = [sorted(f"Capability.{one}" for one in side) for side in (gone, new)]
    said = _set_statement(of.package[1:], of.package_before[1:], *names)
    text = inserted(text, REVISIONS, r"REVISIONS: Final\[", f"{said}\n\n", before=True)
    text = text.replace(f"\n\n{said}\n\n", f"\n{said}\n\n", 1)
    known = f'        Revision("{of.name}", (), "siwire.{of.package}", _{of.package[1:]}),\n'
    return inserted(text, REVISIONS, rf'        Revision\("{of.before}",', known)


@dataclass(frozen=True, slots=True)
class ConstantWork:
    """What the constants of a text are beside those of the revision before it."""

    kept: tuple[Constant, ...]
    gone: tuple[Constant, ...]
    new: tuple[Constant, ...]
    revalued: tuple[tuple[Constant, Constant], ...] = ()
    """Those with another value than siwire.constants has under the name, in which revision ever."""


def constant_work(
    text: Mapping[str, Constant],
    before: Mapping[str, Constant],
    values: Mapping[str, str],
) -> ConstantWork:
    """The constants of a text against those of the revision before it.

    `values` are all constants that any revision had, by the text's name.
    """
    changed = {
        name: (Constant(name, values[name]), one)
        for name, one in text.items()
        if name in values and values[name] != one.value
    }
    return ConstantWork(
        tuple(one for name, one in text.items() if name in before and name not in changed),
        tuple(one for name, one in before.items() if name not in text),
        tuple(one for name, one in text.items() if name not in before and name not in changed),
        tuple(changed.values()),
    )


def python_name(name: str) -> str:
    """A constant of a text in Python's spelling: `DomainYuniKorn` is `DOMAIN_YUNIKORN`."""
    plain = name.replace("YuniKorn", "Yunikorn")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain).upper()


def in_constants(text: str, of: Succession, work: ConstantWork, order: Sequence[str]) -> str:
    """proto/siwire/constants.py with new constants where the text has them, and the set of those.

    `order` are the names of all constants as the text has them.
    """
    for one in work.new:
        said = f'{python_name(one.name)}: Final = "{one.value}"\n'
        if re.search(rf"^{python_name(one.name)}: Final", text, re.MULTILINE):
            continue
        earlier = [python_name(name) for name in order[: order.index(one.name)]]
        anchor = next(
            (x for x in reversed(earlier) if re.search(rf"^{x}: Final", text, re.MULTILINE)), ""
        )
        if anchor:
            text = inserted(text, CONSTANTS, rf"{anchor}: Final", said)
        else:
            text = inserted(text, CONSTANTS, r"# Node attributes", said)
    known = re.search(rf'^    "{of.before}": (_\w+),$', text, re.MULTILINE)
    if known is None:
        raise NotLaidError(f'{CONSTANTS} has no "{of.before}" in KNOWN_IN: use its own checkout')
    last = known[1]
    if work.gone or work.new:
        sides = [[python_name(one.name) for one in side] for side in (work.gone, work.new)]
        said = _set_statement(of.package[1:], last[1:], *sides)
        head, tail = in_part(text, CONSTANTS, "\nKNOWN_IN: Final[")
        text = f"{head}{said}\n{tail}"
        last = f"_{of.package[1:]}"
    return inserted(text, CONSTANTS, rf'    "{of.before}": ', f'    "{of.name}": {last},\n')


def in_constant_table(text: str, of: Succession, work: ConstantWork) -> str:
    """fixtures/golden/schema/constants.yaml with the windows of what is gone and new."""
    for one in work.gone:
        head, row = in_part(text, TABLE, f"\n{one.name}: {{")
        line, _, rest = row[1:].partition("\n")
        if ", until: " not in line:
            line = f'{line.removesuffix("}")}, until: "{of.before}"}}'
        text = f"{head}\n{line}\n{rest}"
    rows = "".join(
        f'{one.name}: {{value: "{one.value}", since: "{of.name}"}}\n'
        for one in work.new
        if not re.search(rf"^{one.name}: ", text, re.MULTILINE)
    )
    return text.rstrip("\n") + "\n" + rows


def in_counts(text: str, of: Succession, work: ConstantWork) -> str:
    """The test of the constants with how many different values the text has."""
    values = {one.value for side in (work.kept, work.new) for one in side}
    return inserted(text, COUNTS, rf'    "{of.before}": \d+,', f'    "{of.name}": {len(values)},\n')


def in_layers(text: str, of: Succession) -> str:
    """pyproject.toml with the revision above the one before it in the contract on revisions."""
    before = f'layers = ["({of.package_before})", '
    head, tail = in_part(text, PYPROJECT, before)
    return f'{head}layers = ["({of.package})", "({of.package_before})", {tail[len(before) :]}'


def in_noxfile(text: str, of: Succession) -> str:
    """noxfile.py with the revision among those that are run."""
    found = re.search(r"^REVISIONS = \(([^)]*)\)$", text, re.MULTILINE)
    if found is None:
        raise NotLaidError(f"{NOXFILE} has no REVISIONS = (...): use its own checkout")
    names = re.findall(r'"[^"]+"', found[1])
    said = wrapped("REVISIONS = (", [*names, f'"{of.name}"'], ")")
    return f"{text[: found.start()]}{said}{text[found.end() :]}"


def capability_change(
    before: Collection[Capability],
    declared_before: Collection[Capability],
    declared: Collection[Capability],
) -> tuple[list[str], list[str]]:
    """Names of the capabilities that go and come, going on from what the older revision claims."""
    gone = sorted(one.name for one in set(before) & (set(declared_before) - set(declared)))
    new = sorted(one.name for one in set(declared) - set(declared_before) - set(before))
    return gone, new


def _set_statement(name: str, before: str, gone: Sequence[str], new: Sequence[str]) -> str:
    """`_NAME: Final = (_BEFORE - {gone}) | {new}`, as ruff wraps it."""
    head = f"_{name}: Final = "
    if not gone and not new:
        return f"{head}_{before}"
    less = f"_{before} - {{{', '.join(gone)}}}" if gone else f"_{before}"
    if not new:
        line = f"{head}{less}"
        return line if len(line) <= WIDTH else _opened(f"{head}_{before} - {{", gone)
    left = f"({less})" if gone else less
    line = f"{head}{left} | {{{', '.join(new)}}}"
    if len(line) <= WIDTH:
        return line
    if len(f"{head}{left} | {{") <= WIDTH:
        return _opened(f"{head}{left} | {{", new)
    taken = _opened(f"{head}(\n    _{before}\n    - {{", gone, "        ").replace("\n}", "\n    }")
    return f"{taken}\n) | {{\n" + "".join(f"    {one},\n" for one in new) + "}"


def _opened(head: str, entries: Sequence[str], indent: str = "    ") -> str:
    return head + "\n" + "".join(f"{indent}{one},\n" for one in entries) + "}"
