"""The pull requests that answers rest on: read together, with the summaries that are there, and no model asked."""

import logging
import threading
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from bot.dates import LocalDay
from bot.errors import (
    GitHubAccessDenied,
    GitHubUnavailable,
    PrdigestError,
    PullRequestNotFound,
    RateLimited,
    RepositoryNotFound,
)
from bot.features.merges.risk import assess_pull_request
from bot.features.merges.summary import describe_fallback
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import determine_area
from bot.platform.pulls.sources import DayMerges
from impact.repository import Repository
from tests.features.questions.archives import Shelf, days, shelf
from tests.helpers.builders import NOON, REPOSITORY, changed_file, pull, summary
from tests.helpers.doubles import KnownPulls

FILES = (changed_file("engine/core.py", 40, 20), changed_file("docs/guide.md", 3))
SEVEN = pull(7, title="Count retries", files=FILES)
EIGHT = pull(8, merged_at=NOON - timedelta(days=1))


def get_calls(there: Shelf) -> list[str]:
    assert isinstance(there.pulls, KnownPulls)
    return sorted(there.pulls.calls)


def test_what_nobody_summarised_has_its_facts_and_files() -> None:
    there = shelf(SEVEN)
    (entry,) = there.toolbox().read_days(REPOSITORY, days("2026-02-28")).entries
    assert entry.pull == SEVEN
    assert describe_fallback(entry.summary.fallback) == "nobody has asked for it before"
    assert entry.summary.headline == "Count retries"
    assert (entry.risk, entry.area) == (assess_pull_request(SEVEN), determine_area(SEVEN))
    assert there.summaries.numbers == [], "no model is asked"


def test_a_summary_that_is_there_is_used_with_the_patches() -> None:
    there = shelf(SEVEN, EIGHT)
    there.summaries.stub_summary = summary(headline="Retries are counted")
    there.app.refresh_summary(SEVEN)
    first, second = there.toolbox().read_days(REPOSITORY, days("2026-02-27..2026-02-28")).entries
    assert first.summary.headline == "Retries are counted"
    assert first.pull == SEVEN, "the store keeps no patches, but answers need them"
    assert second.summary.is_fallback
    assert there.toolbox().get_entry(REPOSITORY, 7).summary == first.summary
    there.pulls = KnownPulls((replace(SEVEN, merged_at=None, state="OPEN", title="Reopened"),))
    opened = there.toolbox().get_entry(REPOSITORY, 7)
    assert (opened.pull.title, opened.summary.is_fallback) == ("Reopened", True)


def test_the_merges_of_days_are_put_in_one_order() -> None:
    pulls = [pull(n, merged_at=NOON - timedelta(days=n % 3, minutes=n)) for n in range(1, 10)]
    session, span = shelf(*pulls).toolbox(), days("2026-02-26..2026-02-28")
    entries = session.read_days(REPOSITORY, span).entries
    times = [entry.pull.merge_time for entry in entries]
    assert (len(times), times) == (9, sorted(times, reverse=True))
    merged = session.list_merges(REPOSITORY, span)
    assert [each.number for each in merged.pulls] == [entry.number for entry in entries]
    assert all(each.files is None for each in merged.pulls)


def test_only_these_days_are_asked_for_each_once() -> None:
    there = shelf(SEVEN, EIGHT)
    session, span = there.toolbox(), days("2026-02-26..2026-02-27")
    assert [entry.number for entry in session.read_days(REPOSITORY, span).entries] == [8]
    assert session.read_days(REPOSITORY, span) is session.read_days(REPOSITORY, span)
    assert get_calls(there) == ["day 2026-02-26", "day 2026-02-27", "files 8"]


@dataclass
class Together(KnownPulls):
    """A call goes on only when four are there at a time."""

    gate: threading.Barrier = field(default_factory=lambda: threading.Barrier(4, timeout=10))

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        self.gate.wait()
        return super().list_merged(repository, day)

    def load_files(self, pull: PullRequest) -> PullRequest:
        self.gate.wait()
        return super().load_files(pull)


def test_days_and_files_are_fetched_together() -> None:
    pulls = Together(tuple(pull(n) for n in range(1, 9)))
    session = Shelf(pulls, workers=4).toolbox()
    assert len(session.read_days(REPOSITORY, days("2026-02-25..2026-02-28")).entries) == 8
    assert pulls.busy.peak <= 4


def test_doubts_are_told_once_each() -> None:
    there = shelf(SEVEN, EIGHT)
    assert isinstance(there.pulls, KnownPulls)
    there.pulls.counted = {"2026-02-25": None, "2026-02-26": None, "2026-02-27": 5, "2026-02-28": 1}
    assert there.toolbox().read_days(REPOSITORY, days("2026-02-25..2026-02-28")).caveats == (
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
    session = shelf(SEVEN, pull(9), failing={"files 7": error}).toolbox()
    with caplog.at_level(logging.INFO):
        entries = session.read_days(REPOSITORY, days("2026-02-28")).entries
    assert {entry.number: entry.pull.files is None for entry in entries} == {7: True, 9: False}
    assert f"no files of octo/engine#7: {error}" in caplog.text


@pytest.mark.parametrize(
    "error", [*FAILURES, RepositoryNotFound("No such place.")], ids=lambda e: type(e).__name__
)
def test_a_day_that_can_not_be_had_is_said(error: PrdigestError) -> None:
    session = shelf(SEVEN, failing={"day 2026-02-27": error, "pull 7": error}).toolbox()
    with pytest.raises(type(error)):
        session.read_days(REPOSITORY, days("2026-02-27..2026-02-28"))
    with pytest.raises(type(error)):
        session.get_entry(REPOSITORY, 7)
