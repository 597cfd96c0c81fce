"""What an app has that is declared as an agent: sessions in threads, and prompts in direct messages."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

# Slack's documentation says that declaring an app as an agent adds it
AGENT_SCOPE = "assistant:write"
STOP_EVENT = "agent_session_stopped"
PROCESSING, ACTIVE = "processing", "active"
STATUSES = (PROCESSING, ACTIVE, "suspended", "closed")
PROCESSING_SECONDS = 3_600.0
_WORKING = "is working…"


@dataclass
class Session:
    """A session in a thread. ``initiator`` is the person who began it, and ``since`` when its status was set."""

    status: str
    since: float
    title: str = ""
    initiator: str = ""


@dataclass
class Agents:
    """Whether the app is declared as an agent, its sessions by channel and thread, and the prompts of channels.

    ``hears_stop``: it asks for the event of the button to stop. A session that processes becomes active by itself
    after an hour of ``clock``. ``defaults`` are the prompts of the manifest.
    """

    clock: Callable[[], float] = time.monotonic
    is_declared: bool = False
    hears_stop: bool = False
    defaults: tuple[Json, ...] = ()
    sessions: dict[tuple[str, str], Session] = field(default_factory=dict)
    prompts: dict[str, Json] = field(default_factory=dict)

    def set_status(self, channel: str, thread_ts: str, status: str) -> Session:
        """Set the status of a session, which begins if there is none."""
        session = self.sessions.setdefault((channel, thread_ts), Session(status, 0.0))
        session.status, session.since = status, self.clock()
        return session

    def get_status(self, channel: str, thread_ts: str) -> str:
        """Return the status of a session, an empty text where there is none."""
        session = self.sessions.get((channel, thread_ts))
        if session is None:
            return ""
        is_old = session.status == PROCESSING and self.clock() - session.since >= PROCESSING_SECONDS
        return ACTIVE if is_old else session.status

    def describe_work(self, channel: str, thread_ts: str) -> str:
        """Return what people read while a session processes."""
        return _WORKING if self.get_status(channel, thread_ts) == PROCESSING else ""

    def can_stop(self, channel: str, thread_ts: str) -> bool:
        """Return whether people see the button to stop: without the event there is none."""
        return self.hears_stop and self.get_status(channel, thread_ts) == PROCESSING
