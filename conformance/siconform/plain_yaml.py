"""Safe YAML loading, with libyaml if PyYAML has it (ten times as fast)."""

from typing import Any

import yaml

try:
    from yaml import CSafeLoader as SafeLoader
except ImportError:  # a PyYAML built without libyaml
    from yaml import SafeLoader  # type: ignore[assignment]  # the same class


def load(text: str) -> Any:
    """Parse a document; raise yaml.YAMLError if it is invalid."""
    return yaml.load(str(text), SafeLoader)  # libyaml rejects subclasses of str
