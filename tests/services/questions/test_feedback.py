"""Thumbs: one for each person and answer, kept for good with all that the answer was made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from bot.domain.errors import StoreUnavailable
from bot.domain.operations.usage import Usage
from bot.render.blocks.button_values import FeedbackVerdict
from bot.services.questions.answer_inputs import AnswerInputs, Vote
from bot.services.questions.feedback import AnswerFeedback
from tests.helpers.builders import NOON
from tests.services.doubles import MemoryCache, slack_request

CHANNEL, MESSAGE = "C0DIGEST", "101.000000"
INPUTS = AnswerInputs(question="Who?", answer="Ada.", numbers=(7,), usage=Usage(input=3))
GOOD, BAD = FeedbackVerdict.GOOD, FeedbackVerdict.BAD
ADA = slack_request()
GRACE = slack_request(user="U0GRACE")


@dataclass
class MemoryBallot:
    """``FeedbackStore`` in a dictionary."""

    votes: dict[str, str] = field(default_factory=dict)
    error: StoreUnavailable | None = None

    def put(self, name: str, vote: str) -> None:
        if self.error:
            raise self.error
        self.votes[name] = vote

    def list_votes(self) -> Iterator[str]:
        yield from self.votes.values()


def votes(ballot: MemoryBallot | None = None) -> AnswerFeedback:
    made = AnswerFeedback(MemoryCache(), ballot or MemoryBallot(), lambda: NOON)
    made.remember_answer(CHANNEL, MESSAGE, INPUTS)
    return made


def test_a_vote_is_kept_with_all_that_the_answer_was_made_of() -> None:
    there = votes()
    assert there.record_vote(ADA, MESSAGE, GOOD)
    assert list(there.iterate_votes()) == [Vote.build(GOOD, NOON, "U0ASKER", INPUTS)]


def test_who_votes_again_thinks_otherwise_now() -> None:
    there = votes()
    there.record_vote(ADA, MESSAGE, GOOD)
    there.record_vote(ADA, MESSAGE, BAD)
    assert [vote.verdict for vote in there.iterate_votes()] == [BAD]


def test_each_person_and_each_answer_has_a_vote() -> None:
    there = votes()
    there.remember_answer(CHANNEL, "102.000000", AnswerInputs(question="When?"))
    there.record_vote(ADA, MESSAGE, GOOD)
    there.record_vote(GRACE, MESSAGE, BAD)
    there.record_vote(ADA, "102.000000", BAD)
    cast = {(vote.user, vote.question, vote.verdict) for vote in there.iterate_votes()}
    assert cast == {("U0ASKER", "Who?", GOOD), ("U0GRACE", "Who?", BAD), ("U0ASKER", "When?", BAD)}


@pytest.mark.parametrize(("channel", "message"), [(CHANNEL, "999.000000"), ("C0OTHER", MESSAGE)])
def test_a_vote_on_an_answer_that_is_no_longer_known(channel: str, message: str) -> None:
    ballot = MemoryBallot()
    assert not votes(ballot).record_vote(slack_request(channel=channel), message, GOOD)
    assert ballot.votes == {}


def test_answers_can_be_voted_on_for_a_month() -> None:
    cache = MemoryCache()
    AnswerFeedback(cache, MemoryBallot(), lambda: NOON).remember_answer(CHANNEL, MESSAGE, INPUTS)
    assert cache.lifetimes == [timedelta(days=30)]


def test_a_vote_that_was_not_kept_is_said() -> None:
    with pytest.raises(StoreUnavailable):
        votes(MemoryBallot(error=StoreUnavailable("away"))).record_vote(ADA, MESSAGE, GOOD)
