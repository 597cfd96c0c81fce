"""What Slack sends about contract changes, hits, errors, upgrades and deprecations: words of ``/prdigest``."""

from __future__ import annotations

from typing import TypeVar

from bot.app import App
from bot.domain.conversations.commands import CommandRequest
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.features.digest.since import answer_since
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
from bot.platform.jobs import Job
from bot.render.conversations.greetings import HelpExample
from handlers.declaration import RequestEnqueuer, RequestWord, SubCommand, choose_audience

R = TypeVar("R", bound=CommandRequest)

# of more days, both versions of each changed file take minutes
_MAX_QUICK_DAYS = 3


def _make_enqueuer(
    job: Job[[SlackRequest, R, Audience]], long_job: Job[[SlackRequest, R, Audience]] | None = None
) -> RequestEnqueuer[R]:
    """Return what enqueues the job for a request, the other one for many days. Nothing is said at once."""

    def enqueue(app: App, asker: SlackRequest, request: R, audience: Audience) -> str:
        span = request.span if isinstance(request, (ContractRequest, TouchesRequest)) else ()
        chosen = long_job if long_job and len(span) > _MAX_QUICK_DAYS else job
        chosen.send_to(app.jobs, asker, request, choose_audience(request, audience))
        return ""

    return enqueue


_enqueue_hits: RequestEnqueuer[TouchesRequest] = _make_enqueuer(answer_touches, answer_long_touches)
_enqueue_score: RequestEnqueuer[TouchScoreRequest] = _make_enqueuer(answer_touch_score)


def _enqueue_touches(
    app: App, asker: SlackRequest, request: TouchesRequest | TouchScoreRequest, audience: Audience
) -> str:
    if isinstance(request, TouchesRequest):
        return _enqueue_hits(app, asker, request, audience)
    return _enqueue_score(app, asker, request, audience)


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
            enqueue=_make_enqueuer(answer_contract, answer_long_contract),
            jobs=(),
        ),
    ),
    place=10,
)
_TOUCHES: RequestWord[TouchesRequest | TouchScoreRequest] = RequestWord(
    TouchesRequest.kind,
    (TouchesRequest, TouchScoreRequest),
    parse=lambda text, context: parse_touches(text, context.today()),
    enqueue=_enqueue_touches,
    jobs=(),
)
TOUCHES = SubCommand(
    usage=(
        "*See what touches your code*: `/prdigest touches 7d profile:NAME` lists what merges do to the code of a "
        "profile. `/prdigest touches score` says what became of the hits."
    ),
    examples=(HelpExample("digest touches 7d", "what merges do to your own code"),),
    requests=(_TOUCHES,),
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
            enqueue=_make_enqueuer(answer_broke),
            jobs=(),
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
            enqueue=_make_enqueuer(answer_since),
            jobs=(),
        ),
        RequestWord(
            DeprecationsRequest.kind,
            (DeprecationsRequest,),
            parse=lambda text, context: DeprecationsRequest.parse(text, context.repositories),
            enqueue=_make_enqueuer(answer_deprecations),
            jobs=(),
        ),
        RequestWord(
            UpgradeRequest.kind,
            (UpgradeRequest,),
            parse=lambda text, context: UpgradeRequest.parse(text),
            enqueue=_make_enqueuer(answer_upgrade),
            jobs=(),
        ),
    ),
    place=40,
)
