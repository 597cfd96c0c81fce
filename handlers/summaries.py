"""``/prsummary 35617``: the summary of one pull request, or of a few."""

from __future__ import annotations

import re

from bot.app import App
from bot.domain.conversations.commands import MAX_PULL_REQUESTS, SummaryRequest
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.pull_requests.query_options import PRIVATE_WORD
from bot.features.summaries.service import answer_summaries
from bot.render.blocks.buttons import SHARE_SUMMARY
from bot.render.conversations.greetings import HelpExample
from handlers.declaration import Command, choose_audience

_REFERENCE = re.compile(r"(?:[\w.-]+/[\w.-]+)?#?\d{1,9}|https?://\S+/pull/\d+\S*")


def is_only_references(text: str) -> bool:
    """Return whether a text consists of pull requests alone, such as ``#35617, 35618 private``."""
    words = [word for word in re.split(r"[\s,]+", text) if word and word.lower() != PRIVATE_WORD]
    return bool(words) and all(map(_REFERENCE.fullmatch, words))


def _enqueue(app: App, asker: SlackRequest, request: SummaryRequest, audience: Audience) -> str:
    """Enqueue the summaries. Nothing is said at once: most answers come within seconds."""
    answer_summaries.send_to(app.jobs, asker, request, choose_audience(request, audience))
    return ""


COMMAND = Command(
    name="/prsummary",
    description="Summarize pull requests",
    hint="35617 | owner/repo#35617 | private | help",
    usage=(
        "*Summarize pull requests*: `/prsummary 35617`, `#35617`, `owner/repo#35617` or a web address, up to "
        f"{MAX_PULL_REQUESTS} at a time. Everybody here sees the answer; add `private` to keep it to yourself."
    ),
    trigger_words=("summary", "prsummary"),
    request_types=(SummaryRequest,),
    parse=lambda text, context: SummaryRequest.parse(text, context.repositories),
    enqueue=_enqueue,
    jobs=(),
    examples=(
        HelpExample(
            "35617", "a summary of that pull request; several numbers work too", "a summary of that pull request"
        ),
    ),
    share_action=SHARE_SUMMARY,
    needs_text=True,
    is_bare_form=is_only_references,
)
