"""Votes on answers, stored with the question and the inputs of the answer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import datetime

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.keyspace.keys import ANSWER_INPUTS
from bot.domain.keyspace.names import build_vote_name
from bot.ports import Cache, FeedbackStore
from bot.render.blocks.button_values import FeedbackVerdict
from bot.services.questions.answer_inputs import ANSWER_INPUTS_JSON, VOTE_JSON, AnswerInputs, Vote

log = logging.getLogger(__name__)


class AnswerFeedback:
    """Store of recent answers, and of the votes on them, which are permanent."""

    def __init__(self, cache: Cache, store: FeedbackStore, now: Callable[[], datetime]) -> None:
        self._cache = cache
        self._store = store
        self._now = now

    def remember_answer(self, channel: str, message: str, inputs: AnswerInputs) -> None:
        """Save the inputs of the answer in a message. Raises StoreUnavailable."""
        self._cache.put(_build_key(channel, message), ANSWER_INPUTS_JSON.dump_text(inputs), ANSWER_INPUTS.lifetime)

    def record_vote(self, slack_request: SlackRequest, message: str, verdict: FeedbackVerdict) -> bool:
        """Save a user's vote on an answer in place of an earlier one. Return whether the answer is still stored.

        Raises:
            StoreUnavailable: the vote was not saved.
        """
        inputs = ANSWER_INPUTS_JSON.load_or_none(self._cache.get(_build_key(slack_request.channel, message)))
        if inputs is None:
            log.info("a vote on an answer that is no longer known [%s]", slack_request.reference)
            return False
        user = slack_request.user
        vote = Vote.build(verdict, self._now(), user, inputs)
        self._store.put(build_vote_name(slack_request.channel, message, user), VOTE_JSON.dump_text(vote))
        return True

    def iterate_votes(self) -> Iterator[Vote]:
        """Yield every vote with its question, answer and inputs. Raises StoreUnavailable."""
        for text in self._store.list_votes():
            vote = VOTE_JSON.load_or_none(text)
            if vote is None:
                log.warning("a vote can't be read and is left out")
            else:
                yield vote


def _build_key(channel: str, message: str) -> str:
    return ANSWER_INPUTS.build_key(channel, message)
