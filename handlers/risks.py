"""``/prrisks 7d path:vllm/v1``: the reverts of some days, and the changes that deserve a second look.

``/prrisks score 90d``: how good such lists were.
"""

from __future__ import annotations

from bot.features.merges.requests import (
    MAX_RISKS_DAYS,
    MAX_SCORE_DAYS,
    MAX_TOP_RISKS,
    SCORE_WORD,
    RisksRequest,
    ScoreRequest,
)
from bot.features.risks.service import answer_score, list_many_risks, list_risks
from bot.platform.slack.buttons import SHARE_RISKS
from bot.platform.slack.greetings import HelpExample
from handlers.declaration import Command, RequestWord, make_enqueuer

_LIST_MEANING = "reverted changes, and those worth a second look"

COMMAND = Command(
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
    requests=(
        RequestWord(
            "risks",
            (RisksRequest,),
            parse=lambda text, context: RisksRequest.parse(text, context.repositories, context.today()),
            enqueue=make_enqueuer(list_risks, list_many_risks),
        ),
        RequestWord(
            SCORE_WORD,
            (ScoreRequest,),
            parse=lambda text, context: ScoreRequest.parse(text, context.repositories, context.today()),
            enqueue=make_enqueuer(answer_score),
        ),
    ),
    examples=(
        HelpExample("risks 7d", _LIST_MEANING, _LIST_MEANING),
        HelpExample("risks score", "how good the risk lists were"),
    ),
    share_action=SHARE_RISKS,
    keywords=("today", "yesterday"),
)
