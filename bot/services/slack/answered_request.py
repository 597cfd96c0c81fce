"""The record of a request that is being answered, or was: what a later try goes on from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from bot.ports.record_codec import COUNT, INSTANT, TEXT, Record, RecordCodec, declare_field


class RequestState(StrEnum):
    """How far an answer came."""

    NEW = "new"
    BEGUN = "begun"
    """A message may stand."""
    ANSWERED = "answered"
    """There is nothing left to do: an answer stands, or its asker was told that there is none."""


@dataclass(frozen=True, slots=True)
class AnsweredRequest(Record):
    """One part of a request from Slack. Times are aware.

    Of a question in a thread ``message`` is the timestamp of the answer that is being written, ``tries`` counts
    the tries, and ``draft_json`` is the answer that the model gave. Slack took no answer for the first time at
    ``refused_at``; the asker heard so at ``excused_at``. Where a service asks for a pause, a record of its own
    says when the answer was first postponed, and for when it was promised.
    """

    begun_at: datetime | None = declare_field("begun", INSTANT)
    answered_at: datetime | None = declare_field("done", INSTANT)
    message: str = declare_field("message", TEXT)
    attempts: int = declare_field("tries", COUNT)
    draft_json: str = declare_field("draft", TEXT)
    refused_at: datetime | None = declare_field("troubled", INSTANT)
    excused_at: datetime | None = declare_field("excused", INSTANT)
    postponed_at: datetime | None = declare_field("since", INSTANT)
    promised_at: datetime | None = declare_field("told", INSTANT)

    @property
    def state(self) -> RequestState:
        """How far it came, which follows from what is recorded."""
        if self.is_answered:
            return RequestState.ANSWERED
        return RequestState.BEGUN if self.begun_at else RequestState.NEW

    @property
    def is_answered(self) -> bool:
        """Whether there is nothing left to do."""
        return self.answered_at is not None

    def begin_posting(self, at: datetime) -> AnsweredRequest:
        """Return the record of a try that is about to post."""
        return replace(self, begun_at=at)

    def complete(self, at: datetime) -> AnsweredRequest:
        """Return it answered."""
        return replace(self, answered_at=at)

    def count_attempt(self) -> AnsweredRequest:
        """Return it with one more try."""
        return replace(self, attempts=self.attempts + 1)

    def record_message(self, message: str) -> AnsweredRequest:
        """Return it with the message that is being written."""
        return replace(self, message=message)

    def record_draft(self, draft_json: str) -> AnsweredRequest:
        """Return it with what the model answered: another try does not ask again."""
        return replace(self, draft_json=draft_json)

    def record_refusal(self, at: datetime) -> AnsweredRequest:
        """Return it after Slack took no answer for the first time."""
        return replace(self, refused_at=at)

    def record_excuse(self, at: datetime) -> AnsweredRequest:
        """Return it after its asker was told that Slack takes no answer."""
        return replace(self, excused_at=at)

    def record_postponement(self, at: datetime) -> AnsweredRequest:
        """Return it after a service asked for a pause for the first time."""
        return replace(self, postponed_at=at)

    def record_promise(self, at: datetime) -> AnsweredRequest:
        """Return it after its asker was told when the answer comes."""
        return replace(self, promised_at=at)


ANSWERED_REQUEST = RecordCodec(AnsweredRequest, version=1)
