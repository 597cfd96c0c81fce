"""The pull requests that answers rest on: read together, with the summaries that are there, and no model asked."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from bot.domain.errors import (
    GitHubAccessDenied,
    GitHubUnavailable,
    PrdigestError,
    PullRequestNotFound,
    RateLimited,
    RepositoryNotFound,
)
from bot.domain.pull_requests.areas import determine_area
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.pull_requests.reference import Reference
from bot.domain.risk.assessment import assess_pull_request
from bot.domain.summaries.fallback import describe_fallback
from bot.domain.time.day import LocalDay
from bot.ports import DayMerges
from tests.helpers.builders import NOON, REPOSITORY, changed_file, pull, summary
from tests.services.doubles import KnownPulls
from tests.services.questions.archives import Shelf, days, shelf

FILES = (changed_file("engine/core.py", 40, 20), changed_file("docs/guide.md", 3))
SEVEN = pull(7, title="Count retries", files=FILES)
EIGHT = pull(8, merged_at=NOON - timedelta(days=1))
SEVENTH = Reference(REPOSITORY, 7)


def calls(there: Shelf) -> list[str]:
    assert isinstance(there.pulls, KnownPulls)
    return there.pulls.calls


def test_what_nobody_summarised_has_its_facts_and_files() -> None:
    there = shelf(SEVEN)
    (entry,) = there.archive.read_days(REPOSITORY, days("2026-02-28")).entries
    assert entry.pull == SEVEN
    assert describe_fallback(entry.summary.fallback) == "nobody has asked for it before"
    assert entry.summary.headline == "Count retries"
    assert (entry.risk, entry.area) == (assess_pull_request(SEVEN), determine_area(SEVEN))


def test_a_summary_that_is_there_is_used_with_the_patches() -> None:
    there = shelf(SEVEN, EIGHT)
    there.summaries.stub_summary = summary(headline="Retries are counted")
    there.entries.refresh_summary(SEVEN)
    first, second = there.archive.read_days(REPOSITORY, days("2026-02-27..2026-02-28")).entries
    assert first.summary.headline == "Retries are counted"
    assert first.pull == SEVEN, "the store keeps no patches, but answers need them"
    assert second.summary.is_fallback
    assert there.archive.read_pull_request(SEVENTH).summary == first.summary


def test_no_model_is_asked() -> None:
    there = shelf(SEVEN, EIGHT)
    there.archive.read_days(REPOSITORY, days("7d"))
    there.archive.list_merges(REPOSITORY, days("7d"))
    there.archive.read_pull_request(SEVENTH)
    there.archive.get_cached_summary(SEVENTH)
    assert there.summaries.numbers == []


def test_what_is_kept_is_known_without_asking_anybody() -> None:
    there = shelf(SEVEN)
    assert there.archive.get_cached_summary(SEVENTH) is None
    there.entries.refresh_summary(SEVEN)
    before = len(calls(there))
    known = there.archive.get_cached_summary(SEVENTH)
    assert known
    assert known.pull == SEVEN.remove_patches()
    assert len(calls(there)) == before


def test_an_open_pull_request_is_read_as_it_is_now() -> None:
    there = shelf(SEVEN)
    there.entries.refresh_summary(SEVEN)
    there.pulls = KnownPulls((replace(SEVEN, merged_at=None, state="OPEN", title="Reopened"),))
    entry = there.archive.read_pull_request(SEVENTH)
    assert entry.pull.title == "Reopened"
    assert entry.summary.is_fallback


def test_days_are_put_in_one_order() -> None:
    pull_requests = [pull(n, merged_at=NOON - timedelta(days=n % 3, minutes=n)) for n in range(1, 10)]
    there = shelf(*pull_requests)
    read = there.archive.read_days(REPOSITORY, days("2026-02-26..2026-02-28"))
    times = [entry.pull.merge_time for entry in read.entries]
    assert len(times) == 9
    assert times == sorted(times, reverse=True)
    merged = there.archive.list_merges(REPOSITORY, days("2026-02-26..2026-02-28"))
    assert [each.number for each in merged.pulls] == [entry.number for entry in read.entries]


def test_only_these_days_are_asked_for_each_once() -> None:
    there = shelf(SEVEN, EIGHT)
    assert [e.number for e in there.archive.read_days(REPOSITORY, days("2026-02-26..2026-02-27")).entries] == [8]
    assert sorted(calls(there)) == ["day 2026-02-26", "day 2026-02-27", "files 8"]


def test_what_was_merged_takes_no_files() -> None:
    there = shelf(SEVEN, EIGHT)
    merged = there.archive.list_merges(REPOSITORY, days("2026-02-27..2026-02-28"))
    assert [(each.number, each.files) for each in merged.pulls] == [(7, None), (8, None)]
    assert sorted(calls(there)) == ["day 2026-02-27", "day 2026-02-28"]


@dataclass
class Together(KnownPulls):
    """A call goes on only when ``parties`` are there at a time."""

    parties: int = 1
    gate: threading.Barrier = field(init=False)

    def __post_init__(self) -> None:
        self.gate = threading.Barrier(self.parties, timeout=10)

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        self.gate.wait()
        return super().list_merged(repository, day)

    def load_files(self, pull: PullRequest) -> PullRequest:
        self.gate.wait()
        return super().load_files(pull)


def test_days_and_files_are_fetched_together() -> None:
    pulls = Together(tuple(pull(n) for n in range(1, 9)), parties=4)
    there = Shelf(pulls, workers=4)
    assert len(there.archive.read_days(REPOSITORY, days("2026-02-25..2026-02-28")).entries) == 8
    assert len(there.archive.list_merges(REPOSITORY, days("2026-02-25..2026-02-28")).pulls) == 8
    assert pulls.busy.peak <= 4


def test_doubts_are_told_once_each() -> None:
    there = shelf(SEVEN, EIGHT)
    assert isinstance(there.pulls, KnownPulls)
    there.pulls.counted = {"2026-02-25": None, "2026-02-26": None, "2026-02-27": 5, "2026-02-28": 1}
    doubts = there.archive.read_days(REPOSITORY, days("2026-02-25..2026-02-28")).caveats
    assert doubts == (
        "count not checked: the commits of main gave no count",
        "possibly incomplete: the commits of main show 5 merges, not 1",
    )


FAILURES: list[PrdigestError] = [
    GitHubUnavailable("GitHub did not answer."),
    GitHubAccessDenied("GitHub refuses."),
    RateLimited("A pause."),
    PullRequestNotFound("There is none."),
]


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
def test_files_that_can_not_be_had_stop_nothing(error: PrdigestError, caplog: pytest.LogCaptureFixture) -> None:
    there = shelf(SEVEN, pull(9), failing={"files 7": error})
    with caplog.at_level(logging.INFO):
        nine, seven = sorted(
            there.archive.read_days(REPOSITORY, days("2026-02-28")).entries, key=lambda entry: -entry.number
        )
    assert (nine.pull.files is None, seven.pull.files is None) == (False, True)
    assert f"no files of octo/engine#7: {error}" in caplog.text


@pytest.mark.parametrize(
    "error", [*FAILURES, RepositoryNotFound("No such place.")], ids=lambda e: type(e).__name__
)
def test_a_day_that_can_not_be_had_is_said(error: PrdigestError) -> None:
    there = shelf(SEVEN, failing={"day 2026-02-27": error, "pull 7": error})
    with pytest.raises(type(error)):
        there.archive.read_days(REPOSITORY, days("2026-02-27..2026-02-28"))
    with pytest.raises(type(error)):
        there.archive.read_pull_request(SEVENTH)
