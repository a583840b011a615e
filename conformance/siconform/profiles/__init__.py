"""Profiles: lists of requirements that never change once they are published."""

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Annotated, Final, Literal

import msgspec
from siwire import DEFAULT_REVISION

PUBLISHED: Final = "published.txt"
"""The file with the hash of every profile there ever was."""

_EDITION: Final = re.compile(r"(?P<name>[a-z][a-z-]*)(?:\.(?P<edition>[1-9]\d*))?")
Text = Annotated[str, msgspec.Meta(min_length=1)]


class ProfileError(LookupError):
    """A profile that does not exist or is not what was published; the message is a sentence."""


class _File(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    profile: Text
    published: Text
    kit: Text
    about: Text
    requirements: Annotated[list[Text], msgspec.Meta(min_length=1)]
    fail_on: Literal["MUST", "SHOULD"] = "MUST"


@dataclass(frozen=True, slots=True)
class Profile:
    """One edition of a list: ``2024-10/base.1`` is the first of ``base`` for SI 2024-10."""

    name: str
    published: str  # a date
    kit: str  # the version of the kit it came with
    about: str
    fail_on: str  # the least binding level that decides the verdict
    ids: tuple[str, ...]
    sha256: str  # of its file

    @property
    def revision(self) -> str:
        """The revision of the SI it belongs to."""
        return self.name.partition("/")[0]

    @property
    def short_name(self) -> str:
        """Its name without revision and edition."""
        return self.name.partition("/")[2].partition(".")[0]

    @property
    def edition(self) -> int:
        """Counted from 1."""
        return int(self.name.rpartition(".")[2])


@cache
def profiles() -> Mapping[str, Profile]:
    """Every profile by its name, by revision, name and edition.

    Raises ProfileError where a file is not what was published.
    """
    hashes = published()
    found = [
        _read(file, f"{folder.name}/{file.name.removesuffix('.toml')}", hashes)
        for folder in resources.files(__name__).iterdir()
        if folder.is_dir()
        for file in folder.iterdir()
        if file.name.endswith(".toml")
    ]
    found.sort(key=lambda p: (p.revision, p.short_name, p.edition))
    return MappingProxyType({profile.name: profile for profile in found})


def published() -> Mapping[str, str]:
    """Name of a profile to the SHA-256 of its file, as it was when it was published."""
    text = resources.files(__name__).joinpath(PUBLISHED).read_text("utf-8")
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return MappingProxyType({name: sha256 for sha256, name in rows})


def find_profile(name: str, revision: str = "") -> Profile:
    """The profile of that name: ``2024-10/base.1``, or of ``revision`` ``base.1`` or ``base``.

    Without an edition it is the newest, without a revision that of the default. Raises
    ProfileError where there is none, or where it is of another revision than the one given.
    """
    given, slash, short = name.strip().rpartition("/")
    belongs_to = given if slash else revision or DEFAULT_REVISION.name
    named = _EDITION.fullmatch(short.casefold())
    fitting = [
        profile
        for profile in profiles().values()
        if named is not None
        and profile.revision == belongs_to
        and profile.short_name == named["name"]
        and named["edition"] in (None, str(profile.edition))
    ]
    if not fitting:
        raise ProfileError(_unknown(name, belongs_to))
    if revision not in ("", belongs_to):
        raise ProfileError(
            f"the profile {fitting[-1].name} is of SI {belongs_to}, and this is about SI "
            f"{revision}: give --revision {belongs_to}"
        )
    return fitting[-1]


def _unknown(name: str, revision: str) -> str:
    known = [p.name for p in profiles().values() if p.revision == revision]
    near = get_close_matches(name, [*profiles(), *(n.partition("/")[2] for n in known)], n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f'"{name}" is no profile.{hint} siconform profiles lists them.'


def _read(file: Traversable, name: str, hashes: Mapping[str, str]) -> Profile:
    content = file.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    if hashes.get(name) != sha256:
        raise ProfileError(
            f"the profile {name} is not what was published under this name: its hash is not that "
            f"of {PUBLISHED}"
        )
    try:
        read = msgspec.convert(tomllib.loads(content.decode()), _File)
    except (ValueError, msgspec.ValidationError) as error:
        raise ProfileError(f"the profile {name} cannot be read: {error}") from None
    if read.profile != name:
        raise ProfileError(f"the profile {name} calls itself {read.profile}")
    ids, fail_on = tuple(read.requirements), read.fail_on
    return Profile(name, read.published, read.kit, read.about, fail_on, ids, sha256)
