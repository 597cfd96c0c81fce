"""The page's content as pieces of HTML: a conversation, a thread beside it, and a modal in front."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from localslack.blockkit import Names, render_message, render_view
from localslack.manifest import Shortcut
from localslack.server.local_slack import LocalSlack
from localslack.state.element_values import add_default_ids
from localslack.state.identity import BOT_USER
from localslack.state.streams import IN_PROGRESS
from localslack.state.workspace import Json

HOME = "home"
TEMPLATES = Environment(
    loader=PackageLoader("localslack.page"), autoescape=True, trim_blocks=True, lstrip_blocks=True
)
_MESSAGE = TEMPLATES.get_template("message.html")
_WINDOW = TEMPLATES.get_template("window.html")


@dataclass(frozen=True, slots=True)
class PageConversation:
    """A conversation on the page. ``mark`` stands before its name; direct messages have the avatar there."""

    id: str
    name: str
    mark: str = "#"

    @property
    def title(self) -> str:
        """The name with its mark."""
        return f"{self.mark} {self.name}".lstrip()


class Screen:
    """The team as one ``user`` sees it. ``names`` are the names of users and channels for this person.

    ``shortcuts`` are those of the app for messages.
    """

    def __init__(
        self,
        slack: LocalSlack,
        user: str,
        places: Sequence[PageConversation],
        names: Names,
        shortcuts: Sequence[Shortcut] = (),
    ) -> None:
        self._slack = slack
        self._user = user
        self.names = names
        self.places = tuple(places)
        self._shortcuts = tuple(shortcuts)
        # most messages look the same as at the last look
        self._draw_cached = lru_cache(maxsize=2_000)(self._draw_message)

    def has_conversation(self, place: str) -> bool:
        """Return whether the page has this conversation; App Home is not one."""
        return any(place == each.id for each in self.places)

    def render_place(self, place: str, thread: str = "") -> Json:
        """Return everything that is visible in a conversation or in App Home, with one thread open.

        Each piece has a stable ``key``, and ``html``.
        """
        is_home = place == HOME
        home, window = self._slack.get_views(self._user)
        messages = {each.id: self._slack.list_messages(each.id) for each in self.places}
        return {
            "pieces": [self._render_home(home)]
            if is_home
            else self._render_channel(place, messages[place], thread),
            "thread": [] if is_home or not thread else self._render_thread(place, thread),
            "status": "" if is_home or not thread else self._format_status(place, thread),
            "stops": thread if thread and not is_home and self._slack.can_stop_session(place, thread) else "",
            "prompts": self._slack.get_prompts(place),
            "window": self._render_window(window),
            "latest": {each: _find_latest(listed) for each, listed in messages.items()},
            "refused": len(self._slack.refusals),
        }

    def _render_channel(self, place: str, messages: Sequence[Json], open_thread: str) -> list[Json]:
        return self._add_day_lines(place, self._merge_ephemerals(place, "", messages), open_thread)

    def _add_day_lines(self, place: str, messages: Sequence[Json], open_thread: str) -> list[Json]:
        """Return the pieces of the messages, with a line before the first of each day."""
        pieces: list[Json] = []
        day = ""
        for message in messages:
            if (title := self._format_day(message["ts"])) != day:
                day = title
                pieces.append(
                    {"key": f"day {day}", "html": Markup("<h3 class='day'><span>{}</span></h3>").format(day)}
                )
            pieces.append(self._make_piece(place, message, is_open=message["ts"] == open_thread))
        return pieces

    def _render_thread(self, place: str, thread: str) -> list[Json]:
        replies = self._merge_ephemerals(place, thread, self._slack.list_replies(place, thread))
        root = self._slack.get_message(place, thread)
        return [self._make_piece(place, message, in_thread=True) for message in (root, *replies)]

    def _merge_ephemerals(self, place: str, thread: str, messages: Sequence[Json]) -> list[Json]:
        """Return the messages with this user's ephemeral ones, oldest first. No ``thread`` is the channel."""
        where = (place, self._user, thread)
        own = [m for m in self._slack.ephemerals if (m["channel"], m["user"], m.get("thread_ts") or "") == where]
        return sorted([*messages, *own], key=lambda message: float(message["ts"]))

    def _format_status(self, place: str, thread: str) -> str:
        doing = self._slack.get_status(place, thread)
        return f"{self.names.users[BOT_USER]} {doing}" if doing else ""

    def _make_piece(self, place: str, message: Json, *, in_thread: bool = False, is_open: bool = False) -> Json:
        ts = str(message["ts"])
        status = "" if in_thread else self._format_status(place, ts)
        html = self._draw_cached(json.dumps(message), place, status, in_thread, is_open)
        return {"key": ts, "html": html}

    def _draw_message(self, written: str, place: str, status: str, in_thread: bool, is_open: bool) -> str:  # noqa: FBT001 (a key of the cache)
        message = json.loads(written)
        message["blocks"] = add_default_ids(message.get("blocks") or [])
        # Slack stores no type for ephemeral messages
        is_ephemeral = "type" not in message
        is_own = is_ephemeral or message.get("user") == BOT_USER
        return _MESSAGE.render(
            message=message,
            place=place,
            shortcuts=() if is_ephemeral else self._shortcuts,
            body=render_message(message, self.names, "thread" if in_thread else ""),
            name=self.names.users.get(message.get("user", "") if not is_own else BOT_USER, "someone"),
            at=self._to_local(message["ts"]),
            replied=self._to_local(message["latest_reply"]) if message.get("latest_reply") else None,
            is_app=is_own,
            is_ephemeral=is_ephemeral,
            is_streaming=message.get("streaming_state") == IN_PROGRESS,
            status=status,
            in_thread=in_thread,
            is_open=is_open,
        )

    def _render_home(self, view: Json | None) -> Json:
        inside = Markup('<div data-view="{}">{}</div>')
        return {"key": "home", "html": inside.format(view["id"], render_view(view, self.names)) if view else ""}

    def _render_window(self, view: Json | None) -> Json | None:
        if view is None:
            return None
        return {"key": view["id"], "html": _WINDOW.render(view=view, body=render_view(view, self.names))}

    def _format_day(self, ts: str) -> str:
        return f"{self._to_local(ts):%A, %-d %B}"

    def _to_local(self, ts: str) -> datetime:
        return datetime.fromtimestamp(float(ts), self.names.zone)


def _find_latest(messages: Sequence[Json]) -> str:
    """Return the ts of the latest message, replies included."""
    return str(max((m.get("latest_reply") or m["ts"] for m in messages), key=float, default="0"))
