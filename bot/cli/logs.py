"""The log of a process: lines for people, or JSON for a program that collects them. No line has a credential."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from datetime import UTC, datetime

from bot.platform.correlation import get_request_id
from bot.redaction import REDACTED, redact_text
from bot.settings import LogFormat
from impact.text.strings import escape_invisible

_OWN_PACKAGES = ("bot", "handlers")
# characters: a traceback of ours has some 3,000
_MAX_RECORD_LENGTH = 20_000


class TextFormatter(logging.Formatter):
    """A formatter for people: time, level, logger, the id of the request if there is one, and message.

    It removes credentials and limits the length, as an error may quote the data that it is about. ``secrets`` are
    removed whatever they look like: a service may repeat its own token in an error.
    """

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        super().__init__()
        self._secrets = tuple(secrets)

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802 (the base's)
        """Return the time of a record in UTC, in ISO 8601, with milliseconds."""
        instant = datetime.fromtimestamp(record.created, UTC)
        return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def limit_text(self, text: str) -> str:
        """Return a text without credentials, cut after 20,000 characters."""
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        text = redact_text(text)
        return text if len(text) <= _MAX_RECORD_LENGTH else f"{text[:_MAX_RECORD_LENGTH]}… [cut]"

    def format(self, record: logging.LogRecord) -> str:
        return self.limit_text(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (the base's)
        request_id = get_request_id()
        source = f"{record.name} [{request_id}]" if request_id else record.name
        return f"{self.formatTime(record)} {record.levelname} {source}: {record.message}"


class JsonFormatter(TextFormatter):
    """A formatter for programs: a line of JSON with time, level, logger, message, request, and any exception."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": self.formatTime(record),
            "level": record.levelname,
            "logger": record.name,
            "message": self.limit_text(record.getMessage()),
            "request": get_request_id(),
        }
        if record.exc_info:
            fields["exception"] = self.limit_text(self.formatException(record.exc_info))
        return escape_invisible(json.dumps(fields, ensure_ascii=False))


def _is_own_or_important(record: logging.LogRecord) -> bool:
    """Return whether to log a record. The details of libraries hold whole prompts, messages and headers."""
    return record.levelno >= logging.INFO or record.name.partition(".")[0] in _OWN_PACKAGES


def configure_logging(level: str, log_format: LogFormat = "text", secrets: Sequence[str] = ()) -> None:
    """Send the log of this process to stderr, from ``level`` on and without these texts."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter(secrets) if log_format == "json" else TextFormatter(secrets))
    handler.addFilter(_is_own_or_important)
    logging.basicConfig(level=level, handlers=[handler])
    # they report each failed attempt; the result appears in our error or in the coverage line
    for name in ("urllib3", "slack_sdk"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # they report each call, each tick and each request that waits a moment
    for name in ("httpx2", "httpx", "apscheduler", "waitress.queue"):
        logging.getLogger(name).setLevel(logging.ERROR)
