"""The values of the buttons with which a team says what becomes of a hit."""

import pytest

from bot.errors import UsageError
from bot.features.touches.lines import HitVote, TouchVerdict, read_hit_vote, write_hit_vote
from bot.platform.commands import AllowedRepositories
from bot.platform.pulls.models import Reference
from impact.repository import Repository
from tests.helpers.builders import REPOSITORY

ALLOWED = AllowedRepositories(REPOSITORY)


@pytest.mark.parametrize("verdict", TouchVerdict)
def test_a_value_reads_back_as_the_same(verdict: TouchVerdict) -> None:
    longest = Repository("o" * 39, "n" * 100)
    vote = HitVote(verdict, "p" * 40, Reference(longest, 999_999_999))
    value = write_hit_vote(vote)
    assert read_hit_vote(value, AllowedRepositories(longest)) == vote
    assert len(value) <= 2_000


def test_values_stay_as_channels_hold_them() -> None:
    values = [write_hit_vote(HitVote(each, "ascend", Reference(REPOSITORY, 7))) for each in TouchVerdict]
    assert values == [f"2|{word} ascend octo/engine#7" for word in ("ours", "not-us", "done")]


@pytest.mark.parametrize(
    "value",
    [
        "",
        "ours",
        "ours ascend",
        "2|mine ascend octo/engine#7",
        "2|ours  octo/engine#7",
        "2|ours <!channel> octo/engine#7",
        "2|ours ascend octo/secret#7",
        "2|ours ascend octo/engine",
        "3|ours ascend octo/engine#7",
        "2|ours ascend " + "9" * 4_000,
    ],
)
def test_a_forged_or_later_value_is_refused(value: str) -> None:
    with pytest.raises(UsageError):
        read_hit_vote(value, ALLOWED)
