"""Counts of Slack's requests, and of the time until each is acknowledged."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from bot.adapters.metrics.instruments import Instruments

Transport = Literal["http", "socket"]
# what Slack calls the types of its payloads, by the names of the metric
_KINDS = {
    "event_callback": "event",
    "block_actions": "action",
    "view_submission": "form",
    "view_closed": "form",
    "url_verification": "check",
}
_OTHER = "other"


@dataclass
class RequestRecord:
    """A request while it is handled: its kind and its result, as far as they are known."""

    kind: str = _OTHER
    result: str = "failed"

    def note_payload(self, payload: Mapping[str, Any]) -> None:
        """Note the kind of the request."""
        self.kind = "command" if "command" in payload else _KINDS.get(str(payload.get("type")), _OTHER)

    def note_status(self, status: int) -> None:
        """Note the HTTP status of the response: Slack takes each below 300 as an acknowledgement."""
        if status < 300:
            self.result = "acknowledged"
        elif status < 500:
            self.result = "refused"


@contextmanager
def count_request(instruments: Instruments, transport: Transport) -> Iterator[RequestRecord]:
    """Count the request of the block, which notes in the record what it learns."""
    record, began = RequestRecord(), time.monotonic()
    try:
        yield record
    finally:
        instruments.requests.labels(transport, record.kind, record.result).inc()
        instruments.ack_seconds.labels(transport).observe(time.monotonic() - began)
