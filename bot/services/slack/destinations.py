"""The conversation in which a request is answered, and whether the bot may post there."""

from __future__ import annotations

import logging
from dataclasses import replace

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import SlackCallRefused
from bot.ports.slack.workspace_directory import WorkspaceDirectory

log = logging.getLogger(__name__)


class AnswerDestinations:
    """Finder of conversations. Both methods may raise SlackUnavailable."""

    def __init__(self, workspace: WorkspaceDirectory) -> None:
        self._workspace = workspace

    def choose_conversation(self, slack_request: SlackRequest) -> SlackRequest:
        """Return the request with a channel: one that comes from no conversation is answered by direct message."""
        if slack_request.channel:
            return slack_request
        try:
            channel = self._workspace.open_direct_messages(slack_request.user)
        except SlackCallRefused as error:
            log.info("no direct messages to find an answer in [%s]: %s", slack_request.reference, error)
            return slack_request
        return replace(slack_request, channel=channel)

    def can_post(self, slack_request: SlackRequest) -> bool:
        """Return whether the bot is in the conversation, and it is not archived; False if Slack does not say."""
        try:
            channel = self._workspace.fetch_channel(slack_request.channel)
        except SlackCallRefused as error:
            log.info("whether the bot is in %s is not known: %s", slack_request.channel, error)
            return False
        return channel.is_member and not channel.is_archived
