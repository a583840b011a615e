"""Data files of the kit are found in a checkout and in an installed package."""

import sys
from pathlib import Path

import pytest
from siconform import shipped
from siconform.protocol.queue_configurations import conformance_queues
from siconform.targets import TargetUnavailable
from siconform.targets.named import all_named, find_named

_TARGET = """\
title: A scheduler
build: "{{python}} -c '{build}'"
serve: "{{builds}}/scheduler"
versions:
  "1.0":
    revision: 2024-10
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The fixtures of a package installed in a folder with a space in its name."""
    fixtures = tmp_path / "site packages" / "siconform" / "fixtures"
    (fixtures / "targets" / "mine").mkdir(parents=True)
    monkeypatch.setattr(shipped, "_PACKAGED", fixtures)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a cache"))
    return fixtures


def describes(installed: Path, build: str) -> None:
    file = installed / "targets" / "mine" / "target.yaml"
    file.write_text(_TARGET.format(build=build), "utf-8")


def test_data_files_in_checkout() -> None:
    assert shipped.is_checkout()
    assert {t.name for t in all_named()} == {"yunikorn-core"}
    assert conformance_queues()
    assert list(shipped.fixtures("results").glob("*.json"))
    assert shipped.builds() == shipped.CHECKOUT / "build" / "targets"


def test_data_files_in_installed_package(installed: Path) -> None:
    describes(installed, "pass")

    assert [target.full_name for target in all_named()] == ["mine@1.0"]
    assert find_named("mine@1.0").folder == installed / "targets" / "mine"


def test_installed_kit_builds_in_user_cache(installed: Path, tmp_path: Path) -> None:
    describes(installed, "pass")

    (program,) = find_named("mine@1.0").launch().command

    if sys.platform == "linux":
        assert program == str(tmp_path / "a cache" / "siconform" / "targets" / "scheduler")
    assert not Path(program).is_relative_to(installed)


def test_failed_build_reports_reason(installed: Path, capfd: pytest.CaptureFixture[str]) -> None:
    message = 'import sys; print("building", file=sys.stderr); sys.exit("error: there is no Go")'
    describes(installed, message.replace('"', r"\""))

    with pytest.raises(TargetUnavailable) as raised:
        find_named("mine@1.0").build()

    assert str(raised.value) == "mine@1.0 cannot be built: there is no Go"
    assert capfd.readouterr().err == "building\n"


def test_failed_silent_build_reports_exit_status(installed: Path) -> None:
    describes(installed, "raise SystemExit(3)")

    with pytest.raises(TargetUnavailable, match="its build ended with exit status 3"):
        find_named("mine@1.0").build()
