"""The state as JSON, encoded in small pieces so that other threads can run in between."""

from dataclasses import fields
from typing import Any

import msgspec

from sireference.core.snapshot import ApplicationView, Snapshot


def encoded(revision: str, now: float, snapshots: list[Snapshot]) -> bytes:
    """Return the encoded state of all RMs."""
    return msgspec.json.encode(
        {
            "revision": revision,
            "now": now,
            "resource_managers": [_raw(snapshot) for snapshot in snapshots],
        }
    )


def _raw(snapshot: Snapshot | ApplicationView) -> dict[str, Any]:
    """Return its fields, with lists of encoded elements."""
    pieces = {field.name: getattr(snapshot, field.name) for field in fields(snapshot)}
    return {
        name: [_piece(view) for view in piece] if isinstance(piece, tuple) else piece
        for name, piece in pieces.items()
    }


def _piece(view: Any) -> msgspec.Raw:
    """Encode in pieces: an application may have very many allocations, all else is small."""
    encodable = _raw(view) if isinstance(view, ApplicationView) else view
    return msgspec.Raw(msgspec.json.encode(encodable))
