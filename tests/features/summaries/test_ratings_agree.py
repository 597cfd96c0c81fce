"""The same pull request has the same rating in all places, whatever the cache holds of it."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from redis import Redis

from bot.features.digest.service import build_digest
from bot.features.merges.risk import Risk
from bot.features.merges.timeline import MergeTimeline
from bot.features.summaries.service import build_entry, get_entry, refresh_summary, show_details
from bot.features.summaries.view import build_summary_json, render_summary
from bot.platform.commands import AllowedRepositories
from bot.platform.pulls.models import PullRequest, Reference
from bot.platform.slack.client import make_slack_client
from bot.platform.slack.messenger import SlackEphemeralMessenger, SlackMessenger, SlackViews
from bot.platform.slack.replies import ReplySender
from bot.platform.store.connection import SHORT_TIMEOUTS, connect_server
from bot.platform.store.merge_records import HistoryStore
from tests.emulators.slack.server import SlackEmulator
from tests.features.digest.posting import HOME
from tests.features.questions.archives import open_session, run_tool
from tests.helpers.apps import make_digest_app, make_reading_app
from tests.helpers.builders import DAY, NOON, REPOSITORY, changed_file, pull
from tests.helpers.checks import closed_port
from tests.helpers.doubles import KnownPulls, Summaries, slack_request
from tests.helpers.records import answer_store

DAYS, MINUTE = timedelta(days=1), timedelta(minutes=1)
CORE = (changed_file("engine/core.py"),)
SEVEN = Reference(REPOSITORY, 7)
# it says that it lands again what was taken back, which the rating tells too
MERGED = pull(7, title="Reland: Count retries once (#3)", files=CORE)
# long enough ago for the rules that look back
HISTORY = (
    pull(1, merged_at=NOON - 100 * DAYS, files=CORE),
    pull(3, merged_at=NOON - 20 * DAYS, title="Count retries once", files=CORE),
    pull(4, merged_at=NOON - 19 * DAYS, title='Revert "Count retries once" (#3)', files=CORE),
    pull(5, merged_at=NOON - DAYS, title="Fix the counter", files=CORE),
)
REASONS = ("one of its files was in a reverted change in the last 180 days", "its files needed 1 fix in 14 days")
# to the model, and to people
WITHOUT = ("without history", "fix history not loaded")


@dataclass
class House:
    """What shows a rating, over one store, one history and one GitHub."""

    slack: SlackEmulator
    store: Redis
    pulls: KnownPulls = field(default_factory=lambda: KnownPulls((MERGED,)))
    now: datetime = DAY.end

    def __post_init__(self) -> None:
        self.history = HistoryStore(self.store)
        self.chronicle = MergeTimeline(lambda: self.history, self.pulls.list_merged, lambda: self.now)
        self.app = make_reading_app(
            self.pulls,
            Summaries(),
            self.store,
            timeline=self.chronicle,
            repositories=AllowedRepositories(REPOSITORY),
        )

    def warm(self) -> None:
        refresh_summary(self.app, MERGED)

    def in_digest(self) -> Risk:
        app = make_digest_app(self.pulls, model=Summaries(), timeline=self.chronicle)
        [made] = build_digest(app, REPOSITORY, DAY, "The engine").entries
        return made.risk

    # as people see it

    def by_prsummary(self) -> str:
        return json.dumps(render_summary(get_entry(self.app, SEVEN)).blocks)

    def by_question(self) -> str:
        toolbox = open_session(self.app)
        return run_tool(toolbox, "pull_request", number=7)

    def by_question_about_days(self) -> str:
        toolbox = open_session(self.app)
        return run_tool(toolbox, "list_pull_requests", days="2026-02-28")

    def by_details(self) -> str:
        client = make_slack_client(self.slack.token, self.slack.url)
        replies = ReplySender(
            SlackMessenger(client), SlackEphemeralMessenger(client), answer_store(self.store), lambda: self.now
        )
        self.app.__dict__.update(replies=replies, views=SlackViews(client))
        trigger = self.slack.make_trigger_id()
        url = self.slack.make_response_url(HOME, "U0ASKER")
        asked = slack_request(key=f"action:{trigger}", response_url=url, trigger=trigger)
        show_details.run(self.app, asked, SEVEN)
        return json.dumps(self.slack.views[-1]["blocks"])


@pytest.fixture
def house(slack: SlackEmulator, store: Redis) -> House:
    return House(slack, store)


WAYS: dict[str, Callable[[House], str]] = {
    "/prsummary": House.by_prsummary,
    "question": House.by_question,
    "question about days": House.by_question_about_days,
    "Details": House.by_details,
}
each_way = pytest.mark.parametrize("show", WAYS.values(), ids=WAYS)
each_cache = pytest.mark.parametrize("is_warm", [False, True], ids=["cold", "warm"])


def tells_it_was_without(shown: str) -> bool:
    return any(words in shown for words in WITHOUT)


@each_way
@each_cache
def test_it_is_rated_with_the_history_that_is_known(
    house: House, show: Callable[[House], str], *, is_warm: bool
) -> None:
    house.history.record_merges(HISTORY)
    if is_warm:
        house.warm()
    shown = show(house)
    assert [reason for reason in REASONS if reason not in shown] == []
    assert not tells_it_was_without(shown)


@each_way
@each_cache
def test_where_there_is_none_that_is_said(house: House, show: Callable[[House], str], *, is_warm: bool) -> None:
    if is_warm:
        house.warm()
    shown = show(house)
    assert [reason for reason in REASONS if reason in shown] == []
    assert tells_it_was_without(shown)


@each_way
def test_what_was_kept_without_history_is_rated_with_it_later(house: House, show: Callable[[House], str]) -> None:
    house.warm()
    assert tells_it_was_without(show(house))
    house.history.record_merges(HISTORY)
    house.now += 11 * MINUTE
    assert not tells_it_was_without(show(house))


@pytest.mark.parametrize("has_history", [False, True])
def test_the_command_line_rates_what_it_reads_anew(house: House, *, has_history: bool) -> None:
    house.history.record_merges(HISTORY if has_history else ())
    risk = build_summary_json(build_entry(house.app, refresh_summary(house.app, MERGED)))["risk"]
    assert risk["without_history"] is not has_history
    assert (REASONS[0] in risk["reasons"]) is has_history


@each_cache
def test_it_is_rated_as_in_the_digest(house: House, *, is_warm: bool) -> None:
    """With the points, the rules, and the earlier tries of the same change."""
    house.history.record_merges(HISTORY)
    listed = house.in_digest()
    assert [each.number for each in listed.tries] == [3]
    if is_warm:
        house.warm()
    assert get_entry(house.app, SEVEN).risk == listed
    assert open_session(house.app).get_entry(REPOSITORY, 7).risk == listed


def test_a_store_that_was_away_for_a_moment_is_asked_again_for_history(store: Redis) -> None:
    away = connect_server(f"redis://127.0.0.1:{closed_port()}", timeouts=SHORT_TIMEOUTS)
    histories = [HistoryStore(away), HistoryStore(store)]
    histories[1].record_merges(HISTORY)
    chronicle = MergeTimeline(lambda: histories.pop(0), KnownPulls().list_merged, lambda: DAY.end)
    assert [chronicle.assess_risk(MERGED).without_history for _ in range(3)] == [True, False, False]


def test_days_of_two_months_read_history_once_for_each(store: Redis) -> None:
    """A question is answered from days in any order, each pull request rated by itself."""
    reads: list[datetime] = []

    class Counted(HistoryStore):
        def read_merges(self, *arguments: Any) -> tuple[PullRequest, ...]:
            reads.append(arguments[1])
            return super().read_merges(*arguments)

    history = Counted(store)
    chronicle = MergeTimeline(lambda: history, KnownPulls().list_merged, lambda: DAY.end)
    for number in range(10, 20):
        chronicle.assess_risk(pull(number, merged_at=NOON + number % 2 * DAYS, files=CORE))
    assert len(reads) == 2
