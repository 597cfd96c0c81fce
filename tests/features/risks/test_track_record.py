from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import permutations
from typing import Any

import pytest
from pydantic import TypeAdapter
from redis import Redis

from bot.app import App
from bot.dates import Span
from bot.errors import StoreUnavailable
from bot.features.digest.posts import POSTED_DIGESTS, RECORDS, DigestRecords, PostedDigest
from bot.features.merges.view import LeadRule
from bot.features.risks.ratings import PostedRatings, RatedPullRequest
from bot.features.risks.rules import Tally, TrackRecordScore, TrackRecordVerdict
from bot.features.risks.service import is_list_reduced, score_lists
from bot.features.summaries.service import list_lead_rules
from bot.platform.pulls.models import PullRequest
from bot.platform.store.connection import RedisTimeouts, connect_server
from bot.platform.store.merge_records import HistoryStore
from bot.platform.store.records import RecordStore
from bot.platform.store.tables import Store
from impact.repository import Repository
from tests.helpers.apps import make_app
from tests.helpers.builders import DAY, NOON, REPOSITORY, pull
from tests.helpers.checks import closed_port
from tests.helpers.records import Digests, digest_store, plant

HOUR, DAYS = timedelta(hours=1), timedelta(days=1)
OTHER = Repository("octo", "other")
NOW = NOON + 40 * DAYS
WEEK = Span(DAY.date - 6 * DAYS, DAY.date, DAY.zone)
_RATINGS = TypeAdapter(PostedRatings)


def merge(number: int, days: float = 0, **fields: Any) -> PullRequest:
    return pull(number, merged_at=NOON + days * DAYS, **fields)


def reverting(number: int, of: int, days: float) -> PullRequest:
    return merge(number, days, title=f'Revert "Change number {of}" (#{of})')


def make_rating(number: int, days: float = 0, *, listed: bool = False) -> RatedPullRequest:
    return RatedPullRequest(number, NOON + days * DAYS, 14.0, 100, listed, ("rewrites",))


@dataclass
class Counting(RecordStore[PostedDigest]):
    """Records; keeps how many were asked for at once."""

    store: Redis
    asked: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(self.store, RECORDS)

    def load_each(self, keys: Sequence[str]) -> Sequence[PostedDigest]:
        self.asked.append(len(keys))
        return super().load_each(keys)


@dataclass
class Bot:
    store: Redis
    now: datetime = NOW

    def __post_init__(self) -> None:
        self.records = digest_store(self.store)
        self.history = HistoryStore(self.store)

    def make_app(self, records: Digests | None = None) -> App:
        app = make_app(
            self.store,
            digest_records=DigestRecords(records or self.records, lambda: "T0TEAM"),
            merge_history=self.history,
        )
        app.now = lambda: self.now
        return app

    def is_reduced(self, repository: Repository) -> bool:
        return is_list_reduced(self.make_app(), repository)

    def post_digest(
        self, *shown: RatedPullRequest, days: int = 0, channel: str = "C1", repository: Repository = REPOSITORY
    ) -> str:
        """A digest of so many days after DAY, posted nine hours after its end."""
        day = replace(DAY, date=DAY.date + days * DAYS)
        key = f"digest:T1:{channel}:{repository}:{day.date}"
        ratings = _RATINGS.dump_json(PostedRatings("rules.v2", shown)).decode()
        plant(self.records, key, ratings_json=ratings, posted_at=day.end + 9 * HOUR, text="Engine")
        Store(self.store).add_member(POSTED_DIGESTS, key, day.end, str(repository).lower())
        return key

    def score(self, span: Span = WEEK, repository: Repository = REPOSITORY) -> TrackRecordScore:
        return score_lists(self.make_app(), repository, span)


@pytest.fixture
def bot(store: Redis) -> Bot:
    return Bot(store)


def test_why_a_merge_was_in_the_leads_of_its_digests_is_found_again(bot: Bot) -> None:
    must, bug, ours = LeadRule.MUST_ACT, LeadRule.CONFIRMED_FINDING, LeadRule.TOUCHES_US
    bot.post_digest(replace(make_rating(1), lead=(bug, must)), make_rating(2))
    bot.post_digest(replace(make_rating(1), lead=(ours, must)), channel="C2")
    app = bot.make_app()
    assert sorted(list_lead_rules(app, merge(1))) == sorted((bug, must, ours))
    assert (list_lead_rules(app, merge(2)), list_lead_rules(app, merge(3))) == ((), ())


def test_what_was_posted_is_held_against_what_came_later(bot: Bot) -> None:
    bot.history.record_merges([merge(1), merge(2), merge(3), reverting(7, 1, 2)])
    bot.post_digest(make_rating(1, listed=True), make_rating(2, listed=True), make_rating(3))
    score = bot.score()
    assert (score.digests, score.listed, score.others) == (1, Tally(2, 1), Tally(1))
    assert [(hit.pull.number, hit.by.number) for hit in score.hits] == [(1, 7)]
    assert score.by_chance == pytest.approx(2 / 3)
    assert score.versions == ("rules.v2",)


def test_channels_that_got_the_same_day_count_once(bot: Bot) -> None:
    bot.history.record_merges([merge(1), reverting(7, 1, 2)])
    for channel in ("C1", "C2", "C3"):
        bot.post_digest(make_rating(1, listed=True), make_rating(2), channel=channel)
    score = bot.score()
    assert (score.digests, score.listed, score.others) == (1, Tally(1, 1), Tally(1))


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_what_several_showed_counts_where_it_was_shown_first(order: tuple[int, ...], bot: Bot) -> None:
    bot.history.record_merges([merge(1), merge(2), reverting(7, 1, 2)])
    shown = [
        (make_rating(1, listed=True),),
        (make_rating(1), make_rating(2, listed=True)),
        (make_rating(1), make_rating(2), make_rating(3)),
    ]
    for place, time in enumerate(order):
        key = bot.post_digest(*shown[time], channel=f"C{place}")
        plant(bot.records, key, posted_at=DAY.end + (9 + time) * HOUR)
    score = bot.score()
    assert (score.digests, score.listed, score.others) == (3, Tally(2, 1), Tally(1))


def test_without_digests_nothing_is_read_of_the_past(bot: Bot) -> None:
    bot.history.record_merges([merge(1), reverting(7, 1, 2)])
    assert bot.score() == TrackRecordScore()


@pytest.mark.parametrize(("days", "counted"), [(-7, 0), (-6, 1), (0, 1), (1, 0)])
def test_digests_count_by_their_last_day(days: int, counted: int, bot: Bot) -> None:
    bot.post_digest(make_rating(1, days, listed=True), days=days)
    assert bot.score().digests == counted


def test_other_repositories_are_none_of_its_business(bot: Bot) -> None:
    bot.history.record_merges(
        [merge(1), merge(1, repository=OTHER), replace(reverting(7, 1, 2), repository=OTHER)]
    )
    bot.post_digest(make_rating(1, listed=True))
    bot.post_digest(make_rating(1, listed=True), repository=OTHER)
    assert bot.score().listed == Tally(1)
    assert bot.score(repository=Repository("OCTO", "Other")).listed == Tally(1, 1)


def test_unfinished_digests_and_those_without_readable_ratings_are_left_out(bot: Bot) -> None:
    bot.post_digest(make_rating(1))
    for channel, field_ in (("C2", "ratings_json"), ("C3", "posted_at"), ("C4", "posted_at")):
        bot.store.hdel(bot.post_digest(make_rating(2), channel=channel), field_)
    plant(bot.records, bot.post_digest(make_rating(2), channel="C5"), ratings_json='{"version": 1}')
    bot.store.delete(bot.post_digest(make_rating(2), channel="C6"))
    score = bot.score()
    assert (score.digests, score.shown.pulls) == (1, 1)


def test_records_are_read_some_at_a_time(bot: Bot) -> None:
    for number in range(120):
        bot.post_digest(make_rating(number), channel=f"C{number}")
    records = Counting(bot.store)
    assert score_lists(bot.make_app(records), REPOSITORY, WEEK).digests == 120
    assert (sum(records.asked), max(records.asked)) == (120, 50)


def test_what_takes_back_is_found_months_later_though_it_counts_no_more(bot: Bot) -> None:
    """Each month of history is read for itself: none is lost between two."""
    bot.now = NOON + 200 * DAYS
    merges = [merge(n, n) for n in range(0, 190, 10)]
    bot.history.record_merges([*merges, *(reverting(1_000 + n, n, n + 2) for n in range(0, 190, 10))])
    for n in range(0, 190, 10):
        bot.post_digest(make_rating(n, n, listed=True), days=n)
    span = Span(DAY.date, DAY.date + 190 * DAYS, DAY.zone)
    assert bot.score(span).listed == Tally(19, 19)


def test_a_store_that_is_away_is_told(bot: Bot) -> None:
    away = connect_server(f"redis://127.0.0.1:{closed_port()}", timeouts=RedisTimeouts(retries=0))
    with away, pytest.raises(StoreUnavailable):
        Bot(away).score()


# --- whether digests had better list less


def without_signal(bot: Bot, days: int = 60) -> None:
    """Sixty digests of ten; none of those listed is ever taken back, one of the others in two of three."""
    for day in range(-days, 0):
        numbers = range(100 * -day, 100 * -day + 10)
        bot.post_digest(*(make_rating(n, day, listed=n % 10 == 0) for n in numbers), days=day)
        if day % 3:
            bot.history.record_merges([merge(numbers[1], day), reverting(numbers[0] + 50, numbers[1], day + 2)])


def test_lists_that_find_nothing_where_others_would_are_spared(bot: Bot) -> None:
    without_signal(bot)
    assert bot.is_reduced(REPOSITORY)
    assert bot.score(Span(DAY.date - 60 * DAYS, DAY.date, DAY.zone)).verdict is TrackRecordVerdict.NOT_BETTER
    assert not bot.is_reduced(OTHER)


def test_what_is_older_than_half_a_year_is_forgiven(bot: Bot) -> None:
    without_signal(bot)
    bot.now = NOON + 182 * DAYS
    assert not bot.is_reduced(REPOSITORY)


def test_it_is_looked_at_once_a_day(bot: Bot) -> None:
    assert not bot.is_reduced(REPOSITORY)
    without_signal(bot)
    assert not bot.is_reduced(Repository("Octo", "ENGINE"))
    assert 0 < bot.store.ttl("sparing:octo/engine") <= 24 * 60 * 60
    bot.store.delete("sparing:octo/engine")
    assert bot.is_reduced(REPOSITORY)
    bot.store.delete(*bot.store.keys("issued:*"))
    assert bot.is_reduced(REPOSITORY)


def test_a_store_that_is_away_spares_nothing(bot: Bot, caplog: pytest.LogCaptureFixture) -> None:
    away = connect_server(f"redis://127.0.0.1:{closed_port()}", timeouts=RedisTimeouts(retries=0))
    with away:
        assert not Bot(away).is_reduced(REPOSITORY)
    assert "how good the lists of octo/engine were is not known" in caplog.text


def test_a_store_that_may_drop_records_spares_nothing(bot: Bot, caplog: pytest.LogCaptureFixture) -> None:
    def refuse(*_: object) -> None:
        raise StoreUnavailable("The store may drop records.")

    assert not is_list_reduced(make_app(bot.store, list_digest_keys=refuse), REPOSITORY)
    assert "not known: The store may drop records." in caplog.text
