"""The names of fields that the erasure of personal data knows are those of the values that are stored."""

import datetime as dt
from dataclasses import dataclass, fields
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.features.questions.rules import Question
from bot.features.questions.view import Vote
from bot.features.subscriptions.incidents import Incident, IncidentKind
from bot.features.subscriptions.rules import Subscription, Timing
from bot.features.subscriptions.tables import PreviewSwitch
from bot.features.touches.lines import HitKey, TouchDecision, TouchVerdict
from bot.platform.dramatiq.broker import LossReason, LostJob
from bot.platform.pulls.models import Reference
from bot.platform.slack.blocks import FeedbackVerdict
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.codecs import VersionedJson
from bot.platform.store.forgotten_ids import FORGOTTEN_USER, OPTIONAL_FIELDS, OWNER_FIELD, ForgottenIds
from tests.helpers.builders import NOON, REPOSITORY

ADA = "U0ADA"
IDS = ForgottenIds(frozenset({ADA}))
ASKER = SlackRequest("command:1", "T0TEAM", "C0DEV", ADA)
REPORT = Incident("k", IncidentKind.MISSING, "t", "r", NOON, None, "C0DEV", to=ADA)
SUBSCRIPTION = Subscription(
    "C0DEV", REPOSITORY, Timing(dt.time(9), ZoneInfo("Europe/Berlin")), by=ADA, follows=ADA
)


@dataclass(frozen=True)
class JobOfAda:
    asker: SlackRequest


OWNED: dict[str, Any] = {
    "job": JobOfAda(ASKER),
    "question": Question(ASKER, "Why?", "1.5"),
    "lost job": LostJob("1", "votes", LossReason.FAILED, NOON, user=ADA),
    "switch": PreviewSwitch(is_on=True, user=ADA, at=NOON),
    "vote": Vote(verdict=FeedbackVerdict.GOOD, at=NOON, user=ADA, question="Why?"),
}


def dump(value: Any) -> str:
    return VersionedJson(type(value), 1).dump_text(value)


@pytest.mark.parametrize("value", OWNED.values(), ids=OWNED)
def test_what_somebody_asked_for_is_theirs(value: Any) -> None:
    assert IDS.owns(dump(value))


@pytest.mark.parametrize("shape", [SlackRequest, LostJob, PreviewSwitch, Vote])
def test_the_owner_is_a_field_of_each(shape: type[Any]) -> None:
    assert OWNER_FIELD in {each.name for each in fields(shape)}


def test_what_only_names_somebody_stays_without_them() -> None:
    decision = TouchDecision(HitKey(Reference(REPOSITORY, 7)), TouchVerdict.DONE, ADA, NOON)
    left = {each: IDS.redact(dump(each)) for each in (REPORT, SUBSCRIPTION, decision)}
    assert not any(IDS.owns(dump(each)) for each in left)
    assert VersionedJson(Incident, 1).load_text(left[REPORT]).to == ""
    kept = VersionedJson(Subscription, 1).load_text(left[SUBSCRIPTION])
    assert (kept.by, kept.follows) == (FORGOTTEN_USER, "")
    assert VersionedJson(TouchDecision, 1).load_text(left[decision]).by == FORGOTTEN_USER


def test_the_fields_that_may_be_empty_are_empty_by_default() -> None:
    defaults = {each.name: each.default for shape in (Incident, Subscription) for each in fields(shape)}
    assert [defaults[name] for name in OPTIONAL_FIELDS] == ["", ""]
