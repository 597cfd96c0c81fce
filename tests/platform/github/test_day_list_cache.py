"""Lists of days through the cache: asked for once where nothing can be added to them any more."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta

import pytest
from redis import Redis

from bot.dates import LocalDay, parse_zone
from bot.errors import GitHubUnavailable
from bot.features.subscriptions.schedule import FIRST_REPAIR_DELAY
from bot.platform.github.caches import ONGOING_MINUTES, UNSETTLED_MINUTES, DayListCache
from bot.platform.pulls.models import Account, LinkedIssue, PullRequest
from bot.platform.pulls.sources import CountCheck, DayMerges
from bot.platform.store.connection import RedisCache
from bot.platform.store.tables import Store
from impact.repository import Repository
from tests.helpers.builders import DAY, REPOSITORY, changed_file, pull

SETTLED = DAY.end + timedelta(hours=1)
PULLS = (
    pull(
        7,
        files=None,
        title="Größe 日本 \u2028 🎉",
        body="a\r\nb",
        labels=("bug", "größe"),
        linked_issues=(LinkedIssue(3, "Größe"),),
        commit_message="Größe (#7)\r\n\r\nThis reverts commit 1234567.",
    ),
    pull(
        8,
        files=None,
        author=Account("renovate", is_bot=True),
        merge_commit=None,
        merged_at=datetime(2026, 2, 28, 20, 0, 0, 123_456, UTC),
    ),
)
COMPLETE = DayMerges(PULLS, CountCheck(2, "the commits of main"))
OTHER = Repository("octo", "other")
# in the store; the minutes that a key names are over earlier
SHORT, LONG = timedelta(minutes=10), timedelta(hours=12)


@dataclass
class Recorder:
    listed: DayMerges = COMPLETE
    asked: list[object] = field(default_factory=list)
    fails: bool = False
    pause: float = 0.0

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        self.asked.append((repository, day))
        time.sleep(self.pause)
        if self.fails:
            raise GitHubUnavailable("GitHub is away.")
        return self.listed

    def fetch_pull_request(self, repository: Repository, number: int) -> PullRequest:
        self.asked.append(number)
        return pull(number, files=None, repository=repository)

    def load_files(self, pull: PullRequest) -> PullRequest:
        self.asked.append(pull.number)
        return replace(pull, files=(changed_file(),))


@pytest.fixture
def cache(store: Redis) -> Store:
    return Store(store)


def make_cache(behind: Recorder, cache: Store, now: datetime = SETTLED) -> DayListCache:
    return DayListCache(behind, cache, lambda: now)


def lifetimes(store: Redis) -> list[timedelta]:
    """The lifetimes of all keys, as they were given: to the minute above."""
    return [timedelta(minutes=-(-int(str(store.ttl(key))) // 60)) for key in store.scan_iter()]


def test_a_day_that_is_over_is_asked_for_once(cache: Store) -> None:
    behind = Recorder()
    assert [make_cache(behind, cache).list_merged(REPOSITORY, DAY) for _ in range(3)] == [COMPLETE] * 3
    assert behind.asked == [(REPOSITORY, DAY)]


@pytest.mark.parametrize(
    ("passed", "kept"),
    [
        (timedelta(hours=-12), None),
        (timedelta(0), SHORT),
        (timedelta(hours=1, microseconds=-1), SHORT),
        (timedelta(hours=1), LONG),
        (timedelta(days=400), LONG),
    ],
    ids=["in the day", "at its end", "within the hour", "after it", "long after"],
)
def test_a_day_is_kept_when_it_is_over(
    cache: Store, store: Redis, passed: timedelta, kept: timedelta | None
) -> None:
    behind = Recorder()
    for _ in range(2):
        assert make_cache(behind, cache, DAY.end + passed).list_merged(REPOSITORY, DAY) == COMPLETE
    assert (len(behind.asked), lifetimes(store)) == ((1, [kept]) if kept else (2, []))


@pytest.mark.parametrize("counted", [None, 0, 1, 3], ids=str)
def test_a_list_that_may_lack_something_is_kept_for_minutes(
    cache: Store, store: Redis, counted: int | None
) -> None:
    doubted = DayMerges(PULLS, CountCheck(counted, "the commits of main"))
    behind = Recorder(doubted)
    assert [make_cache(behind, cache).list_merged(REPOSITORY, DAY) for _ in range(2)] == [doubted] * 2
    assert (len(behind.asked), lifetimes(store)) == (1, [SHORT])


def test_an_empty_day_is_asked_for_again_after_minutes(cache: Store, store: Redis) -> None:
    """It may be a failure of GitHub's that no count shows, and all channels of a quiet repository ask at once."""
    behind = Recorder(DayMerges((), CountCheck(0, "the commits of main")))
    assert [make_cache(behind, cache).list_merged(REPOSITORY, DAY) for _ in range(2)] == [behind.listed] * 2
    assert (len(behind.asked), lifetimes(store)) == (1, [SHORT])


def test_an_unsettled_list_is_asked_for_again_before_a_digest_is_repaired() -> None:
    assert timedelta(minutes=UNSETTLED_MINUTES) < FIRST_REPAIR_DELAY


@pytest.mark.parametrize(("minutes", "times"), [(0, 1), (UNSETTLED_MINUTES, 2), (60, 2)], ids=str)
def test_the_minutes_of_an_unsettled_list_are_those_of_the_bots_clock(
    cache: Store, minutes: int, times: int
) -> None:
    behind = Recorder(DayMerges((), CountCheck(0, "the commits of main")))
    for at in (SETTLED, SETTLED + timedelta(minutes=minutes)):
        make_cache(behind, cache, at).list_merged(REPOSITORY, DAY)
    assert len(behind.asked) == times


def test_the_list_so_far_is_asked_for_again_after_its_minutes(cache: Store) -> None:
    behind, at = Recorder(), DAY.end - timedelta(hours=2)
    DayListCache(behind, cache, lambda: at, keeps_ongoing=True).list_merged(REPOSITORY, DAY)
    later = at + timedelta(minutes=ONGOING_MINUTES)
    DayListCache(behind, cache, lambda: later, keeps_ongoing=True).list_merged(REPOSITORY, DAY)
    assert len(behind.asked) == 2


@pytest.mark.slow
def test_channels_that_ask_at_the_same_moment_cost_one_list(cache: Store) -> None:
    behind = Recorder(pause=0.2)
    with ThreadPoolExecutor(8) as crew:
        lists = crew.map(lambda _: make_cache(behind, cache).list_merged(REPOSITORY, DAY), range(8))
        assert list(lists) == [COMPLETE] * 8
    assert len(behind.asked) == 1


@pytest.mark.parametrize(
    ("passed", "kept"),
    [(timedelta(hours=-12), timedelta(minutes=10)), (timedelta(0), SHORT), (timedelta(days=3), LONG)],
    ids=["in the day", "at its end", "long after"],
)
def test_the_list_so_far_is_kept_for_ten_minutes_while_the_day_goes_on(
    cache: Store, store: Redis, passed: timedelta, kept: timedelta | None
) -> None:
    behind = Recorder()
    for _ in range(2):
        ongoing = DayListCache(behind, cache, lambda: DAY.end + passed, keeps_ongoing=True)
        assert ongoing.list_merged(REPOSITORY, DAY) == COMPLETE
    assert (len(behind.asked), lifetimes(store)) == ((1, [kept]) if kept else (2, []))


def test_the_list_so_far_is_not_taken_for_that_of_the_whole_day(cache: Store) -> None:
    behind = Recorder(DayMerges(PULLS[:1], CountCheck(1, "the commits of main")))
    ongoing = DayListCache(behind, cache, lambda: DAY.end - timedelta(hours=1), keeps_ongoing=True)
    ongoing.list_merged(REPOSITORY, DAY)
    behind.listed = COMPLETE
    assert make_cache(behind, cache).list_merged(REPOSITORY, DAY) == COMPLETE


@pytest.mark.parametrize(
    ("repository", "day"),
    [
        (OTHER, DAY),
        (REPOSITORY, replace(DAY, date=date(2026, 2, 27))),
        (REPOSITORY, replace(DAY, zone=parse_zone("America/New_York"))),
        # the same hours under another name
        (REPOSITORY, replace(DAY, zone=parse_zone("US/Pacific"))),
    ],
    ids=["repository", "day", "zone", "name of the zone"],
)
def test_days_and_repositories_are_kept_apart(cache: Store, repository: Repository, day: LocalDay) -> None:
    behind = Recorder()
    pulls = make_cache(behind, cache)
    pulls.list_merged(REPOSITORY, DAY)
    behind.listed = DayMerges(PULLS[:1], CountCheck(1, "the commits of main"))
    assert pulls.list_merged(repository, day) == behind.listed
    assert pulls.list_merged(REPOSITORY, DAY) == COMPLETE
    assert behind.asked == [(REPOSITORY, DAY), (repository, day)]


def test_a_kept_list_runs_out_within_half_a_day(cache: Store, store: Redis) -> None:
    make_cache(Recorder(), cache).list_merged(REPOSITORY, DAY)
    (key,) = store.scan_iter()
    assert 0 < int(str(store.ttl(key))) <= timedelta(hours=12).total_seconds()


@pytest.mark.parametrize(
    "kept",
    [
        "",
        "no json",
        "[]",
        "null",
        "{}",
        '{"version": 1}',
        '{"version": 1, "pulls": [{"number": 7}], "count": {"counted": 1, "source": "x"}}',
    ],
    ids=str,
)
def test_what_is_kept_and_can_no_longer_be_read_is_asked_for_again(cache: Store, store: Redis, kept: str) -> None:
    behind = Recorder()
    make_cache(behind, cache).list_merged(REPOSITORY, DAY)
    (key,) = store.scan_iter()
    RedisCache(store).put(bytes(key).decode(), kept, timedelta(days=1))
    assert [make_cache(behind, cache).list_merged(REPOSITORY, DAY) for _ in range(2)] == [COMPLETE] * 2
    assert len(behind.asked) == 2


def test_a_broken_value_is_asked_for_again(cache: Store, store: Redis) -> None:
    behind = Recorder()
    make_cache(behind, cache).list_merged(REPOSITORY, DAY)
    (key,) = store.scan_iter()
    store.set(key, b"z\xff\xfe")
    assert make_cache(behind, cache).list_merged(REPOSITORY, DAY) == COMPLETE
    assert len(behind.asked) == 2


def test_a_failure_is_not_kept(cache: Store) -> None:
    behind = Recorder(fails=True)
    with pytest.raises(GitHubUnavailable):
        make_cache(behind, cache).list_merged(REPOSITORY, DAY)
    behind.fails = False
    assert make_cache(behind, cache).list_merged(REPOSITORY, DAY) == COMPLETE


def test_pull_requests_and_their_files_are_always_asked_for(cache: Store, store: Redis) -> None:
    behind = Recorder()
    pulls = make_cache(behind, cache)
    for _ in range(2):
        pull_request = pulls.load_files(pulls.fetch_pull_request(OTHER, 9))
        assert (pull_request.repository, pull_request.number, pull_request.files) == (OTHER, 9, (changed_file(),))
    assert (behind.asked, store.dbsize()) == ([9, 9, 9, 9], 0)
