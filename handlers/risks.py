"""``/prrisks 7d path:vllm/v1``: the reverts of some days, and the changes that deserve a second look.

``/prrisks score 90d``: how good such lists were.
"""

from __future__ import annotations

from bot.app import App
from bot.domain.conversations.commands import (
    MAX_RISKS_DAYS,
    MAX_SCORE_DAYS,
    MAX_TOP_RISKS,
    SCORE_WORD,
    ParseContext,
    RisksRequest,
    ScoreRequest,
    is_score_request,
)
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.features.risks.service import answer_score, list_many_risks, list_risks
from bot.render.blocks.buttons import SHARE_RISKS
from bot.render.conversations.greetings import HelpExample
from handlers.declaration import Command, choose_audience

_MAX_QUICK_DAYS = 3
_LIST_MEANING = "reverted changes, and those worth a second look"


def _parse(text: str, context: ParseContext) -> RisksRequest | ScoreRequest:
    kind = ScoreRequest if is_score_request(text) else RisksRequest
    return kind.parse(text, context.repositories, context.today())


def _enqueue(app: App, asker: SlackRequest, request: RisksRequest | ScoreRequest, audience: Audience) -> str:
    """Enqueue a list or a score. Nothing is said at once: most answers come within seconds."""
    audience = choose_audience(request, audience)
    if isinstance(request, ScoreRequest):
        answer_score.send_to(app.jobs, asker, request, audience)
    else:
        job = list_risks if len(request.span) <= _MAX_QUICK_DAYS else list_many_risks
        job.send_to(app.jobs, asker, request, audience)
    return ""


COMMAND: Command[RisksRequest | ScoreRequest] = Command(
    name="/prrisks",
    description="List reverted changes and those worth a second look",
    hint="[7d | 2026-02-28] [path:… author:… profile:…] [top:5] | score 90d | help",
    usage=(
        "*List risky changes*: `/prrisks`, `/prrisks today`, `7d`, `2026-02-28` or `2026-02-24..2026-02-28` (up "
        f"to {MAX_RISKS_DAYS} days). Filter with `path:vllm/v1`, `author:name`, `label:bug` or "
        "`repo:owner/name`: one of several paths, authors or labels is enough, and all kinds must fit. "
        "`profile:NAME` lists what touches your own code. "
        f"`top:{MAX_TOP_RISKS}` ranks more changes, including those that don't stand out. "
        "`private` keeps the list to yourself.\n*Check the lists*: `/prrisks score 90d` says how good they were "
        f"(up to {MAX_SCORE_DAYS} days)."
    ),
    trigger_words=("risks", "prrisks"),
    request_types=(RisksRequest, ScoreRequest),
    parse=_parse,
    enqueue=_enqueue,
    jobs=(),
    examples=(
        HelpExample("risks 7d", _LIST_MEANING, _LIST_MEANING),
        HelpExample("risks score", "how good the risk lists were"),
    ),
    share_action=SHARE_RISKS,
    keywords=("today", "yesterday", SCORE_WORD),
)
