"""Summaries are read as they were kept."""

from __future__ import annotations

import pytest

from bot.domain.operations.usage import BudgetRefusal
from bot.domain.pull_requests.reference import Reference
from bot.domain.summaries.fallback import Fallback, FallbackReason
from bot.domain.summaries.models import SummarisedPullRequest
from bot.services.summaries.summary_cache import SummaryCache
from tests.helpers.builders import REPOSITORY, failed, pull, summary
from tests.services.doubles import MemoryCache

SEVEN = Reference(REPOSITORY, 7)


@pytest.mark.parametrize(
    "fallback", [None, Fallback(FallbackReason.NO_FILES), Fallback(BudgetRefusal.DAY_USED), failed("it is away")]
)
def test_a_reason_that_is_kept_is_read_again(fallback: Fallback | None) -> None:
    subject = SummaryCache(MemoryCache(), "haiku v1")
    made = SummarisedPullRequest(pull(7), summary(fallback=fallback), "Engine")
    subject.put(SEVEN, made)
    assert subject.get(SEVEN) == made
