"""Logs on standard error: one line per record, as text or JSON."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Final

LOGGER: Final = logging.getLogger("sireference")
# Libraries log in the same format, from warnings on
_LIBRARIES: Final = tuple(map(logging.getLogger, ("asyncio", "grpc")))
_FIELDS: Final = "fields"


def fields(**more: Any) -> dict[str, Any]:
    """Return ``extra`` of a log call: the fields of the record by name."""
    return {_FIELDS: more}


def set_up(level: str, form: str) -> None:
    """Write records from ``level`` on (``debug`` to ``error``) as ``text`` or ``json``."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    LOGGER.setLevel(level.upper())
    for logger in (LOGGER, *_LIBRARIES):
        logger.handlers = [handler]
        logger.propagate = False


class TextLines(logging.Formatter):
    """``time level sentence name=value ...``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line, plus the lines of a traceback."""
        more = getattr(record, _FIELDS, {})
        named = "".join(f" {name}={_as_json(value)}" for name, value in more.items())
        trouble = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        return f"{_time(record)} {record.levelname} {record.getMessage()}{named}{trouble}"


class JsonLines(logging.Formatter):
    """One JSON object per line: ``time``, ``level``, ``says`` and further fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        given: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "says": record.getMessage(),
            **getattr(record, _FIELDS, {}),
        }
        if record.exc_info:
            given["trouble"] = self.formatException(record.exc_info)
        return _as_json(given)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, default=str)
