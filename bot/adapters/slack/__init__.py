"""Adapter for Slack's Web API."""

from __future__ import annotations

from bot.adapters.slack.answer_display import SlackAnswerDisplays
from bot.adapters.slack.ephemeral_messenger import SlackEphemeralMessenger, SlackViews
from bot.adapters.slack.errors import translate_slack_errors
from bot.adapters.slack.messenger import SlackMessenger, make_slack_client
from bot.adapters.slack.post_throttle import PostThrottle
from bot.adapters.slack.scopes import SCOPES
from bot.adapters.slack.thread_reader import SlackThreads
from bot.adapters.slack.workspace_directory import SlackHomePublisher, SlackWorkspaceDirectory

__all__ = [
    "SCOPES",
    "PostThrottle",
    "SlackAnswerDisplays",
    "SlackEphemeralMessenger",
    "SlackHomePublisher",
    "SlackMessenger",
    "SlackThreads",
    "SlackViews",
    "SlackWorkspaceDirectory",
    "make_slack_client",
    "translate_slack_errors",
]
