"""The buttons and menus below the bot's messages."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from slack_bolt import Ack, App

from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.errors import UsageError
from bot.render.blocks import buttons
from bot.render.blocks.button_values import (
    UNKNOWN_BUTTON,
    read_id,
    read_reference,
    read_request,
    read_verdict,
)
from bot.render.conversations.answers import VOTE
from bot.services.jobs.job_types import DETAILS, VOTES
from bot.services.jobs.payloads import DetailsPayload, VotePayload
from handlers import requests
from handlers.commands import subscriptions
from handlers.commands.declaration import AcceptVerb, Command
from handlers.commands.registry import CommandRegistry
from handlers.intake import RequestIntake

Click = Callable[[RequestIntake, SlackRequest, str], str | None]

_HINT = (
    "Reply to this message in its thread, in your own words: which of these touch ROCm? does #35617 change a "
    "default? what must we do in our fork? I answer there, with links to the lines. No need to write my name."
)


def register(app: App, intake: RequestIntake, commands: CommandRegistry) -> None:
    """Listen to clicks."""

    def listen(action: str | re.Pattern[str], accept: Click) -> None:
        @app.action(action)
        def click(ack: Ack, body: dict[str, Any]) -> None:
            asker = requests.of_action(body)
            intake.handle_event(asker, lambda: accept(intake, asker, _value(body)))
            ack()

    listen(buttons.DETAILS, _show_details)
    listen(buttons.DETAILS_OF, _show_details)
    listen(buttons.ASK, lambda *_: _HINT)
    listen(VOTE, _vote)
    for command in commands.commands:
        if command.share:
            listen(command.share, _sharing(command))
    for action, accept_verb in subscriptions.BUTTONS.items():
        listen(action, _acting(accept_verb))
    listen(re.compile(""), lambda *_: UNKNOWN_BUTTON)


def _show_details(intake: RequestIntake, asker: SlackRequest, value: str) -> None:
    reference = read_reference(value, intake.repositories)
    intake.jobs.send(DETAILS, DetailsPayload(asker, reference))


def _vote(intake: RequestIntake, asker: SlackRequest, value: str) -> None:
    verdict = read_verdict(value)
    if not asker.message:
        raise UsageError(UNKNOWN_BUTTON)
    intake.jobs.send(VOTES, VotePayload(asker, asker.message, verdict))


def _sharing(command: Command[Any]) -> Click:
    def share(intake: RequestIntake, asker: SlackRequest, value: str) -> None:
        shared = read_request(value, command.requests)
        if isinstance(shared, str):
            command.accept(intake, asker, shared, Audience.SHARED)
        else:
            command.share_again(intake, asker, shared)

    return share


def _acting(accept: AcceptVerb) -> Click:
    return lambda intake, asker, value: accept(intake, asker, read_id(value))


def _value(body: dict[str, Any]) -> str:
    """Return what the button carries, or what was chosen in the menu."""
    action = body["actions"][0]
    return str(action.get("value") or (action.get("selected_option") or {}).get("value") or "")
