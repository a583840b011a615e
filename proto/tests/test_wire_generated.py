"""The committed messages and stubs match the .proto files, and differences are named."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("grpc_tools", reason="needs the dependency group proto")

PROTO = Path(__file__).parents[1]


def generate(proto: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  # our own script
        [sys.executable, str(proto / "generate.py"), *options],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    target = tmp_path / "proto"
    shutil.copytree(PROTO, target, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    return target


def test_committed_files_match_the_proto_files() -> None:
    checked = generate(PROTO, "--check")

    assert (checked.returncode, checked.stderr) == (0, "")


def test_changed_proto_file_is_detected_and_named(copy: Path) -> None:
    proto = copy / "si" / "2023-08" / "si.proto"
    text = proto.read_text(encoding="utf-8")
    proto.write_text(text.replace("string UUID = 3;", "string UUID = 4;", 1), encoding="utf-8")

    checked = generate(copy, "--check", "r2023_08")

    assert checked.returncode == 1
    assert checked.stderr == (
        "proto/siwire/r2023_08/si.binpb differs from what its .proto file gives. "
        "Run: python proto/generate.py\n"
    )


def test_missing_and_extra_files_are_named(copy: Path) -> None:
    package = copy / "siwire" / "r2021_02"
    (package / "si_pb2.pyi").rename(package / "old_pb2.pyi")

    checked = generate(copy, "--check", "r2021_02")

    assert checked.returncode == 1
    assert [line.split(" Run")[0] for line in checked.stderr.splitlines()] == [
        "proto/siwire/r2021_02/old_pb2.pyi comes from no .proto file.",
        "proto/siwire/r2021_02/si_pb2.pyi is missing.",
    ]


def test_generating_repairs_manual_changes(copy: Path) -> None:
    stub = copy / "siwire" / "r2023_04" / "si_pb2.pyi"
    before = stub.read_bytes()
    stub.write_text("", encoding="utf-8")

    generated = generate(copy, "r2023_04")

    assert generated.returncode == 0
    assert stub.read_bytes() == before
