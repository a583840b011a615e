"""A run with mutual TLS, configured in a target file, has the same verdicts as one without."""

import json
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from .certificates import HERE, Authority
from .commands import results_in, siconform

pytestmark = pytest.mark.end_to_end

_SERVE: Final = [sys.executable, "-P", "-m", "sireference", "serve", "--listen", "{address}"]
_SECRET: Final = "hush-hush"  # noqa: S105  # of this test


def test_mutual_tls_gives_same_verdicts(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    own = authority.issues("own", *HERE)
    authority.issues("rm")
    serve = [*_SERVE, "--virtual-clock", "--tls-cert", str(own.certificate)]
    serve += ["--tls-key", str(own.key), "--tls-client-ca", str(authority.file)]
    (tmp_path / "siconform.toml").write_text(
        f"[target]\ncommand = {json.dumps(serve)}\n"
        'tls = {ca = "authority.pem", cert = "rm.pem", key = "rm.key"}\n'
        f'metadata.token = "{_SECRET}"\n'
    )

    secured = evaluated(tmp_path, "secured")
    plain = evaluated(tmp_path, "plain", "--target-file", "none", "--real-clock")
    assert verdicts(secured) == verdicts(plain)
    assert secured["counts"]["pass"] > 5
    for file in (tmp_path / "secured").rglob("*"):
        assert file.is_dir() or _SECRET.encode() not in file.read_bytes(), file


def evaluated(folder: Path, results: str, *options: str) -> dict[str, Any]:
    words = ("run", "CONN", "--level", "MUST", "--results", results, "-n", "2")
    done = siconform(*words, *options, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return results_in(folder / results)


def verdicts(results: dict[str, Any]) -> dict[str, str]:
    return {one["id"]: one["verdict"] for one in results["requirements"]}
