"""Contract changes, hits, errors, upgrades and deprecations: words of ``/prdigest``, and buttons below hits."""

from __future__ import annotations

from bot.app import App
from bot.errors import UsageError
from bot.features.digest.posts import record_hit_vote
from bot.features.digest.since import answer_since
from bot.features.releases import answer_release
from bot.features.touches.lines import AGENT_TASK, HIT_VERDICTS, read_hit_task, read_hit_vote
from bot.features.touches.open_pulls import IDLE_DAYS, show_open_pulls
from bot.features.touches.requests import (
    MAX_BROKE_DAYS,
    MAX_CONTRACT_DAYS,
    MAX_SINCE_DAYS,
    MAX_UPGRADE_DAYS,
    BrokeRequest,
    ContractRequest,
    DeprecationsRequest,
    PendingRequest,
    ReleaseRequest,
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
    answer_pending,
    answer_touch_score,
    answer_touches,
    answer_upgrade,
)
from bot.features.touches.tasks import show_agent_task
from bot.platform.commands import QueryOptions
from bot.platform.slack.requests import Audience, SlackRequest
from handlers.declaration import (
    Payload,
    RequestEnqueuer,
    RequestWord,
    SubCommand,
    Verb,
    make_enqueuer,
    parse_action_time,
    read_blocks,
    read_value,
)
from handlers.intake import on_click
from impact.text.strings import quote_input

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


def _enqueue_open_pulls(app: App, asker: SlackRequest, text: str) -> None:
    options = QueryOptions.parse(text, ("profile",))
    if options.arguments:
        raise UsageError(
            f"I don't understand {quote_input(options.arguments[0])}: write open, or add profile:NAME."
        )
    show_open_pulls.send_to(app.jobs, asker, options.get_last("profile"))


SUB_COMMAND = SubCommand(
    verbs={
        "open": Verb(
            "open pull requests that would break your code",
            "open [profile:NAME]",
            ("open", "open profile:NAME"),
            "Only you see the list. It is judged by the heads of the pull requests, without drafts and those "
            f"without an update in {IDLE_DAYS} days. A weekly subscription with `open` posts what is new.",
            enqueue=_enqueue_open_pulls,
            is_listed=False,
        ),
    },
    requests=(
        RequestWord(
            "what merges changed for others",
            "contract [DAYS] [path:… author:… label:…] [repo:owner/name] [private]",
            ("contract 7d", "contract yesterday path:vllm/v1"),
            "It lists names, flags, variables, fields and metrics. Without days: yesterday; up to "
            f"{MAX_CONTRACT_DAYS} days.",
            word=ContractRequest.kind,
            request_types=(ContractRequest,),
            parse=lambda text, context: ContractRequest.parse(text, context.repositories, context.today()),
            enqueue=make_enqueuer(answer_contract, answer_long_contract),
        ),
        RequestWord(
            "what merges do to your code",
            "touches [DAYS | score] [profile:NAME] [private]",
            ("touches 7d", "touches score"),
            f"Without days: yesterday; up to {MAX_CONTRACT_DAYS} days. The profile says which code is "
            "yours. `score` says how accurate the warnings were.",
            word=TouchesRequest.kind,
            request_types=(TouchesRequest, TouchScoreRequest),
            parse=lambda text, context: parse_touches(text, context.today()),
            enqueue=_enqueue_touches,
        ),
        RequestWord(
            "what waits since your pin",
            "pending [profile:NAME] [private]",
            ("pending", "pending profile:NAME"),
            "A warning waits until somebody closes it, its file changes, or the pin is past it.",
            word=PendingRequest.kind,
            request_types=(PendingRequest,),
            parse=lambda text, _: PendingRequest.parse(text),
            enqueue=make_enqueuer(answer_pending),
        ),
        RequestWord(
            "which merge explains an error",
            "broke ERROR since DAY [repo:owner/name] [private]",
            ("broke KeyError: 'x' since 7d", "broke KeyError: 'x' since 4f5c1a9"),
            "Paste the last line of the error or the whole traceback. `since` takes a day, or the last "
            f"commit that worked: up to {MAX_BROKE_DAYS} days ago.",
            word=BrokeRequest.kind,
            request_types=(BrokeRequest,),
            parse=lambda text, context: BrokeRequest.parse(text, context.repositories, context.today()),
            enqueue=make_enqueuer(answer_broke),
        ),
        RequestWord(
            "one page on all merges since a day",
            "since DAY [profile:NAME] [repo:owner/name] [private]",
            ("since 2026-11-01", "since yesterday profile:NAME"),
            f"Up to {MAX_SINCE_DAYS} days, from stored summaries.",
            word=SinceRequest.kind,
            request_types=(SinceRequest,),
            parse=lambda text, context: SinceRequest.parse(text, context.repositories, context.today()),
            enqueue=make_enqueuer(answer_since),
        ),
        RequestWord(
            "what will be removed, and what takes its place",
            "deprecations [profile:NAME] [repo:owner/name] [private]",
            ("deprecations", "deprecations profile:NAME"),
            "With a profile, it shows your lines that use it.",
            word=DeprecationsRequest.kind,
            request_types=(DeprecationsRequest,),
            parse=lambda text, context: DeprecationsRequest.parse(text, context.repositories),
            enqueue=make_enqueuer(answer_deprecations),
        ),
        RequestWord(
            "what to adapt from a tag or commit to now",
            "upgrade [TAG | COMMIT] [profile:NAME] [private]",
            ("upgrade v1.2.0", "upgrade 97f2f160fd profile:NAME"),
            "Without a tag or commit, it begins at the version that your code pins. Up to "
            f"{MAX_UPGRADE_DAYS} days.",
            word=UpgradeRequest.kind,
            request_types=(UpgradeRequest,),
            parse=lambda text, context: UpgradeRequest.parse(text),
            enqueue=make_enqueuer(answer_upgrade),
        ),
        RequestWord(
            "what a release means for you",
            "release [TAG] [profile:NAME]",
            ("release v1.2.0", "release profile:NAME"),
            "You alone see it. Where a subscription has a profile, each new release is posted once.",
            word=ReleaseRequest.kind,
            request_types=(ReleaseRequest,),
            parse=lambda text, _: ReleaseRequest.parse(text),
            enqueue=make_enqueuer(answer_release),
        ),
    ),
    place=10,
)
