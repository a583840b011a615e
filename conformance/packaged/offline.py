"""Runs a command without network except loopback, as far as the machine allows it."""

import os
import shutil
import subprocess
from typing import Final

_UNSHARE: Final = ("unshare", "--map-root-user", "--net")
_LOOPBACK: Final = 'ip link set lo up && exec "$0" "$@"'
_NOTHING_LISTENING: Final = "http://127.0.0.1:9"  # a proxy that does not exist
_PROXIES: Final = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY")


def how() -> str:
    """Return how the network is disabled, for messages."""
    return "a network namespace" if _words() else "non-existent proxies"


def offline(command: list[str]) -> list[str]:
    """Return the command line that runs this one without network."""
    return [*_words(), *command]


def environment() -> dict[str, str]:
    """Return the environment without variables of a checkout or a shell."""
    dropped = ("PYTHON", "PYTEST", "NOX", "VIRTUAL_ENV")
    return {name: v for name, v in os.environ.items() if not name.startswith(dropped)}


def environment_offline() -> dict[str, str]:
    """Return the same with proxies that do not exist."""
    return (
        environment()
        | dict.fromkeys(_PROXIES, _NOTHING_LISTENING)
        | {"no_proxy": "127.0.0.1,localhost"}
    )


def _words() -> list[str]:
    words = [*_UNSHARE, "sh", "-c", _LOOPBACK]
    if not shutil.which("unshare") or not shutil.which("ip"):
        return []
    tried = subprocess.run([*words, "true"], capture_output=True, timeout=30, check=False)  # noqa: S603  # our own words
    return words if tried.returncode == 0 else []
