"""The Web API's methods that write a message in pieces."""

from __future__ import annotations

import copy

from localslack.errors import SlackError, raise_error
from localslack.methods.messages import find_own_message
from localslack.methods.messages import read_content as read_message_content
from localslack.methods.stream_chunks import check_content, get_mode, read_content
from localslack.rules.blocks import parse_blocks
from localslack.rules.messages import check_blocks, check_metadata
from localslack.state.agents import ACTIVE, STATUSES
from localslack.state.channel import Channel
from localslack.state.streams import ENDED, Stream, StreamContent
from localslack.state.workspace import Json, Workspace

COMMON = frozenset({"channel", "markdown_text", "chunks", "token"})
START = COMMON | frozenset(
    "thread_ts recipient_team_id recipient_user_id task_display_mode icon_emoji icon_url username".split()
)
APPEND = COMMON | {"ts"}
STOP = APPEND | {"blocks", "metadata", "session_status"}


def start_stream(team: Workspace, arguments: Json) -> Json:
    """Begin a stream (``chat.startStream``).

    Newer documentation makes ``thread_ts`` optional; here an answer is always a reply.
    """
    _check_arguments(START, arguments)
    channel, thread = team.find_writable(arguments.get("channel")), arguments.get("thread_ts")
    modes = {None, "timeline", "plan"}
    raise_error(None if thread and arguments.get("task_display_mode") in modes else "invalid_arguments")
    raise_error(_check_recipient(channel, arguments))
    content = read_content(arguments, None)
    raise_error(check_content(content))
    message = team.add_bot_message(channel, content.text, thread)
    team.streams.open_stream(channel.id, message).show_content(content, get_mode(arguments))
    return {"channel": channel.id, "ts": message["ts"]}


def append_stream(team: Workspace, arguments: Json) -> Json:
    """Add to a stream (``chat.appendStream``)."""
    _check_arguments(APPEND, arguments)
    channel, stream = _find_running(team, arguments)
    raise_error(None if get_mode(arguments) else "markdown_text_or_chunks_required")
    stream.show_content(_extend_content(stream, arguments), get_mode(arguments))
    return {"channel": channel.id, "ts": stream.message["ts"]}


def stop_stream(team: Workspace, arguments: Json) -> Json:
    """End a stream, with blocks below it (``chat.stopStream``). That an empty one is refused is not documented."""
    _check_arguments(STOP, arguments)
    status = arguments.get("session_status")
    raise_error(None if status is None or _may_set(team, status) else "invalid_arguments")
    channel, stream = _find_running(team, arguments)
    whole, blocks = _extend_content(stream, arguments), _read_blocks(arguments)
    raise_error(check_blocks(blocks, whole.shown) or check_metadata(arguments.get("metadata")))
    raise_error(None if whole.shown or blocks else "no_text")
    stream.show_content(whole, get_mode(arguments), blocks)
    stream.end()
    place = channel.id, str(stream.message["thread_ts"])
    if place in team.agents.sessions:
        team.agents.set_status(*place, str(status or ACTIVE))
    if metadata := read_message_content(arguments)["metadata"]:
        stream.message["metadata"] = metadata
    return {"channel": channel.id, "ts": stream.message["ts"], "message": copy.deepcopy(stream.message)}


def _check_arguments(allowed: frozenset[str], arguments: Json) -> None:
    raise_error(None if arguments.keys() <= allowed else "invalid_arguments")


def _may_set(team: Workspace, status: object) -> bool:
    """Return whether the end of a stream may set this status of its session: of apps declared as agents."""
    return team.agents.is_declared and status in STATUSES


def _check_recipient(channel: Channel, arguments: Json) -> str | None:
    """Check the recipient, who must be named in a channel; direct messages have only one."""
    user = str(arguments.get("recipient_user_id") or "")
    if channel.kind != "im" and not arguments.get("recipient_team_id"):
        return "missing_recipient_team_id"
    if channel.kind != "im" and not user:
        return "missing_recipient_user_id"
    return "user_not_found" if user and not user.startswith(("U", "W")) else None


def _find_running(team: Workspace, arguments: Json) -> tuple[Channel, Stream]:
    channel, message = find_own_message(team, arguments, "message_not_owned_by_app")
    team.find_writable(channel.id)
    stream = team.streams.find_stream(channel.id, message)
    if stream is None or stream.fault:
        raise SlackError(ENDED if stream is None else stream.fault or ENDED)
    return channel, stream


def _extend_content(stream: Stream, arguments: Json) -> StreamContent:
    """Return the whole content of the stream, with that of the call."""
    whole = stream.content + read_content(arguments, stream.mode)
    raise_error(check_content(whole))
    return whole


def _read_blocks(arguments: Json) -> list[Json]:
    try:
        return parse_blocks(arguments.get("blocks"))
    except ValueError:
        raise SlackError("invalid_blocks_format") from None
