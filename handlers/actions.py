"""The buttons and menus below the bot's messages."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from types import ModuleType
from typing import Any

from slack_bolt import Ack, App

from bot.domain.errors import UsageError
from bot.domain.visits import Audience, Visit
from bot.render import buttons
from handlers import mentions, prdigest, prrisks, prsummary, visits
from handlers.desk import Desk

_HINT = f"Ask in the thread of this message: reply to it. {mentions.USAGE}"
_UNKNOWN = "I don't know this button any more: ask again with a command."
_SHARED: dict[str, ModuleType] = {
    buttons.SHARE_SUMMARY: prsummary,
    buttons.SHARE_RISKS: prrisks,
    buttons.SHARE_DIGEST: prdigest,
}


def register(app: App, desk: Desk) -> None:
    """Listen to clicks."""

    def listen(action: str | re.Pattern[str], accept: Callable[[Visit, dict[str, Any]], object]) -> None:
        @app.action(action)
        def click(ack: Ack, body: dict[str, Any]) -> None:
            visit = visits.of_action(body)
            desk.hear(visit, lambda: accept(visit, body))
            ack()

    listen(buttons.DETAILS, lambda visit, body: _details(desk, visit, body))
    listen(buttons.DETAILS_OF, lambda visit, body: _details(desk, visit, body))
    listen(buttons.ASK, lambda visit, body: _say(_HINT))
    for action, surface in _SHARED.items():
        listen(action, _sharing(desk, surface))
    listen(re.compile(""), lambda visit, body: _say(_UNKNOWN))


def _details(desk: Desk, visit: Visit, body: dict[str, Any]) -> None:
    reference = desk.repositories.reference(_value(body))
    desk.queues.details.send(asdict(visit), body["trigger_id"], str(reference))


def _sharing(desk: Desk, surface: ModuleType) -> Callable[[Visit, dict[str, Any]], object]:
    return lambda visit, body: surface.accept(desk, visit, _value(body), Audience.SHARED)


def _say(sentence: str) -> None:
    raise UsageError(sentence)


def _value(body: dict[str, Any]) -> str:
    """What the button carries, or what was chosen in the menu."""
    action = body["actions"][0]
    return str(action.get("value") or (action.get("selected_option") or {}).get("value") or "")
