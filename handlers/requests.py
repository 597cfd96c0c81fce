"""Who asks and from where, as Slack's payloads say it. The payloads are signed; their texts are not trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.domain.conversations.slack_request import SlackRequest
from bot.render.subscriptions.form_context import read_form_context

Payload = Mapping[str, Any]


def parse_command(command: Payload) -> SlackRequest:
    """A slash command. Its trigger is new for each time somebody presses Enter."""
    return SlackRequest(
        key=f"command:{command['trigger_id']}",
        team=_get_text(command, "team_id"),
        enterprise=_get_text(command, "enterprise_id"),
        channel=_get_text(command, "channel_id"),
        user=_get_text(command, "user_id"),
        name=_get_text(command, "user_name"),
        response_url=_get_text(command, "response_url"),
        trigger=_get_text(command, "trigger_id"),
    )


def parse_message(body: Payload, event: Payload) -> SlackRequest:
    """A message for the bot. It is answered in its thread, which it may begin.

    The team is the writer's own where the channel is shared with other organisations.
    """
    channel, ts = _get_text(event, "channel"), _get_text(event, "ts")
    own = _get_text(event, "user_team") or _get_text(event, "source_team") or _get_text(event, "team")
    return SlackRequest(
        # the same message may arrive as several events
        key=f"mention:{channel}:{ts}",
        team=own or _get_text(body, "team_id"),
        # an organisation is named for where the app is installed, not for the writer
        channel=channel,
        user=_get_text(event, "user"),
        thread=_get_text(event, "thread_ts") or ts,
        message=ts,
    )


def parse_home_visit(body: Payload, event: Payload) -> SlackRequest:
    """Somebody who opens App Home."""
    user, ts = _get_text(event, "user"), _get_text(event, "event_ts")
    return SlackRequest(key=f"home:{user}:{ts}", team=_get_text(body, "team_id"), channel="", user=user)


def parse_newcomer(body: Payload, event: Payload) -> SlackRequest:
    """Somebody who opens the bot's direct messages: one visit, however often they come."""
    user = _get_text(event, "user")
    return SlackRequest(
        key=f"welcome:{user}", team=_get_text(body, "team_id"), channel=_get_text(event, "channel"), user=user
    )


def parse_inviter(body: Payload, event: Payload) -> SlackRequest:
    """Somebody who brings the bot into a channel."""
    channel, ts = _get_text(event, "channel"), _get_text(event, "event_ts")
    team = _get_text(event, "team") or _get_text(body, "team_id")
    return SlackRequest(
        key=f"invited:{channel}:{ts}", team=team, channel=channel, user=_get_text(event, "inviter")
    )


def parse_action(body: Payload) -> SlackRequest:
    """A click, or a form that is sent. The answer goes where the message is, into its thread if it is in one."""
    user, container = body["user"], body.get("container") or {}
    return SlackRequest(
        key=f"action:{body['trigger_id']}",
        team=_get_text(user, "team_id") or _get_text(body.get("team") or {}, "id"),
        channel=_get_text(body.get("channel") or {}, "id") or _get_text(container, "channel_id"),
        user=_get_text(user, "id"),
        name=_get_text(user, "username") or _get_text(user, "name"),
        response_url=_get_text(body, "response_url"),
        thread=_get_text(container, "thread_ts"),
        trigger=_get_text(body, "trigger_id"),
        message=_get_text(container, "message_ts"),
    )


def parse_form(body: Payload) -> SlackRequest:
    """A form that is sent, each time anew; its visitor is where they opened it, and is answered there."""
    context = read_form_context(_get_text(body["view"], "private_metadata"))
    return replace(parse_action(body), channel=context.channel, response_url=context.answer)


def _get_text(payload: Payload, name: str) -> str:
    """A field that may be missing or null."""
    return str(payload.get(name) or "")
