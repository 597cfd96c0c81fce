from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from redis import Redis

from bot.dates import Span
from bot.features.digest.since import SincePage, build_since_page
from bot.features.merges.risk import assess_pull_request
from bot.features.merges.timeline import LOOK_AHEAD, LOOK_BACK, MergeTimeline
from bot.features.summaries.service import get_entry
from bot.platform.pulls.models import Reference
from impact.history.reverts import parse_claim
from tests.helpers.apps import make_reading_app
from tests.helpers.builders import DAY, NOON, REPOSITORY, changed_file, pull
from tests.helpers.calls import counting
from tests.helpers.doubles import KnownPulls, ReadHistory, Summaries

DAYS = timedelta(days=1)
SPAN = Span(DAY.date - 6 * DAYS, DAY.date, DAY.zone)
CORE = (changed_file("engine/core.py", 300),)
HISTORY = (
    pull(1, title="Begin", merged_at=NOON - 100 * DAYS, files=CORE),
    pull(2, title="Count the retries", merged_at=NOON - 30 * DAYS, files=CORE),
    pull(3, title='Revert "Count the retries" (#2)', merged_at=NOON - 29 * DAYS, files=CORE),
    pull(4, title="Fix the counter", merged_at=NOON - 8 * DAYS, files=CORE),
)
MERGED = (
    pull(11, title="Reland: Count the retries (#2)", merged_at=NOON - 2 * DAYS, files=CORE),
    pull(12, title="Fix the loop", merged_at=NOON - DAYS, files=CORE),
    pull(13, title='Revert "Fix the counter" (#4)', merged_at=NOON, files=CORE),
)


@dataclass
class Office:
    store: Redis
    pulls: KnownPulls = field(default_factory=lambda: KnownPulls(MERGED))

    def __post_init__(self) -> None:
        self.history = ReadHistory(self.store)
        timeline = MergeTimeline(lambda: self.history, self.pulls.list_merged, lambda: DAY.end)
        self.app = make_reading_app(
            self.pulls,
            Summaries(),
            self.store,
            timeline=timeline,
            name_repository=str,
        )

    def summarise(self) -> None:
        for each in MERGED:
            self.app.refresh_summary(each)
        self.pulls.calls.clear()
        # each was read beside the merges around it
        self.history.spans.clear()

    def page(self) -> SincePage:
        return build_since_page(self.app, REPOSITORY, SPAN)


@pytest.fixture
def office(store: Redis) -> Office:
    return Office(store)


def test_it_rates_as_prsummary_does(office: Office) -> None:
    office.history.record_merges([*HISTORY, *MERGED])
    office.summarise()
    entries = office.page().entries
    assert not any(entry.risk.without_history for entry in entries.values())
    shown = {number: get_entry(office.app, Reference(REPOSITORY, number)).risk for number in (11, 12, 13)}
    assert {number: entry.risk for number, entry in entries.items()} == shown
    assert "reverted files" in {hit.rule for hit in entries[12].risk.fired}
    assert (bool(entries[11].risk.tries), entries[13].is_revert) == (True, True)


def test_it_takes_one_look_at_the_record_and_each_text(office: Office) -> None:
    office.history.record_merges(HISTORY)
    office.summarise()
    with counting(assess_pull_request, parse_claim) as counts:
        page = office.page()
    days = SPAN.days
    assert office.history.spans == [(days[0].start - LOOK_BACK, days[-1].end + LOOK_AHEAD)]
    assert office.pulls.calls == [f"day {day.date}" for day in days]
    rated = Counter({("assess_pull_request", number): 1 for number in (11, 12, 13)})
    assert counts == rated + Counter({("parse_claim", number): 1 for number in (1, 2, 3, 4, 11, 12, 13)})
    assert page.merged == 3


def test_without_a_summary_the_record_is_not_read(office: Office) -> None:
    office.history.record_merges(HISTORY)
    page = office.page()
    assert (page.listed.explain_gaps()[:35], dict(page.entries), office.history.spans) == (
        "I couldn't read 3 of 3 summaries (n",
        {},
        [],
    )


def test_what_was_merged_before_the_days_is_no_story(office: Office) -> None:
    office.history.record_merges(HISTORY)
    office.summarise()
    stories = office.page().stories
    assert {number for story in stories.stories for number in story.numbers} == {11, 12, 13}
    assert stories.taken_back == ()
