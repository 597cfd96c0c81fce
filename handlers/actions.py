"""Clicks on the buttons and menus below the bot's messages: each feature declares its own by :func:`on_click`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from slack_bolt import Ack
from slack_bolt import App as Bolt

from bot.app import App
from bot.errors import UsageError
from bot.platform.slack.blocks import UNKNOWN_BUTTON
from bot.platform.slack.buttons import name_repeat_action
from bot.platform.slack.requests import SlackRequest
from handlers.declaration import Commands
from handlers.intake import handle_event
from handlers.requests import Payload, parse_action, parse_single_action

# enqueues the work of a click, whose payload is not trusted; may raise UsageError and StoreUnavailable
ClickHandler = Callable[[App, SlackRequest, Payload], None]

_CLICKS: dict[str, ClickHandler] = {}


def on_click(*actions: str) -> Callable[[ClickHandler], ClickHandler]:
    """Declare what enqueues the work of a click on a button with one of these actions."""

    def declare(handle: ClickHandler) -> ClickHandler:
        _CLICKS.update(dict.fromkeys(actions, handle))
        return handle

    return declare


def register_actions(bolt: Bolt, app: App, commands: Commands) -> None:
    def listen(
        action: str | re.Pattern[str],
        handle: ClickHandler,
        parse: Callable[[Payload], SlackRequest] = parse_action,
    ) -> None:
        @bolt.action(action)
        def handle_click(ack: Ack, body: dict[str, Any]) -> None:
            asker = parse(body)
            handle_event(app, asker, lambda: handle(app, asker, body))
            ack()

    for action, handle in _CLICKS.items():
        listen(action, handle)
    for command in [each for each in commands if each.share_action]:
        listen(command.share_action, command.share_again)
        listen(name_repeat_action(command.share_action), command.share_again, parse_single_action)
    # the last one: it gets what no other takes
    listen(re.compile(""), _refuse_unknown)


def _refuse_unknown(_app: App, _asker: SlackRequest, _click: Payload) -> None:
    raise UsageError(UNKNOWN_BUTTON)
