"""Listeners for the buttons and menus below the bot's messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from slack_bolt import Ack, App

from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.errors import UsageError
from bot.features.digest.amendments import record_hit_vote
from bot.features.questions.view import VOTE
from bot.features.questions.votes import record_vote
from bot.features.touches.tasks import show_agent_task
from bot.jobs.asker_jobs import explain_asking, show_details
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
from handlers import requests
from handlers.commands import subscriptions
from handlers.commands.declaration import Command, VerbHandler
from handlers.commands.registry import CommandRegistry
from handlers.intake import RequestIntake

ClickHandler = Callable[[RequestIntake, SlackRequest, str], str | None]
ClickParser = Callable[[requests.Payload], SlackRequest]


def register_actions(app: App, intake: RequestIntake, commands: CommandRegistry) -> None:
    """Register the listeners for clicks."""

    def listen(
        action: str | re.Pattern[str], accept: ClickHandler, parse: ClickParser = requests.parse_action
    ) -> None:
        @app.action(action)
        def handle_click(ack: Ack, body: dict[str, Any]) -> None:
            asker = parse(body)
            intake.handle_event(asker, lambda: accept(intake, asker, _get_value(body)))
            ack()

    def listen_to_verdict(action: str) -> None:
        @app.action(action)
        def choose(ack: Ack, body: dict[str, Any]) -> None:
            asker = requests.parse_action(body)
            intake.handle_event(asker, lambda: _enqueue_hit_vote(intake, asker, body))
            ack()

    listen(buttons.DETAILS, _enqueue_details)
    listen(buttons.DETAILS_OF, _enqueue_details)
    listen(buttons.ASK, _enqueue_ask_hint)
    listen(VOTE, _enqueue_vote)
    listen(buttons.AGENT_TASK, _enqueue_agent_task)
    for action in buttons.HIT_VERDICTS.values():
        listen_to_verdict(action)
    for command in [each for each in commands.commands if each.share_action]:
        share, again = _make_share_handler(command), buttons.name_repeat_action(command.share_action)
        listen(command.share_action, share)
        listen(again, share, requests.parse_single_action)
    for action, handle_verb in subscriptions.BUTTONS.items():
        listen(action, _make_verb_handler(handle_verb))
    listen(re.compile(""), lambda *_: UNKNOWN_BUTTON)


def _enqueue_details(intake: RequestIntake, asker: SlackRequest, value: str) -> None:
    """Enqueue the job for a window about a pull request."""
    reference = read_reference(value, intake.repositories)
    show_details.send_to(intake.jobs, asker, reference)


def _enqueue_ask_hint(intake: RequestIntake, asker: SlackRequest, _: str) -> None:
    """Enqueue the job that says how to ask about the message of a button."""
    explain_asking.send_to(intake.jobs, asker)


def _enqueue_vote(intake: RequestIntake, asker: SlackRequest, value: str) -> None:
    """Enqueue the job for a vote. Raises UsageError if the button has no message."""
    verdict = read_verdict(value)
    if not asker.message:
        raise UsageError(UNKNOWN_BUTTON)
    record_vote.send_to(intake.jobs, asker, asker.message, verdict)


def _enqueue_hit_vote(intake: RequestIntake, asker: SlackRequest, body: Mapping[str, Any]) -> None:
    """Enqueue the job for what somebody says about a hit. Raises UsageError if the value is none."""
    vote = read_hit_vote(_get_value(body), intake.repositories)
    blocks = requests.read_blocks(body)
    record_hit_vote.send_to(intake.jobs, asker, vote, requests.parse_action_time(body), blocks)


def _enqueue_agent_task(intake: RequestIntake, asker: SlackRequest, value: str) -> None:
    """Enqueue the job for a window with the task of a hit. Raises UsageError if the value is none."""
    profile, reference = read_hit_task(value, intake.repositories)
    show_agent_task.send_to(intake.jobs, asker, profile, reference)


def _make_share_handler(command: Command[Any]) -> ClickHandler:
    """Return a handler that repeats a command's request for everybody."""

    def share(intake: RequestIntake, asker: SlackRequest, value: str) -> None:
        shared = read_request(value, command.request_types)
        if isinstance(shared, str):
            command.accept_text(intake, asker, shared, Audience.SHARED)
        else:
            command.share_request(intake, asker, shared)

    return share


def _make_verb_handler(accept: VerbHandler) -> ClickHandler:
    """Return a handler for a button that carries an id."""
    return lambda intake, asker, value: accept(intake, asker, read_id(value))


def _get_value(body: Mapping[str, Any]) -> str:
    """Return the value of a button, or of the choice in a menu."""
    action = body["actions"][0]
    return str(action.get("value") or (action.get("selected_option") or {}).get("value") or "")
