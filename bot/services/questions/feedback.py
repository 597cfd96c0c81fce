"""Votes on answers, stored with the question and the inputs of the answer."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.keyspace.keys import ANSWER_INPUTS
from bot.domain.keyspace.names import build_vote_name
from bot.ports import Cache, FeedbackStore

log = logging.getLogger(__name__)


class AnswerFeedback:
    """Store of recent answers, and of the votes on them, which are permanent."""

    def __init__(self, cache: Cache, store: FeedbackStore, now: Callable[[], datetime]) -> None:
        self._cache = cache
        self._store = store
        self._now = now

    def remember_answer(self, channel: str, message: str, inputs: Mapping[str, Any]) -> None:
        """Save the inputs of the answer in a message. Raises StoreUnavailable."""
        self._cache.put(_build_key(channel, message), json.dumps(inputs), ANSWER_INPUTS.lifetime)

    def record_vote(self, slack_request: SlackRequest, message: str, verdict: str) -> bool:
        """Save a user's vote on an answer in place of an earlier one. Return whether the answer is still stored.

        Raises:
            StoreUnavailable: the vote was not saved.
        """
        inputs = self._cache.get(_build_key(slack_request.channel, message))
        if inputs is None:
            log.info("a vote on an answer that is no longer known [%s]", slack_request.reference)
            return False
        vote = {
            "verdict": verdict,
            "at": self._now().isoformat(),
            "user": slack_request.user,
            **json.loads(inputs),
        }
        self._store.put(build_vote_name(slack_request.channel, message, slack_request.user), json.dumps(vote))
        return True

    def iterate_votes(self) -> Iterator[dict[str, Any]]:
        """Yield every vote with its question, answer and inputs. Raises StoreUnavailable."""
        for vote in self._store.list_votes():
            yield json.loads(vote)


def _build_key(channel: str, message: str) -> str:
    return ANSWER_INPUTS.build_key(channel, message)
