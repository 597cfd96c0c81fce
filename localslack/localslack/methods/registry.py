"""The methods of Slack's Web API by name, and those about the team and its people.

A method takes a workspace and the arguments, and returns the fields beside ``ok``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from localslack.errors import SlackError
from localslack.methods.agents import rename_session, set_session_status, set_suggested_prompts
from localslack.methods.conversations import (
    get_conversation,
    list_conversations,
    list_members,
    list_user_conversations,
    open_conversation,
)
from localslack.methods.files import complete_upload, get_upload_url
from localslack.methods.messages import (
    delete_message,
    get_history,
    get_permalink,
    get_replies,
    post_ephemeral,
    post_message,
    update_message,
)
from localslack.methods.steps import complete_step, fail_step
from localslack.methods.streams import append_stream, start_stream, stop_stream
from localslack.methods.thread_status import set_status
from localslack.methods.unfurls import unfurl_links
from localslack.methods.views import open_view, publish_view, push_view, update_view
from localslack.state.agents import AGENT_SCOPE
from localslack.state.identity import BOT_ID, BOT_USER, TEAM_NAME, TEAM_URL
from localslack.state.workspace import Json, Workspace


def check_auth(team: Workspace, _: Json) -> Json:
    """Return the identity behind the bot's token (``auth.test``)."""
    who = {"user": team.bot_name, "user_id": BOT_USER, "bot_id": BOT_ID}
    return {"url": TEAM_URL, "team": TEAM_NAME, "team_id": team.team_id, **who, "is_enterprise_install": False}


def get_user(team: Workspace, arguments: Json) -> Json:
    """Return a user's profile (``users.info``)."""
    user = team.get_profile(str(arguments.get("user") or ""))
    return {"user": user.to_json(team.team_id, team.now())}


def add_reaction(team: Workspace, arguments: Json) -> Json:
    """Add the bot's reaction to a message (``reactions.add``)."""
    message = team.find_channel(arguments.get("channel")).find_message(arguments.get("timestamp"))
    name, reactions = str(arguments.get("name") or ""), message.setdefault("reactions", [])
    if not re.fullmatch(r"[\w+'-]+(::skin-tone-[2-6])?", name):
        raise SlackError("invalid_name")
    if any(reaction["name"] == name for reaction in reactions):
        raise SlackError("already_reacted")
    reactions.append({"name": name, "users": [BOT_USER], "count": 1})
    return {}


def open_connection(team: Workspace, _: Json) -> Json:
    """Return an address for one WebSocket (``apps.connections.open``)."""
    return {"url": team.link()}


@dataclass(frozen=True)
class Method:
    """A method of the Web API and the token that it requires."""

    call: Callable[[Workspace, Json], Json]
    scope: str | None = None  # of the token; reading methods need one by the kind of channel
    for_app: bool = False  # needs the app's token instead of the bot's


# all scopes that methods, events and commands here need, but for that of an app declared as an agent
ALL_SCOPES = frozenset(
    "app_mentions:read channels:history channels:read chat:write commands files:write groups:history groups:read "
    "im:history im:read im:write links:read links:write mpim:history mpim:read reactions:write users:read".split()
)
METHODS: dict[str, Method] = {
    "agents.sessions.rename": Method(rename_session, "chat:write"),
    "agents.sessions.setStatus": Method(set_session_status, "chat:write"),
    "apps.connections.open": Method(open_connection, for_app=True),
    "assistant.threads.setStatus": Method(set_status, "chat:write"),
    "assistant.threads.setSuggestedPrompts": Method(set_suggested_prompts, AGENT_SCOPE),
    "auth.test": Method(check_auth),
    "chat.appendStream": Method(append_stream, "chat:write"),
    "chat.delete": Method(delete_message, "chat:write"),
    "chat.getPermalink": Method(get_permalink),
    "chat.postEphemeral": Method(post_ephemeral, "chat:write"),
    "chat.postMessage": Method(post_message, "chat:write"),
    "chat.startStream": Method(start_stream, "chat:write"),
    "chat.stopStream": Method(stop_stream, "chat:write"),
    "chat.unfurl": Method(unfurl_links, "links:write"),
    "chat.update": Method(update_message, "chat:write"),
    "conversations.history": Method(get_history),
    "conversations.info": Method(get_conversation),
    "conversations.list": Method(list_conversations),
    "conversations.members": Method(list_members),
    "conversations.open": Method(open_conversation, "im:write"),
    "conversations.replies": Method(get_replies),
    "files.completeUploadExternal": Method(complete_upload, "files:write"),
    "files.getUploadURLExternal": Method(get_upload_url, "files:write"),
    "functions.completeError": Method(fail_step),
    "functions.completeSuccess": Method(complete_step),
    "reactions.add": Method(add_reaction, "reactions:write"),
    "users.conversations": Method(list_user_conversations),
    "users.info": Method(get_user, "users:read"),
    "views.open": Method(open_view),
    "views.publish": Method(publish_view),
    "views.push": Method(push_view),
    "views.update": Method(update_view),
}
