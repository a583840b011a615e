"""The code of a checkout that uses a part of the schema, and how pages describe it."""

from functools import cache
from pathlib import Path

import pytest
from sispec.checkout import CheckoutError, find_checkout
from sispec.code_usage import CodeUsage
from sispec.schema import revision_schema

ROOT = Path(__file__).parents[2]
REVISION = "2023-12"
MODULE = '''\
"""A codec."""

from siwire import constants
from siwire.r2023_12 import si_pb2 as si

FIELDS = {si.NodeInfo.CREATE: "created"}


def read(message: si.NodeInfo) -> object:
    return message.nodeID, message.attributes.get(constants.NODE_PARTITION)


def write(request: si.NodeRequest) -> None:
    node = request.nodes.add()
    node.nodeID = "n1"


def other(message: si.AllocationRelease) -> str:
    return message.applicationID


def answer(message: si.AcceptedNode) -> str:
    return message.nodeID


def nothing(items: list[str]) -> None:
    items.remove("nodeID")


class Codec:
    def make(self) -> si.NodeInfo:
        return si.NodeInfo(nodeID="n2")
'''


def usage(root: Path, revision: str = REVISION) -> CodeUsage:
    return CodeUsage(root, revision, revision_schema(revision))


@cache
def of_the_checkout() -> CodeUsage:
    return usage(ROOT)


@pytest.fixture
def small(tmp_path: Path) -> CodeUsage:
    folder = tmp_path / "reference" / "sireference" / "codec"
    folder.mkdir(parents=True)
    (folder / "r2023_12.py").write_text(MODULE, "utf-8")
    (folder / "r2021_02.py").write_text(MODULE.replace("r2023_12", "r2021_02"), "utf-8")
    return usage(tmp_path)


def test_field_usage_is_found(small: CodeUsage) -> None:
    found = small.of("NodeInfo.nodeID")

    assert [(one.function, one.writes) for one in found] == [
        ("Codec.make", True),
        ("read", False),
        ("write", True),
    ]
    assert {one.path for one in found} == {"reference/sireference/codec/r2023_12.py"}


def test_same_field_name_in_other_message_is_distinct(small: CodeUsage) -> None:
    assert [one.function for one in small.of("AcceptedNode.nodeID")] == ["answer"]
    assert small.of("RemoveApplicationRequest.applicationID") == ()


def test_message_and_enum_value_are_found_by_name(small: CodeUsage) -> None:
    assert [one.function for one in small.of("AllocationRelease")] == ["other"]
    assert [one.function for one in small.of("NodeInfo.ActionFromRM.CREATE")] == ["(module)"]


def test_constant_is_found_by_value(small: CodeUsage) -> None:
    assert [one.function for one in small.of("NodePartition", "si/node-partition")] == ["read"]
    assert small.of("Arch", "si/arch") == ()


@pytest.mark.parametrize(
    ("name", "functions"),
    [
        ("AllocationRelease.allocationID", {"release", "released_allocation"}),
        ("Allocation.allocationID", {"allocation", "new_allocation"}),
        ("NodeInfo.existingAllocations", {"node"}),
        ("NodeInfo.occupiedResource", {"occupied_node"}),
        ("AllocationRequest.asks", {"allocation_lists"}),
        ("Quantity.value", {"_amounts"}),
    ],
)
def test_the_reference_is_searched(name: str, functions: set[str]) -> None:
    found = [one for one in of_the_checkout().of(name) if one.path.startswith("reference/")]

    assert functions <= {one.function for one in found}


def test_field_that_a_class_names_is_found_where_it_is_copied() -> None:
    asks = of_the_checkout().of("AllocationAsk.maxAllocations")
    applications = of_the_checkout().of("AddApplicationRequest.gangSchedulingStyle")

    assert {("write_ask", True), ("read_ask", False)} <= {(o.function, o.writes) for o in asks}
    assert "reference/sireference/codec/r2023_04.py" in {one.path for one in applications}


def test_code_of_other_revisions_is_left_out() -> None:
    found = of_the_checkout().of("NodeInfo.existingAllocations")

    assert found
    assert not [one for one in found if "r2021_02" in one.path or "r2024_10" in one.path]


def test_checkout_has_published_runs() -> None:
    checkout = find_checkout()

    assert checkout is not None
    assert checkout.root == ROOT
    assert any(one.revision == REVISION for one in checkout.published)
    assert all((ROOT / one.file).is_file() for one in checkout.published)
    assert all(one.evaluated for one in checkout.published)


def test_installed_kit_has_no_checkout(tmp_path: Path) -> None:
    assert find_checkout(tmp_path) is None


def test_unreadable_record_is_named(tmp_path: Path) -> None:
    (tmp_path / "reference" / "sireference").mkdir(parents=True)
    (tmp_path / "fixtures" / "results").mkdir(parents=True)
    (tmp_path / "fixtures" / "results" / "one-as-2023-12.json").write_text("{}", "utf-8")

    with pytest.raises(CheckoutError, match=r"one-as-2023-12\.json is not a record of a run"):
        find_checkout(tmp_path)
