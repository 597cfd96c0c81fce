"""The methods of Slack's Web API that write a message in pieces."""

from __future__ import annotations

import copy

from localslack.errors import SlackError, refuse
from localslack.methods.messages import content as stored
from localslack.methods.messages import own_message
from localslack.methods.stream_chunks import check_whole, mode_of, piece
from localslack.rules.blocks import listed
from localslack.rules.messages import check_blocks, check_metadata
from localslack.state.channel import Channel
from localslack.state.streams import ENDED, Stream, Streamed
from localslack.state.workspace import Json, Workspace

COMMON = frozenset({"channel", "markdown_text", "chunks", "token"})
START = COMMON | frozenset(
    "thread_ts recipient_team_id recipient_user_id task_display_mode icon_emoji icon_url username".split()
)
APPEND = COMMON | {"ts"}
STOP = APPEND | {"blocks", "metadata"}  # session_status is for apps that are declared agents: this one is not


def start_stream(team: Workspace, arguments: Json) -> Json:
    """A newer documentation lets ``thread_ts`` be left out in channels; here an answer is always a reply."""
    _only(START, arguments)
    channel, thread = team.writable(arguments.get("channel")), arguments.get("thread_ts")
    modes = {None, "timeline", "plan"}
    refuse(None if thread and arguments.get("task_display_mode") in modes else "invalid_arguments")
    refuse(_check_recipient(channel, arguments))
    begun = piece(arguments, None)
    refuse(check_whole(begun))
    message = team.add_own(channel, begun.text, thread)
    team.streams.open(channel.id, message).show(begun, mode_of(arguments))
    return {"channel": channel.id, "ts": message["ts"]}


def append_stream(team: Workspace, arguments: Json) -> Json:
    _only(APPEND, arguments)
    channel, stream = _running(team, arguments)
    refuse(None if mode_of(arguments) else "markdown_text_or_chunks_required")
    stream.show(_grown(stream, arguments), mode_of(arguments))
    return {"channel": channel.id, "ts": stream.message["ts"]}


def stop_stream(team: Workspace, arguments: Json) -> Json:
    """The blocks come below all that was streamed. That an empty stream is refused is not documented."""
    _only(STOP, arguments)
    channel, stream = _running(team, arguments)
    whole, blocks = _grown(stream, arguments), _blocks(arguments)
    refuse(check_blocks(blocks, whole.shown) or check_metadata(arguments.get("metadata")))
    refuse(None if whole.shown or blocks else "no_text")
    stream.show(whole, mode_of(arguments), blocks)
    stream.end()
    if metadata := stored(arguments)["metadata"]:
        stream.message["metadata"] = metadata
    return {"channel": channel.id, "ts": stream.message["ts"], "message": copy.deepcopy(stream.message)}


def _only(known: frozenset[str], arguments: Json) -> None:
    refuse(None if arguments.keys() <= known else "invalid_arguments")


def _check_recipient(channel: Channel, arguments: Json) -> str | None:
    """In a channel somebody must be named who reads along; in direct messages there is only one."""
    user = str(arguments.get("recipient_user_id") or "")
    if channel.kind != "im" and not arguments.get("recipient_team_id"):
        return "missing_recipient_team_id"
    if channel.kind != "im" and not user:
        return "missing_recipient_user_id"
    return "user_not_found" if user and not user.startswith(("U", "W")) else None


def _running(team: Workspace, arguments: Json) -> tuple[Channel, Stream]:
    channel, message = own_message(team, arguments, "message_not_owned_by_app")
    team.writable(channel.id)
    stream = team.streams.find(channel.id, message)
    if stream is None or stream.fault:
        raise SlackError(ENDED if stream is None else stream.fault or ENDED)
    return channel, stream


def _grown(stream: Stream, arguments: Json) -> Streamed:
    """All of the stream with what the call brings."""
    whole = stream.content + piece(arguments, stream.mode)
    refuse(check_whole(whole))
    return whole


def _blocks(arguments: Json) -> list[Json]:
    try:
        return listed(arguments.get("blocks"))
    except ValueError:
        raise SlackError("invalid_blocks_format") from None
