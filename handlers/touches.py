"""What Slack sends about contract changes, hits, errors, upgrades and deprecations: words of ``/prdigest``."""

from __future__ import annotations

from typing import TypeVar

from bot.app import App
from bot.domain.conversations.commands import CommandRequest
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.operations.lane import QueueName
from bot.features.digest.since import build_since_page
from bot.features.digest.stories import render_since
from bot.features.touches import upkeep  # noqa: F401 (it declares what is kept)
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
    find_profile,
)
from bot.jobs.command_jobs import CommandJob, CommandPayload, answer_once
from bot.platform.jobs import LONG_RETRIES, Job, JobType
from bot.render.blocks.buttons import SHARE_DIGEST, make_details_menu
from bot.render.conversations.greetings import HelpExample
from bot.services.slack.answers.answer import Answer
from bot.services.slack.answers.answer_builder import Share, build_answer
from handlers.commands.declaration import RequestEnqueuer, choose_audience, make_enqueuer
from handlers.commands.sub_commands import RequestWord, SubCommand
from handlers.intake import RequestIntake

R = TypeVar("R", bound=CommandRequest)

# of more days, both versions of each changed file take minutes
_MAX_QUICK_DAYS = 3


def _make_enqueuer(job: Job[[SlackRequest, R, Audience]]) -> RequestEnqueuer[R]:
    """Return what enqueues the job for a request. Nothing is said at once."""

    def enqueue(intake: RequestIntake, asker: SlackRequest, request: R, audience: Audience) -> str:
        job.send_to(intake.jobs, asker, request, choose_audience(request, audience))
        return ""

    return enqueue


def _enqueue_contract(
    intake: RequestIntake, asker: SlackRequest, request: ContractRequest, audience: Audience
) -> str:
    job = answer_contract if len(request.span) <= _MAX_QUICK_DAYS else answer_long_contract
    job.send_to(intake.jobs, asker, request, choose_audience(request, audience))
    return ""


def _enqueue_touches(
    intake: RequestIntake, asker: SlackRequest, request: TouchesRequest | TouchScoreRequest, audience: Audience
) -> str:
    audience = choose_audience(request, audience)
    if isinstance(request, TouchScoreRequest):
        answer_touch_score.send_to(intake.jobs, asker, request, audience)
    else:
        job = answer_touches if len(request.span) <= _MAX_QUICK_DAYS else answer_long_touches
        job.send_to(intake.jobs, asker, request, audience)
    return ""


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
            enqueue=_enqueue_contract,
            jobs=(),
        ),
    ),
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
)


# --- coming back, and moving on

SINCE_JOB = JobType(SinceRequest.kind, CommandPayload[SinceRequest], QueueName.LONG, LONG_RETRIES)


def _answer_since(app: App, request: SinceRequest, asker: SlackRequest) -> Answer:
    profile = find_profile(app, request.profile, request.repository)
    page = build_since_page(app, request.repository, request.span, profile)
    menu = make_details_menu(entry.pull for entry in page.riskiest)
    return build_answer(asker.name, render_since(page), Share(SHARE_DIGEST, request), menu, "")


def _describe_since(request: SinceRequest) -> str:
    return f"Collecting what I know of {request.repository} since {request.span.first}…"


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
            enqueue=make_enqueuer(SINCE_JOB),
            jobs=(CommandJob(SINCE_JOB, answer_once(SinceRequest.kind, _answer_since, _describe_since)),),
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
)
