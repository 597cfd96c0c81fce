"""Streams as Slack stores them: their content so far, whether they can grow, and what was ever live in them."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from localslack.rules.live_text import find_links, find_mentions

Json = dict[str, Any]

STREAM_SECONDS = 306.0  # not documented; measured by many as about five minutes
IN_PROGRESS, COMPLETED = "in_progress", "completed"  # ``streaming_state``, as Slack's own readers get it
ENDED, STOPPED_BY_USER = "message_not_in_streaming_state", "stopped_by_user"
GROWING_FIELDS = ("details", "output")  # fields of a task that are appended to; the others are replaced


@dataclass(frozen=True)
class StreamContent:
    """The content of a stream, or of one call to it. ``tasks`` are cards, one for each id."""

    text: str = ""
    plan: str = ""
    tasks: tuple[Json, ...] = ()
    blocks: tuple[Json, ...] = ()
    # whether cards came before any text
    begins_with_tasks: bool = False

    def __add__(self, more: StreamContent) -> StreamContent:
        tasks = {task["task_id"]: task for task in self.tasks}
        for task in more.tasks:
            tasks[task["task_id"]] = _merge_task(tasks.get(task["task_id"], {}), task)
        blocks = (*self.blocks, *more.blocks)
        first = self if self.text or self.tasks else more
        text, plan = self.text + more.text, more.plan or self.plan
        return StreamContent(text, plan, tuple(tasks.values()), blocks, first.begins_with_tasks)

    @property
    def shown(self) -> list[Json]:
        """The blocks of the message, with all cards where the first came; real ones are between the text."""
        text = [{"type": "markdown", "text": self.text}] if self.text else []
        plan = [{"type": "plan", "title": self.plan, "tasks": list(self.tasks)}] if self.plan else self.tasks
        return [*plan, *text, *self.blocks] if self.begins_with_tasks else [*text, *plan, *self.blocks]

    @property
    def length(self) -> int:
        """The number of characters of text, cards included."""
        cards = (len(task.get(key, "")) for task in self.tasks for key in ("title", *GROWING_FIELDS))
        return len(self.text) + len(self.plan) + sum(cards)


def _merge_task(old: Json, new: Json) -> Json:
    """Append to the text below a card's title when the same id comes again, as others have measured."""
    grown = {key: old.get(key, "") + new.get(key, "") for key in GROWING_FIELDS if key in old or key in new}
    return {**old, **new, **grown}


@dataclass
class Stream:
    """A message that is written in pieces. ``fault`` is Slack's code for why it can't grow any more.

    ``mode`` is the name of the argument of its first piece, and ``live_parts`` is what was live in any of its
    states.
    """

    message: Json
    started_at: float
    content: StreamContent = StreamContent()
    mode: str | None = None
    fault: str | None = None
    live_parts: set[str] = field(default_factory=set)

    def show_content(self, content: StreamContent, mode: str | None, blocks: Iterable[Json] = ()) -> None:
        """Replace the content of the message, with these blocks below it."""
        self.content, self.mode = content, self.mode or mode
        self.message |= {"text": content.text, "blocks": copy.deepcopy([*content.shown, *blocks])}
        self.record_live_parts()

    def record_live_parts(self) -> None:
        """Remember what is live in the message now."""
        self.live_parts |= {*find_mentions(self.message), *find_links(self.message)}

    def end(self, fault: str = ENDED) -> None:
        """End the stream; later calls get ``fault``."""
        self.fault = fault
        self.message["streaming_state"] = COMPLETED


@dataclass
class Streams:
    """All streams so far. Slack ends one by itself ``seconds`` after its start by ``clock``."""

    clock: Callable[[], float] = time.monotonic
    seconds: float = STREAM_SECONDS
    _streams: dict[tuple[str, str], Stream] = field(default_factory=dict)

    def open_stream(self, channel: str, message: Json) -> Stream:
        """Begin a stream in this message."""
        message["streaming_state"] = IN_PROGRESS
        return self._streams.setdefault((channel, message["ts"]), Stream(message, self.clock()))

    def find_stream(self, channel: str, message: Json) -> Stream | None:
        """Return the stream that a message is or was."""
        return self._streams.get((channel, message["ts"]))

    def is_running(self, channel: str, message: Json) -> bool:
        """Return whether the message is a stream that can grow."""
        stream = self.find_stream(channel, message)
        return stream is not None and stream.fault is None

    def end_expired(self) -> None:
        """End the streams whose time is over."""
        for stream in self._streams.values():
            if stream.fault is None and self.clock() - stream.started_at >= self.seconds:
                stream.end()
