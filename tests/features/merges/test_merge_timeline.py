from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from redis import Redis

from bot.errors import (
    GitHubAccessDenied,
    GitHubUnavailable,
    PrdigestError,
    RateLimited,
    StoreUnavailable,
)
from bot.features.merges.risk import REVERT_WINDOW
from bot.features.merges.timeline import LOOK_AHEAD, LOOK_BACK, MergeTimeline
from bot.platform.pulls.models import PullRequest
from bot.platform.store.connection import SHORT_TIMEOUTS, connect_server
from impact.repository import Repository
from tests.helpers.builders import DAY, NOON, REPOSITORY, changed_file, pairs, pull
from tests.helpers.checks import closed_port
from tests.helpers.doubles import KnownPulls, ReadHistory

DAYS, HOUR, MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)
SECOND = timedelta(seconds=1)
NINE = DAY.end + 9 * HOUR
NEXT = "day 2026-03-01"
# of the month, in UTC
BEGIN = datetime(2026, 2, 1, tzinfo=UTC)
OTHER = Repository("octo", "other")


@dataclass
class Desk:
    """A chronicle over a store and a GitHub; ``now`` is what its clock shows."""

    store: Redis
    pulls: KnownPulls = field(default_factory=KnownPulls)
    now: datetime = NINE

    def __post_init__(self) -> None:
        self.history = ReadHistory(self.store)
        self.chronicle = MergeTimeline(lambda: self.history, self.pulls.list_merged, lambda: self.now)

    def around(self, *merged: PullRequest) -> list[int]:
        """The numbers of what was merged on the day, before it and since."""
        context = self.chronicle.load_day_context(REPOSITORY, DAY, merged)
        assert context.coverage.is_complete
        return [each.number for each in context.pulls]


@pytest.fixture
def desk(store: Redis) -> Desk:
    return Desk(store)


@pytest.fixture
def away() -> Desk:
    """Nobody listens where the store should be."""
    return Desk(connect_server(f"redis://127.0.0.1:{closed_port()}", timeouts=SHORT_TIMEOUTS))


def at(number: int, instant: datetime, **fields: Any) -> PullRequest:
    return pull(number, merged_at=instant, **fields)


def numbers(pulls: Sequence[PullRequest]) -> list[int]:
    return [each.number for each in pulls]


# --- around a day


@pytest.mark.parametrize(
    ("instant", "is_around"),
    [
        pytest.param(DAY.start - LOOK_BACK - SECOND, False, id="too-long-before"),
        pytest.param(DAY.start - LOOK_BACK, True, id="as-long-as-reverts-count-and-a-month"),
        pytest.param(DAY.start - SECOND, True, id="the-day-before"),
        pytest.param(DAY.start, False, id="the-day-begins"),
        pytest.param(DAY.end - SECOND, False, id="the-day-ends"),
        pytest.param(DAY.end, True, id="the-next-day"),
        pytest.param(DAY.end + LOOK_AHEAD - SECOND, True, id="in-two-weeks"),
        pytest.param(DAY.end + LOOK_AHEAD, False, id="after-two-weeks"),
    ],
)
def test_what_was_recorded_before_a_day_and_since_is_around_it(
    desk: Desk, instant: datetime, *, is_around: bool
) -> None:
    desk.history.record_merges([at(7, instant)])
    desk.now = DAY.end + 60 * DAYS
    assert desk.around() == ([7] if is_around else [])
    assert LOOK_BACK > REVERT_WINDOW


@pytest.mark.parametrize(
    ("now", "asked"),
    [
        pytest.param(DAY.end - SECOND, 0, id="the-day-is-not-over"),
        pytest.param(DAY.end, 1, id="the-next-begins"),
        pytest.param(NINE, 1, id="at-nine"),
        pytest.param(NINE + 2 * DAYS, 3, id="friday-told-on-monday"),
        pytest.param(DAY.end + 3 * DAYS - SECOND, 3, id="the-third-day-ends"),
        pytest.param(DAY.end + 3 * DAYS, 0, id="later"),
    ],
)
def test_the_days_since_are_asked_for_while_they_are_few(desk: Desk, now: datetime, asked: int) -> None:
    late = [at(20 + n, DAY.end + n * DAYS + HOUR) for n in range(5)]
    desk.pulls.pulls = (*late, at(8, NOON), at(9, DAY.start - HOUR))
    desk.now = now
    assert desk.around() == [20 + n for n in reversed(range(asked))]
    assert desk.pulls.calls == [f"day {DAY.date + (1 + n) * DAYS}" for n in range(asked)]


def test_what_the_merges_say_of_each_other_is_known(desk: Desk) -> None:
    desk.history.record_merges([at(6, DAY.start - HOUR, title="Count once")])
    desk.pulls.pulls = (at(8, DAY.end + HOUR, title="Revert #7"),)
    merged = (at(9, NOON, title="Revert #6"), at(7, NOON))
    context = desk.chronicle.load_day_context(REPOSITORY, DAY, merged)
    assert (numbers(context.pulls), sorted(pairs(context.outcomes))) == ([8, 9, 7, 6], [(6, 9), (7, 8)])


@pytest.mark.parametrize(
    ("passes", "merged", "looks"),
    [
        pytest.param(10 * MINUTE, (7, 6), 1, id="within-ten-minutes"),
        pytest.param(10 * MINUTE + SECOND, (7, 6), 2, id="after-ten-minutes"),
        pytest.param(timedelta(0), (7, 6, 5), 2, id="another-list"),
    ],
)
def test_channels_with_the_same_day_share_a_look(
    desk: Desk, passes: timedelta, merged: tuple[int, ...], looks: int
) -> None:
    desk.around(at(7, NOON), at(6, NOON))
    desk.now += passes
    desk.around(*(at(number, NOON) for number in merged))
    assert (len(desk.history.spans), desk.pulls.calls) == (looks, [NEXT] * looks)


def test_a_doubt_is_not_shared(desk: Desk) -> None:
    desk.pulls.failing[NEXT] = GitHubUnavailable("GitHub is away.")
    assert desk.chronicle.load_day_context(REPOSITORY, DAY, ()).coverage.gaps
    desk.pulls.failing.clear()
    assert desk.around() == []


def test_of_what_is_known_twice_that_with_files_is_taken(desk: Desk) -> None:
    core = (changed_file("engine/core.py"),)
    desk.history.record_merges([at(7, DAY.end + HOUR, files=core), at(6, DAY.start - HOUR, files=core)])
    desk.pulls.pulls = (at(8, DAY.end + 2 * HOUR), at(7, DAY.end + HOUR))
    pull_requests = desk.chronicle.load_day_context(REPOSITORY, DAY, ()).pulls
    paths = {each.number: [file.path for file in each.files or ()] for each in pull_requests}
    assert paths == {8: [], 7: ["engine/core.py"], 6: ["engine/core.py"]}
    assert numbers(pull_requests) == [8, 7, 6], "newest first"


@pytest.mark.parametrize(
    "error",
    [
        GitHubUnavailable("GitHub is away."),
        GitHubAccessDenied("GitHub is away."),
        RateLimited("GitHub is away.", 60.0),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_next_day_that_can_not_be_had_is_a_doubt(desk: Desk, error: PrdigestError) -> None:
    desk.history.record_merges([at(6, DAY.start - HOUR)])
    desk.pulls.failing[NEXT] = error
    context = desk.chronicle.load_day_context(REPOSITORY, DAY, ())
    assert numbers(context.pulls) == [6]
    assert context.coverage.gaps == ["what was reverted since (GitHub is away)"]


def test_other_repositories_are_none_of_its_business(desk: Desk) -> None:
    desk.history.record_merges([at(6, DAY.start - HOUR, repository=OTHER), at(7, DAY.start - HOUR)])
    desk.pulls.pulls = (at(8, DAY.end + HOUR, repository=OTHER),)
    assert desk.around() == [7]


# --- a store that is away


def test_without_the_store_only_what_github_says_is_around(away: Desk, caplog: pytest.LogCaptureFixture) -> None:
    away.pulls.pulls = (at(7, DAY.end + HOUR),)
    caplog.set_level("INFO")
    assert away.around() == [7]
    complaints = [line.partition(":")[0] for line in caplog.messages if line.startswith(("without", "history"))]
    assert complaints == ["without history"]


def test_without_the_store_nothing_is_recorded_and_nothing_fails(away: Desk) -> None:
    away.chronicle.record_merges([pull(7)])
    assert away.chronicle.read_merges_or_none(REPOSITORY, DAY.start, DAY.end) == ()
    assert away.chronicle.assess_risk(pull(7)).without_history


def test_who_must_know_is_told(away: Desk) -> None:
    with pytest.raises(StoreUnavailable):
        away.chronicle.read_merges(REPOSITORY, DAY.start, DAY.end)


# --- single pull requests

CORE = (changed_file("engine/core.py"),)


def of_long_ago(repository: Repository = REPOSITORY) -> list[PullRequest]:
    """A history that reaches far enough, with a fix of a file the day before."""
    first = at(1, NOON - 100 * DAYS, files=CORE, repository=repository)
    return [first, at(2, NOON - DAYS, title="Fix the counter", files=CORE, repository=repository)]


def list_fired_rules(desk: Desk, made: PullRequest) -> set[str]:
    return {rule.rule for rule in desk.chronicle.assess_risk(made).fired}


def test_rules_that_look_back_see_what_was_recorded(desk: Desk) -> None:
    made = at(9, NOON, files=CORE)
    assert (desk.chronicle.assess_risk(made).without_history, "fixes" in list_fired_rules(desk, made)) == (
        True,
        False,
    )
    desk.now += 11 * MINUTE
    desk.history.record_merges(of_long_ago())
    assert (desk.chronicle.assess_risk(made).without_history, "fixes" in list_fired_rules(desk, made)) == (
        False,
        True,
    )


def test_an_open_pull_request_is_rated_without_a_look_back(desk: Desk) -> None:
    desk.history.record_merges(of_long_ago())
    assert desk.chronicle.assess_risk(pull(9, files=CORE, merged_at=None)).without_history
    assert desk.history.spans == []


@pytest.mark.parametrize(
    ("passes", "instant", "reads"),
    [
        pytest.param(10 * MINUTE, NOON, 1, id="within-ten-minutes"),
        pytest.param(10 * MINUTE + SECOND, NOON, 2, id="after-ten-minutes"),
        pytest.param(timedelta(0), BEGIN, 1, id="merged-in-the-same-month"),
        pytest.param(timedelta(0), BEGIN - SECOND, 2, id="merged-in-the-month-before"),
        pytest.param(timedelta(0), BEGIN + 28 * DAYS - SECOND, 1, id="merged-as-the-month-ended"),
        pytest.param(timedelta(0), BEGIN + 28 * DAYS, 2, id="merged-in-the-next-month"),
    ],
)
def test_the_history_is_read_once_in_ten_minutes(
    desk: Desk, passes: timedelta, instant: datetime, reads: int
) -> None:
    desk.history.record_merges(of_long_ago())
    desk.chronicle.assess_risk(at(8, NOON, files=CORE))
    desk.now += passes
    desk.chronicle.assess_risk(at(9, instant, files=CORE))
    assert len(desk.history.spans) == reads
    since, until = desk.history.spans[-1]
    assert since <= instant - LOOK_BACK < instant <= until, "all that the rules look back at"


def test_repositories_are_kept_apart_and_four_are_kept(desk: Desk) -> None:
    named = [Repository("octo", name) for name in ("one", "two", "three", "four", "five")]
    desk.history.record_merges(of_long_ago(named[0]))
    for repository in named[:4]:
        assert ("fixes" in list_fired_rules(desk, at(9, NOON, files=CORE, repository=repository))) is (
            repository == named[0]
        )
    assert len(desk.history.spans) == 4
    # GitHub's names are the same in any case
    assert "fixes" in list_fired_rules(desk, at(9, NOON, files=CORE, repository=Repository("Octo", "One")))
    assert len(desk.history.spans) == 4
    for repository in (named[4], named[3], named[0]):
        desk.chronicle.assess_risk(at(9, NOON, files=CORE, repository=repository))
    assert len(desk.history.spans) == 6, "the fifth took the place of the first"
    desk.now += 11 * MINUTE
    for repository in (named[2], named[1], named[2]):
        desk.chronicle.assess_risk(at(9, NOON, files=CORE, repository=repository))
    assert len(desk.history.spans) == 8, "what was read again stays longest"
