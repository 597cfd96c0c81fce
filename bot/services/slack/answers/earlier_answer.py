"""Earlier answers of a channel: who asks for the same within an hour gets a link to what is there."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.errors import StoreUnavailable
from bot.domain.keyspace.keys import EARLIER_ANSWER
from bot.ports import Messenger, Post, RecordStore
from bot.ports.codecs.record_codec import RecordCodec
from bot.render.blocks.rich_text import Element
from bot.services.slack.permalinks import find_permalink

log = logging.getLogger(__name__)

_DIGITS = 16


@dataclass(frozen=True, slots=True)
class EarlierAnswer:
    """The record of the last answer to a request in a channel.

    ``message`` is Slack's timestamp of the answer, ``content`` the fingerprint of what it says, and ``posted_at``
    (aware) when it was posted.
    """

    message: str = ""
    content: str = ""
    posted_at: datetime | None = None

    def record_answer(self, message: str, content: str, at: datetime) -> EarlierAnswer:
        """Return the record of a newer answer."""
        return replace(self, message=message, content=content, posted_at=at)


EARLIER_ANSWER_CODEC = RecordCodec(EarlierAnswer, version=1)


@dataclass(frozen=True, slots=True)
class RepeatableAnswer:
    """What makes two answers the same: the ``request`` after parsing, and the fingerprint of the ``content``.

    ``button`` posts the answer again.
    """

    request: str
    content: str
    button: Element


def compute_content(post: Post) -> str:
    """Return the fingerprint of a message; equal messages have the same."""
    text = json.dumps(post.build_payload(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


class EarlierAnswers:
    """The answers that channels got within the last hour. All methods but ``find_link`` need the lock."""

    def __init__(
        self, messenger: Messenger, records: RecordStore[EarlierAnswer], now: Callable[[], datetime]
    ) -> None:
        self._messenger = messenger
        self._records = records
        self._now = now

    def hold_lock(self, channel: str, answer: RepeatableAnswer) -> AbstractContextManager[None]:
        """Hold the lock of a request in a channel, so that of two people who ask at once one is answered.

        Raises:
            PostingInProgress: another process keeps the lock.
            StoreUnavailable: the store can't be asked.
        """
        return self._records.hold_lock(_build_key(channel, answer))

    def find_link(self, channel: str, answer: RepeatableAnswer) -> str:
        """Return the address of the answer that a channel already has.

        It is empty if there is none within the hour, if that one says something else, or if Slack does not find
        its message. Raises StoreUnavailable.
        """
        record = self._records.load(_build_key(channel, answer))
        if record.posted_at is None or record.content != answer.content:
            return ""
        # the store removes the record by its own clock
        if self._now() - record.posted_at >= EARLIER_ANSWER.lifetime:
            return ""
        return find_permalink(self._messenger, channel, record.message)

    def note_answer(self, channel: str, answer: RepeatableAnswer, message: str) -> None:
        """Record an answer that was just posted. A failure is only logged: who asks again is answered again."""
        key = _build_key(channel, answer)
        try:
            before = self._records.load(key)
            self._records.save(key, before, before.record_answer(message, answer.content, self._now()))
        except StoreUnavailable as error:
            log.info("an answer in %s is not remembered: %s", channel, error)


def _build_key(channel: str, answer: RepeatableAnswer) -> str:
    return EARLIER_ANSWER.build_key(channel, hashlib.sha256(answer.request.encode()).hexdigest()[:_DIGITS])
