"""A Slack on the loopback for ``slack_sdk.WebClient(token=..., base_url=emulator.url)``.

What it refuses is in ``slack_limits``, what it remembers in ``slack_store``; here are the methods of the Web API
and the ways in which they fail.
"""

from __future__ import annotations

import copy
import json
import re
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tests.emulators.loopback import HangUp, Loopback, Request, Response
from tests.emulators.slack_limits import UPDATE_TEXT, blocks_of, check_message
from tests.emulators.slack_store import (
    BOT_ID,
    BOT_USER,
    START,
    TEAM_URL,
    Channel,
    Json,
    SlackError,
    Workspace,
    file_json,
    is_reply,
    page,
    truth,
    within,
)

SCOPES = frozenset(
    "app_mentions:read channels:history channels:read chat:write commands files:read files:write groups:history "
    "groups:read im:history im:read im:write reactions:write users:read".split()
)
UPLOAD = "upload"  # the name that sending a file's bytes has in ``calls`` and for ``fail_next``
UPLOAD_PATH = "/upload/v1/"
BURST = 5  # posts that may come at once: Slack promises one a second and says only that bursts are fine
VIEW_BLOCKS, VIEW_TITLE, VIEW_METADATA = 100, 24, 3_000

Hook = Callable[[str, Json], None]


def refuse(code: str | None) -> None:
    if code:
        raise SlackError(code)


def listed(value: object) -> list[Any]:
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        found = None
    if not isinstance(found, list) or not found:
        raise SlackError("invalid_arguments")
    return found


# Methods of the Web API: a workspace and the arguments in, what stands beside ``ok`` out


def auth_test(team: Workspace, _: Json) -> Json:
    who = {"user": "digest", "user_id": BOT_USER, "bot_id": BOT_ID}
    return {"url": TEAM_URL, "team": "Emulated", "team_id": team.team_id, **who, "is_enterprise_install": False}


def content(arguments: Json) -> Json:
    """The parts of a message that are stored as they came."""
    found: Json = {"blocks": blocks_of(arguments) or None, "attachments": arguments.get("attachments")}
    if markdown := arguments.get("markdown_text"):
        found["blocks"] = [{"type": "markdown", "text": markdown}]
    metadata = arguments.get("metadata") or None
    return found | {"metadata": json.loads(metadata) if isinstance(metadata, str) else metadata}


def text_of(arguments: Json) -> str:
    return str(arguments.get("text") or arguments.get("markdown_text") or "")


def post_message(team: Workspace, arguments: Json) -> Json:
    channel, thread = team.writable(arguments.get("channel")), arguments.get("thread_ts")
    refuse(check_message(arguments))
    broadcast = "thread_broadcast" if thread and truth(arguments.get("reply_broadcast")) else None
    message = team.add_own(channel, text_of(arguments), thread, subtype=broadcast, **content(arguments))
    return {"channel": channel.id, "ts": message["ts"], "message": copy.deepcopy(message)}


def own_message(team: Workspace, arguments: Json, error: str) -> tuple[Channel, Json]:
    channel = team.channel(arguments.get("channel"))
    message = channel.find(arguments.get("ts"))
    if message.get("bot_id") != BOT_ID:
        raise SlackError(error)
    return channel, message


def update(team: Workspace, arguments: Json) -> Json:
    """What is not named stays; an empty list of blocks and an empty metadata object take theirs away."""
    channel, message = own_message(team, arguments, "cant_update_message")
    team.writable(channel.id)
    kept = {key: value for key, value in arguments.items() if (key, value) != ("metadata", {})}
    refuse(check_message(kept, text_limit=UPDATE_TEXT))
    changed = {key: value for key, value in content(kept).items() if value is not None}
    for key in {"blocks", "metadata"} & arguments.keys() - changed.keys():
        message.pop(key, None)
    edited = {"user": BOT_USER, "ts": team.next_ts()}
    message |= {"text": text_of(arguments), "edited": edited, **copy.deepcopy(changed)}
    shown = copy.deepcopy(message)
    return {"channel": channel.id, "ts": message["ts"], "text": message["text"], "message": shown}


def delete(team: Workspace, arguments: Json) -> Json:
    channel, message = own_message(team, arguments, "cant_delete_message")
    ts = message["ts"]
    team.remove(channel, message)
    return {"channel": channel.id, "ts": ts}


def permalink(team: Workspace, arguments: Json) -> Json:
    channel = team.channel(arguments.get("channel"))
    message = channel.find(arguments.get("message_ts"))
    address = f"{TEAM_URL}archives/{channel.id}/p{message['ts'].replace('.', '')}"
    if is_reply(message):
        address += f"?thread_ts={message['thread_ts']}&cid={channel.id}"
    return {"channel": channel.id, "permalink": address}


def post_ephemeral(team: Workspace, arguments: Json) -> Json:
    channel = team.writable(arguments.get("channel"))
    if not arguments.get("user"):
        raise SlackError("invalid_arguments")
    refuse(check_message(arguments))
    ts = team.next_ts()
    shown = {"channel": channel.id, "user": arguments["user"], "ts": ts, "text": text_of(arguments)}
    team.ephemerals.append(shown | {"thread_ts": arguments.get("thread_ts"), **content(arguments)})
    return {"message_ts": ts}


def history(team: Workspace, arguments: Json) -> Json:
    channel = joined(team, arguments)
    newest_first = list(filter(within(arguments), reversed(channel.top_level())))
    return messages_page(newest_first, arguments, default=100) | {"pin_count": 0}


def replies(team: Workspace, arguments: Json) -> Json:
    """The parent comes first whatever ``oldest`` and ``latest`` say."""
    parent, *rest = joined(team, arguments).thread_of(arguments.get("ts"))
    return messages_page([parent, *filter(within(arguments), rest)], arguments, default=1_000)


def joined(team: Workspace, arguments: Json) -> Channel:
    channel = team.readable(arguments.get("channel"), "history")
    if not channel.member:
        raise SlackError("not_in_channel")
    return channel


def messages_page(found: list[Json], arguments: Json, default: int) -> Json:
    messages, cursor = page(found, arguments, key="ts", default=default)
    if not truth(arguments.get("include_all_metadata")):
        messages = [{key: value for key, value in m.items() if key != "metadata"} for m in messages]
    return {"messages": messages, "has_more": bool(cursor), "response_metadata": {"next_cursor": cursor}}


def conversation_info(team: Workspace, arguments: Json) -> Json:
    return {"channel": team.readable(arguments.get("channel"), "read").as_json()}


def conversation_list(team: Workspace, arguments: Json) -> Json:
    kinds = {"public_channel": "channels", "private_channel": "groups", "im": "im", "mpim": "mpim"}
    wanted = {kinds.get(kind.strip(), "") for kind in str(arguments.get("types") or "public_channel").split(",")}
    if "" in wanted:
        raise SlackError("invalid_types")
    for kind in sorted(wanted):
        team.require(f"{kind}:read")
    live = not truth(arguments.get("exclude_archived"))
    seen = [c for c in team.channels.values() if c.kind in wanted and (c.member or not c.private)]
    found = [channel.as_json() for channel in seen if live or not channel.archived]
    channels, cursor = page(found, arguments, key="id", default=100)
    return {"channels": channels, "response_metadata": {"next_cursor": cursor}}


def conversation_open(team: Workspace, arguments: Json) -> Json:
    users = str(arguments.get("users") or "").split(",")
    if len(users) != 1 or not users[0].startswith(("U", "W")):
        raise SlackError("user_not_found")
    return {"channel": {"id": team.direct(users[0]).id}}


def user_info(team: Workspace, arguments: Json) -> Json:
    user = str(arguments.get("user") or "")
    if not user.startswith(("U", "W")):
        raise SlackError("user_not_found")
    more = {"team_id": team.team_id, "is_bot": user == BOT_USER, "deleted": False, "tz": "Etc/UTC"}
    return {"user": {"id": user, "name": user.lower(), "real_name": user, **more}}


def add_reaction(team: Workspace, arguments: Json) -> Json:
    message = team.channel(arguments.get("channel")).find(arguments.get("timestamp"))
    name, reactions = str(arguments.get("name") or ""), message.setdefault("reactions", [])
    if not re.fullmatch(r"[\w+'-]+(::skin-tone-[2-6])?", name):
        raise SlackError("invalid_name")
    if any(reaction["name"] == name for reaction in reactions):
        raise SlackError("already_reacted")
    reactions.append({"name": name, "users": [BOT_USER], "count": 1})
    return {}


def upload_url(team: Workspace, arguments: Json) -> Json:
    name, length = str(arguments.get("filename") or ""), str(arguments.get("length") or "")
    if not name or not length.isdecimal() or int(length) == 0:
        raise SlackError("invalid_arguments")
    file = team.reserve(name, int(length))
    return {"file_id": file["id"], "upload_url": f"{team.url}{UPLOAD_PATH}{file['id']}"}


def complete_upload(team: Workspace, arguments: Json) -> Json:
    """Shares the files: all of them in one message per channel."""
    wanted = [(team.uploaded(entry.get("id")), entry.get("title")) for entry in listed(arguments.get("files"))]
    names = arguments.get("channel_id") or arguments.get("channels") or ""
    channels, thread = [team.writable(name) for name in names.split(",") if name], arguments.get("thread_ts")
    if thread:
        _ = [channel.parent(thread) for channel in channels]
    for file, title in wanted:
        ids = [channel.id for channel in channels]
        file.update(title=title or file["name"], shared=True, channels=ids, thread_ts=thread)
    shown = [file_json(file) for file, _ in wanted]
    for channel in channels:
        comment = str(arguments.get("initial_comment") or "")
        team.add_own(channel, comment, thread, files=shown, upload=True)
    return {"files": shown}


def view_of(arguments: Json, kind: str) -> Json:
    """The view if it is within the limits of views; its blocks are not looked into."""
    view = arguments.get("view")
    found: Any = json.loads(view) if isinstance(view, str) else view
    if not isinstance(found, dict) or found.get("type") != kind or not isinstance(found.get("blocks"), list):
        raise SlackError("invalid_arguments")
    title = (found.get("title") or {}).get("text", "")
    sizes = (len(found["blocks"]), len(title), len(found.get("private_metadata") or ""))
    if any(size > most for size, most in zip(sizes, (VIEW_BLOCKS, VIEW_TITLE, VIEW_METADATA), strict=True)):
        raise SlackError("invalid_arguments")
    return found


def store_view(team: Workspace, view_id: str, view: Json, **more: Any) -> Json:
    team.views[view_id] = {**view, "id": view_id, "team_id": team.team_id, "bot_id": BOT_ID, **more}
    return {"view": copy.deepcopy(team.views[view_id])}


def publish_view(team: Workspace, arguments: Json) -> Json:
    user = str(arguments.get("user_id") or "")
    refuse(None if user else "invalid_arguments")
    return store_view(team, f"VHOME{user}", view_of(arguments, "home"), user_id=user)


def open_view(team: Workspace, arguments: Json) -> Json:
    refuse(None if arguments.get("trigger_id") else "invalid_arguments")
    return store_view(team, team.next_id("V"), view_of(arguments, "modal"))


def update_view(team: Workspace, arguments: Json) -> Json:
    external = {view.get("external_id"): view_id for view_id, view in team.views.items()}
    view_id = str(arguments.get("view_id") or external.get(arguments.get("external_id") or 0))
    if view_id not in team.views:
        raise SlackError("not_found")
    return store_view(team, view_id, view_of(arguments, team.views[view_id]["type"]))


@dataclass(frozen=True)
class Method:
    call: Callable[[Workspace, Json], Json]
    scope: str | None = None  # what the token needs; reading methods find theirs by the kind of channel


METHODS: dict[str, Method] = {
    "auth.test": Method(auth_test),
    "chat.delete": Method(delete, "chat:write"),
    "chat.getPermalink": Method(permalink),
    "chat.postEphemeral": Method(post_ephemeral, "chat:write"),
    "chat.postMessage": Method(post_message, "chat:write"),
    "chat.update": Method(update, "chat:write"),
    "conversations.history": Method(history),
    "conversations.info": Method(conversation_info),
    "conversations.list": Method(conversation_list),
    "conversations.open": Method(conversation_open, "im:write"),
    "conversations.replies": Method(replies),
    "files.completeUploadExternal": Method(complete_upload, "files:write"),
    "files.getUploadURLExternal": Method(upload_url, "files:write"),
    "reactions.add": Method(add_reaction, "reactions:write"),
    "users.info": Method(user_info, "users:read"),
    "views.open": Method(open_view),
    "views.publish": Method(publish_view),
    "views.update": Method(update_view),
}


# The server


@dataclass(frozen=True)
class Failure:
    """How one call is to go wrong."""

    error: str
    status: int
    retry_after: int | None
    after_effect: bool
    hang_up: bool

    def response(self) -> Response:
        if self.hang_up:
            raise HangUp
        return failed(self.error, self.status, self.retry_after)


def failed(error: str, status: int = 200, retry_after: int | None = None, **more: str) -> Response:
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return Response.of_json({"ok": False, "error": error, **more}, status, headers)


STATUS_ERRORS = {429: "ratelimited", 503: "service_unavailable"}


@dataclass(frozen=True)
class Bucket:
    """How many posts a channel takes at once, and when that was true."""

    left: float
    at: float

    def later(self, now: float, rate: float) -> Bucket:
        return Bucket(min(BURST, self.left + (now - self.at) * rate), now)


class SlackEmulator(Loopback):
    """One workspace with one bot in it. ``now`` gives the seconds of a message's ts, ``clock`` those of the pace.

    ``before`` runs ahead of a call and ``after`` between its effect and its answer, both outside the lock:
    they may wait for other calls, or raise ``HangUp`` to drop the connection there.
    """

    def __init__(
        self,
        token: str = "xoxb-test",  # noqa: S107 (a token of nothing)
        team_id: str = "T0TEAM",
        scopes: frozenset[str] = SCOPES,
        *,
        posts_per_second: float | None = None,
        now: Callable[[], float] = lambda: START,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self.token = token
        self.posts_per_second = posts_per_second
        self.latency = 0.0
        self.before: Hook | None = None
        self.after: Hook | None = None
        self.workspace = Workspace(team_id, scopes, self.url, now)
        self._clock = clock
        self._lock = threading.Lock()
        self._calls: list[tuple[str, Json]] = []
        self._failures: defaultdict[str, deque[Failure]] = defaultdict(deque)
        self._buckets: dict[str, Bucket] = {}
        self.add_channel("C0DIGEST", "digest")

    # for tests

    def add_channel(
        self,
        id: str,  # noqa: A002 (Slack's own word)
        name: str,
        *,
        member: bool = True,
        archived: bool = False,
        private: bool = False,
    ) -> None:
        with self._lock:
            self.workspace.channels[id] = Channel(id, name, member, archived, private or id.startswith("G"))

    def add_message(self, channel: str, text: str, user: str = "U0HUMAN", thread_ts: str | None = None) -> str:
        """A message of somebody else; its ts."""
        with self._lock:
            return str(self.workspace.add(self.workspace.channels[channel], user, text, thread_ts)["ts"])

    def messages(self, channel: str) -> list[Json]:
        """Top level, oldest first."""
        with self._lock:
            return self.workspace.channels[channel].top_level()

    def replies(self, channel: str, ts: str) -> list[Json]:
        """The replies under a message, oldest first and without it."""
        with self._lock:
            return self.workspace.channels[channel].thread_of(ts)[1:]

    @property
    def files(self) -> list[Json]:
        """Shared files: id, name, title, content, channels, thread_ts."""
        with self._lock:
            return self.workspace.files()

    @property
    def ephemerals(self) -> list[Json]:
        with self._lock:
            return copy.deepcopy(self.workspace.ephemerals)

    @property
    def views(self) -> list[Json]:
        with self._lock:
            return copy.deepcopy(list(self.workspace.views.values()))

    @property
    def calls(self) -> list[tuple[str, Json]]:
        """Every call so far as (method, arguments), refused and failed ones too."""
        with self._lock:
            return list(self._calls)

    def calls_to(self, method: str) -> list[Json]:
        return [arguments for name, arguments in self.calls if name == method]

    def fail_next(
        self,
        method: str,
        *,
        error: str | None = None,
        status: int = 200,
        retry_after: int | None = None,
        after_effect: bool = False,
        hang_up: bool = False,
        times: int = 1,
    ) -> None:
        """Make the next calls go wrong; with ``after_effect`` they do their work and only the answer is lost.

        A rate limit, however it is asked for, is a 429 with Retry-After, as Slack's always are.
        """
        if method not in {UPLOAD, *METHODS}:
            raise ValueError(f"no method {method}")
        if status == 429 or error == "ratelimited" or (retry_after is not None and status == 200):
            status, retry_after = 429, 1 if retry_after is None else retry_after
        code = error or STATUS_ERRORS.get(status, "internal_error")
        with self._lock:
            self._failures[method].extend([Failure(code, status, retry_after, after_effect, hang_up)] * times)

    # the wire

    def handle(self, request: Request) -> Response:
        try:
            method, arguments = self._parse(request)
        except (TypeError, ValueError):
            return failed("invalid_json")
        failure = self._arrive(method, arguments)
        if self.before:
            self.before(method, arguments)
        if failure and not failure.after_effect:
            return failure.response()
        answer = self._answer(request, method, arguments)
        if self.after:
            self.after(method, arguments)
        return failure.response() if failure else answer

    def _parse(self, request: Request) -> tuple[str, Json]:
        if request.path.startswith(UPLOAD_PATH):
            return UPLOAD, {"file_id": request.path.removeprefix(UPLOAD_PATH), "content": file_content(request)}
        return request.path.removeprefix("/api").strip("/"), request.arguments()

    def _arrive(self, method: str, arguments: Json) -> Failure | None:
        time.sleep(self.latency)
        with self._lock:
            self._calls.append((method, {key: value for key, value in arguments.items() if key != "token"}))
            waiting = self._failures[method]
            return waiting.popleft() if waiting else None

    def _answer(self, request: Request, method: str, arguments: Json) -> Response:
        with self._lock:
            try:
                if method == UPLOAD:
                    return self._receive(**arguments)
                answer = self._call(request, method, arguments)
            except SlackError as error:
                limited = error.code == "ratelimited"
                return failed(error.code, 429 if limited else 200, 1 if limited else None, **error.more)
        headers = {"x-oauth-scopes": ",".join(sorted(self.workspace.scopes))}
        return Response.of_json({"ok": True, **answer}, headers=headers)

    def _call(self, request: Request, name: str, arguments: Json) -> Json:
        if name not in METHODS:
            raise SlackError("unknown_method")
        token = request.headers.get("authorization", "").removeprefix("Bearer ") or arguments.get("token")
        if token != self.token:
            raise SlackError("invalid_auth" if token else "not_authed")
        method = METHODS[name]
        if method.scope:
            self.workspace.require(method.scope)
        if name == "chat.postMessage":
            self._pace(str(arguments.get("channel")))
        return method.call(self.workspace, arguments)

    def _pace(self, channel: str) -> None:
        """One post a second and channel, in the measure of ``posts_per_second``."""
        if self.posts_per_second is None:
            return
        now = self._clock()
        bucket = self._buckets.get(channel, Bucket(BURST, now)).later(now, self.posts_per_second)
        self._buckets[channel] = bucket
        if bucket.left < 1:
            raise SlackError("ratelimited")
        self._buckets[channel] = replace(bucket, left=bucket.left - 1)

    def _receive(self, file_id: str, content: bytes) -> Response:
        if file_id not in self.workspace.uploads:
            return Response(404, b"no such upload")
        self.workspace.uploads[file_id]["content"] = content
        return Response(200, f"OK - {len(content)}".encode())


def file_content(request: Request) -> bytes:
    """The bytes of an upload: the body itself, or the first part of a multipart one."""
    boundary = re.fullmatch(
        r"multipart/form-data;.*boundary=\"?([^\";]+)\"?.*", request.headers.get("content-type", "")
    )
    if boundary is None:
        return request.body
    part = request.body.split(b"--" + boundary[1].encode())[1]
    return part.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
