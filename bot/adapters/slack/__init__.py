"""Adapter for Slack's Web API."""

from __future__ import annotations

from bot.adapters.slack.answer_display import SlackDisplays
from bot.adapters.slack.directory import SlackHomes, SlackPlaces
from bot.adapters.slack.ephemeral import SlackViews, SlackWhispers
from bot.adapters.slack.errors import translate_slack_errors
from bot.adapters.slack.messenger import SlackMessenger, slack_client
from bot.adapters.slack.pace import Pace
from bot.adapters.slack.scopes import SCOPES
from bot.adapters.slack.threads import SlackThreads

__all__ = [
    "SCOPES",
    "Pace",
    "SlackDisplays",
    "SlackHomes",
    "SlackMessenger",
    "SlackPlaces",
    "SlackThreads",
    "SlackViews",
    "SlackWhispers",
    "slack_client",
    "translate_slack_errors",
]
