"""The ``response_url`` of slash commands and buttons: five answers within half an hour, without a token."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass

from localslack.errors import SlackError, raise_error
from localslack.loopback import Request, Response
from localslack.methods.messages import read_content, read_text
from localslack.methods.pagination import parse_flag
from localslack.rules.messages import check_message
from localslack.state.channel import Channel
from localslack.state.identity import BOT_USER
from localslack.state.workspace import Json, Workspace

RESPONSE = "response_url"  # the name of an answer in ``calls`` and for ``fail_next``
RESPONSE_PATH = "/response/"
USES, SECONDS = 5, 30 * 60
GONE_CODES = frozenset({"used_url", "expired_url"})


@dataclass
class ResponseUrl:
    """An address for the answers to one command or button press.

    ``origin`` is the ts of the message with the button; ``created_at`` is in seconds.
    """

    url: str
    channel: Channel
    user: str
    thread_ts: str | None
    origin: str | None
    created_at: float
    uses: int = 0


def parse_answer(request: Request, base: str) -> Json:
    """Return the body of an answer with the ``url`` that it came to.

    Raises ValueError if the body is not JSON, TypeError if it is not an object.
    """
    body = json.loads(request.body)
    if not isinstance(body, dict):
        raise TypeError("not an object")
    return {**body, "url": f"{base}{request.path}"}


def make_refusal(code: str, status: int = 200, retry_after: int | None = None) -> Response:
    """Return a refusal as plain text; a status of 200 becomes 500, since 200 would mean success."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return Response(500 if status == 200 else status, code.encode(), {"Content-Type": "text/plain", **headers})


class ResponseUrls:
    """The response URLs that Slack has given out. Callers hold the lock."""

    def __init__(self, team: Workspace) -> None:
        self._team = team
        self._urls: dict[str, ResponseUrl] = {}

    def make_url(self, channel: str, user: str, thread_ts: str | None, origin: str | None) -> str:
        """Return a new address for answers. ``origin`` is the ts of the message with the button, if any."""
        url = f"{self._team.url}{RESPONSE_PATH}{self._team.secret()}"
        place = self._team.get_channel(channel)
        self._urls[url] = ResponseUrl(url, place, user, thread_ts, origin, self._team.now())
        return url

    def receive_answer(self, arguments: Json) -> Response:
        """Apply an answer; return 200, or Slack's refusal as plain text."""
        try:
            self._apply_answer(self._use_address(arguments["url"]), copy.deepcopy(arguments))
        except SlackError as error:
            return make_refusal(error.code, 404 if error.code in GONE_CODES else 400)
        return Response(200, b"ok", {"Content-Type": "text/plain"})

    def answer_at_once(self, channel: str, user: str, body: Json) -> None:
        """Apply the answer that came with the acknowledgement of a command."""
        address = ResponseUrl("", self._team.get_channel(channel), user, None, None, self._team.now())
        self._apply_answer(address, copy.deepcopy(body))

    def _use_address(self, url: str) -> ResponseUrl:
        """Count one use of an address. Slack's reply to an unknown one is not documented; here it has expired."""
        address = self._urls.get(url)
        if address is None or self._team.now() - address.created_at > SECONDS:
            raise SlackError("expired_url")
        if address.uses == USES:
            raise SlackError("used_url")
        address.uses += 1  # a refused answer counts too: not documented, so the stricter reading
        return address

    def _apply_answer(self, address: ResponseUrl, body: Json) -> None:
        """Apply the answer. A command has no original message: its answer is a new one."""
        if address.origin and parse_flag(body.get("delete_original")):
            return self._delete_original(address)
        raise_error(check_message(body))
        if address.origin and parse_flag(body.get("replace_original")):
            return self._replace_original(address, body)
        kind = body.get("response_type") or "ephemeral"
        if kind not in {"ephemeral", "in_channel"}:
            raise SlackError("invalid_arguments")
        return self._show_ephemeral(address, body) if kind == "ephemeral" else self._post_message(address, body)

    def _post_message(self, address: ResponseUrl, body: Json) -> None:
        """Post into the channel, whether the bot is in it or not."""
        thread = body.get("thread_ts") or address.thread_ts
        self._team.add_bot_message(address.channel, read_text(body), thread, **read_content(body))

    def _show_ephemeral(self, address: ResponseUrl, body: Json) -> None:
        """Show it only to the person. A ``thread_ts`` in the body has no effect, as others have measured."""
        more = {"thread_ts": address.thread_ts, **read_content(body), "response_url": address.url}
        self._team.show_ephemeral(address.channel, address.user, {"text": read_text(body), **more})

    def _find_ephemeral(self, address: ResponseUrl) -> Json | None:
        return next((shown for shown in self._team.ephemerals if shown["ts"] == address.origin), None)

    def _replace_original(self, address: ResponseUrl, body: Json) -> None:
        new = {"text": read_text(body), **read_content(body)}
        if shown := self._find_ephemeral(address):
            shown.update(new, response_url=address.url)
            return
        message = address.channel.find_message(address.origin)
        for key in ("blocks", "attachments"):
            message.pop(key, None)
        message.update({key: value for key, value in new.items() if value is not None})
        message["edited"] = {"user": BOT_USER, "ts": self._team.make_ts()}

    def _delete_original(self, address: ResponseUrl) -> None:
        if shown := self._find_ephemeral(address):
            self._team.ephemerals.remove(shown)
        else:
            self._team.remove_message(address.channel, address.channel.find_message(address.origin))
