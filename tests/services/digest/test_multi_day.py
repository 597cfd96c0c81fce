"""Several days as one overview: every day once, oldest first, and nothing heavy is held."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.domain.errors import (
    DayUnavailable,
    GitHubUnavailable,
    PrdigestError,
    RepositoryNotFound,
    StoreUnavailable,
)
from bot.domain.pull_requests.models import Repository
from bot.domain.time.date_range import Span
from bot.domain.time.day import LocalDay
from bot.features.digest.rules import Digest, UnknownDay
from bot.services.digest.multi_day import build_multi_day_digest
from tests.helpers.builders import DAY, NOON, REPOSITORY, changed_file, digest, entry, pairs

UNKNOWN = DayUnavailable("The sample holds one day only.", "not in the sample")
HEAVY = (changed_file("engine/core.py", 500, 500),)


class Days:
    """Builds a digest of one entry a day; ``failing`` is the day that can't be had."""

    def __init__(self, failing: int | None = None, error: BaseException | None = None) -> None:
        self.built: list[tuple[str, str, str]] = []
        self._failing = failing
        self._error = error

    def __call__(self, repository: Repository, day: LocalDay, name: str) -> Digest:
        self.built.append((str(repository), str(day.date), name))
        number = (day.date - DAY.date).days
        if self._error and number == self._failing:
            raise self._error
        merged_at = NOON + timedelta(days=number)
        title = 'Revert "Change number 1" (#1)' if number == 2 else f"Change number {number}"
        return digest(entry(number, title=title, merged_at=merged_at, files=HEAVY), day=day, name=name)


def span(first: int, last: int) -> Span:
    return Span(DAY.date + timedelta(days=first), DAY.date + timedelta(days=last), DAY.zone)


@pytest.mark.parametrize("last", [1, 2, 14])
def test_every_day_is_built_once_and_in_order(last: int) -> None:
    days = Days()
    multi_day_digest = build_multi_day_digest(days, REPOSITORY, span(1, last), "Engine")
    dates = [str(day.date) for day in span(1, last).days]
    assert days.built == [("octo/engine", date, "Engine") for date in dates]
    assert [str(each.day.date) for each in multi_day_digest.digests] == dates
    assert (multi_day_digest.span, multi_day_digest.name, multi_day_digest.merged_count) == (
        span(1, last),
        "Engine",
        last,
    )


def test_days_of_which_nothing_is_known_are_named_as_such() -> None:
    multi_day_digest = build_multi_day_digest(Days(2, UNKNOWN), REPOSITORY, span(1, 3), "Engine")
    assert [each.merged_count for each in multi_day_digest.digests] == [1, 1]
    assert multi_day_digest.unknown_days == (UnknownDay(span(2, 2).first, "not in the sample"),)


def test_where_nothing_is_known_of_any_day_that_is_said() -> None:
    with pytest.raises(DayUnavailable, match="one day only"):
        build_multi_day_digest(Days(2, UNKNOWN), REPOSITORY, span(2, 2), "Engine")


def test_no_patches_are_held_and_all_else_is() -> None:
    (day_digest,) = build_multi_day_digest(Days(), REPOSITORY, span(1, 1), "Engine").digests
    (kept,) = day_digest.entries
    (built,) = Days()(REPOSITORY, span(1, 1).days[0], "Engine").entries
    assert (kept.pull.files, built.pull.files) == (tuple(replace(file, patch=None) for file in HEAVY), HEAVY)
    assert (kept.risk, kept.area, kept.summary, kept.number) == (built.risk, built.area, built.summary, 1)
    assert kept.pull.changed_lines == built.pull.changed_lines


def test_a_revert_on_another_day_is_known() -> None:
    multi_day_digest = build_multi_day_digest(Days(), REPOSITORY, span(1, 3), "Engine")
    assert pairs(multi_day_digest.combined.outcomes) == [(1, 2)]
    assert [each.number for each in multi_day_digest.combined.riskiest_entries] == [3]


ERRORS = [
    RepositoryNotFound("No such."),
    GitHubUnavailable("Away."),
    StoreUnavailable("Away."),
    KeyError("defect"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_day_that_can_not_be_had_ends_it(error: PrdigestError) -> None:
    days = Days(2, error)
    with pytest.raises(type(error)) as caught:
        build_multi_day_digest(days, REPOSITORY, span(1, 4), "Engine")
    assert (caught.value is error, len(days.built)) == (True, 2)
