"""``/prdigest previews on``: small cards below links to pull requests, in one conversation."""

from __future__ import annotations

from bot.domain.conversations.requests.preview_request import PREVIEWS_WORD, parse_preview_action
from bot.domain.conversations.slack_request import SlackRequest
from bot.render.conversations.greetings import HelpExample
from bot.services.jobs.job_types import SWITCH_LINK_PREVIEWS
from bot.services.jobs.payloads import PreviewSwitchPayload
from handlers.commands.sub_commands import SubCommand
from handlers.intake import RequestIntake

_USAGE = (
    "*Preview links*: `/prdigest previews on` shows a small card below links to pull requests here; `off` ends "
    "that."
)


def _enqueue_switch(intake: RequestIntake, asker: SlackRequest, text: str) -> str:
    """Enqueue the change. Raises UsageError for anything but on, off and nothing."""
    intake.jobs.send(SWITCH_LINK_PREVIEWS, PreviewSwitchPayload(asker, parse_preview_action(text)))
    return ""


SUB_COMMAND = SubCommand(
    usage=_USAGE,
    examples=(HelpExample("digest previews on", "a small card below each link to a pull request here"),),
    verbs={PREVIEWS_WORD: _enqueue_switch},
    hint_verbs=(PREVIEWS_WORD,),
)
