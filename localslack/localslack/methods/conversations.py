"""The Web API's methods about conversations: their properties, their members, and a user's conversations."""

from __future__ import annotations

from localslack.errors import SlackError, raise_error
from localslack.methods.pagination import PAGE, paginate, parse_flag
from localslack.state.channel import Channel
from localslack.state.identity import BOT_USER
from localslack.state.workspace import Json, Workspace


def get_conversation(team: Workspace, arguments: Json) -> Json:
    """Return a conversation's properties (``conversations.info``)."""
    channel = team.find_readable(arguments.get("channel"), "read")
    deletion = {"is_user_deleted": team.get_profile(channel.user).deleted} if channel.user else {}
    return {"channel": channel.to_json() | deletion}


def _find_conversations(team: Workspace, arguments: Json) -> list[Channel]:
    """Return the conversations of the requested types that the bot may see."""
    kinds = {"public_channel": "channels", "private_channel": "groups", "im": "im", "mpim": "mpim"}
    types = {kinds.get(kind.strip(), "") for kind in str(arguments.get("types") or "public_channel").split(",")}
    if "" in types:
        raise SlackError("invalid_types")
    for kind in sorted(types):
        team.require_scope(f"{kind}:read")
    live = not parse_flag(arguments.get("exclude_archived"))
    seen = [c for c in team.channels.values() if c.kind in types and (c.member or not c.private)]
    return [channel for channel in seen if live or not channel.archived]


def list_conversations(team: Workspace, arguments: Json) -> Json:
    """List the conversations that the bot may see (``conversations.list``)."""
    matching = [channel.to_json() for channel in _find_conversations(team, arguments)]
    channels, cursor = paginate(matching, arguments, key="id", default=100)
    return {"channels": channels, "response_metadata": {"next_cursor": cursor}}


def list_members(team: Workspace, arguments: Json) -> Json:
    """List a channel's members (``conversations.members``). A private channel without the bot is not found."""
    channel = team.find_readable(arguments.get("channel"), "read")
    entries = [{"id": user} for user in team.list_members(channel)]
    members, cursor = paginate(entries, arguments, key="id", default=100)
    return {"members": [each["id"] for each in members], "response_metadata": {"next_cursor": cursor}}


def list_user_conversations(team: Workspace, arguments: Json) -> Json:
    """List a user's conversations (``users.conversations``).

    Private ones are listed only if the bot is in them too. The limit is one below that of other methods.
    """
    user = team.get_profile(str(arguments.get("user") or BOT_USER)).id
    raise_error("invalid_limit" if str(arguments.get("limit")) == str(PAGE) else None)
    matching = _find_conversations(team, arguments)
    seen = [channel.to_json() for channel in matching if user == BOT_USER or team.is_in(channel, user)]
    channels, cursor = paginate(seen, arguments, key="id", default=100)
    return {"channels": channels, "response_metadata": {"next_cursor": cursor}}


def open_conversation(team: Workspace, arguments: Json) -> Json:
    """Open direct messages with one person (``conversations.open``). Group messages are not emulated."""
    user = team.get_profile(str(arguments.get("users") or ""))
    raise_error("user_disabled" if user.deleted else None)
    return {"channel": {"id": team.open_direct_messages(user.id).id}}
