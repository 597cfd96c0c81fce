"""Entries that were read once: answered from the store, and read again where that would be wrong."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis import Redis

from bot.domain.digest.models import Entry
from bot.domain.errors import GitHubUnavailable, PullRequestNotFound, UsageError
from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.models import Account, PullRequest, Repository
from bot.domain.pull_requests.reference import Reference
from bot.domain.review.models import BugReview
from bot.domain.risk.assessment import assess_pull_request
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.summaries.models import ChangeType, Evidence
from bot.platform.store.connection import RedisCache
from bot.ports import Cache, Model
from bot.services.summaries.entry_cache import EntryCache
from bot.services.summaries.reader import PullRequestReader
from bot.services.summaries.structured_completion import StructuredCompletion
from bot.services.summaries.summarizer import Summariser
from tests.emulators.claude.server import ClaudeEmulator, Refusal
from tests.helpers.builders import REPOSITORY, changed_file, finding, pull, summary
from tests.helpers.checks import is_one_sentence
from tests.services.doubles import KnownPulls, MemoryCache, Sleeps, Summaries

SEVEN = Reference(REPOSITORY, 7)
FILES = (changed_file("engine/core.py", 40, 20), changed_file("docs/guide.md", 3))
MERGED = pull(7, title="Count retries once", labels=("bug", "v1"), files=FILES)
OPEN = replace(MERGED, merged_at=None, merge_commit=None, state="OPEN")
CLOSED = replace(OPEN, state="CLOSED")


def entries(
    pulls: KnownPulls, cache: Cache, summaries: Summaries | None = None, version: str = "haiku v1"
) -> EntryCache:
    return EntryCache(
        pulls, PullRequestReader(pulls, summaries or Summaries()), cache, version, assess_pull_request
    )


def make_cached(entry: Entry) -> Entry:
    """What the store gives back of an entry that was read."""
    return replace(entry, pull=entry.pull.remove_patches(), from_cache=True, cost=0.0)


def test_a_merged_pull_request_asked_for_twice_is_read_once(cache: RedisCache) -> None:
    pulls, summaries = KnownPulls((MERGED,)), Summaries()
    first = entries(pulls, cache, summaries).get_entry(SEVEN)
    assert (pulls.calls, summaries.numbers) == (["pull 7", "files 7"], [7])
    second = entries(pulls, cache, summaries).get_entry(SEVEN)
    assert (pulls.calls, summaries.numbers) == (["pull 7", "files 7"], [7])
    assert (first.from_cache, first.cost, second) == (False, 0.5, make_cached(first))


def test_an_open_pull_request_is_read_again(cache: RedisCache) -> None:
    pulls = KnownPulls((OPEN,))
    subject = entries(pulls, cache)
    assert subject.get_entry(SEVEN).pull.title == OPEN.title
    pulls.pulls = (replace(OPEN, title="Count retries twice"),)
    assert subject.get_entry(SEVEN).pull.title == "Count retries twice"
    assert pulls.calls == ["pull 7", "files 7"] * 2


def test_an_entry_has_the_review_that_exists_when_it_is_shown(cache: RedisCache) -> None:
    reviews: dict[int, BugReview] = {}
    pulls = KnownPulls((MERGED,))
    subject = EntryCache(
        pulls,
        PullRequestReader(pulls, Summaries()),
        cache,
        "haiku v1",
        assess_pull_request,
        get_review=lambda pull_request: reviews.get(pull_request.number),
    )
    assert subject.get_entry(SEVEN).review is None
    reviews[7] = BugReview((finding(),))
    assert [each.review for each in (subject.get_entry(SEVEN), subject.refresh_and_rate(MERGED))] == [
        reviews[7]
    ] * 2
    # an open pull request will change
    assert subject.refresh_and_rate(OPEN).review is None


def test_a_pull_request_that_was_merged_since_is_kept_from_then_on(cache: RedisCache) -> None:
    pulls = KnownPulls((OPEN,))
    subject = entries(pulls, cache)
    assert (subject.get_entry(SEVEN).pull.is_merged, subject.get_cached(SEVEN)) == (False, None)
    pulls.pulls = (MERGED,)
    assert subject.get_entry(SEVEN).pull.is_merged
    cached_entry = subject.get_cached(SEVEN)
    assert cached_entry
    assert cached_entry.pull.is_merged


def test_a_fallback_is_not_kept(cache: RedisCache) -> None:
    pulls, summaries = KnownPulls((MERGED,)), Summaries(away=True)
    subject = entries(pulls, cache, summaries)
    assert subject.get_entry(SEVEN).summary.is_fallback
    summaries.away = False
    assert not subject.get_entry(SEVEN).summary.is_fallback
    assert summaries.numbers == [7, 7]


def test_a_pull_request_whose_files_were_away_is_read_again(cache: RedisCache) -> None:
    pulls = KnownPulls((MERGED,), failing={"files 7": GitHubUnavailable("GitHub is away.")})
    subject = entries(pulls, cache)
    assert subject.get_entry(SEVEN).pull.files is None
    del pulls.failing["files 7"]
    assert subject.get_entry(SEVEN).pull.files is not None


def test_one_that_was_closed_without_being_merged_is_refused_with_one_sentence(cache: RedisCache) -> None:
    pulls, summaries = KnownPulls((CLOSED,)), Summaries()
    with pytest.raises(UsageError, match="#7 was closed") as caught:
        entries(pulls, cache, summaries).get_entry(SEVEN)
    assert (is_one_sentence(str(caught.value)), summaries.numbers, pulls.calls) == (True, [], ["pull 7"])


@pytest.mark.parametrize("error", [PullRequestNotFound("None of that number."), GitHubUnavailable("Away.")])
def test_what_github_says_of_the_number_is_passed_on(cache: RedisCache, error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        entries(KnownPulls((MERGED,), failing={"pull 7": error}), cache).get_entry(SEVEN)
    assert caught.value is error


def test_reading_replaces_what_the_store_holds(cache: RedisCache) -> None:
    pulls = KnownPulls((MERGED,))
    entries(pulls, cache).refresh_summary(MERGED)
    entries(pulls, cache, Summaries(summary(headline="Read again"))).refresh_summary(MERGED)
    cached_entry = entries(pulls, cache).get_cached(SEVEN)
    assert cached_entry
    assert cached_entry.summary.headline == "Read again"


def test_reading_gives_the_patches_to_those_who_go_on(cache: RedisCache) -> None:
    assert entries(KnownPulls((MERGED,)), cache).refresh_summary(MERGED).pull.files == FILES


# --- what is kept


VERSIONS = ["haiku v2", "sonnet v1", "haiku v1 ", ""]


@pytest.mark.parametrize("version", VERSIONS)
def test_another_version_is_another_entry(cache: RedisCache, version: str) -> None:
    pulls, summaries = KnownPulls((MERGED,)), Summaries()
    entries(pulls, cache, summaries).get_entry(SEVEN)
    other = entries(pulls, cache, summaries, version)
    assert other.get_cached(SEVEN) is None
    other.get_entry(SEVEN)
    assert summaries.numbers == [7, 7]
    assert entries(pulls, cache, summaries).get_cached(SEVEN) is not None


OTHERS = [Reference(REPOSITORY, 70), Reference(Repository("octo", "other"), 7), Reference(Repository("o", "e"), 7)]


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_another_number_or_repository_is_another_entry(cache: RedisCache, other: Reference) -> None:
    subject = entries(KnownPulls((MERGED,)), cache)
    subject.get_entry(SEVEN)
    assert (subject.get_cached(other), subject.get_cached(SEVEN) is None) == (None, False)


def test_entries_are_kept_for_ninety_days(cache: RedisCache, store: Redis) -> None:
    entries(KnownPulls((MERGED,)), cache).get_entry(SEVEN)
    (key,) = store.scan_iter()
    assert 89 < int(str(store.ttl(key))) / 86_400 <= 90


def test_kept_entries_hold_no_patches() -> None:
    cache = MemoryCache()
    given_back = entries(KnownPulls((MERGED,)), cache).get_entry(SEVEN)
    (text,) = cache.values.values()
    assert "new line" not in text
    assert [file.patch for file in given_back.pull.files or ()] == [None, None]
    assert len(text) < 4_000


def only_key(cache: MemoryCache) -> str:
    """The key of the one entry in the cache."""
    (key,) = cache.values
    return key


def without(name: str) -> Callable[[dict[str, Any]], object]:
    return lambda entry_fields: {field: value for field, value in entry_fields.items() if field != name}


OLD: dict[str, Callable[[dict[str, Any]], object]] = {
    "no area": without("area"),
    "no pull request": without("pull"),
    "another kind of summary": lambda entry_fields: entry_fields | {"summary": "Counts once."},
    "an unknown type": lambda entry_fields: (
        entry_fields | {"summary": entry_fields["summary"] | {"type": "NOTABLE"}}
    ),
    "a repository as text": lambda entry_fields: (
        entry_fields | {"pull": entry_fields["pull"] | {"repository": "octo/engine"}}
    ),
    "a list": lambda entry_fields: [entry_fields],
    "nothing": lambda entry_fields: None,
}


@pytest.mark.parametrize("change", OLD.values(), ids=OLD)
def test_an_entry_of_an_older_shape_is_read_anew(change: Callable[[dict[str, Any]], object]) -> None:
    cache, pulls = MemoryCache(), KnownPulls((MERGED,))
    first = entries(pulls, cache).get_entry(SEVEN)
    key = only_key(cache)
    cache.values[key] = json.dumps(change(json.loads(cache.values[key])))
    assert entries(pulls, cache).get_entry(SEVEN) == first
    assert entries(pulls, cache).get_cached(SEVEN) == make_cached(first)


def test_an_entry_that_holds_a_rating_as_they_did_before_is_not_read_again() -> None:
    cache, pulls = MemoryCache(), KnownPulls((MERGED,))
    first, key = entries(pulls, cache).get_entry(SEVEN), only_key(cache)
    rating = {"points": 99.0, "reasons": ["of long ago"], "fired": [], "without_history": False}
    cache.values[key] = json.dumps(json.loads(cache.values[key]) | {"risk": rating})
    calls = len(pulls.calls)
    assert (entries(pulls, cache).get_entry(SEVEN), len(pulls.calls)) == (make_cached(first), calls)


@pytest.mark.parametrize("text", ["", "{", "null", "[]", "{}", '"entry"', "\x00", "<html>"])
def test_a_value_that_is_no_entry_is_read_anew(text: str) -> None:
    cache, pulls, summaries = MemoryCache(), KnownPulls((MERGED,)), Summaries()
    entries(pulls, cache, summaries).get_entry(SEVEN)
    cache.values[only_key(cache)] = text
    assert not entries(pulls, cache, summaries).get_entry(SEVEN).from_cache
    assert summaries.numbers == [7, 7]


RAW = [b"", b"q{}", b"p{}", b"p\xff\xfe", b"z", b"z{}", b"z\x78\x9c\x00"]


@pytest.mark.parametrize("raw", [*RAW[:3], *(pytest.param(raw) for raw in RAW[3:])])
def test_bytes_that_are_no_value_are_read_anew(cache: RedisCache, store: Redis, raw: bytes) -> None:
    pulls = KnownPulls((MERGED,))
    entries(pulls, cache).get_entry(SEVEN)
    (key,) = store.scan_iter()
    store.set(key, raw)
    assert not entries(pulls, cache).get_entry(SEVEN).from_cache
    assert entries(pulls, cache).get_entry(SEVEN).from_cache


TEXT = st.text(max_size=40)
PULLS = st.builds(
    lambda files, **fields: replace(pull(7, files=files), **fields),
    files=st.lists(
        st.builds(
            changed_file,
            st.text(min_size=1, max_size=30),
            st.integers(0, 30),
            st.integers(0, 30),
            status=st.sampled_from(["added", "modified", "removed", "renamed"]),
            patch=st.none() | TEXT,
            previous_path=st.none() | TEXT,
        ),
        min_size=1,
        max_size=4,
    ).map(tuple),
    title=TEXT,
    body=TEXT,
    author=st.builds(Account, TEXT, st.booleans()),
    merged_at=st.datetimes(datetime(2008, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    merge_commit=st.none() | TEXT,
    additions=st.integers(0, 10**9),
    changed_files=st.integers(0, 5_000),
    base=TEXT,
    labels=st.lists(TEXT, max_size=3).map(tuple),
)
SUMMARIES = st.builds(
    summary,
    type=st.sampled_from(ChangeType),
    headline=TEXT,
    what_changed_and_why=TEXT,
    action=TEXT,
    risk_reason=TEXT,
    evidence=st.lists(
        st.builds(Evidence, TEXT, TEXT, st.sampled_from(DiffSide), st.integers(1, 10**6)), max_size=3
    ).map(tuple),
    coverage=st.sampled_from(Coverage),
    left_out=st.lists(TEXT, max_size=3).map(tuple),
)


@given(PULLS, SUMMARIES)
def test_a_kept_entry_equals_the_one_that_was_read(made: PullRequest, stub_summary: Any) -> None:
    cache, pulls = MemoryCache(), KnownPulls((made,))
    subject = entries(pulls, cache, Summaries(stub_summary))
    read = subject.refresh_summary(replace(made, files=None))
    assert read.pull == made
    assert subject.get_cached(SEVEN) == subject.get_entry(SEVEN) == make_cached(subject.refresh_and_rate(made))
    assert set(cache.lifetimes) == {timedelta(days=90)}


# --- many at once, with the model on the loopback


def with_model(pulls: KnownPulls, model: Model, cache: RedisCache) -> EntryCache:
    asker = StructuredCompletion(model, cache, Sleeps())
    reader = PullRequestReader(pulls, Summariser(asker, "claude-haiku-5-5", 30_000).summarise_pull_request)
    return EntryCache(pulls, reader, cache, "claude-haiku-5-5", assess_pull_request)


@pytest.mark.slow
def test_fifty_who_ask_for_the_same_cold_pull_request_make_one_call(
    claude: ClaudeEmulator, model: Model, cache: RedisCache
) -> None:
    claude.latency = 0.2
    start = threading.Barrier(50)
    pulls = KnownPulls((MERGED,))
    subject = with_model(pulls, model, cache)

    def ask(_: int) -> Entry:
        start.wait()
        return subject.get_entry(SEVEN)

    with ThreadPoolExecutor(50) as pool:
        all_entries = list(pool.map(ask, range(50)))
    assert (len(claude.requests), pulls.calls.count("files 7")) == (1, 1)
    assert len({replace(entry, from_cache=True, cost=0.0) for entry in all_entries}) == 1
    assert sum(not entry.from_cache for entry in all_entries) == 1
    assert claude.problems == []


def test_a_refused_summary_is_asked_for_again_and_then_kept(
    claude: ClaudeEmulator, model: Model, cache: RedisCache
) -> None:
    claude.script(Refusal())
    pulls = KnownPulls((MERGED,))
    subject = with_model(pulls, model, cache)
    assert [subject.get_entry(SEVEN).summary.is_fallback for _ in range(3)] == [True, False, False]
    assert (len(claude.requests), pulls.calls.count("pull 7")) == (2, 2)
