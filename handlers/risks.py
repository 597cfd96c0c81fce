"""``/prrisks 7d path:vllm/v1``: the breaking changes and reverts of some days, and what is riskiest.

``/prrisks score 90d``: how good such lists were.
"""

from __future__ import annotations

from bot.features.merges.requests import (
    DEFAULT_SCORE_SPAN,
    MAX_RISKS_DAYS,
    MAX_SCORE_DAYS,
    MAX_TOP_RISKS,
    SCORE_WORD,
    RisksRequest,
    ScoreRequest,
)
from bot.features.risks.service import answer_score, list_many_risks, list_risks
from bot.platform.slack.blocks import SHARE_RISKS
from handlers.declaration import Command, RequestWord, make_enqueuer

_LIST_MEANING = "breaking and reverted changes, and the riskiest ones"

COMMAND = Command(
    name="/prrisks",
    description="List breaking, reverted and the riskiest changes",
    hint="[7d | 2026-02-28] [path:… author:… profile:…] [top:5] | score 90d | help",
    trigger_words=("risks", "prrisks"),
    requests=(
        RequestWord(
            _LIST_MEANING,
            "[DAYS] [path:… author:… label:…] [profile:NAME] [top:5] [repo:owner/name] [private]",
            ("7d", "2026-02-28 path:vllm/v1"),
            f"Without days: yesterday; up to {MAX_RISKS_DAYS}. One of several paths, authors or labels is "
            "enough, and all kinds must fit. `profile:NAME` lists what touches your own code. "
            f"`top:{MAX_TOP_RISKS}` ranks more changes, including those that don't stand out. `private` "
            "keeps the list to yourself.",
            brief=_LIST_MEANING,
            word="risks",
            request_types=(RisksRequest,),
            parse=lambda text, context: RisksRequest.parse(text, context.repositories, context.today()),
            enqueue=make_enqueuer(list_risks, list_many_risks),
        ),
        RequestWord(
            "how good the risk lists were",
            f"{SCORE_WORD} [DAYS] [repo:owner/name] [private]",
            (SCORE_WORD, f"{SCORE_WORD} 30d"),
            f"Without days: {DEFAULT_SCORE_SPAN}; up to {MAX_SCORE_DAYS} days.",
            word=SCORE_WORD,
            request_types=(ScoreRequest,),
            parse=lambda text, context: ScoreRequest.parse(text, context.repositories, context.today()),
            enqueue=make_enqueuer(answer_score),
        ),
    ),
    share_action=SHARE_RISKS,
    keywords=("today", "yesterday"),
)
