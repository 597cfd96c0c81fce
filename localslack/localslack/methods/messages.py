"""The Web API's methods that write and read messages."""

from __future__ import annotations

import json

from localslack.errors import SlackError, raise_error
from localslack.methods.pagination import make_time_filter, paginate, parse_flag
from localslack.rules.blocks import read_blocks
from localslack.rules.messages import UPDATE_TEXT, check_message
from localslack.state.channel import Channel, copy_json, is_reply
from localslack.state.identity import BOT_ID, BOT_USER, TEAM_URL
from localslack.state.workspace import Json, Workspace


def read_content(arguments: Json) -> Json:
    """Return the parts of a message that are stored unchanged."""
    content: Json = {"blocks": read_blocks(arguments) or None, "attachments": arguments.get("attachments")}
    if markdown := arguments.get("markdown_text"):
        content["blocks"] = [{"type": "markdown", "text": markdown}]
    metadata = arguments.get("metadata") or None
    return content | {"metadata": json.loads(metadata) if isinstance(metadata, str) else metadata}


def read_text(arguments: Json) -> str:
    """Return the text of a message, which may be in ``markdown_text``."""
    return str(arguments.get("text") or arguments.get("markdown_text") or "")


def post_message(team: Workspace, arguments: Json) -> Json:
    """Post a message (``chat.postMessage``)."""
    channel, thread = team.find_writable(arguments.get("channel"), by_name=True), arguments.get("thread_ts")
    raise_error(check_message(arguments))
    broadcast = "thread_broadcast" if thread and parse_flag(arguments.get("reply_broadcast")) else None
    message = team.add_bot_message(
        channel, read_text(arguments), thread, subtype=broadcast, **read_content(arguments)
    )
    return {"channel": channel.id, "ts": message["ts"], "message": copy_json(message)}


def find_own_message(team: Workspace, arguments: Json, error: str) -> tuple[Channel, Json]:
    """Return a message of the bot with its channel. Raises SlackError with ``error`` if it is another's."""
    channel = team.find_channel(arguments.get("channel"))
    message = channel.find_message(arguments.get("ts"))
    if message.get("bot_id") != BOT_ID:
        raise SlackError(error)
    return channel, message


def update_message(team: Workspace, arguments: Json) -> Json:
    """Change a message (``chat.update``).

    Absent parts stay; an empty list of blocks or empty metadata removes the old ones.
    """
    channel, message = find_own_message(team, arguments, "cant_update_message")
    team.find_writable(channel.id)
    raise_error("streaming_state_conflict" if team.streams.is_running(channel.id, message) else None)
    effective = {key: value for key, value in arguments.items() if (key, value) != ("metadata", {})}
    raise_error(check_message(effective, text_limit=UPDATE_TEXT))
    changed = {key: value for key, value in read_content(effective).items() if value is not None}
    for key in {"blocks", "metadata"} & arguments.keys() - changed.keys():
        message.pop(key, None)
    edited = {"user": BOT_USER, "ts": team.make_ts()}
    message |= {"text": read_text(arguments), "edited": edited, **copy_json(changed)}
    if stream := team.streams.find_stream(channel.id, message):
        stream.record_live_parts()
    shown = copy_json(message)
    return {"channel": channel.id, "ts": message["ts"], "text": message["text"], "message": shown}


def delete_message(team: Workspace, arguments: Json) -> Json:
    """Delete a message of the bot (``chat.delete``). A stream that is running can't be deleted."""
    channel, message = find_own_message(team, arguments, "cant_delete_message")
    raise_error("cant_delete_message" if team.streams.is_running(channel.id, message) else None)
    ts = message["ts"]
    team.remove_message(channel, message)
    return {"channel": channel.id, "ts": ts}


def get_permalink(team: Workspace, arguments: Json) -> Json:
    """Return the address of a message (``chat.getPermalink``)."""
    channel = team.find_channel(arguments.get("channel"))
    message = channel.find_message(arguments.get("message_ts"))
    address = f"{TEAM_URL}archives/{channel.id}/p{message['ts'].replace('.', '')}"
    if is_reply(message):
        address += f"?thread_ts={message['thread_ts']}&cid={channel.id}"
    return {"channel": channel.id, "permalink": address}


def post_ephemeral(team: Workspace, arguments: Json) -> Json:
    """Show a message to one person (``chat.postEphemeral``)."""
    channel = team.find_writable(arguments.get("channel"), by_name=True)
    if not arguments.get("user"):
        raise SlackError("invalid_arguments")
    raise_error(check_message(arguments))
    shown = {"text": read_text(arguments), "thread_ts": arguments.get("thread_ts"), **read_content(arguments)}
    return {"message_ts": team.show_ephemeral(channel, arguments["user"], shown)}


def get_history(team: Workspace, arguments: Json) -> Json:
    """List the messages of a channel, newest first (``conversations.history``)."""
    channel = find_joined_channel(team, arguments)
    newest_first = list(filter(make_time_filter(arguments), reversed(channel.list_top_level())))
    return paginate_messages(newest_first, arguments, default=100) | {"pin_count": 0}


def get_replies(team: Workspace, arguments: Json) -> Json:
    """List a thread (``conversations.replies``). Its parent comes first, even outside the time range."""
    parent, *rest = find_joined_channel(team, arguments).list_thread(arguments.get("ts"))
    return paginate_messages([parent, *filter(make_time_filter(arguments), rest)], arguments, default=1_000)


def find_joined_channel(team: Workspace, arguments: Json) -> Channel:
    """Return a readable channel that the bot is in. Raises SlackError otherwise."""
    channel = team.find_readable(arguments.get("channel"), "history")
    if not channel.member:
        raise SlackError("not_in_channel")
    return channel


def paginate_messages(items: list[Json], arguments: Json, default: int) -> Json:
    """Return one page of messages as the listing methods answer it, without metadata unless requested."""
    messages, cursor = paginate(items, arguments, key="ts", default=default)
    if not parse_flag(arguments.get("include_all_metadata")):
        messages = [{key: value for key, value in m.items() if key != "metadata"} for m in messages]
    return {"messages": messages, "has_more": bool(cursor), "response_metadata": {"next_cursor": cursor}}
