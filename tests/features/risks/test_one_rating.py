"""A pull request is rated once a run, and its texts are searched once for what it reverts."""

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from redis import Redis

from bot.dates import Span
from bot.features.digest.rules import DigestSpec
from bot.features.digest.service import build_days, build_digest
from bot.features.digest.view import render_digest
from bot.features.merges.outcomes import RevertIndex, find_relands
from bot.features.merges.requests import RisksRequest
from bot.features.merges.risk import assess_pull_request
from bot.features.merges.timeline import MergeTimeline
from bot.features.risks.service import build_list
from bot.features.summaries.reading import read_pull_request
from bot.features.summaries.service import get_entry
from bot.features.summaries.view import render_summary
from bot.platform.pulls.models import Reference
from bot.platform.store.merge_records import HistoryStore
from impact.history.outcomes import find_outcomes, find_repairs
from impact.history.reverts import parse_claim
from tests.features.questions.archives import open_session, run_tool
from tests.helpers.apps import make_digest_app
from tests.helpers.builders import DAY, NOON, REPOSITORY, changed_file, pull
from tests.helpers.calls import counting
from tests.helpers.doubles import KnownPulls, Summaries

CORE = (changed_file("engine/core.py", 300),)
# merged one after the other, the highest number first
COUNT = pull(9, title="Count retries once", files=CORE)
UNDO = pull(8, title='Revert "Count retries once" (#9)', body="Reverts #9", files=CORE)
AGAIN = pull(7, title="Reland: Count retries once (#9)", body="It was a temporary failure, see #8.", files=CORE)
THREE = (COUNT, UNDO, AGAIN)


def once(*numbers: int) -> Counter[tuple[str, int]]:
    return Counter({(name, number): 1 for name in ("assess_pull_request", "parse_claim") for number in numbers})


@dataclass
class House:
    store: Redis
    pulls: KnownPulls = field(default_factory=lambda: KnownPulls(THREE))

    def __post_init__(self) -> None:
        self.history = history = HistoryStore(self.store)
        self.timeline = MergeTimeline(lambda: history, self.pulls.list_merged, lambda: DAY.end)
        self.app = make_digest_app(
            self.pulls, model=Summaries(), timeline=self.timeline, name_repository=str, get_today=lambda: DAY
        )


@pytest.fixture
def house(store: Redis) -> House:
    return House(store)


def test_in_a_digest(house: House) -> None:
    with counting(assess_pull_request, parse_claim) as counts:
        made = build_digest(house.app, REPOSITORY, DAY, "The engine")
        render_digest(made)
    assert [entry.is_revert for entry in made.entries] == [False, True, False]
    assert counts == once(7, 8, 9)


def test_in_an_overview_of_days(house: House) -> None:
    days = timedelta(days=1)
    early = [pull(number, title=f"Fix {number}", merged_at=NOON - number * 30 * days) for number in (1, 2)]
    late = [
        replace(each, number=each.number + 10, body=f"{each.body} Once more.".strip(), merged_at=NOON + days)
        for each in THREE
    ]
    house.history.record_merges(early)
    house.pulls.pulls = (*THREE, *late)
    span = Span(DAY.date, DAY.date + 2 * days, DAY.zone)
    with counting(parse_claim) as counts:
        made = build_days(house.app, DigestSpec("C1", REPOSITORY, span))
        outcomes = made.combined.outcomes
    assert [(each.pull.number, each.by.number) for each in outcomes] == [(9, 18), (9, 8)]
    assert counts == Counter({("parse_claim", number): 1 for number in (1, 2, 7, 8, 9, 17, 18, 19)})


def test_in_a_list_of_risks(house: House) -> None:
    request = RisksRequest(REPOSITORY, Span(DAY.date, DAY.date, DAY.zone), top=3)
    with counting(assess_pull_request, parse_claim) as counts:
        made = build_list(house.app, request)
    assert [entry.number for entry in (*made.riskiest.ignore_coverage(), *made.below)] == [7]
    assert counts == once(7, 8, 9)


@pytest.mark.parametrize("is_cached", [False, True], ids=["cold", "warm"])
def test_in_an_answer_to_prsummary(house: House, *, is_cached: bool) -> None:
    if is_cached:
        house.app.refresh_summary(UNDO)
    with counting(assess_pull_request, parse_claim) as counts:
        post = render_summary(get_entry(house.app, Reference(REPOSITORY, 8)))
    assert "is a revert" in str(post.blocks)
    assert counts == once(8)


@pytest.mark.parametrize("is_cached", [False, True], ids=["cold", "warm"])
def test_in_an_answer_about_a_day(house: House, *, is_cached: bool) -> None:
    if is_cached:
        for each in THREE:
            house.app.refresh_summary(each)
    toolbox = open_session(house.app)
    with counting(assess_pull_request, parse_claim) as counts:
        shown = run_tool(toolbox, "list_pull_requests", days="2026-02-28")
    assert shown.count("takes another back") == 1
    assert counts == once(7, 8, 9)


def test_reverts_relands_and_repairs_share_one_search() -> None:
    with counting(parse_claim) as counts:
        index = RevertIndex(THREE)
        find_outcomes(index), find_relands(index), find_repairs(index)
        own = index.select([8, 9])
        assert (own.reverts, own.is_revert(8), own.is_revert(9)) == (index.reverts, True, False)
    assert counts == Counter({("parse_claim", number): 1 for number in (7, 8, 9)})


def test_a_reader_does_not_rate(house: House) -> None:
    with counting(assess_pull_request) as counts:
        house.app.refresh_summary(COUNT)
        read_pull_request(house.app, UNDO)
    assert counts == Counter()


def test_an_address_in_an_answer_needs_no_rating(house: House) -> None:
    house.app.refresh_summary(COUNT)
    toolbox = open_session(house.app)
    with counting(assess_pull_request) as counts:
        assert toolbox.find_address(9) == COUNT.url
    assert counts == Counter()
