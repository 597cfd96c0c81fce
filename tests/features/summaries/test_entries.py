"""Entries that were read once: answered from the store, and read again where that would be wrong."""

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

from bot.app import App
from bot.errors import GitHubUnavailable, PullRequestNotFound, UsageError
from bot.features.merges.review import BugReview
from bot.features.merges.summary import ChangeType, Evidence, Fallback, FallbackReason, SummarisedPullRequest
from bot.features.merges.timeline import MergeTimeline
from bot.features.merges.view import Entry
from bot.features.summaries.service import (
    ENTRIES,
    build_entry,
    get_cached_entry,
    get_entry,
    get_summary,
    refresh_summary,
)
from bot.features.summaries.view import render_summary
from bot.platform.models import Model
from bot.platform.models.packing import Coverage
from bot.platform.pulls.models import Account, PullRequest, Reference
from bot.platform.store.merge_records import HistoryStore
from bot.usage import BudgetRefusal
from impact.repository import Repository
from impact.source.models import DiffSide
from tests.emulators.claude.server import ClaudeEmulator, Refusal
from tests.helpers.apps import make_reading_app
from tests.helpers.builders import REPOSITORY, changed_file, failed, finding, pull, summary
from tests.helpers.checks import is_one_sentence
from tests.helpers.doubles import KnownPulls, MemoryStore, Summaries
from tests.platform.slack.accepted import read_post

SEVEN = Reference(REPOSITORY, 7)
FILES = (changed_file("engine/core.py", 40, 20), changed_file("docs/guide.md", 3))
MERGED = pull(7, title="Count retries once", labels=("bug", "v1"), files=FILES)
OPEN = replace(MERGED, merged_at=None, merge_commit=None, state="OPEN")
CLOSED = replace(OPEN, state="CLOSED")


def make_subject(
    pulls: KnownPulls, model: Model | None = None, store: Redis | None = None, **settings: Any
) -> App:
    app = make_reading_app(pulls, model or Summaries(), store)
    app.settings = app.settings.model_copy(update=settings)
    return app


def make_cached(entry: Entry) -> Entry:
    return replace(entry, pull=entry.pull.remove_patches(), from_cache=True, cost=0.0)


def test_a_merged_pull_request_asked_for_twice_is_read_once(store: Redis) -> None:
    pulls, summaries = KnownPulls((MERGED,)), Summaries()
    first, second = (get_entry(make_subject(pulls, summaries, store), SEVEN) for _ in range(2))
    assert (pulls.calls, summaries.numbers) == (["pull 7", "files 7"], [7])
    assert (first.from_cache, second) == (False, make_cached(first))
    (ttl,) = (store.ttl(key) for key in store.scan_iter("entry:*"))
    assert 89 < int(str(ttl)) / 86_400 <= 90


def test_an_open_pull_request_is_read_again_until_it_is_merged() -> None:
    pulls = KnownPulls((OPEN,))
    subject = make_subject(pulls)
    assert get_entry(subject, SEVEN).pull.title == OPEN.title
    pulls.pulls = (replace(OPEN, title="Count retries twice"),)
    assert get_entry(subject, SEVEN).pull.title == "Count retries twice"
    assert (pulls.calls, get_cached_entry(subject, SEVEN)) == (["pull 7", "files 7"] * 2, None)
    pulls.pulls = (MERGED,)
    assert get_entry(subject, SEVEN).pull.is_merged
    assert get_cached_entry(subject, SEVEN)


def test_an_entry_has_the_review_that_exists_when_it_is_shown() -> None:
    reviews: dict[int, BugReview] = {}
    subject = make_subject(KnownPulls((MERGED,)))
    subject.sources.get_written_review = lambda each: reviews.get(each.number)  # type: ignore[assignment, method-assign]
    assert get_entry(subject, SEVEN).review is None
    reviews[7] = BugReview((finding(),))
    shown = [get_entry(subject, SEVEN), build_entry(subject, refresh_summary(subject, MERGED))]
    assert [each.review for each in shown] == [reviews[7]] * 2
    # an open pull request will change
    assert build_entry(subject, refresh_summary(subject, OPEN)).review is None


@pytest.mark.parametrize(
    ("title", "is_reverted", "sentence"),
    [
        ('Revert "Count retries once" (#7)', True, "Reverted by #9."),
        ("Fix the regression of #7", False, "Repaired by #9."),
    ],
)
def test_a_bug_that_a_later_merge_repaired_is_closed_where_it_is_shown(
    title: str, is_reverted: bool, sentence: str, store: Redis
) -> None:
    later = pull(9, title=title, body="Fixes #7.", merged_at=MERGED.merge_time + timedelta(hours=3))
    history = HistoryStore(store)
    history.record_merges((MERGED, later))
    subject = make_subject(pulls := KnownPulls((MERGED,)))
    subject.__dict__["timeline"] = MergeTimeline(lambda: history, pulls.list_merged, lambda: later.merge_time)
    subject.sources.get_written_review = lambda _: BugReview((finding(),))  # type: ignore[assignment, method-assign]
    shown = get_entry(subject, SEVEN)
    (made,) = shown.findings
    assert (made.repaired_by, made.is_reverted, shown.strongest_finding) == (9, is_reverted, None)
    assert sentence in read_post(render_summary(shown))


def test_what_could_not_be_read_or_summarised_is_not_kept() -> None:
    summaries, files_away = Summaries(away=True), {"files 7": GitHubUnavailable("GitHub is away.")}
    pulls = KnownPulls((MERGED,), failing={**files_away})
    subject = make_subject(pulls, summaries)
    assert get_entry(subject, SEVEN).pull.files is None
    pulls.failing.clear()
    assert get_entry(subject, SEVEN).summary.is_fallback
    summaries.away = False
    assert not get_entry(subject, SEVEN).summary.is_fallback
    assert summaries.numbers == [7, 7]


def test_one_that_was_closed_without_being_merged_is_refused_with_one_sentence() -> None:
    pulls, summaries = KnownPulls((CLOSED,)), Summaries()
    with pytest.raises(UsageError, match="#7 was closed") as caught:
        get_entry(make_subject(pulls, summaries), SEVEN)
    assert (is_one_sentence(str(caught.value)), summaries.numbers, pulls.calls) == (True, [], ["pull 7"])


@pytest.mark.parametrize("error", [PullRequestNotFound("None of that number."), GitHubUnavailable("Away.")])
def test_what_github_says_of_the_number_is_passed_on(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        get_entry(make_subject(KnownPulls((MERGED,), failing={"pull 7": error})), SEVEN)
    assert caught.value is error


def test_reading_replaces_what_the_store_holds_and_gives_the_patches_to_those_who_go_on() -> None:
    subject = make_subject(KnownPulls((MERGED,)))
    assert refresh_summary(subject, MERGED).pull.files == FILES
    refresh_summary(subject, replace(MERGED, title="Read again"))
    cached_entry = get_cached_entry(subject, SEVEN)
    assert cached_entry
    assert cached_entry.pull.title == "Read again"


# --- what is kept


@pytest.mark.parametrize(
    "settings", [{"prdigest_summary_model": "sonnet"}, {"prdigest_diff_tokens": 9_000}], ids=str
)
def test_other_settings_make_another_entry(store: Redis, settings: dict[str, Any]) -> None:
    pulls = KnownPulls((MERGED,))
    subject, other = make_subject(pulls, store=store), make_subject(pulls, store=store, **settings)
    get_entry(subject, SEVEN)
    assert get_cached_entry(other, SEVEN) is None
    get_entry(other, SEVEN)
    assert pulls.calls == ["pull 7", "files 7"] * 2
    assert get_cached_entry(subject, SEVEN)


OTHERS = [Reference(REPOSITORY, 70), Reference(Repository("octo", "other"), 7), Reference(Repository("o", "e"), 7)]


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_another_number_or_repository_is_another_entry(other: Reference) -> None:
    subject = make_subject(KnownPulls((MERGED,)))
    get_entry(subject, SEVEN)
    assert (get_cached_entry(subject, other), get_cached_entry(subject, SEVEN) is None) == (None, False)


def make_kept() -> tuple[App, dict[str, str], str]:
    """An app that has read the pull request, the values of its store, and the key of the entry among them."""
    subject, cache = make_subject(KnownPulls((MERGED,))), MemoryStore()
    subject.__dict__["cached"] = cache
    get_entry(subject, SEVEN)
    (key,) = (each for each in cache.values if each.startswith("entry:"))
    return subject, cache.values, key


def test_kept_entries_hold_no_patches() -> None:
    subject, values, key = make_kept()
    assert "new line" not in values[key]
    assert [file.patch for file in get_entry(subject, SEVEN).pull.files or ()] == [None, None]
    assert len(values[key]) < 4_000


def without(name: str) -> Callable[[dict[str, Any]], object]:
    return lambda fields: {field: value for field, value in fields.items() if field != name}


OLD: dict[str, Callable[[dict[str, Any]], object]] = {
    "no area": without("area"),
    "no pull request": without("pull"),
    "another kind of summary": lambda fields: fields | {"summary": "Counts once."},
    "an unknown type": lambda fields: fields | {"summary": fields["summary"] | {"type": "NOTABLE"}},
    "a repository as text": lambda fields: fields | {"pull": fields["pull"] | {"repository": "octo/engine"}},
    "a list": lambda fields: [fields],
    "nothing": lambda fields: None,
}
TEXTS = ["", "{", "null", "[]", "{}", '"entry"', "\x00", "<html>"]


@pytest.mark.parametrize("change", [*OLD.values(), *TEXTS], ids=[*OLD, *map(repr, TEXTS)])
def test_what_is_no_entry_is_read_anew(change: Callable[[dict[str, Any]], object] | str) -> None:
    subject, values, key = make_kept()
    values[key] = change if isinstance(change, str) else json.dumps(change(json.loads(values[key])))
    assert get_summary(subject, SEVEN) is None
    get_entry(subject, SEVEN)
    assert get_summary(subject, SEVEN)


@pytest.mark.parametrize("raw", [b"", b"q{}", b"p{}", b"p\xff\xfe", b"z", b"z{}", b"z\x78\x9c\x00"])
def test_bytes_that_are_no_value_are_read_anew(store: Redis, raw: bytes) -> None:
    pulls = KnownPulls((MERGED,))
    get_entry(make_subject(pulls, store=store), SEVEN)
    (key,) = store.scan_iter("entry:*")
    store.set(key, raw)
    get_entry(make_subject(pulls, store=store), SEVEN)
    assert pulls.calls == ["pull 7", "files 7"] * 2
    assert get_entry(make_subject(pulls, store=store), SEVEN).from_cache


@pytest.mark.parametrize(
    "fallback", [None, Fallback(FallbackReason.NO_FILES), Fallback(BudgetRefusal.DAY_USED), failed("it is away")]
)
def test_a_reason_that_is_kept_is_read_again(fallback: Fallback | None) -> None:
    made, kept = SummarisedPullRequest(pull(7), summary(fallback=fallback), "Engine"), MemoryStore()
    kept.put(ENTRIES, made, "v", SEVEN)
    assert kept.get(ENTRIES, "v", SEVEN) == made


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
def test_a_kept_pull_request_equals_the_one_that_was_read(made: PullRequest, stub_summary: Any) -> None:
    kept, read = MemoryStore(), SummarisedPullRequest(made, stub_summary, "Engine", cost=0.5)
    kept.put(ENTRIES, read, "v", SEVEN)
    assert (kept.get(ENTRIES, "v", SEVEN), kept.lifetimes) == (read, [timedelta(days=90)])


# --- many at once, with the model on the loopback


@pytest.mark.slow
def test_fifty_who_ask_for_the_same_cold_pull_request_make_one_call(
    claude: ClaudeEmulator, model: Model, store: Redis
) -> None:
    claude.latency = 0.2
    start, pulls = threading.Barrier(50), KnownPulls((MERGED,))
    subject = make_subject(pulls, model, store)

    def ask(_: int) -> Entry:
        start.wait()
        return get_entry(subject, SEVEN)

    with ThreadPoolExecutor(50) as pool:
        all_entries = list(pool.map(ask, range(50)))
    assert (len(claude.requests), pulls.calls.count("files 7")) == (1, 1)
    assert len({replace(entry, from_cache=True, cost=0.0) for entry in all_entries}) == 1
    assert sum(not entry.from_cache for entry in all_entries) == 1
    assert claude.problems == []


def test_a_refused_summary_is_asked_for_again_and_then_kept(
    claude: ClaudeEmulator, model: Model, store: Redis
) -> None:
    claude.script(Refusal())
    pulls = KnownPulls((MERGED,))
    subject = make_subject(pulls, model, store)
    assert [get_entry(subject, SEVEN).summary.is_fallback for _ in range(3)] == [True, False, False]
    assert (len(claude.requests), pulls.calls.count("pull 7")) == (2, 2)
