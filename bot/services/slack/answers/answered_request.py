"""The record of the answer to a request, with which a later attempt continues."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from bot.ports.codecs.record_codec import RecordCodec


class RequestState(StrEnum):
    """The progress of an answer."""

    NEW = "new"
    BEGUN = "begun"
    """A message may be posted."""
    ANSWERED = "answered"
    """There is nothing left to do: the answer is posted, or its asker was notified that there is none."""


@dataclass(frozen=True, slots=True)
class AnsweredRequest:
    """The record of one part of a request from Slack. Times are aware.

    For a question in a thread, ``message`` is the timestamp of the answer that is being written, ``attempts``
    counts the attempts, and ``draft_json`` is the answer of the model. ``refused_at`` is when Slack first
    accepted no answer, ``excused_at`` when the asker was notified of that. Where a service asks for a pause, a
    separate record has the first postponement of the answer and the time for which it was promised. It also has
    ``started_at``, when the asker was notified that the work began. ``file_json`` is the file of the answer, for
    an attempt that finds its message without it.
    """

    begun_at: datetime | None = None
    answered_at: datetime | None = None
    message: str = ""
    attempts: int = 0
    draft_json: str = ""
    refused_at: datetime | None = None
    excused_at: datetime | None = None
    postponed_at: datetime | None = None
    promised_at: datetime | None = None
    started_at: datetime | None = None
    file_json: str = ""

    @property
    def state(self) -> RequestState:
        """The progress, derived from the recorded fields."""
        if self.is_answered:
            return RequestState.ANSWERED
        return RequestState.BEGUN if self.begun_at else RequestState.NEW

    @property
    def is_answered(self) -> bool:
        """Whether there is nothing left to do."""
        return self.answered_at is not None

    def begin_posting(self, at: datetime, file_json: str = "") -> AnsweredRequest:
        """Return the record of an attempt that is about to post, perhaps with a file."""
        return replace(self, begun_at=at, file_json=file_json)

    def complete(self, at: datetime) -> AnsweredRequest:
        """Return the record of an answered request."""
        return replace(self, answered_at=at)

    def count_attempt(self) -> AnsweredRequest:
        """Return the record with one more attempt."""
        return replace(self, attempts=self.attempts + 1)

    def record_message(self, message: str) -> AnsweredRequest:
        """Return the record with the timestamp of the message that is being written."""
        return replace(self, message=message)

    def record_draft(self, draft_json: str) -> AnsweredRequest:
        """Return the record with the model's answer, so that another attempt does not ask again."""
        return replace(self, draft_json=draft_json)

    def record_refusal(self, at: datetime) -> AnsweredRequest:
        """Return the record after Slack first accepted no answer."""
        return replace(self, refused_at=at)

    def record_excuse(self, at: datetime) -> AnsweredRequest:
        """Return the record after the asker was notified that Slack accepts no answer."""
        return replace(self, excused_at=at)

    def record_postponement(self, at: datetime) -> AnsweredRequest:
        """Return the record after a service asked for a pause for the first time."""
        return replace(self, postponed_at=at)

    def record_start(self, at: datetime) -> AnsweredRequest:
        """Return the record after the asker was notified that the work began."""
        return replace(self, started_at=at)

    def record_promise(self, at: datetime) -> AnsweredRequest:
        """Return the record after the asker was notified when the answer comes."""
        return replace(self, promised_at=at)


ANSWERED_REQUEST = RecordCodec(AnsweredRequest, version=1)
