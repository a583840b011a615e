"""Tags of requests: domain, group and name, from what a user attaches to a container."""

from collections.abc import Mapping
from typing import Final

_DOMAIN_AND_GROUP: Final = "yunikorn.apache.org/label/"


def tags(labels: Mapping[str, str]) -> dict[str, str]:
    """Return labels as tags (SI-CONST-002); a slash within a label would be a further part."""
    return {_DOMAIN_AND_GROUP + name.replace("/", "."): value for name, value in labels.items()}
