"""Profiles are selected from the catalogue, each for its revision."""

import pytest
from siconform.catalogue import Level, catalogue
from siconform.catalogue.features import Feature
from siconform.profiles import ProfileError, find_profile, profiles
from siconform.running.index import cited
from siwire import REVISIONS


@pytest.mark.parametrize("name", list(profiles()))
def test_profile_has_tested_requirements_of_revision(name: str) -> None:
    revision = name.partition("/")[0]
    named = [catalogue()[identifier] for identifier in profiles()[name].ids]

    assert [r.id for r in named if revision not in r.revisions] == []
    assert [r.id for r in named if not cited().get(r.id)] == []


@pytest.mark.parametrize("revision", REVISIONS)
def test_wider_profiles_include_narrower(revision: str) -> None:
    base, gang, everything = (
        set(find_profile(name, revision).ids) for name in ("base", "gang", "all")
    )

    assert base < gang < everything
    assert {catalogue()[identifier].level for identifier in gang} == {Level.MUST}


def test_base_and_gang_profiles() -> None:
    base, gang = (set(find_profile(name, "2024-10").ids) for name in ("base", "gang"))
    about_gangs = {i for i in gang if Feature.GANG in catalogue()[i].features}

    assert {"SI-NODE-002", "SI-REG-001"} <= base
    assert gang - base == about_gangs


@pytest.mark.parametrize("name", ["base", "BASE.1", "2024-10/base", "2024-10/base.1"])
def test_profile_name_forms(name: str) -> None:
    assert find_profile(name, "2024-10").name == "2024-10/base.1"


@pytest.mark.parametrize("name", ["bsae", "base.2", "base.", "2019-01/base", "", "2024-10/"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ProfileError, match=r"unknown profile .*'siconform profiles' lists them"):
        find_profile(name)
