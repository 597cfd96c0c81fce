"""The buttons and menus below the bot's messages."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from slack_bolt import Ack, App

from bot.domain.conversations.slack_request import Audience, Visit
from bot.render.blocks import buttons
from bot.render.conversations.answers import BAD, GOOD, VOTE
from handlers import requests
from handlers.commands import digest, risks, subscriptions, summary
from handlers.intake import Accept, Desk

Click = Callable[[Desk, Visit, dict[str, Any]], str | None]

_HINT = (
    "Reply to this message in its thread, in your own words: which of these touch ROCm? does #35617 change a "
    "default? what must we do in our fork? I answer there, with links to the lines. No need to write my name."
)
_UNKNOWN = "I don't know this button any more: ask again with a command."
_SHARED: dict[str, Accept] = {
    buttons.SHARE_SUMMARY: summary.accept,
    buttons.SHARE_RISKS: risks.accept,
    buttons.SHARE_DIGEST: digest.accept,
}


def register(app: App, desk: Desk) -> None:
    """Listen to clicks."""

    def listen(action: str | re.Pattern[str], accept: Click) -> None:
        @app.action(action)
        def click(ack: Ack, body: dict[str, Any]) -> None:
            visit = requests.of_action(body)
            desk.hear(visit, lambda: accept(desk, visit, body))
            ack()

    listen(buttons.DETAILS, _details)
    listen(buttons.DETAILS_OF, _details)
    listen(buttons.ASK, lambda *_: _HINT)
    listen(VOTE, _vote)
    for action, accept in _SHARED.items():
        listen(action, _sharing(accept))
    for action, does in subscriptions.BUTTONS.items():
        listen(action, _doing(does))
    listen(re.compile(""), lambda *_: _UNKNOWN)


def _details(desk: Desk, visit: Visit, body: dict[str, Any]) -> None:
    reference = desk.repositories.reference(_value(body))
    desk.queues.details.send(asdict(visit), body["trigger_id"], str(reference))


def _vote(desk: Desk, visit: Visit, body: dict[str, Any]) -> str | None:
    verdict, message = _value(body), body["container"].get("message_ts")
    if verdict not in (GOOD, BAD) or not message:
        return _UNKNOWN
    desk.queues.votes.send(asdict(visit), str(message), verdict)
    return None


def _sharing(accept: Accept) -> Click:
    def share(desk: Desk, visit: Visit, body: dict[str, Any]) -> None:
        accept(desk, visit, _value(body), Audience.SHARED)

    return share


def _doing(does: subscriptions.Accept) -> Click:
    return lambda desk, visit, body: does(desk, visit, _value(body))


def _value(body: dict[str, Any]) -> str:
    """What the button carries, or what was chosen in the menu."""
    action = body["actions"][0]
    return str(action.get("value") or (action.get("selected_option") or {}).get("value") or "")
