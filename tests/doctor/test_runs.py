from dataclasses import replace
from datetime import time, timedelta
from zoneinfo import ZoneInfo

import pytest
from redis import Redis

from bot.doctor.checks import check_runs
from bot.features.merges.requests import DigestView, ViewLevel
from bot.features.subscriptions.rules import Run, RunOutcome, Subscription, Timing
from bot.platform.pulls.paths import Filters
from bot.platform.store.due_queue import DigestRepair, DueQueue, NextDigest
from bot.settings import Settings
from impact.repository import Repository
from tests.doctor.findings import NOW, format_findings, now
from tests.helpers.apps import make_app
from tests.helpers.subscriptions import RunLog

PACIFIC = ZoneInfo("America/Los_Angeles")
ENGINE = Subscription("C0DIGEST", Repository("octo", "engine"), Timing(time(9), PACIFIC))
RISKY = replace(ENGINE, channel="C0OTHER", view=DigestView(only=ViewLevel.RISKY), by="U0ADA")
HOUR = timedelta(hours=1)
DUE = ENGINE.timing.find_next_after(NOW - 2 * HOUR)  # 09:00 of that morning, twenty minutes ago


def run(outcome: RunOutcome, detail: str = "", subscription: Subscription = ENGINE, days: int = 0) -> Run:
    due = DUE - timedelta(days=days)
    return Run(
        due + timedelta(minutes=1), subscription.build_digest_spec(due).build_key("T0TEAM"), outcome, detail
    )


def lines(store: Redis, *subscriptions: Subscription, runs: tuple[Run, ...] = ()) -> list[str]:
    """``runs`` are the newest first."""
    for each in reversed(runs):
        RunLog(store).add_run(each)
    return check(store, *(subscriptions or (ENGINE,)))


def check(store: Redis, *subscriptions: Subscription) -> list[str]:
    settings = Settings(prdigest_timezone=PACIFIC)
    return format_findings(check_runs(make_app(store, now=now, settings=settings), subscriptions))


POSTED, FAILED = RunOutcome.POSTED, RunOutcome.FAILED
GONE = "Channel C0DIGEST is archived: choose another one."


def test_the_last_five_are_told_with_local_times(store: Redis) -> None:
    runs = [
        run(POSTED),
        run(RunOutcome.MENDED, "2 came later", days=1),
        run(RunOutcome.SKIPPED, "it was too late", days=2),
        run(FAILED, GONE, days=3),
        *(run(POSTED, days=days) for days in range(4, 9)),
    ]
    assert lines(store, runs=tuple(runs))[:-1] == [
        "+ Run of 2026-03-01 09:01 PST: octo/engine of 2026-02-28 for C0DIGEST: posted",
        "+ Run of 2026-02-28 09:01 PST: octo/engine of 2026-02-27 for C0DIGEST: mended, 2 came later",
        "- Run of 2026-02-27 09:01 PST: octo/engine of 2026-02-26 for C0DIGEST: skipped, it was too late",
        f"- Run of 2026-02-26 09:01 PST: octo/engine of 2026-02-25 for C0DIGEST: failed, {GONE}",
        "+ Run of 2026-02-25 09:01 PST: octo/engine of 2026-02-24 for C0DIGEST: posted",
    ]


def test_a_subscription_whose_last_run_failed_says_how_to_post_it(store: Redis) -> None:
    assert lines(store, runs=(run(FAILED, GONE),))[0] == (
        f"! Run of 2026-03-01 09:01 PST: octo/engine of 2026-02-28 for C0DIGEST: failed, {GONE} -> "
        "Fix the problem: the bot tries again every 15 minutes, or at once with `prdigest digest "
        "--repo octo/engine --date 2026-02-28 --timezone America/Los_Angeles --channel C0DIGEST`."
    )


def test_a_filtered_digest_is_not_posted_by_hand(store: Redis) -> None:
    line = lines(store, RISKY, runs=(run(FAILED, "x", RISKY),))[0]
    assert line.endswith("for C0OTHER: failed, x -> Fix the problem: the bot tries again every 15 minutes.")


def test_a_failure_that_is_not_among_the_last_five_is_told_all_the_same(store: Redis) -> None:
    runs = (*(run(POSTED, days=days) for days in range(6)), run(FAILED, "x", RISKY, days=7))
    run_lines = lines(store, ENGINE, RISKY, runs=runs)
    assert [line[0] for line in run_lines[:-1]] == ["+"] * 5 + ["!"]


OVER = {
    "a later run went well": (ENGINE, (run(POSTED), run(FAILED, "x", days=1))),
    "nobody has that subscription any more": (RISKY, (run(FAILED, "x"),)),
    "nobody gets it while it is paused": (replace(RISKY, is_paused=True), (run(FAILED, "x", RISKY),)),
    "another view of the same repository": (
        replace(ENGINE, view=DigestView(Filters(("a",)))),
        (run(FAILED, "x"),),
    ),
}


@pytest.mark.parametrize(("subscription", "runs"), OVER.values(), ids=OVER)
def test_a_failure_that_is_over_is_only_noted(
    store: Redis, subscription: Subscription, runs: tuple[Run, ...]
) -> None:
    failure_lines = [line for line in lines(store, subscription, runs=runs) if "failed" in line]
    assert [line[0] for line in failure_lines] == ["-"]


def test_a_run_of_something_else_is_told_by_its_key(store: Redis) -> None:
    odd = Run(NOW, "overview:1", FAILED, "x")
    assert lines(store, runs=(odd,))[0] == "- Run of 2026-03-01 09:20 PST: overview:1: failed, x"


def test_without_runs_it_says_so(store: Redis) -> None:
    assert lines(store)[0] == "- Runs: none yet: no digest was due"


# --- what is due


def last(store: Redis, *subscriptions: Subscription) -> list[str]:
    return lines(store, *subscriptions)[1:]


LATE = "Check the clock, the worker and the runs above: the bot posts it as soon as it can."


def test_a_digest_that_did_not_come_is_named(store: Redis) -> None:
    agenda = DueQueue(store)
    agenda.put(NextDigest(ENGINE.id), NOW - timedelta(minutes=31))
    agenda.put(NextDigest(RISKY.id), NOW + HOUR)
    assert last(store, ENGINE, RISKY) == [
        f"! Schedule: the digest of octo/engine for C0DIGEST was due at 2026-03-01 08:49 PST -> {LATE}"
    ]


def test_a_digest_that_is_due_now_is_not_late(store: Redis) -> None:
    DueQueue(store).put(NextDigest(ENGINE.id), NOW - timedelta(minutes=29))
    assert [line[0] for line in last(store)] == ["+"]


def test_repairs_and_what_nobody_wants_any_more_are_no_digests(store: Redis) -> None:
    agenda = DueQueue(store)
    for item in (DigestRepair("C0DIGEST"), NextDigest("0badc0de"), NextDigest(RISKY.id)):
        agenda.put(item, NOW - HOUR)
    agenda.put(NextDigest(ENGINE.id), DUE + timedelta(days=1))
    assert last(store, ENGINE, replace(RISKY, is_paused=True)) == [
        "+ Schedule: 1 subscription and 1 paused, the next is octo/engine for C0DIGEST at 2026-03-02 09:00 PST"
    ]


def test_what_no_clock_has_planned_is_noted(store: Redis) -> None:
    assert last(store) == ["- Schedule: nothing is planned yet: the clock plans digests when it runs"]


def test_without_subscriptions_it_says_so(store: Redis) -> None:
    assert check(store)[1:] == ["- Schedule: nothing: PRDIGEST_CHANNEL is not set, and there are no subscriptions"]


def test_a_digest_that_was_asked_for_by_hand_in_another_zone_is_not_the_subscriptions_own(store: Redis) -> None:
    elsewhere = replace(ENGINE, timing=Timing(time(9), ZoneInfo("Asia/Tokyo")))
    by_hand = replace(run(POSTED), key=elsewhere.build_digest_spec(DUE).build_key("T0TEAM"))
    told_of = lines(store, runs=(by_hand, run(FAILED, GONE)))
    assert [line[0] for line in told_of[:2]] == ["+", "!"]
