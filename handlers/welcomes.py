"""First contact: who opens the bot's direct messages, and channels that it is invited into."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from slack_bolt import App, BoltContext

from bot.render.conversations.greetings import Greeting
from handlers import requests
from handlers.intake import Desk


def register(app: App, desk: Desk) -> None:
    """Listen to who joins channels. Slack tells of everybody; the bot itself is the one that counts."""

    @app.event("member_joined_channel")
    def joined(body: dict[str, Any], event: dict[str, Any], context: BoltContext) -> None:
        if event["user"] == context.bot_user_id and event.get("inviter"):
            visit = requests.of_inviter(body, event)
            desk.hear(visit, lambda: desk.queues.greet.send(asdict(visit), str(Greeting.INVITED)), is_named=False)


def welcome(desk: Desk, body: dict[str, Any], event: dict[str, Any]) -> None:
    """Somebody opens the bot's direct messages, perhaps for the first time. Raises StoreUnavailable."""
    visit = requests.of_newcomer(body, event)
    if not desk.welcomes.has(visit.user):
        desk.hear(visit, lambda: desk.queues.greet.send(asdict(visit), str(Greeting.HELLO)), is_named=False)
