"""The cards of one message look at the record together, and at each text once."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest
from redis import Redis

from bot.features.merges.risk import assess_pull_request
from bot.features.merges.timeline import LOOK_AHEAD, MergeTimeline
from bot.features.previews import PullCard, build_cards
from bot.platform.pulls.models import PullRequest, Reference
from impact.history.reverts import parse_claim
from impact.repository import Repository
from tests.helpers.apps import make_reading_app
from tests.helpers.builders import DAY, NOON, REPOSITORY, changed_file, pull
from tests.helpers.calls import counting
from tests.helpers.doubles import KnownPulls, ReadHistory, Summaries

DAYS = timedelta(days=1)
CORE = (changed_file("engine/core.py", 300),)
LINKED = tuple(
    pull(number, title=f"Change number {number}", merged_at=NOON - (27 - number) * DAYS, files=CORE)
    for number in range(1, 6)
)
LATER = (
    pull(20, title="Revert #2", merged_at=NOON - 20 * DAYS, files=CORE),
    pull(21, title="Revert #1", merged_at=LINKED[0].merge_time + LOOK_AHEAD, files=CORE),
    pull(22, title="Fix the loop", body="Fixes a regression introduced by #3.", merged_at=NOON - 15 * DAYS),
    pull(23, title="Revert #4", merged_at=NOON - 18 * DAYS, files=CORE),
    pull(24, title="Revert #23", merged_at=NOON - 17 * DAYS, files=CORE),
)


@dataclass
class Desk:
    store: Redis
    pulls: KnownPulls = field(default_factory=lambda: KnownPulls((*LINKED, *LATER)))

    def __post_init__(self) -> None:
        self.history = ReadHistory(self.store)
        timeline = MergeTimeline(lambda: self.history, self.pulls.list_merged, lambda: DAY.end)
        background = SimpleNamespace(
            background=self.pulls, releases=None, stands_in="", get_written_review=lambda _: None
        )
        self.app = make_reading_app(
            self.pulls,
            Summaries(),
            self.store,
            background,
            timeline=timeline,
            day_lists=self.pulls,
            name_repository=str,
        )

    def outcomes(self, *numbers: int) -> dict[int, tuple[int, str] | None]:
        cards = build_cards(self.app, [Reference(REPOSITORY, number) for number in numbers], "C1")
        shown = [card for card in cards.values() if isinstance(card, PullCard)]
        return {
            card.pull.number: (card.outcome.by.number, str(card.outcome.kind)) if card.outcome else None
            for card in shown
        }


def list_spans(pulls: Sequence[PullRequest]) -> tuple[datetime, datetime]:
    return pulls[0].merge_time, pulls[-1].merge_time + LOOK_AHEAD


@pytest.fixture
def desk(store: Redis) -> Desk:
    desk = Desk(store)
    desk.history.record_merges([*LINKED, *LATER])
    return desk


@pytest.mark.parametrize("is_summarised", [False, True], ids=["fetched", "summarised"])
def test_five_cards_take_one_look_at_what_came_later(desk: Desk, *, is_summarised: bool) -> None:
    for each in LINKED if is_summarised else ():
        desk.app.refresh_summary(each)
    with counting(assess_pull_request, parse_claim) as counts:
        outcomes = desk.outcomes(5, 4, 3, 2, 1)
    # after two weeks nobody looks any more, and a revert that was reverted does not stand
    assert outcomes == {1: None, 2: (20, "reverted"), 3: (22, "repaired"), 4: None, 5: None}
    # another look is the month of the rating
    assert [span for span in desk.history.spans if span == list_spans(LINKED)] == [list_spans(LINKED)]
    assert len(desk.history.spans) == 2
    rated = Counter({("assess_pull_request", number): 1 for number in range(1, 6)})
    assert counts == rated + Counter({("parse_claim", each.number): 1 for each in (*LINKED, *LATER)})


def test_merges_that_lie_far_apart_are_looked_up_apart(desk: Desk) -> None:
    old = pull(9, title="Begin", merged_at=NOON - 300 * DAYS, files=CORE)
    undone = pull(10, title="Revert #9", merged_at=NOON - 299 * DAYS, files=CORE)
    desk.pulls.pulls += (old,)
    desk.history.record_merges([old, undone])
    assert desk.outcomes(2, 9) == {2: (20, "reverted"), 9: (10, "reverted")}
    assert {list_spans([old]), list_spans([LINKED[1]])} <= set(desk.history.spans)


def test_an_open_pull_request_has_no_outcome(desk: Desk) -> None:
    desk.pulls.pulls += (pull(8, title="Not yet", merged_at=None, files=CORE),)
    assert desk.outcomes(8) == {8: None}
    assert desk.history.spans == []


def test_a_link_that_meets_a_defect_leaves_the_others(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    fetch = desk.pulls.fetch_pull_request

    def fail(repository: Repository, number: int) -> PullRequest:
        if number == 2:
            raise RuntimeError("planted")
        return fetch(repository, number)

    desk.app.__dict__["pulls"] = SimpleNamespace(fetch_pull_request=fail, load_files=desk.pulls.load_files)
    assert [*desk.outcomes(1, 2, 3)] == [1, 3]
    assert any(record.exc_info and "planted" in str(record.exc_info[1]) for record in caplog.records)


def test_a_link_without_a_card_leaves_the_others(desk: Desk) -> None:
    assert desk.outcomes(404, 2) == {2: (20, "reverted")}
