"""``/prdigest previews on``: small cards below links to pull requests, in one conversation."""

from __future__ import annotations

from collections.abc import Mapping

from bot.domain.conversations.preview_request import PREVIEWS_WORD, parse_preview_action
from bot.domain.conversations.slack_request import SlackRequest
from bot.services.jobs.job_types import SWITCH_LINK_PREVIEWS
from bot.services.jobs.payloads import PreviewSwitchPayload
from handlers.commands.declaration import VerbHandler
from handlers.intake import RequestIntake

USAGE = (
    "*Preview links*: `/prdigest previews on` shows a small card below links to pull requests here; `off` ends "
    "that."
)


def _enqueue_switch(intake: RequestIntake, asker: SlackRequest, text: str) -> str:
    """Enqueue the change. Raises UsageError for anything but on, off and nothing."""
    intake.jobs.send(SWITCH_LINK_PREVIEWS, PreviewSwitchPayload(asker, parse_preview_action(text)))
    return ""


VERBS: Mapping[str, VerbHandler] = {PREVIEWS_WORD: _enqueue_switch}
