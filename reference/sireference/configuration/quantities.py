"""Resource quantities in a configuration: `500m`, `16`, `4Gi`.

Source: yunikorn-core 1.5.1 `common/resources/quantity.go`.
"""

import re

from sireference.configuration.problems import quoted

VCORE = "vcore"
MOST = 2**63 - 1  # a Quantity of the SI is an int64

_MILLI = "m"
_MULTIPLIERS = {
    "": 1,
    "k": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
    "P": 10**15,
    "E": 10**18,
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
    "Ti": 2**40,
    "Pi": 2**50,
    "Ei": 2**60,
}
# Below a million, plain digits are readable enough.
_LONG_UNITS = sorted(
    ((unit, multiplier) for unit, multiplier in _MULTIPLIERS.items() if multiplier >= 10**6),
    key=lambda pair: -pair[1],
)
_QUANTITY = re.compile(r"(?P<sign>-?)(?P<digits>[0-9]+)\s*(?P<suffix>[A-Za-z]*)", re.ASCII)
_MOST_DIGITS = len(str(MOST))
_THOUSAND = 1000


def read_quantity(resource_type: str, text: str) -> int:
    """Read an amount in the RM's smallest unit.

    vcore counts cores and is stored in thousandths (`10` is 10000, `500m` is 500); everything else
    is stored as written. Raises ValueError with a clause as reason.
    """
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{quoted(text)} is not a quantity")
    if match["sign"]:
        raise ValueError(f"{quoted(text)} is negative")
    in_milli = resource_type == VCORE
    suffix = match["suffix"]
    if suffix == _MILLI and not in_milli:
        raise ValueError(f"{quoted(text)} is in thousandths, which only {VCORE} can be")
    if suffix not in _MULTIPLIERS and suffix != _MILLI:
        known = ", ".join(unit for unit in _MULTIPLIERS if unit)
        raise ValueError(f"{quoted(text)} is not a quantity: the units are {known}")
    digits = match["digits"].lstrip("0") or "0"
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"{quoted(text)} is more than {MOST}")
    amount = int(digits)
    if suffix != _MILLI:
        amount *= _MULTIPLIERS[suffix] * (_THOUSAND if in_milli else 1)
    if amount > MOST:
        raise ValueError(f"{quoted(text)} is more than {MOST}")
    return amount


def written_quantity(resource_type: str, amount: int) -> str:
    """Format an amount in configuration notation, for messages."""
    if resource_type == VCORE:
        cores, milli = divmod(amount, _THOUSAND)
        return f"{amount}{_MILLI}" if milli else str(cores)
    for unit, multiplier in _LONG_UNITS:
        if amount and amount % multiplier == 0:
            return f"{amount // multiplier}{unit}"
    return str(amount)
