"""What jobs carry is read as it was written, and nothing else is taken for it."""

from __future__ import annotations

import datetime as dt
import json
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.domain.conversations.commands import (
    DigestRequest,
    ParseContext,
    Repositories,
    RisksRequest,
    ScoreRequest,
    SummaryRequest,
)
from bot.domain.conversations.slack_request import Audience
from bot.domain.digest.view import DigestView, ViewLevel
from bot.domain.errors import UsageError
from bot.domain.operations.lost_job import LossReason, LostJob
from bot.domain.pull_requests.filters import Filters
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.reference import Reference
from bot.domain.subscriptions.request import Which, Wish
from bot.domain.time.date_range import Span
from bot.domain.time.day import LocalDay
from bot.render.conversations.greetings import Greeting
from bot.services.jobs import job_types as kinds
from bot.services.jobs import payloads as made
from bot.services.jobs.declaration import JobType
from handlers import COMMANDS
from handlers.commands.digest import DIGEST, OVERVIEW
from handlers.commands.risks import LONG_RISKS, RISKS, SCORE
from handlers.commands.summary import SUMMARY
from tests.services.doubles import visit

ENGINE = Repository("octo", "engine")
BERLIN = ZoneInfo("Europe/Berlin")
SPAN = Span(dt.date(2026, 2, 22), dt.date(2026, 2, 28), BERLIN)
FILTERS = Filters(("engine/", "*.cu"), ("ada",), ("good first issue",), ("bots",))
ASKER = visit(response_url="https://hooks.slack.test/1", thread="100.1", message="100.2", trigger="1.2.3")
CONTEXT = ParseContext(Repositories(ENGINE), lambda zone=None: LocalDay(dt.date(2026, 3, 1), zone or BERLIN))
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
WISH = Wish(
    ENGINE, dt.time(9, 30), BERLIN, weekdays=True, view=DigestView(FILTERS, ViewLevel.RISKY), is_personal=True
)

CASES: list[tuple[JobType[Any], Any]] = [
    (SUMMARY, made.CommandPayload(ASKER, SummaryRequest((Reference(ENGINE, 1), Reference(ENGINE, 2))))),
    (RISKS, made.CommandPayload(ASKER, RisksRequest(ENGINE, SPAN, FILTERS, 3, is_private=True), Audience.ASKER)),
    (LONG_RISKS, made.CommandPayload(ASKER, RisksRequest(ENGINE, SPAN), Audience.SHARED)),
    (SCORE, made.CommandPayload(ASKER, ScoreRequest(ENGINE, SPAN))),
    (OVERVIEW, made.CommandPayload(ASKER, DigestRequest(ENGINE, SPAN, zone=BERLIN), Audience.HERE)),
    (DIGEST, made.CommandPayload(ASKER, DigestRequest(ENGINE, SPAN))),
    (kinds.TELL, made.SentencePayload(ASKER, 'Ünïcode – and a "quote".')),  # noqa: RUF001 (a dash)
    (kinds.SAY, made.SentencePayload(ASKER, "")),
    (kinds.GREET, made.GreetingPayload(ASKER, Greeting.INVITED)),
    (kinds.DETAILS, made.DetailsPayload(ASKER, Reference(ENGINE, 7))),
    (kinds.VOTES, made.VotePayload(ASKER, "100.1", "good")),
    (kinds.REGULAR, made.SubscriptionPayload(ASKER, "subscribe", WISH, channel="C1", replaces="1a2b")),
    (kinds.REGULAR, made.SubscriptionPayload(ASKER, "pause", which=Which(repository=ENGINE))),
    (kinds.REGULAR, made.SubscriptionPayload(ASKER, "resume", which=Which(is_all=True))),
    (kinds.REGULAR, made.SubscriptionPayload(ASKER, "list")),
    (kinds.PREVIEW, made.PreviewPayload(ASKER, "1a2b")),
    (kinds.PREVIEW, made.PreviewPayload(ASKER, wish=WISH)),
    (kinds.FORM, made.FormPayload(ASKER)),
    (kinds.HOME, made.AskerPayload(ASKER)),
    (kinds.QUESTIONS, made.PlacePayload("C0DIGEST:100.1")),
    (kinds.DELIVER, made.DeliveryPayload("1a2b3c4d", NOON)),
    (kinds.MEND, made.DigestPayload("digest:T:C:octo/engine:2026-02-28")),
    (kinds.WATCH, made.RepositoryPayload(ENGINE)),
    (kinds.AMEND, made.AmendPayload("digest:T:C:octo/engine:2026-02-28", NOON)),
    (kinds.AMEND, made.AmendPayload("digest:T:C:octo/engine:2026-02-28")),
    (kinds.END, made.LostJobPayload(LostJob("id", "summary", LossReason.FAILED, NOON), ASKER)),
    (kinds.END, made.LostJobPayload(LostJob("id", "questions", LossReason.ENDLESS, NOON), place="C0DIGEST:100.1")),
]


def test_every_kind_is_among_the_cases() -> None:
    of_commands = {job.type.name for job in COMMANDS.jobs.jobs}
    own = {each.name for each in vars(kinds).values() if isinstance(each, JobType)}
    assert {kind.name for kind, _ in CASES} == of_commands | own


@pytest.mark.parametrize(("kind", "payload"), CASES, ids=[kind.name for kind, _ in CASES])
def test_what_a_job_carries_is_read_as_it_was_written(kind: JobType[Any], payload: Any) -> None:
    written = json.loads(json.dumps(kind.encode(payload)))
    assert written["version"] == 2
    assert kind.decode([written], CONTEXT) == payload


@pytest.mark.parametrize("arguments", [["digest:T:C"], [{"version": 2, "key": "digest:T:C"}]], ids=["1", "2"])
def test_an_amendment_that_does_not_say_which_look_asked_for_it_is_read(arguments: list[Any]) -> None:
    assert kinds.AMEND.decode(arguments, CONTEXT) == made.AmendPayload("digest:T:C", looked_at=None)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        [{"version": 3, "asker": {}, "sentence": "?"}],
        [{"version": 2, "sentence": "To whom?"}],
        [{"version": 2, "asker": {"key": "k", "team": "T", "channel": "C"}, "sentence": "No user."}],
        [{"version": 2}, "and more"],
        [{"key": "k", "team": "T", "channel": "C", "user": "U"}],
        ["a", "b", "c"],
    ],
    ids=["none", "later version", "no asker", "no user", "two versions", "too few", "too many"],
)
def test_what_no_version_wrote_is_an_error(arguments: list[Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        kinds.TELL.decode(arguments, CONTEXT)


def test_a_kind_that_is_younger_than_the_payloads_has_no_old_arguments() -> None:
    young = JobType("young", made.PlacePayload)
    assert young.decode([young.encode(made.PlacePayload("C:1"))], CONTEXT) == made.PlacePayload("C:1")
    with pytest.raises(TypeError, match="the job young never had positional arguments"):
        young.decode(["C:1"], CONTEXT)


def test_a_request_that_went_through_the_queue_is_still_held_to_the_settings() -> None:
    foreign = RisksRequest(Repository("other", "secret"), SPAN)
    [back] = [RISKS.decode([RISKS.encode(made.CommandPayload(ASKER, foreign))], CONTEXT)]
    with pytest.raises(UsageError, match="I don't speak of other/secret here"):
        back.request.require_known(Repositories(ENGINE))
    spelt = RisksRequest(Repository("OCTO", "Engine"), SPAN).require_known(Repositories(ENGINE))
    assert spelt.repository == ENGINE
