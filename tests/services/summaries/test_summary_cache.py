"""Summaries that earlier versions kept are read, and what is kept today can be read by them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.domain.keyspace.keys import SUMMARY_ENTRY
from bot.domain.operations.budget import BudgetRefusal
from bot.domain.pull_requests.reference import Reference
from bot.domain.summaries.fallback import Fallback, FallbackReason
from bot.domain.summaries.models import SummarisedPullRequest
from bot.services.summaries.summary_cache import SummaryCache
from tests.helpers.builders import REPOSITORY, failed, pull, summary
from tests.services.doubles import MemoryCache

SEVEN = Reference(REPOSITORY, 7)


def keep(cache: MemoryCache, **fields: Any) -> SummaryCache:
    """Keep a summary, and put other JSON in the place of fields of it."""
    subject = SummaryCache(cache, "haiku v1")
    subject.put(SEVEN, SummarisedPullRequest(pull(7), summary(), "Engine"))
    stored = json.loads(cache.get(subject.build_key(SEVEN)) or "")
    stored["summary"] |= fields
    cache.put(subject.build_key(SEVEN), json.dumps(stored), SUMMARY_ENTRY.lifetime)
    return subject


@pytest.mark.parametrize(
    ("stored", "fallback"),
    [
        ("", None),
        ("no model is set up", Fallback(FallbackReason.NO_MODEL)),
        ("it could not be read", Fallback(FallbackReason.UNREADABLE)),
        ("its files could not be loaded", Fallback(FallbackReason.NO_FILES)),
        ("this month's model budget is used up", Fallback(BudgetRefusal.MONTH_USED)),
        ("the model is busy", failed("the model is busy")),
    ],
)
def test_a_sentence_that_an_earlier_version_kept_is_its_reason(stored: str, fallback: Fallback | None) -> None:
    read = keep(MemoryCache(), fallback=stored).get(SEVEN)
    assert read
    assert read.summary.fallback == fallback


def test_a_summary_of_the_model_is_kept_as_before() -> None:
    cache = MemoryCache()
    subject = keep(cache)
    assert json.loads(cache.get(subject.build_key(SEVEN)) or "")["summary"]["fallback"] == ""


@pytest.mark.parametrize(
    "fallback", [Fallback(FallbackReason.NO_FILES), Fallback(BudgetRefusal.DAY_USED), failed("it is away")]
)
def test_a_reason_that_is_kept_is_read_again(fallback: Fallback) -> None:
    subject = SummaryCache(MemoryCache(), "haiku v1")
    made = SummarisedPullRequest(pull(7), summary(fallback=fallback), "Engine")
    subject.put(SEVEN, made)
    assert subject.get(SEVEN) == made
