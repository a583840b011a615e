"""A published profile never changes, and what it names is there in its revision."""

import hashlib
from importlib import resources
from pathlib import Path

import pytest
from click.testing import CliRunner
from siconform import profiles as package
from siconform.catalogue import Side, catalogue
from siconform.commands import profile_publishing
from siconform.profiles import PUBLISHED, ProfileError, find_profile, profiles, published
from siwire import REVISIONS

FOLDER = Path(str(resources.files(package)))


def test_every_file_is_what_was_published_and_none_is_gone() -> None:
    hashes = {
        f"{file.parent.name}/{file.stem}": hashlib.sha256(file.read_bytes()).hexdigest()
        for file in FOLDER.glob("*/*.toml")
    }

    assert hashes == dict(published())
    assert len(published()) == len((FOLDER / PUBLISHED).read_text("utf-8").splitlines()) - 1


@pytest.mark.parametrize("name", list(published()))
def test_what_a_profile_names_binds_schedulers_of_its_revision(name: str) -> None:
    profile = profiles()[name]
    named = [catalogue()[identifier] for identifier in profile.ids]

    assert [r.id for r in named if profile.revision not in r.revisions] == []
    assert [r.id for r in named if Side.SCHEDULER not in r.sides] == []
    assert len(set(profile.ids)) == len(profile.ids)


def test_each_revision_has_profiles_and_the_wider_ones_have_all_of_the_narrower() -> None:
    for revision in REVISIONS:
        base, gang, everything = (
            set(find_profile(name, revision).ids) for name in ("base", "gang", "all")
        )
        assert base < gang < everything


@pytest.fixture
def altered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of profiles with the one of a line, and its hash."""
    folder = tmp_path / "2024-10"
    folder.mkdir()
    file = folder / "base.1.toml"
    file.write_bytes((FOLDER / "2024-10/base.1.toml").read_bytes())
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    (tmp_path / PUBLISHED).write_text(f"# Hashes.\n{sha256}  2024-10/base.1\n")
    monkeypatch.setattr(resources, "files", lambda _: tmp_path)
    monkeypatch.setattr(package, "profiles", profiles.__wrapped__)
    return tmp_path


def test_a_profile_that_was_altered_is_refused(altered: Path) -> None:
    assert list(package.profiles()) == ["2024-10/base.1"]
    file = altered / "2024-10/base.1.toml"
    file.write_text(file.read_text().replace('    "SI-NODE-002",\n', ""))

    with pytest.raises(ProfileError, match=r"2024-10/base\.1 is not what was published"):
        package.profiles()


def test_another_edition_is_a_file_of_its_own(
    altered: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profile_publishing, "FOLDER", altered)
    monkeypatch.setattr(profile_publishing, "profiles", package.profiles)
    first = (altered / "2024-10/base.1.toml").read_bytes()

    def publishes() -> str:
        return CliRunner().invoke(profile_publishing.publish, ["2024-10", "base"]).output

    assert "has exactly these" in publishes()
    monkeypatch.setitem(profile_publishing.RULES, "base", ("one", lambda r: r.id == "SI-NODE-002"))
    assert publishes().startswith("2024-10/base.2: 1 requirements")
    assert package.profiles()["2024-10/base.2"].ids == ("SI-NODE-002",)
    assert (altered / "2024-10/base.1.toml").read_bytes() == first
