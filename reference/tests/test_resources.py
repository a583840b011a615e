"""Resource amounts: sparse, unbounded, immutable."""

from sireference.core.resources import NOTHING, Resource, least_free_share, share_of_right

INT64 = 2**63 - 1


# requirement: SI-RES-001
def test_missing_type_is_zero() -> None:
    assert Resource({"memory": 1, "gpu": 0}) == Resource({"memory": 1})
    assert hash(Resource({"memory": 1, "gpu": 0})) == hash(Resource({"memory": 1}))
    assert not Resource({"gpu": 1}).fits(Resource({"memory": 9}))
    assert Resource({"memory": 9}).fits(Resource({"memory": 9, "gpu": 1}))
    assert Resource({"memory": 1}) != Resource({"memory": 2})


def test_explicit_zeros_stay_in_the_map() -> None:
    assert Resource({"memory": 1, "gpu": 0}).amounts == {"memory": 1, "gpu": 0}


def test_zero_request_fits_into_negative_capacity() -> None:
    assert Resource({"memory": 1, "gpu": 0}).fits(Resource({"memory": 1, "gpu": -5}))


# requirement: SI-RES-003
def test_sums_do_not_overflow() -> None:
    twice = Resource({"memory": INT64}) + Resource({"memory": INT64})
    assert twice.amounts["memory"] == 2 * INT64
    assert twice - Resource({"memory": INT64}) == Resource({"memory": INT64})


def test_arithmetic_does_not_modify_its_operands() -> None:
    one = Resource({"memory": 1})
    assert (one + one).amounts == {"memory": 2}
    assert (NOTHING - one).amounts == {"memory": -1}
    assert one.amounts == {"memory": 1}


def test_limit_applies_only_to_the_types_it_names() -> None:
    limit = Resource({"memory": 10})
    assert Resource({"memory": 4, "vcore": 99}).stays_within(Resource({"memory": 6}), limit)
    assert not Resource({"memory": 5}).stays_within(Resource({"memory": 6}), limit)
    assert not Resource({"memory": 1}).stays_within(NOTHING, Resource({"memory": 0}))
    assert Resource({"vcore": 1}).stays_within(Resource({"memory": 11}), limit)


def test_negative_amounts_are_named() -> None:
    assert list(Resource({"b": -1, "a": -2, "c": 3}).objections()) == [
        "the resource is negative: a, b"
    ]
    assert list(Resource({"c": 0}).objections()) == []


def test_shares() -> None:
    whole = Resource({"memory": 10, "vcore": 4, "none": 0})
    assert least_free_share(Resource({"memory": 5, "vcore": 1}), whole) == 0.25
    assert least_free_share(NOTHING, NOTHING) == 0.0


def test_usage_is_a_share_of_the_guarantee_or_above_it() -> None:
    right = Resource({"memory": 10, "vcore": 4, "none": 0})
    whole = Resource({"memory": 100, "gpu": 5})
    assert share_of_right(Resource({"memory": 5, "vcore": 1}), right, whole) == 0.5
    assert share_of_right(Resource({"memory": 20, "vcore": 1}), right, whole) == 2.0
    assert share_of_right(NOTHING, right, whole) == 0.0
    assert share_of_right(Resource({"memory": -5, "gpu": 0}), None, whole) == 0.0
    assert share_of_right(Resource({"memory": 5, "gpu": 1}), right, whole) == 1.2
    assert share_of_right(Resource({"memory": 50}), None, whole) == 1.5
    assert share_of_right(Resource({"none": 3}), right, NOTHING) == 4.0


def test_printed_by_type() -> None:
    assert repr(Resource({"b": 1, "a": 2})) == "{a: 2, b: 1}"
    assert Resource() != "nothing"
