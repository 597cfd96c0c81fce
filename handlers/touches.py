"""Contract changes, hits, errors, upgrades and deprecations: words of ``/prdigest``, and buttons below hits."""

from __future__ import annotations

from bot.app import App
from bot.features.digest.amendments import record_hit_vote
from bot.features.digest.since import answer_since
from bot.features.touches.lines import AGENT_TASK, HIT_VERDICTS, read_hit_task, read_hit_vote
from bot.features.touches.requests import (
    MAX_BROKE_DAYS,
    MAX_CONTRACT_DAYS,
    MAX_SINCE_DAYS,
    BrokeRequest,
    ContractRequest,
    DeprecationsRequest,
    SinceRequest,
    TouchesRequest,
    TouchScoreRequest,
    UpgradeRequest,
    parse_touches,
)
from bot.features.touches.service import (
    answer_broke,
    answer_contract,
    answer_deprecations,
    answer_long_contract,
    answer_long_touches,
    answer_touch_score,
    answer_touches,
    answer_upgrade,
)
from bot.features.touches.tasks import show_agent_task
from bot.platform.slack.greetings import HelpExample
from bot.platform.slack.requests import Audience, SlackRequest
from handlers.declaration import RequestEnqueuer, RequestWord, SubCommand, make_enqueuer
from handlers.intake import on_click
from handlers.requests import Payload, parse_action_time, read_blocks, read_value

_enqueue_hits: RequestEnqueuer[TouchesRequest] = make_enqueuer(answer_touches, answer_long_touches)
_enqueue_score: RequestEnqueuer[TouchScoreRequest] = make_enqueuer(answer_touch_score)


def _enqueue_touches(
    app: App, asker: SlackRequest, request: TouchesRequest | TouchScoreRequest, audience: Audience
) -> None:
    if isinstance(request, TouchesRequest):
        _enqueue_hits(app, asker, request, audience)
    else:
        _enqueue_score(app, asker, request, audience)


@on_click(AGENT_TASK)
def _enqueue_agent_task(app: App, asker: SlackRequest, click: Payload) -> None:
    profile, reference = read_hit_task(read_value(click), app.repositories)
    show_agent_task.send_to(app.jobs, asker, profile, reference)


@on_click(*HIT_VERDICTS.values())
def _enqueue_hit_vote(app: App, asker: SlackRequest, click: Payload) -> None:
    vote = read_hit_vote(read_value(click), app.repositories)
    record_hit_vote.send_to(app.jobs, asker, vote, parse_action_time(click), read_blocks(click))


CONTRACT = SubCommand(
    usage=(
        "*See what changes for others*: `/prdigest contract 7d` lists names, flags, variables, fields and metrics "
        f"that merges removed, renamed or changed (up to {MAX_CONTRACT_DAYS} days). `path:…`, `author:…` and "
        "`label:…` filter."
    ),
    examples=(HelpExample("digest contract 7d", "what merges removed, renamed or changed for others"),),
    requests=(
        RequestWord(
            ContractRequest.kind,
            (ContractRequest,),
            parse=lambda text, context: ContractRequest.parse(text, context.repositories, context.today()),
            enqueue=make_enqueuer(answer_contract, answer_long_contract),
        ),
    ),
    place=10,
)
TOUCHES = SubCommand(
    usage=(
        "*See what touches your code*: `/prdigest touches 7d profile:NAME` lists what merges do to the code of a "
        "profile. `/prdigest touches score` says what became of the hits."
    ),
    examples=(HelpExample("digest touches 7d", "what merges do to your own code"),),
    requests=(
        RequestWord(
            TouchesRequest.kind,
            (TouchesRequest, TouchScoreRequest),
            parse=lambda text, context: parse_touches(text, context.today()),
            enqueue=_enqueue_touches,
        ),
    ),
    place=20,
)
BROKE = SubCommand(
    usage=(
        "*Find what broke you*: `/prdigest broke ERROR since 2026-02-24` ranks the merges that explain an error. "
        "Paste its last line or the whole traceback. `since` takes a day or the last commit that worked "
        f"(up to {MAX_BROKE_DAYS} days)."
    ),
    examples=(HelpExample("digest broke KeyError: 'x' since 7d", "which merge explains an error"),),
    requests=(
        RequestWord(
            BrokeRequest.kind,
            (BrokeRequest,),
            parse=lambda text, context: BrokeRequest.parse(text, context.repositories, context.today()),
            enqueue=make_enqueuer(answer_broke),
        ),
    ),
    place=30,
)


# --- coming back, and moving on

PLANS = SubCommand(
    usage=(
        f"*Come back*: `/prdigest since 2026-11-01` is one page on all days since (up to {MAX_SINCE_DAYS}), from "
        "what was read before. *Move on*: `/prdigest deprecations` lists what will be removed, `/prdigest upgrade "
        "v1.2.0` what to adapt on the way from a tag or commit to now. All take `profile:NAME`."
    ),
    examples=(
        HelpExample("digest since 2026-11-01", "one page on all that was merged since a day"),
        HelpExample("digest deprecations", "what will be removed, and what takes its place"),
        HelpExample("digest upgrade v1.2.0", "what to adapt on the way from a tag or commit to now"),
    ),
    requests=(
        RequestWord(
            SinceRequest.kind,
            (SinceRequest,),
            parse=lambda text, context: SinceRequest.parse(text, context.repositories, context.today()),
            enqueue=make_enqueuer(answer_since),
        ),
        RequestWord(
            DeprecationsRequest.kind,
            (DeprecationsRequest,),
            parse=lambda text, context: DeprecationsRequest.parse(text, context.repositories),
            enqueue=make_enqueuer(answer_deprecations),
        ),
        RequestWord(
            UpgradeRequest.kind,
            (UpgradeRequest,),
            parse=lambda text, context: UpgradeRequest.parse(text),
            enqueue=make_enqueuer(answer_upgrade),
        ),
    ),
    place=40,
)
