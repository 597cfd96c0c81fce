"""The methods of Slack's Web API about conversations: what they are, who is in them, and where somebody is."""

from __future__ import annotations

from localslack.errors import SlackError, raise_error
from localslack.methods.pagination import PAGE, paginate, parse_flag
from localslack.state.channel import Channel
from localslack.state.identity import BOT_USER
from localslack.state.workspace import Json, Workspace


def get_conversation(team: Workspace, arguments: Json) -> Json:
    channel = team.find_readable(arguments.get("channel"), "read")
    gone = {"is_user_deleted": team.get_profile(channel.user).deleted} if channel.user else {}
    return {"channel": channel.to_json() | gone}


def _find_conversations(team: Workspace, arguments: Json) -> list[Channel]:
    """Return those of the wanted types that the bot may know of."""
    kinds = {"public_channel": "channels", "private_channel": "groups", "im": "im", "mpim": "mpim"}
    wanted = {kinds.get(kind.strip(), "") for kind in str(arguments.get("types") or "public_channel").split(",")}
    if "" in wanted:
        raise SlackError("invalid_types")
    for kind in sorted(wanted):
        team.require_scope(f"{kind}:read")
    live = not parse_flag(arguments.get("exclude_archived"))
    seen = [c for c in team.channels.values() if c.kind in wanted and (c.member or not c.private)]
    return [channel for channel in seen if live or not channel.archived]


def list_conversations(team: Workspace, arguments: Json) -> Json:
    found = [channel.to_json() for channel in _find_conversations(team, arguments)]
    channels, cursor = paginate(found, arguments, key="id", default=100)
    return {"channels": channels, "response_metadata": {"next_cursor": cursor}}


def list_members(team: Workspace, arguments: Json) -> Json:
    """Return who is in a channel; what is private and closed to the bot is not found."""
    channel = team.find_readable(arguments.get("channel"), "read")
    found = [{"id": user} for user in team.list_members(channel)]
    members, cursor = paginate(found, arguments, key="id", default=100)
    return {"members": [each["id"] for each in members], "response_metadata": {"next_cursor": cursor}}


def list_user_conversations(team: Workspace, arguments: Json) -> Json:
    """List where somebody is; what is not public only where the bot is too. Takes one less than others."""
    user = team.get_profile(str(arguments.get("user") or BOT_USER)).id
    raise_error("invalid_limit" if str(arguments.get("limit")) == str(PAGE) else None)
    found = _find_conversations(team, arguments)
    seen = [channel.to_json() for channel in found if user == BOT_USER or team.is_in(channel, user)]
    channels, cursor = paginate(seen, arguments, key="id", default=100)
    return {"channels": channels, "response_metadata": {"next_cursor": cursor}}


def open_conversation(team: Workspace, arguments: Json) -> Json:
    """Open direct messages with one person: talks among several are not emulated."""
    user = team.get_profile(str(arguments.get("users") or ""))
    raise_error("user_disabled" if user.deleted else None)
    return {"channel": {"id": team.open_direct_messages(user.id).id}}
