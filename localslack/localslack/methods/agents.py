"""The Web API's methods of apps that are declared as agents: sessions in threads, prompts in direct messages."""

from __future__ import annotations

from typing import Any

from localslack.errors import SlackError, raise_error
from localslack.rules.blocks import parse_blocks
from localslack.rules.schema import items, one_of, shape, string
from localslack.state.agents import STATUSES, STOP_EVENT
from localslack.state.channel import Channel
from localslack.state.workspace import Json, Workspace

_LOOKS = "icon_emoji icon_url username token".split()
_STATUS_ARGUMENTS = frozenset(["channel_id", "thread_ts", "status", "title", "initiator_user_id", *_LOOKS])
_RENAME_ARGUMENTS = frozenset("channel_id thread_ts title token".split())
_PROMPT_ARGUMENTS = frozenset("channel_id thread_ts title prompts token".split())
_STATUS, _TITLE, _NEW_TITLE = one_of(*STATUSES), string(200, 0), string(200)
# a length is not documented
_WORDS = string(2**31)
PROMPTS = items(shape({"title": _WORDS, "message": _WORDS}), 1, 4)
_WARNING = f"missing_{STOP_EVENT}_event_subscription"


def set_session_status(team: Workspace, arguments: Json) -> Json:
    """Set the status of a session (``agents.sessions.setStatus``), which begins with the first one.

    That apps which are no agents are told ``not_agent_app`` is not in the documentation; many have met it.
    """
    raise_error(None if team.agents.is_declared else "not_agent_app")
    status, title = arguments.get("status"), arguments.get("title") or ""
    raise_error(None if arguments.keys() <= _STATUS_ARGUMENTS and _STATUS(status) else "invalid_arguments")
    raise_error(None if _TITLE(title) else "invalid_arguments")
    channel, thread = _find_place(team, arguments)
    initiator = str(arguments.get("initiator_user_id") or "")
    raise_error(None if not initiator or team.is_in(channel, initiator) else "invalid_arguments")
    is_new = (channel.id, thread) not in team.agents.sessions
    session = team.agents.set_status(channel.id, thread, str(status))
    if is_new:
        session.title, session.initiator = title, initiator
    told = {"status": status, "agent_status": status, "title": session.title}
    if team.agents.hears_stop:
        return told
    return {**told, "warning": _WARNING, "response_metadata": {"warnings": [_WARNING]}}


def rename_session(team: Workspace, arguments: Json) -> Json:
    """Rename a session (``agents.sessions.rename``). The error for a thread without one was met by others."""
    raise_error(None if team.agents.is_declared else "not_agent_app")
    title = arguments.get("title")
    raise_error(None if arguments.keys() <= _RENAME_ARGUMENTS and _NEW_TITLE(title) else "invalid_arguments")
    channel, thread = _find_place(team, arguments)
    session = team.agents.sessions.get((channel.id, thread))
    if session is None:
        raise SlackError("not_authorized")
    session.title = str(title)
    return {"title": session.title}


def set_suggested_prompts(team: Workspace, arguments: Json) -> Json:
    """Set the prompts above direct messages (``assistant.threads.setSuggestedPrompts``), up to four.

    With ``thread_ts``, which was for apps before agents, an agent's call has no effect and no error.
    """
    raise_error(None if team.agents.is_declared else "not_agent_app")
    title, prompts = arguments.get("title") or "", _read_prompts(arguments)
    is_known = arguments.keys() <= _PROMPT_ARGUMENTS and PROMPTS(prompts) and _WORDS(title or "-")
    raise_error(None if is_known else "invalid_arguments")
    channel = team.find_writable(arguments.get("channel_id"))
    if not arguments.get("thread_ts"):
        team.agents.prompts[channel.id] = {"title": title, "prompts": prompts}
    return {}


def _find_place(team: Workspace, arguments: Json) -> tuple[Channel, str]:
    channel, thread = team.find_writable(arguments.get("channel_id")), arguments.get("thread_ts")
    raise_error(None if thread else "invalid_arguments")
    try:
        return channel, str(channel.find_parent(thread)["ts"])
    except SlackError:
        raise SlackError("invalid_thread_ts") from None


def _read_prompts(arguments: Json) -> list[Any]:
    try:
        return parse_blocks(arguments.get("prompts"))
    except ValueError:
        raise SlackError("invalid_arguments") from None
