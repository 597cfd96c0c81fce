"""People who type commands, and when Slack shows each of them the answer."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from localslack.methods.response_urls import RESPONSE
from localslack.users.person import Person
from localslack.users.transport import HttpTransport

from tests.helpers.world import World

# what an asker reads first while an answer takes a while is no answer
_FIRST_NOTICES = ("Looking at ", "I'm preparing ")


@dataclass(frozen=True)
class Asked:
    """A command: when it was typed, seconds until its acknowledgement, and by what its answer is known."""

    at: float
    ack_seconds: float
    marks: tuple[str, str]


@dataclass
class AnswerLog:
    times: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note_call(self, method: str, arguments: dict[str, Any]) -> None:
        if str(arguments.get("text", "")).startswith(_FIRST_NOTICES):
            return
        if method == RESPONSE:
            self._note_marks([arguments["url"]])
        elif method == "chat.postMessage":
            # the key of a message holds the trigger of its command
            self._note_marks(str(arguments.get("metadata", "")).replace('"', ":").split(":"))

    def _note_marks(self, marks: Sequence[str]) -> None:
        now = time.perf_counter()
        with self._lock:
            for mark in marks:
                self.times.setdefault(mark, now)

    def list_waits(self, asked: Sequence[Asked]) -> list[float]:
        """Return the seconds from each command to its answer, of those that are answered."""
        with self._lock:
            known = dict(self.times)
        answer_times = ([known[mark] for mark in each.marks if mark in known] for each in asked)
        return [min(times) - each.at for each, times in zip(asked, answer_times, strict=True) if times]


def ask_command(there: World, wire: HttpTransport, user: int, text: str, channel: str | None = None) -> Asked:
    """Type ``/prsummary`` with a text. Exit with an error if it is not acknowledged."""
    person, at = Person(there.slack, wire, user=f"U{user:08d}"), time.perf_counter()
    delivery = person.send_command("/prsummary", text, channel)
    if (delivery.ack.status, delivery.ack.text) != (200, ""):
        raise SystemExit(f"refused: {delivery.ack}")
    return Asked(at, delivery.ack.seconds, (delivery.payload["response_url"], delivery.payload["trigger_id"]))


def find_percentile(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]
