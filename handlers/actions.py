"""Listeners for the buttons and menus below the bot's messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from slack_bolt import Ack
from slack_bolt import App as Bolt

from bot.app import App
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.errors import UsageError
from bot.features.digest.amendments import record_hit_vote
from bot.features.questions.view import VOTE
from bot.features.questions.votes import record_vote
from bot.features.summaries.service import show_details
from bot.features.touches.tasks import show_agent_task
from bot.jobs.asker_jobs import explain_asking
from bot.render.blocks import buttons
from bot.render.blocks.button_values import (
    read_hit_task,
    read_hit_vote,
    read_id,
    read_reference,
    read_request,
    read_verdict,
)
from bot.render.blocks.sentences import UNKNOWN_BUTTON
from handlers import requests, subscriptions
from handlers.declaration import Command, CommandRegistry, VerbHandler
from handlers.intake import handle_event

# enqueues the work of a click by the value of its button, and may return a sentence for the asker
_ClickHandler = Callable[[App, SlackRequest, str], str | None]


def register_actions(bolt: Bolt, app: App, commands: CommandRegistry) -> None:
    def listen(
        action: str | re.Pattern[str],
        accept: _ClickHandler,
        parse: Callable[[requests.Payload], SlackRequest] = requests.parse_action,
    ) -> None:
        @bolt.action(action)
        def handle_click(ack: Ack, body: dict[str, Any]) -> None:
            asker = parse(body)
            handle_event(app, asker, lambda: accept(app, asker, requests.read_value(body)))
            ack()

    for action, accept in _CLICKS.items():
        listen(action, accept)
    for action in buttons.HIT_VERDICTS.values():
        # what is marked in the message needs more of the payload than a value
        @bolt.action(action)
        def choose(ack: Ack, body: dict[str, Any]) -> None:
            asker = requests.parse_action(body)
            handle_event(app, asker, lambda: _enqueue_hit_vote(app, asker, body))
            ack()

    for command in [each for each in commands.commands if each.share_action]:
        share = partial(_share_again, command)
        listen(command.share_action, share)
        listen(buttons.name_repeat_action(command.share_action), share, requests.parse_single_action)
    for action, handle_verb in subscriptions.BUTTONS.items():
        listen(action, partial(_handle_id, handle_verb))
    listen(re.compile(""), lambda *_: UNKNOWN_BUTTON)


def _enqueue_details(app: App, asker: SlackRequest, value: str) -> None:
    show_details.send_to(app.jobs, asker, read_reference(value, app.repositories))


def _enqueue_ask_hint(app: App, asker: SlackRequest, _: str) -> None:
    explain_asking.send_to(app.jobs, asker)


def _enqueue_vote(app: App, asker: SlackRequest, value: str) -> None:
    """Enqueue the job for a vote. Raises UsageError if the button has no message."""
    verdict = read_verdict(value)
    if not asker.message:
        raise UsageError(UNKNOWN_BUTTON)
    record_vote.send_to(app.jobs, asker, asker.message, verdict)


def _enqueue_agent_task(app: App, asker: SlackRequest, value: str) -> None:
    profile, reference = read_hit_task(value, app.repositories)
    show_agent_task.send_to(app.jobs, asker, profile, reference)


def _enqueue_hit_vote(app: App, asker: SlackRequest, body: Mapping[str, Any]) -> None:
    vote = read_hit_vote(requests.read_value(body), app.repositories)
    blocks = requests.read_blocks(body)
    record_hit_vote.send_to(app.jobs, asker, vote, requests.parse_action_time(body), blocks)


_CLICKS: Mapping[str, _ClickHandler] = {
    buttons.DETAILS: _enqueue_details,
    buttons.DETAILS_OF: _enqueue_details,
    buttons.ASK: _enqueue_ask_hint,
    VOTE: _enqueue_vote,
    buttons.AGENT_TASK: _enqueue_agent_task,
}


def _share_again(command: Command[Any], app: App, asker: SlackRequest, value: str) -> None:
    """Repeat a command's request for everybody."""
    shared = read_request(value, command.request_types)
    if isinstance(shared, str):
        command.accept_text(app, asker, shared, Audience.SHARED)
    else:
        command.share_request(app, asker, shared)


def _handle_id(handle_verb: VerbHandler, app: App, asker: SlackRequest, value: str) -> str:
    return handle_verb(app, asker, read_id(value))
