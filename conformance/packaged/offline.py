"""Runs a command where no network is but the machine's own addresses, as far as that can be had."""

import os
import shutil
import subprocess
from typing import Final

_UNSHARE: Final = ("unshare", "--map-root-user", "--net")
_LOOPBACK: Final = 'ip link set lo up && exec "$0" "$@"'
_NOTHING_LISTENING: Final = "http://127.0.0.1:9"  # a proxy that is not there
_PROXIES: Final = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY")


def how() -> str:
    """For people: what keeps the network away."""
    return "a network namespace of its own" if _words() else "proxies that are not there"


def offline(command: list[str]) -> list[str]:
    """The command line that runs this one without network."""
    return [*_words(), *command]


def environment() -> dict[str, str]:
    """The environment without what a checkout or a shell adds."""
    dropped = ("PYTHON", "PYTEST", "NOX", "VIRTUAL_ENV")
    return {name: v for name, v in os.environ.items() if not name.startswith(dropped)}


def environment_offline() -> dict[str, str]:
    """The same with no way out of here, also for what would take one."""
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
