"""First contact: a user who opens the bot's direct messages, and an invitation into a channel."""

from __future__ import annotations

from typing import Any

from slack_bolt import App as Bolt
from slack_bolt import BoltContext

from bot.app import App
from bot.domain.conversations.slack_request import SlackRequest
from bot.jobs.asker_jobs import send_greeting
from bot.platform.slack.access import WELCOMES
from bot.render.conversations.greetings import Greeting
from handlers import requests
from handlers.declaration import CommandRegistry
from handlers.intake import handle_event


def register_welcomes(bolt: Bolt, app: App, commands: CommandRegistry) -> None:
    def greet(asker: SlackRequest, why: Greeting) -> None:
        examples = commands.examples
        handle_event(app, asker, lambda: send_greeting.send_to(app.jobs, asker, why, examples), is_named=False)

    # Slack reports the joins of everybody
    @bolt.event("member_joined_channel")
    def handle_newcomer(body: dict[str, Any], event: dict[str, Any], context: BoltContext) -> None:
        if event["user"] == context.bot_user_id and event.get("inviter"):
            greet(requests.parse_inviter(body, event), Greeting.INVITED)

    @bolt.event("app_home_opened", matchers=[lambda event: event.get("tab") == "messages"])
    def handle_opening(body: dict[str, Any], event: dict[str, Any]) -> None:
        asker = requests.parse_newcomer(body, event)
        if app.tables.get(WELCOMES, asker.user) is None:
            greet(asker, Greeting.HELLO)
