from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, get_type_hints
from zoneinfo import ZoneInfo

import pytest
from dramatiq.common import compute_backoff

from bot.dates import Span
from bot.errors import UsageError
from bot.features import home, previews
from bot.features.digest import posts
from bot.features.digest.service import answer_overview
from bot.features.digest.since import answer_since
from bot.features.merges.requests import (
    DigestRequest,
    DigestView,
    RisksRequest,
    ScoreRequest,
    SummaryRequest,
    ViewLevel,
)
from bot.features.noise import service as noise
from bot.features.noise.rules import FoldedMerges, Mute, MuteKind
from bot.features.questions.service import answer_questions
from bot.features.questions.view import record_vote
from bot.features.releases import answer_release
from bot.features.risks import service as risks
from bot.features.subscriptions import announcements, schedule
from bot.features.subscriptions import service as subscriptions
from bot.features.subscriptions.open_pulls import post_open_pulls
from bot.features.subscriptions.rules import (
    SubscriptionCommand,
    SubscriptionRequest,
    SubscriptionSelector,
    SubscriptionVerb,
)
from bot.features.summaries import service as summaries
from bot.features.touches import service as touches
from bot.features.touches import tasks
from bot.features.touches.lines import HitVote, TouchVerdict
from bot.features.touches.open_pulls import show_open_pulls
from bot.features.touches.requests import (
    BrokeRequest,
    ContractRequest,
    DeprecationsRequest,
    ReleaseRequest,
    SinceRequest,
    TouchesRequest,
    TouchScoreRequest,
    UpgradeRequest,
)
from bot.features.usage import UsageRequest, answer_usage
from bot.features.watches import service as watches
from bot.jobs import queues
from bot.platform.commands import AllowedRepositories
from bot.platform.dramatiq.broker import LossReason, LostJob
from bot.platform.jobs import JOBS, Job
from bot.platform.pulls.models import Reference
from bot.platform.pulls.paths import Filters
from bot.platform.slack.blocks import FeedbackVerdict
from bot.platform.slack.notices import Greeting
from bot.platform.slack.requests import Audience
from bot.platform.store.keys import ANSWER_PROGRESS
from handlers.digest import answer_digest
from impact.repository import Repository
from tests.helpers.doubles import slack_request
from tests.helpers.tables import check_rows

ENGINE = Repository("octo", "engine")
BERLIN = ZoneInfo("Europe/Berlin")
SPAN = Span(dt.date(2026, 2, 22), dt.date(2026, 2, 28), BERLIN)
FILTERS = Filters(("engine/", "*.cu"), ("ada",), ("good first issue",), ("bots",))
ASKER = slack_request(response_url="https://hooks.slack.test/1", thread="100.1", message="100.2", trigger="1.2.3")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
WISH = SubscriptionRequest(
    ENGINE, dt.time(9, 30), BERLIN, weekdays=True, view=DigestView(FILTERS, ViewLevel.RISKY), is_personal=True
)

CASES: list[tuple[Job[Any], Any]] = [
    (
        summaries.answer_summaries,
        {
            "asker": ASKER,
            "request": SummaryRequest((Reference(ENGINE, 1), Reference(ENGINE, 2))),
            "audience": Audience.CHANNEL,
        },
    ),
    (
        risks.list_risks,
        {
            "asker": ASKER,
            "request": RisksRequest(ENGINE, SPAN, FILTERS, 3, is_private=True),
            "audience": Audience.ASKER,
        },
    ),
    (
        risks.list_many_risks,
        {"asker": ASKER, "request": RisksRequest(ENGINE, SPAN), "audience": Audience.SHARED},
    ),
    (risks.answer_score, {"asker": ASKER, "request": ScoreRequest(ENGINE, SPAN), "audience": Audience.HERE}),
    (
        answer_overview,
        {"asker": ASKER, "request": DigestRequest(ENGINE, SPAN, zone=BERLIN), "audience": Audience.HERE},
    ),
    (answer_digest, {"asker": ASKER, "request": DigestRequest(ENGINE, SPAN)}),
    (queues.send_private_notice, {"asker": ASKER, "sentence": 'Ünïcode – and a "quote".'}),  # noqa: RUF001 (a dash)
    (queues.post_public_notice, {"asker": ASKER, "sentence": ""}),
    (queues.send_greeting, {"asker": ASKER, "why": Greeting.INVITED, "examples": ()}),
    (summaries.show_details, {"asker": ASKER, "reference": Reference(ENGINE, 7)}),
    (queues.explain_asking, {"asker": ASKER}),
    (record_vote, {"asker": ASKER, "message": "100.1", "verdict": FeedbackVerdict.GOOD}),
    (
        posts.record_hit_vote,
        {"asker": ASKER, "vote": HitVote(TouchVerdict.OURS, "ascend", Reference(ENGINE, 7)), "at": NOON},
    ),
    (previews.switch_previews, {"asker": ASKER, "word": "on"}),
    (
        previews.show_previews,
        {"poster": ASKER, "urls": ("https://github.com/a/b/pull/7",)},
    ),
    (previews.look_again, {"poster": ASKER}),
    (
        subscriptions.change_subscription,
        {
            "asker": ASKER,
            "command": SubscriptionCommand(SubscriptionVerb.SUBSCRIBE, wish=WISH, channel="C1", replaces="1a2b"),
        },
    ),
    (
        subscriptions.change_subscription,
        {
            "asker": ASKER,
            "command": SubscriptionCommand(SubscriptionVerb.PAUSE, SubscriptionSelector(repository=ENGINE)),
        },
    ),
    (
        subscriptions.change_subscription,
        {
            "asker": ASKER,
            "command": SubscriptionCommand(SubscriptionVerb.RESUME, SubscriptionSelector(is_all=True)),
        },
    ),
    (home.change_from_home, {"asker": ASKER, "command": SubscriptionCommand(SubscriptionVerb.LIST)}),
    (subscriptions.show_preview, {"asker": ASKER, "name": "1a2b"}),
    (subscriptions.show_preview, {"asker": ASKER, "wish": WISH}),
    (subscriptions.open_form, {"asker": ASKER}),
    (watches.end_watches, {"asker": ASKER, "reference": None}),
    (watches.end_watches, {"asker": ASKER, "reference": Reference(ENGINE, 7)}),
    (tasks.show_agent_task, {"asker": ASKER, "profile": "ascend", "reference": Reference(ENGINE, 7)}),
    (summaries.open_reference_form, {"asker": ASKER}),
    (answer_questions, {"place": "C0DIGEST:100.1"}),
    (home.open_home, {"asker": ASKER, "note": "Paused."}),
    (schedule.deliver_digest, {"name": "1a2b3c4d", "due": NOON}),
    (schedule.repair_digest, {"key": "digest:T:C:octo/engine:2026-02-28"}),
    (noise.mute_for_asker, {"asker": ASKER, "mutes": (Mute(MuteKind.AREA, "LoRA", NOON.date()),)}),
    (noise.show_muted, {"asker": ASKER, "folded": FoldedMerges(ENGINE, NOON.date(), NOON.date(), (7,))}),
    (schedule.watch_repository, {"repository": ENGINE}),
    (schedule.refresh_profile, {"name": "ascend"}),
    (announcements.post_release, {"name": "5d2cea88 v1.2.0"}),
    (post_open_pulls, {"name": "1a2b3c4d", "due": NOON}),
    (show_open_pulls, {"asker": ASKER, "profile": "ascend"}),
    *(
        (kind, {"asker": ASKER, "request": request, "audience": audience})
        for kind, request, audience in (
            (answer_since, SinceRequest(ENGINE, SPAN, "ascend"), Audience.HERE),
            (touches.answer_contract, ContractRequest(ENGINE, SPAN), Audience.CHANNEL),
            (touches.answer_long_contract, ContractRequest(ENGINE, SPAN), Audience.SHARED),
            (touches.answer_touches, TouchesRequest(SPAN, "ascend"), Audience.CHANNEL),
            (touches.answer_long_touches, TouchesRequest(SPAN), Audience.HERE),
            (touches.answer_touch_score, TouchScoreRequest("ascend"), Audience.CHANNEL),
            (touches.answer_broke, BrokeRequest(ENGINE, "TypeError: no", span=SPAN), Audience.CHANNEL),
            (
                touches.answer_broke,
                BrokeRequest(ENGINE, "TypeError: no", "4f5c1a9", is_private=True),
                Audience.ASKER,
            ),
            (touches.answer_deprecations, DeprecationsRequest(ENGINE, "ascend"), Audience.CHANNEL),
            (touches.answer_upgrade, UpgradeRequest("4f5c1a9", "ascend"), Audience.SHARED),
            (answer_release, ReleaseRequest("v1.2.0", "ascend", is_private=True), Audience.ASKER),
        )
    ),
    (
        answer_usage,
        {"asker": ASKER, "request": UsageRequest(dt.date(2026, 2, 1)), "audience": Audience.ASKER},
    ),
    (posts.amend_digest, {"key": "digest:T:C:octo/engine:2026-02-28", "looked_at": NOON}),
    (queues.announce_loss, {"lost": LostJob("id", "summary", LossReason.FAILED, NOON), "asker": ASKER}),
    (
        queues.announce_loss,
        {"lost": LostJob("id", "questions", LossReason.ENDLESS, NOON), "place": "C0DIGEST:100.1"},
    ),
]


def list_types(kinds: Iterable[Job[Any]]) -> set[str]:
    """What jobs carry, by type; the request of a command is sent by the tests of that command, too."""
    hints = (get_type_hints(kind.run, localns={"App": Any}) for kind in kinds)
    return {str(hint) for each in hints for name, hint in each.items() if name not in ("app", "request", "return")}


def test_every_type_that_jobs_carry_is_among_the_cases() -> None:
    assert list_types(JOBS) <= list_types(kind for kind, _ in CASES)


@check_rows(CASES)
def test_what_a_job_carries_is_read_as_it_was_written(kind: Job[Any], payload: Any) -> None:
    written = json.loads(json.dumps(kind.encode(payload)))
    assert written["version"] == 2
    assert kind.decode([written]) == payload


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        [{"version": 3, "asker": {}, "sentence": "?"}],
        [{"version": 2, "sentence": "To whom?"}],
        [{"version": 2, "asker": {"key": "k", "team": "T", "channel": "C"}, "sentence": "No user."}],
        [{"asker": asdict(ASKER), "sentence": "?"}],
        [{"version": 1, "asker": asdict(ASKER), "sentence": "?"}],
        [{"version": 2}, "and more"],
        [{"key": "k", "team": "T", "channel": "C", "user": "U"}],
        ["a", "b", "c"],
    ],
    ids=[
        "none",
        "later version",
        "no asker",
        "no user",
        "no version",
        "earlier version",
        "two arguments",
        "an asker alone",
        "three arguments",
    ],
)
def test_what_this_version_did_not_write_is_an_error(arguments: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"unpack|version|validation error"):
        queues.send_private_notice.decode(arguments)


def test_a_request_that_went_through_the_queue_is_still_held_to_the_settings() -> None:
    foreign = RisksRequest(Repository("other", "secret"), SPAN)
    payload = {"asker": ASKER, "request": foreign, "audience": Audience.CHANNEL}
    back = risks.list_risks.decode([risks.list_risks.encode(payload)])
    with pytest.raises(UsageError, match="I'm not set up for other/secret"):
        back["request"].require_known(AllowedRepositories(ENGINE))
    spelt = RisksRequest(Repository("OCTO", "Engine"), SPAN).require_known(AllowedRepositories(ENGINE))
    assert spelt.repository == ENGINE


def test_a_loss_is_reported_for_half_a_day_and_only_as_long_as_it_is_known_what_was_answered() -> None:
    retries = queues.announce_loss.retries
    assert retries.longest_pause
    pauses = [
        compute_backoff(tried, factor=retries.first_pause, jitter=False, max_backoff=retries.longest_pause)[1]
        for tried in range(retries.max_retries)
    ]
    longest = dt.timedelta(milliseconds=sum(pauses))
    # by chance, a pause is half as long at the least
    assert longest / 2 >= dt.timedelta(hours=10)
    assert longest < ANSWER_PROGRESS.lifetime
