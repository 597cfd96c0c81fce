"""Turning previews of links on and off in a conversation."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from bot.domain.conversations.requests.preview_request import PreviewAction, PreviewSwitch
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import SlackCallRefused, UsageError
from bot.ports.slack.link_previews import PreviewSwitches
from bot.ports.slack.workspace_directory import WorkspaceDirectory
from bot.render.conversations.notices import render_notice
from bot.render.previews import sentences
from bot.services.slack.answers.answer import Answer


class PreviewSwitcher:
    """Service for ``/prdigest previews``: only members of a conversation decide for it."""

    def __init__(
        self, switches: PreviewSwitches, workspace: WorkspaceDirectory, now: Callable[[], datetime]
    ) -> None:
        self._switches = switches
        self._workspace = workspace
        self._now = now

    def answer_command(self, asker: SlackRequest, action: PreviewAction) -> Answer:
        """Do what is asked for and return the answer.

        Raises:
            UsageError: the asker is no member of the conversation, or the bot is none.
            SlackUnavailable, StoreUnavailable: nothing was changed.
        """
        if action is PreviewAction.ASK:
            switch = self._switches.get(asker.channel)
            return _build_answer(sentences.IS_ON if switch and switch.is_on else sentences.IS_OFF)
        self._require_member(asker)
        self.switch(asker.channel, asker.user, is_on=action is PreviewAction.ON)
        return _build_answer(sentences.SWITCHED_ON if action is PreviewAction.ON else sentences.SWITCHED_OFF)

    def switch(self, channel: str, user: str, *, is_on: bool) -> None:
        """Turn previews on or off, on behalf of a user who may. Raises StoreUnavailable."""
        self._switches.put(channel, PreviewSwitch(is_on, user, self._now()))

    def _require_member(self, asker: SlackRequest) -> None:
        if asker.is_direct:
            return
        try:
            is_bot_member = self._workspace.fetch_channel(asker.channel).is_member
            is_member = self._workspace.is_channel_member(asker.channel, asker.user)
        except SlackCallRefused as error:
            raise UsageError(sentences.NOT_IN_CHANNEL) from error
        if not is_bot_member:
            raise UsageError(sentences.NOT_IN_CHANNEL)
        if not is_member:
            raise UsageError(sentences.JOIN_FIRST)


def _build_answer(sentence: str) -> Answer:
    return Answer.for_asker(render_notice(sentence))
