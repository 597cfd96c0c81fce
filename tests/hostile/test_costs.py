"""What a day costs is counted to the token, what a month may cost is kept, and both can be asked for."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from redis import Redis

from bot.features.usage import UsageRequest, answer_usage, read_usage
from bot.platform.costs import CallKind, CallOrigin, WorkKind
from bot.platform.slack.requests import Audience
from bot.usage import CallPurpose
from tests.features.digest.posting import HOME
from tests.features.subscriptions.wired import Bot, make_bot  # noqa: F401 (a fixture)
from tests.helpers.doubles import slack_request
from tests.hostile.test_budgets import desk

pytestmark = pytest.mark.slow


def test_a_digest_and_its_record_have_every_token_that_the_model_reported(bot: Callable[..., Bot]) -> None:
    made = bot()
    made.turn(timedelta(0))
    report, used = read_usage(made.services), made.claude.usages
    tokens = sum(each["input_tokens"] + each["output_tokens"] for each in used)
    assert report.today_total == report.month_total
    totals = report.month_total
    assert (totals.calls, totals.tokens) == (len(used), tokens)
    assert set(totals.by_kind) == {CallKind.SUMMARY, CallKind.OVERVIEW}
    assert set(totals.dollars_by_origin) == {CallOrigin.SCHEDULE}
    digests = totals.work[WorkKind.DIGEST]
    assert (digests.count, digests.tokens) == (1, tokens)
    assert digests.dollars == pytest.approx(totals.dollars, abs=1e-5)
    assert (totals.summaries_from_cache, totals.summaries_made) == (0, 3)
    assert report.day_budget
    assert report.day_budget.dollars == pytest.approx(totals.dollars, abs=1e-5)
    last = report.last_digest
    assert last
    assert (last.tokens, last.title) == (tokens, "octo/engine, Saturday 28 February 2026")
    assert last.dollars == pytest.approx(digests.dollars)


def test_who_asks_sees_it_in_slack(bot: Callable[..., Bot], store: Redis) -> None:
    made = bot()
    made.turn(timedelta(0))
    with desk(made, store) as there:
        answer_usage.send_to(there.jobs, slack_request("command:usage"), UsageRequest(), Audience.CHANNEL)
        there.settle()
        shown = there.texts()[-1]
    assert "of the limit of $10.00 used" in shown
    assert "Digests: 1, on average" in shown
    assert "Last digest (octo/engine, Saturday 28 February 2026): " in shown


def test_a_month_that_is_used_up_leaves_facts_and_the_post_says_so(bot: Callable[..., Bot]) -> None:
    made = bot(PRDIGEST_MONTHLY_BUDGET="0")
    made.turn(timedelta(0))
    assert made.claude.requests == []
    assert "facts only because this month's model budget is used up: #3, #2, #1" in made.thread
    assert "no overview because this month's model budget is used up" in made.thread
    assert read_usage(made.services).left_out == tuple(CallPurpose)


@pytest.mark.parametrize(
    ("share", "without"), [(0.5, ""), (0.91, "no overview because this month's model budget is nearly used up")]
)
def test_a_month_that_runs_low_gives_up_the_overview_first(
    bot: Callable[..., Bot], share: float, without: str
) -> None:
    made = bot(PRDIGEST_DAILY_BUDGET="1000", PRDIGEST_MONTHLY_BUDGET="100")
    made.wall.passes(timedelta(0))
    budget = made.services.budget
    budget.settle_cost(budget.reserve_cost("", CallPurpose.USUAL, 0.0), 100 * share)
    made.turn(timedelta(0))
    assert without in made.thread
    assert ("no overview" in made.thread) == bool(without)
    assert "facts only" not in made.thread


def test_what_a_failed_attempt_cost_is_part_of_the_digest(bot: Callable[..., Bot]) -> None:
    made = bot()
    made.slack.archive_channel(HOME)
    made.turn(timedelta(0))
    used = made.claude.usages
    tokens = sum(each["input_tokens"] + each["output_tokens"] for each in used)
    report = read_usage(made.services)
    assert (tokens > 0, report.last_digest, report.month_total.work) == (True, None, {})
    made.slack.unarchive_channel(HOME)
    made.run(60)
    later = read_usage(made.services)
    assert later.last_digest
    assert later.last_digest.tokens == sum(each["input_tokens"] + each["output_tokens"] for each in used) >= tokens
    assert later.month_total.work[WorkKind.DIGEST].tokens == later.last_digest.tokens
