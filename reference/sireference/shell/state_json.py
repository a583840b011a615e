"""The state as JSON, encoded in small pieces: whoever else waits for Python gets it between."""

from dataclasses import fields
from typing import Any

import msgspec

from sireference.core.snapshot import ApplicationView, Snapshot


def encoded(revision: str, now: float, snapshots: list[Snapshot]) -> bytes:
    """What is held for all RMs."""
    return msgspec.json.encode(
        {
            "revision": revision,
            "now": now,
            "resource_managers": [_raw(snapshot) for snapshot in snapshots],
        }
    )


def _raw(snapshot: Snapshot | ApplicationView) -> dict[str, Any]:
    """Its fields, with lists of what is encoded already."""
    pieces = {field.name: getattr(snapshot, field.name) for field in fields(snapshot)}
    return {
        name: [_piece(view) for view in piece] if isinstance(piece, tuple) else piece
        for name, piece in pieces.items()
    }


def _piece(view: Any) -> msgspec.Raw:
    """An application may have a great many allocations, all else is small."""
    encodable = _raw(view) if isinstance(view, ApplicationView) else view
    return msgspec.Raw(msgspec.json.encode(encodable))
