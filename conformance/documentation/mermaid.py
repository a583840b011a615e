"""Fetches the library that draws diagrams in the browser: python -m documentation.mermaid FOLDER.

It is one file of a pinned version from the npm registry, checked by its hash. The finished site
needs no network.
"""

import base64
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final

PROGRAM: Final = "mermaid.min.js"
MEMBERS: Final = {f"package/dist/{PROGRAM}": PROGRAM, "package/LICENSE": "mermaid-LICENSE.txt"}
PACKAGE: Final = "mermaid@11.16.0"
INTEGRITY: Final = (
    "Zvm3kbstgdpvIJPPItlL7fppIZ3kibvc1oZIGxdvk9t6UFz6flv+Jw7FtRGKwfcI8OckmH04LqG6LlS6X4B1pA=="
)
"""The SHA-512 of the package in the registry."""


def fetch(folder: Path) -> None:
    """Put the library and its licence into the folder, if this version is not there yet."""
    mark = folder / PACKAGE
    if mark.exists():
        return
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError("npm is not installed: diagrams cannot be drawn without it")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        packing = [npm, "pack", "--silent", "--pack-destination", scratch, PACKAGE]
        subprocess.run(packing, check=True, stdout=subprocess.DEVNULL)  # noqa: S603  # pinned
        (package,) = Path(scratch).glob("*.tgz")
        digest = base64.b64encode(hashlib.sha512(package.read_bytes()).digest()).decode()
        if digest != INTEGRITY:
            raise ValueError(f"{PACKAGE} has the SHA-512 {digest}, expected {INTEGRITY}")
        with tarfile.open(package) as archive:
            for member, name in MEMBERS.items():
                content = archive.extractfile(member)
                if content is None:
                    raise ValueError(f"{PACKAGE} has no file {member}")
                (folder / name).write_bytes(content.read())
    mark.touch()


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))
