"""Message batches: ``/v1/messages/batches``, with the limits of the service.

A batch ends when a test says so, or after ``seconds``. Its requests are answered then, in another order than they
came in. Each is checked as a message is; what is wrong with one is its own result, not an error of the batch.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import unquote

from localslack.loopback import Request, Response

from tests.emulators.claude.errors import Rejected, require
from tests.emulators.claude.limits import check_caller

BATCHES_PATH = "/v1/messages/batches"
REQUEST_LIMIT = 100_000
SIZE_LIMIT = 256 * 1024 * 1024
CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
# what is not answered by then expires; results are there for so long after the batch was created
EXPIRY, RETENTION = timedelta(hours=24), timedelta(days=29)
_MOST_LISTED = 1_000

# the message or the error for the parameters of one request
Answer = Callable[[dict[str, Any]], Response]


@dataclass
class Batch:
    """A batch and, once it has ended, its results."""

    name: str
    requests: list[dict[str, Any]]
    created: datetime
    ended: datetime | None = None
    canceled: datetime | None = None
    results: list[dict[str, Any]] = field(default_factory=list)


def check_size(length: int) -> None:
    """Refuse a body that is too large for a batch."""
    require(length <= SIZE_LIMIT, "Request exceeds the maximum size", 413, "request_too_large")


class Batches:
    """The batches of a key. ``now`` is the time of the service, ``answer`` what answers a single request.

    ``seconds`` is how long a batch takes; ``is_held`` keeps all of them from their end. ``fates`` are results
    that take the place of the next answers: ``expired``, ``canceled`` or ``errored``.
    """

    def __init__(self, answer: Answer, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.seconds = 0.0
        self.is_held = False
        self.fates: deque[str] = deque()
        self.now = now
        self.made: list[Batch] = []
        self._answer = answer
        self._lock = threading.Lock()

    def handle(self, request: Request, api_key: str, base: str) -> Response:
        """Answer a request to one of the addresses of batches."""
        check_size(len(request.body))
        check_caller(request, api_key)
        name, _, action = unquote(request.path.removeprefix(BATCHES_PATH).strip("/")).partition("/")
        with self._lock:
            if not name:
                return self._create(request, base) if request.method == "POST" else self._list(request, base)
            batch = next((each for each in self.made if each.name == name), None)
            if batch is None:
                raise Rejected(f"Message batch {name} not found", 404, "not_found_error")
            self._advance(batch)
            match (request.method, action):
                case ("GET", ""):
                    return Response.of_json(self._describe(batch, base))
                case ("GET", "results"):
                    return self._send_results(batch)
                case ("POST", "cancel"):
                    return self._cancel(batch, base)
        raise Rejected("Not found", 404, "not_found_error")

    def _create(self, request: Request, base: str) -> Response:
        try:
            body = request.json()
        except ValueError as error:
            raise Rejected("The request body is not valid JSON") from error
        entries = body.get("requests") if isinstance(body, dict) else None
        require(isinstance(entries, list) and entries, "requests: at least one request is required")
        require(len(entries or []) <= REQUEST_LIMIT, f"requests: at most {REQUEST_LIMIT} requests are allowed")
        for place, entry in enumerate(entries or []):
            self._check_entry(place, entry)
        names = Counter(entry["custom_id"] for entry in entries or [])
        repeated = next((name for name, count in names.items() if count > 1), None)
        require(repeated is None, f"requests: custom_id {repeated} is not unique")
        batch = Batch(f"msgbatch_{len(self.made) + 1:06}", list(entries or []), self.now())
        self.made.append(batch)
        return Response.of_json(self._describe(batch, base))

    def _check_entry(self, place: int, entry: Any) -> None:
        require(isinstance(entry, dict), f"requests.{place}: Input should be an object")
        name = entry.get("custom_id")
        fits = isinstance(name, str) and CUSTOM_ID.fullmatch(name)
        require(fits, f"requests.{place}.custom_id: String should match pattern '^{CUSTOM_ID.pattern}$'")
        require(isinstance(entry.get("params"), dict), f"requests.{place}.params: Field required")

    def _list(self, request: Request, base: str) -> Response:
        limit = int(request.query.get("limit", 20))
        require(1 <= limit <= _MOST_LISTED, f"limit: must be between 1 and {_MOST_LISTED}")
        newest_first = list(reversed(self.made))
        if after := request.query.get("after_id"):
            names = [each.name for each in newest_first]
            require(after in names, "after_id: no such batch")
            newest_first = newest_first[names.index(after) + 1 :]
        page = newest_first[:limit]
        for each in page:
            self._advance(each)
        shown = [self._describe(each, base) for each in page]
        ends = (
            {"first_id": page[0].name, "last_id": page[-1].name} if page else {"first_id": None, "last_id": None}
        )
        return Response.of_json({"data": shown, "has_more": len(newest_first) > limit, **ends})

    def _cancel(self, batch: Batch, base: str) -> Response:
        if batch.ended is None:
            batch.canceled = self.now()
            self._end(batch)
        return Response.of_json(self._describe(batch, base))

    def _advance(self, batch: Batch) -> None:
        """End a batch whose time has come."""
        age = self.now() - batch.created
        is_due = not self.is_held and age >= timedelta(seconds=self.seconds)
        if batch.ended is None and (is_due or age >= EXPIRY):
            self._end(batch)

    def _end(self, batch: Batch) -> None:
        batch.ended = self.now()
        # by name: as good as any, and not the order in which they came
        for entry in sorted(batch.requests, key=lambda each: str(each["custom_id"])[::-1]):
            batch.results.append({"custom_id": entry["custom_id"], "result": self._find_result(batch, entry)})

    def _find_result(self, batch: Batch, entry: dict[str, Any]) -> dict[str, Any]:
        if batch.canceled:
            return {"type": "canceled"}
        if batch.ended and batch.ended - batch.created >= EXPIRY:
            return {"type": "expired"}
        fate = self.fates.popleft() if self.fates else ""
        if fate == "errored":
            error = {"type": "api_error", "message": "Internal server error"}
            return {"type": "errored", "error": {"type": "error", "error": error, "request_id": "req_emulated"}}
        if fate:
            return {"type": fate}
        response = self._answer(entry["params"])
        answered = json.loads(response.body)
        if response.status == 200:
            return {"type": "succeeded", "message": answered}
        return {"type": "errored", "error": answered}

    def _send_results(self, batch: Batch) -> Response:
        gone = self.now() - batch.created >= RETENTION
        is_there = batch.ended is not None and not gone
        require(is_there, f"Results of {batch.name} are not available", 404, "not_found_error")
        lines = "".join(f"{json.dumps(each)}\n" for each in batch.results)
        return Response(200, lines.encode(), {"Content-Type": "application/x-jsonl"})

    def _describe(self, batch: Batch, base: str) -> dict[str, Any]:
        kinds = Counter(each["result"]["type"] for each in batch.results)
        counts = {kind: kinds[kind] for kind in ("succeeded", "errored", "canceled", "expired")}
        is_archived = self.now() - batch.created >= RETENTION
        address = f"{base}{BATCHES_PATH}/{batch.name}/results"
        return {
            "id": batch.name,
            "type": "message_batch",
            "processing_status": "ended" if batch.ended else "in_progress",
            "request_counts": {"processing": 0 if batch.ended else len(batch.requests), **counts},
            "created_at": batch.created.isoformat(),
            "expires_at": (batch.created + EXPIRY).isoformat(),
            "ended_at": batch.ended.isoformat() if batch.ended else None,
            "cancel_initiated_at": batch.canceled.isoformat() if batch.canceled else None,
            "archived_at": (batch.created + RETENTION).isoformat() if is_archived else None,
            "results_url": address if batch.ended and not is_archived else None,
        }

    def list_paid(self) -> Iterator[str]:
        """Yield the custom id of each request that was answered, and so is paid for."""
        for batch in self.made:
            yield from (each["custom_id"] for each in batch.results if each["result"]["type"] == "succeeded")
