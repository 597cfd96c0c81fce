"""What was taken back, also of earlier days, as the lead names it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.features.digest.lead import render_lead
from bot.features.digest.rules import Digest
from tests.helpers.builders import NOON, digest, entry
from tests.render.accepted import assert_accepted, read_post


def older(count: int) -> Digest:
    return digest(*(entry(number, title=f'Revert "Change {number} of May"') for number in range(count, 0, -1)))


def test_a_revert_of_an_earlier_day_is_named_as_one() -> None:
    day_digest = older(1)
    assert [made.number for made in day_digest.older_reverts] == [1]
    assert 'Already reverted or repaired#1 Revert "Change 1 of May", which reverts an earlier change' in read_post(
        render_lead(day_digest)
    )


def test_a_revert_of_the_day_is_not_of_an_earlier_one() -> None:
    second = entry(2, title="Revert #1", merged_at=NOON + timedelta(hours=1))
    assert digest(second, entry(1)).older_reverts == ()


@pytest.mark.parametrize("count", [1, 43, 67, 300])
def test_a_day_of_reverts_is_accepted(count: int) -> None:
    day_digest = older(count)
    assert_accepted(render_lead(day_digest), day_digest)


def test_reverts_that_are_not_shown_are_counted() -> None:
    assert "and 5 more" in read_post(render_lead(older(12)))
