"""What is known of requirements at the targets of this checkout, from their baselines."""

from collections.abc import Mapping

from siconform.baseline import BaselineError, read_baseline
from siconform.targets import TargetUnavailable
from siconform.targets.named import all_named


def known_deviations(requirement: str) -> Mapping[str, str]:
    """Target to what its baseline records, where it has an entry; {} outside a checkout."""
    known: dict[str, str] = {}
    try:
        for target in all_named():
            if target.baseline is not None and target.baseline.exists():
                entries = read_baseline(target.baseline).about(requirement)
                if entries:
                    known[target.full_name] = f"{entries[0].outcome} ({entries[0].reason})"
    except (TargetUnavailable, BaselineError):
        return {}  # a run against that target says what is wrong
    return known
