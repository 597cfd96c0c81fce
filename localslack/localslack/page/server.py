"""The server of the page: it shows the screen as it changes, and passes on what the visitor does.

It serves the browser that was given its address alone; see :mod:`localslack.page.access`.
"""

from __future__ import annotations

import json
import mimetypes
import threading
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from localslack.blockkit import render_document
from localslack.errors import InvalidAction, SlackError
from localslack.loopback import Loopback, Request, Response
from localslack.page.about import About
from localslack.page.access import Access
from localslack.page.preview import Preview
from localslack.page.screen import HOME, TEMPLATES, Screen
from localslack.page.visitor import ActionResult, Visitor
from localslack.server.local_slack import LocalSlack
from localslack.state.identity import TEAM_URL
from localslack.state.workspace import Json

# seconds after which a page that shows the same is told so: a browser that has gone is noticed then
_KEEP_ALIVE_SECONDS = 10.0
# seconds in which changes that come together are gathered
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
_MAX_CALLS = 200  # calls on the page that lists them


class Page(Loopback):
    """Shows the local Slack in a browser that has the ``token``, on ``port`` or on a free one.

    Raises OSError where the port can't be had.
    """

    # a view has at most a quarter of that
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
            # for what is shown without a page of its own, such as JSON
            "favicon.ico": lambda request, _: self._send_static(request, _ICON),
            "live": self._stream_place,
            "source": self._show_source,
            "files": self._show_file,
            "preview": self._show_preview,
            "calls": self._show_calls,
        }

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return self._access.address

    def close(self) -> None:
        """End what is sent to browsers, so that the server can end."""
        self._closed.set()
        self._slack.changes.notify()

    def handle(self, request: Request) -> Response:
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

    # what is shown

    def _show_index(self, _: Request, __: str) -> Response:
        return self._render_page(
            "index.html",
            places=self._screen.places,
            commands=self._visitor.commands,
        )

    def _render_page(self, template: str, **values: Any) -> Response:
        html = TEMPLATES.get_template(template).render(about=self._about, team=TEAM_URL, **values)
        return Response(200, html.encode(), {"Content-Type": "text/html; charset=utf-8", **_HEADERS})

    def _send_static(self, _: Request, name: str) -> Response:
        found = files("localslack.page").joinpath("static", name)
        if "/" in name or not found.is_file():
            return _respond_plain(404, "There is no such file.")
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        own = self._about.icon.encode() if name == _ICON else b""
        return Response(200, own or found.read_bytes(), {"Content-Type": f"{kind}; charset=utf-8", **_HEADERS})

    def _stream_place(self, request: Request, _: str) -> Response:
        place, thread = request.query.get("place", ""), request.query.get("thread", "")
        if place != HOME and not self._screen.has_conversation(place):
            return _respond_plain(404, "There is no such place.")
        if thread:
            # what is not there shall be said before the stream begins
            self._slack.get_message(place, thread)
        headers = {**_HEADERS, "Content-Type": "text/event-stream; charset=utf-8"}
        return Response(200, headers=headers, chunks=self._iterate_screens(place, thread))

    def _iterate_screens(self, place: str, thread: str) -> Iterator[bytes]:
        """Yield the screen, again and again as it changes."""
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
        wanted, _, how = rest.partition("/")
        found = next((file for file in self._slack.files if file["id"] == wanted), None)
        if found is None or how not in ("", "download"):
            return _respond_plain(404, "There is no such file.")
        if how == "download":
            name = f"attachment; filename*=UTF-8''{quote(found['name'])}"
            return Response(
                200,
                found["content"],
                {"Content-Type": "text/markdown; charset=utf-8", "Content-Disposition": name, **_HEADERS},
            )
        text = found["content"].decode(errors="replace")
        return self._render_page("report.html", file=found, body=render_document(text))

    def _show_preview(self, _: Request, __: str) -> Response:
        return self._render_page("preview.html")

    def _show_calls(self, _: Request, __: str) -> Response:
        calls = [(method, _format_json(arguments)) for method, arguments in self._slack.calls[-_MAX_CALLS:]]
        refused = [(each.method, each.error, _format_json(each.arguments)) for each in self._slack.refusals]
        return self._render_page("calls.html", calls=calls[::-1], refused=refused[::-1])

    # what is done

    def _handle_action(self, request: Request, first: str, deed: str) -> Response:
        try:
            asked = request.json()
            if first == "preview":
                return Response.of_json(self._preview.render_json(str(asked["text"])), headers=_HEADERS)
            do = self._actions.get(deed) if first == "do" else None
            if do is None:
                return _respond_plain(404, "There is no such thing to do.")
            return _respond_result(do(asked))
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
            "say": lambda asked: you.send_text(
                self._read_place(asked), str(asked["text"]), str(asked.get("thread") or "")
            ),
            "press": lambda asked: you.press(
                self._read_place(asked), str(asked["ts"]), *_read_names(asked), _read_value(asked)
            ),
            "dismiss": lambda asked: you.dismiss(str(asked["ts"])),
            "stop": lambda asked: you.stop_answer(self._read_place(asked), str(asked["ts"])),
            "home": lambda _: you.go_home(),
            "direct": lambda _: you.go_direct(),
            "press_in": lambda asked: you.press_in(str(asked["view"]), *_read_names(asked), _read_value(asked)),
            "submit": lambda asked: you.submit(
                str(asked["view"]), {_read_names(each)[::-1]: each["value"] for each in asked["values"]}
            ),
            "close": lambda asked: you.close(str(asked["view"])),
            "suggest": lambda asked: you.suggest(str(asked["view"]), str(asked["action"]), str(asked["typed"])),
        }

    def _read_place(self, asked: Json) -> str:
        place = str(asked["place"])
        if not self._screen.has_conversation(place):
            raise InvalidAction("There is no such place.")
        return place


def _read_names(asked: Json) -> tuple[str, str]:
    """Return the names of an element and of its block."""
    return str(asked["action"]), str(asked["block"])


def _read_value(asked: Json) -> str | None:
    value = asked.get("value")
    return None if value is None else str(value)


def _respond_result(outcome: ActionResult) -> Response:
    said = {"notice": outcome.notice, "errors": dict(outcome.errors), "options": list(outcome.options)}
    return Response.of_json({**said, "thread": outcome.thread}, headers=_HEADERS)


def _respond_refusal(notice: str, status: int = 200) -> Response:
    """Answer what a visitor can't do: no failure of the page, as browsers complain of other answers than 200."""
    said = {"notice": notice, "errors": {}, "options": [], "failed": True}
    return Response.of_json(said, status, _HEADERS)


def _respond_plain(status: int, text: str) -> Response:
    return Response(status, text.encode(), {"Content-Type": "text/plain; charset=utf-8", **_HEADERS})


def _format_json(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=lambda content: f"{len(content)} bytes")
