"""The asker and the place of a request, from Slack's payloads.

Payloads are signed and were validated (:mod:`handlers.payloads`); their texts are not trusted. A request has the
workspace of its asker only where Slack names theirs: what else a payload names may be that of the installation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from bot.errors import UsageError
from bot.features.subscriptions.form import read_form_context
from bot.platform.slack.blocks import UNKNOWN_BUTTON
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.keys import build_request_name

Payload = Mapping[str, Any]


def parse_command(command: Payload) -> SlackRequest:
    """Return the request of a slash command. Its trigger is new each time somebody presses Enter."""
    return SlackRequest(
        key=build_request_name("command", command["trigger_id"]),
        team=_get_text(command, "team_id"),
        enterprise=_get_text(command, "enterprise_id"),
        channel=_get_text(command, "channel_id"),
        user=_get_text(command, "user_id"),
        name=_get_text(command, "user_name"),
        response_url=_get_text(command, "response_url"),
        trigger=_get_text(command, "trigger_id"),
    )


def parse_message(event: Payload) -> SlackRequest:
    """Return the request of a message for the bot. The answer goes into its thread, which it may begin."""
    channel, ts = _get_text(event, "channel"), _get_text(event, "ts")
    own = _get_text(event, "user_team") or _get_text(event, "source_team") or _get_text(event, "team")
    # the same message may arrive as several events
    asker = _parse_event("mention", (channel, ts), event)
    thread = _get_text(event, "thread_ts") or ts
    return replace(asker, team=own, thread=thread, message=ts)


def parse_home_visit(event: Payload) -> SlackRequest:
    parts = _get_text(event, "user"), _get_text(event, "event_ts")
    return replace(_parse_event("home", parts, event), channel="")


def parse_newcomer(event: Payload) -> SlackRequest:
    """Return the request of a user who opens the bot's direct messages. It has the same key each time."""
    return _parse_event("welcome", (_get_text(event, "user"),), event)


def parse_inviter(event: Payload) -> SlackRequest:
    parts = _get_text(event, "channel"), _get_text(event, "event_ts")
    # the event's own team is that of the bot, who joined
    return replace(_parse_event("invited", parts, event), user=_get_text(event, "inviter"))


def parse_poster(event: Payload) -> SlackRequest:
    """Return the request of a message with links, whose poster asked for nothing."""
    channel, ts = _get_text(event, "channel"), _get_text(event, "message_ts")
    poster = _parse_event("links", (channel, ts), event)
    return replace(poster, thread=_get_text(event, "thread_ts"), message=ts)


def _parse_event(kind: str, parts: tuple[str, ...], event: Payload) -> SlackRequest:
    return SlackRequest(
        key=build_request_name(kind, *parts),
        team="",
        channel=_get_text(event, "channel"),
        user=_get_text(event, "user"),
    )


def parse_action(body: Payload) -> SlackRequest:
    """Return the request of a click or form, answered where the message is, in its thread if any."""
    user, container = body["user"], body.get("container") or {}
    return SlackRequest(
        key=build_request_name("action", body["trigger_id"]),
        team=_get_text(user, "team_id"),
        channel=_get_text(body.get("channel") or {}, "id") or _get_text(container, "channel_id"),
        user=_get_text(user, "id"),
        name=_get_text(user, "username") or _get_text(user, "name"),
        response_url=_get_text(body, "response_url"),
        thread=_get_text(container, "thread_ts"),
        trigger=_get_text(body, "trigger_id"),
        message=_get_text(container, "message_ts"),
    )


def parse_single_action(body: Payload) -> SlackRequest:
    """Return the request of a click on a button that works once: each further click has the same key."""
    asker = parse_action(body)
    once = build_request_name("again", asker.channel, asker.message, asker.user)
    return replace(asker, key=once) if asker.message else asker


def parse_message_shortcut(body: Payload) -> SlackRequest:
    """Return the request of a shortcut in the menu of a message. The answer goes into the message's thread."""
    message, ts = body["message"], _get_text(body, "message_ts")
    return replace(parse_action(body), thread=_get_text(message, "thread_ts") or ts, message=ts)


def parse_form(body: Payload) -> SlackRequest:
    """Return the request of a submitted form, with its own key, answered where the form was opened."""
    context = read_form_context(_get_text(body["view"], "private_metadata"))
    return replace(parse_action(body), channel=context.channel, response_url=context.answer)


def parse_action_time(body: Payload) -> datetime:
    """Return when a button was pressed, in UTC. Raises UsageError if Slack does not say."""
    try:
        return datetime.fromtimestamp(float(_get_text(body["actions"][0], "action_ts")), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(UNKNOWN_BUTTON) from error


def read_action(body: Payload) -> str:
    return str(body["actions"][0]["action_id"])


def read_value(body: Payload) -> str:
    action = body["actions"][0]
    return str(action.get("value") or (action.get("selected_option") or {}).get("value") or "")


def read_blocks(body: Payload) -> str:
    """Return the blocks of a button's message as JSON; empty if only its user sees the message."""
    container, message = body.get("container") or {}, body.get("message") or {}
    if container.get("is_ephemeral") or not isinstance(message.get("blocks"), list):
        return ""
    return json.dumps(message["blocks"])


def _get_text(payload: Payload, name: str) -> str:
    return str(payload.get(name) or "")
