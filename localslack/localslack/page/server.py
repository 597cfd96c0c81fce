"""The server of the page: it shows the screen as it changes, and passes on the visitor's actions.

It serves only the browser that has its address with the token; see :mod:`localslack.page.access`.
"""

from __future__ import annotations

import json
import mimetypes
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from localslack.blockkit import render_document
from localslack.errors import InvalidAction, SlackError
from localslack.loopback import Loopback, Request, Response
from localslack.manifest import ShortcutKind
from localslack.page.about import About
from localslack.page.access import Access
from localslack.page.preview import Preview
from localslack.page.screen import HOME, TEMPLATES, Screen
from localslack.page.visitor import ActionResult, Visitor
from localslack.rules.messages import find_blocks_fault
from localslack.server.local_slack import LocalSlack, LoggedCall, Refusal
from localslack.state.identity import TEAM_URL
from localslack.state.workspace import Json

# seconds between signs of life on an unchanged page, which reveal that a browser has gone
_KEEP_ALIVE_SECONDS = 10.0
# seconds during which changes are collected into one update
_GATHER_SECONDS = 0.03
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_ICON = "icon.svg"


class Page(Loopback):
    """The local Slack's page for a browser that has the ``token``, on ``port`` or on any free one if it is 0.

    Raises OSError if the port is not available.
    """

    # a view has at most a quarter of this
    max_bytes = 1_000_000

    def __init__(
        self, slack: LocalSlack, visitor: Visitor, screen: Screen, about: About, token: str, port: int = 0
    ) -> None:
        super().__init__(port)
        self._access = Access(self.url, token, about.command)
        self._slack = slack
        self._visitor = visitor
        self._screen = screen
        self._about = about
        self._preview = Preview(screen.names)
        self._closed = threading.Event()
        self._views: Mapping[str, Callable[[Request, str], Response]] = {
            "": self._show_index,
            "static": self._send_static,
            # for documents without a page of their own, such as JSON
            "favicon.ico": lambda request, _: self._send_static(request, _ICON),
            "live": self._stream_place,
            "source": self._show_source,
            "files": self._show_file,
            "preview": self._show_preview,
            "calls": self._show_calls,
        }

    @property
    def address(self) -> str:
        """The address to open in a browser."""
        return self._access.address

    def close(self) -> None:
        """End the streams to browsers, so that the server can stop."""
        self._closed.set()
        self._slack.changes.notify()

    def handle(self, request: Request) -> Response:
        """Answer a request of the browser: refuse it, show a page, or perform an action."""
        if why := self._access.find_refusal(request):
            return _respond_plain(403, why)
        if welcome := self._access.redirect_newcomer(request):
            return welcome
        first, _, rest = request.path.removeprefix("/").partition("/")
        if request.method == "POST":
            return self._handle_action(request, first, rest)
        show = self._views.get(first)
        if request.method != "GET" or show is None:
            return _respond_plain(404, "There is no such page.")
        try:
            return show(request, rest)
        except (SlackError, KeyError):
            return _respond_plain(404, "It is not here any more.")

    # pages

    def _show_index(self, _: Request, __: str) -> Response:
        return self._render_page(
            "index.html",
            places=self._screen.places,
            commands=self._visitor.commands,
            shortcuts=self._visitor.list_shortcuts(ShortcutKind.GLOBAL),
            bot=self._slack.bot_name,
        )

    def _render_page(self, template: str, **values: Any) -> Response:
        html = TEMPLATES.get_template(template).render(about=self._about, team=TEAM_URL, **values)
        return Response(200, html.encode(), {"Content-Type": "text/html; charset=utf-8", **_HEADERS})

    def _send_static(self, _: Request, name: str) -> Response:
        resource = files("localslack.page").joinpath("static", name)
        if "/" in name or not resource.is_file():
            return _respond_plain(404, "There is no such file.")
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        own = self._about.icon.encode() if name == _ICON else b""
        return Response(200, own or resource.read_bytes(), {"Content-Type": f"{kind}; charset=utf-8", **_HEADERS})

    def _stream_place(self, request: Request, _: str) -> Response:
        place, thread = request.query.get("place", ""), request.query.get("thread", "")
        if place != HOME and not self._screen.has_conversation(place):
            return _respond_plain(404, "There is no such place.")
        if thread:
            # a missing message must be reported before the stream begins
            self._slack.get_message(place, thread)
        headers = {**_HEADERS, "Content-Type": "text/event-stream; charset=utf-8"}
        return Response(200, headers=headers, chunks=self._iterate_screens(place, thread))

    def _iterate_screens(self, place: str, thread: str) -> Iterator[bytes]:
        """Yield the screen each time it changes."""
        seen, last = -1, ""
        while not self._closed.is_set():
            seen = self._slack.changes.wait(seen, _KEEP_ALIVE_SECONDS)
            now = json.dumps(self._screen.render_place(place, thread))
            yield (f"data: {now}\n\n" if now != last else ": the same\n\n").encode()
            last = now
            self._closed.wait(_GATHER_SECONDS)

    def _show_source(self, __: Request, rest: str) -> Response:
        place, _, ts = rest.partition("/")
        return _respond_plain(200, _format_json(self._visitor.find_shown(place, ts)))

    def _show_file(self, __: Request, rest: str) -> Response:
        file_id, _, how = rest.partition("/")
        file = next((each for each in self._slack.files if each["id"] == file_id), None)
        if file is None or how not in ("", "download"):
            return _respond_plain(404, "There is no such file.")
        if how == "download":
            name = f"attachment; filename*=UTF-8''{quote(file['name'])}"
            return Response(
                200,
                file["content"],
                {"Content-Type": "text/markdown; charset=utf-8", "Content-Disposition": name, **_HEADERS},
            )
        text = file["content"].decode(errors="replace")
        return self._render_page("report.html", file=file, body=render_document(text))

    def _show_preview(self, _: Request, __: str) -> Response:
        return self._render_page("preview.html")

    def _show_calls(self, _: Request, __: str) -> Response:
        calls = [self._describe_call(call) for call in self._slack.log]
        refused = [
            {"method": each.method, "error": _format_refusal(each), "text": _format_json(each.arguments)}
            for each in reversed(self._slack.refusals)
        ]
        return self._render_page("calls.html", calls=calls, refused=refused)

    def _describe_call(self, call: LoggedCall) -> dict[str, str]:
        """Return a call for the list: what, when, where, and with what result."""
        channel = str(call.arguments.get("channel") or call.arguments.get("channel_id") or "")
        names = {place.id: f"{place.mark}{place.name}" for place in self._screen.places}
        return {
            "method": call.method,
            "at": f"{datetime.fromtimestamp(call.at, self._screen.names.zone):%H:%M:%S}",
            "place": names.get(channel, channel) + (" (thread)" if call.arguments.get("thread_ts") else ""),
            "error": call.error,
            "text": _format_json(call.arguments),
        }

    # actions

    def _handle_action(self, request: Request, first: str, name: str) -> Response:
        try:
            body = request.json()
            if first == "preview":
                return Response.of_json(self._preview.render_json(str(body["text"])), headers=_HEADERS)
            action = self._actions.get(name) if first == "do" else None
            if action is None:
                return _respond_plain(404, "There is no such thing to do.")
            return _respond_result(action(body))
        except (KeyError, TypeError, ValueError, AttributeError):
            return _respond_refusal("The page sent what can't be read: load it again.", 400)
        except InvalidAction as error:
            return _respond_refusal(f"{error}")
        except SlackError as error:
            return _respond_refusal(f"Slack: {error.code}")
        finally:
            self._slack.changes.notify()

    @property
    def _actions(self) -> Mapping[str, Callable[[Json], ActionResult]]:
        you = self._visitor
        return {
            "say": lambda body: you.send_text(
                self._read_place(body), str(body["text"]), str(body.get("thread") or "")
            ),
            "press": lambda body: you.press(
                self._read_place(body), str(body["ts"]), *_read_names(body), _read_value(body)
            ),
            "shortcut": lambda body: you.use_shortcut(str(body["shortcut"])),
            "message_shortcut": lambda body: you.use_message_shortcut(
                self._read_place(body), str(body["ts"]), str(body["shortcut"])
            ),
            "dismiss": lambda body: you.dismiss(str(body["ts"])),
            "stop": lambda body: you.stop_answer(self._read_place(body), str(body["ts"])),
            "home": lambda _: you.go_home(),
            "direct": lambda _: you.go_direct(),
            "press_in": lambda body: you.press_in(str(body["view"]), *_read_names(body), _read_value(body)),
            "submit": lambda body: you.submit(
                str(body["view"]), {_read_names(each)[::-1]: each["value"] for each in body["values"]}
            ),
            "close": lambda body: you.close(str(body["view"])),
            "suggest": lambda body: you.suggest(str(body["view"]), str(body["action"]), str(body["typed"])),
        }

    def _read_place(self, body: Json) -> str:
        place = str(body["place"])
        if not self._screen.has_conversation(place):
            raise InvalidAction("There is no such place.")
        return place


def _read_names(body: Json) -> tuple[str, str]:
    """Return the action id of an element and the id of its block."""
    return str(body["action"]), str(body["block"])


def _read_value(body: Json) -> str | None:
    value = body.get("value")
    return None if value is None else str(value)


def _respond_result(outcome: ActionResult) -> Response:
    fields = {"notice": outcome.notice, "errors": dict(outcome.errors), "options": list(outcome.options)}
    return Response.of_json({**fields, "thread": outcome.thread}, headers=_HEADERS)


def _respond_refusal(notice: str, status: int = 200) -> Response:
    """Refuse an action with a status of 200: browsers log other statuses as failures of the page."""
    fields = {"notice": notice, "errors": {}, "options": [], "failed": True}
    return Response.of_json(fields, status, _HEADERS)


def _respond_plain(status: int, text: str) -> Response:
    return Response(status, text.encode(), {"Content-Type": "text/plain; charset=utf-8", **_HEADERS})


def _format_refusal(refusal: Refusal) -> str:
    """Return the error code of a refused call, with the place of the fault in its blocks if there is one."""
    fault = find_blocks_fault(refusal.arguments) if refusal.error == "invalid_blocks" else None
    return f"{refusal.error}: {fault.pointer} {fault.problem}" if fault else refusal.error


def _format_json(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=lambda content: f"{len(content)} bytes")
