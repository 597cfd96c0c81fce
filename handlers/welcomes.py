"""Listeners for first contact: a user who opens the bot's direct messages, and an invitation into a channel."""

from __future__ import annotations

from typing import Any

from slack_bolt import App, BoltContext

from bot.domain.conversations.slack_request import SlackRequest
from bot.jobs.asker_jobs import send_greeting
from bot.render.conversations.greetings import Greeting
from handlers import requests
from handlers.intake import RequestIntake


def register_join_listener(app: App, intake: RequestIntake) -> None:
    """Register the listener for joins. Slack reports those of everybody; only the bot's own counts."""

    @app.event("member_joined_channel")
    def handle_newcomer(body: dict[str, Any], event: dict[str, Any], context: BoltContext) -> None:
        if event["user"] == context.bot_user_id and event.get("inviter"):
            _enqueue_greeting(intake, requests.parse_inviter(body, event), Greeting.INVITED)


def welcome_newcomer(intake: RequestIntake, body: dict[str, Any], event: dict[str, Any]) -> None:
    """Greet a user who opens the bot's direct messages for the first time. Raises StoreUnavailable."""
    asker = requests.parse_newcomer(body, event)
    if not intake.welcomes.has_welcomed(asker.user):
        _enqueue_greeting(intake, asker, Greeting.HELLO)


def _enqueue_greeting(intake: RequestIntake, asker: SlackRequest, reason: Greeting) -> None:
    """Enqueue the job for a greeting."""
    intake.handle_event(
        asker, lambda: send_greeting.send_to(intake.jobs, asker, reason, intake.examples), is_named=False
    )
