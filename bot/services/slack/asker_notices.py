"""Notices to the asker about the state of a request, before there is an answer and when Slack accepts none."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.conversations.slack_request import Visit
from bot.domain.errors import RateLimited, SlackUnavailable
from bot.domain.keyspace.keys import ANSWER
from bot.ports import RecordStore, Whispers
from bot.render.conversations.notices import later, notice
from bot.services.operations import deadlines
from bot.services.slack.answered_request import AnsweredRequest

log = logging.getLogger(__name__)

_WORKING = "I am still at it; I say so when it is done, or what went wrong."
_NOT_POSTED = (
    "Slack does not take my answer right now. I go on trying for some minutes: ask again if it does not come."
)


@dataclass(frozen=True, slots=True)
class Promises:
    """Times at which an asker gets a response, in seconds.

    - ``told``: the latest time of a first response.
    - ``working``: when a request that may take longer gets a notice that it is in progress.
    - ``telling``: the part of a request's time that is reserved for posting the answer or an error.
    - ``excusing``: the part of ``telling`` for the notice that Slack accepts no post.
    - ``moment``: how long such a failure may last before the asker gets that notice.
    - ``later``: how long after a request a delayed answer is still of use.
      A ``response_url`` lasts half an hour.
    - ``answered``: the time for a question in a thread.
    - ``showing``: the part of ``answered`` for showing the answer in Slack.
      The writer gets the rest (``Limits`` there).
    """

    told: float = 120.0
    working: float = 100.0
    telling: float = 25.0
    excusing: float = 10.0
    moment: float = 10.0
    later: float = 1_500.0
    answered: float = 240.0
    showing: float = 30.0


USUAL = Promises()


class AskerNotices:
    """Notices through the asker's ``response_url``. An asker without one waits for the answer itself."""

    def __init__(
        self,
        whispers: Whispers,
        records: RecordStore[AnsweredRequest],
        now: Callable[[], datetime],
        promises: Promises,
    ) -> None:
        self._whispers = whispers
        self._records = records
        self._now = now
        self._promises = promises

    @contextmanager
    def excused(self, visit: Visit, key: str) -> Iterator[None]:
        """Tell the asker in another way if Slack refuses what the block needs for an answer.

        Raise the error again.
        """
        began = self._now()
        try:
            with deadlines.sparing(self._promises.excusing):
                yield
        except SlackUnavailable as error:
            if error.retry_after is None:
                self.excuse(visit, key, began)
            else:
                self.put_off(visit, error)
            raise

    def put_off(self, visit: Visit, error: RateLimited | SlackUnavailable) -> bool:
        """Tell whether an answer is of use after the pause that a service asks for; say once when it comes."""
        key, now = ANSWER.key(visit.key, "later"), self._now()
        record, pause = self._records.load(key), timedelta(seconds=error.retry_after or 0.0)
        since = record.postponed_at or now
        if now + pause - since > timedelta(seconds=self._promises.later):
            return False
        if record.postponed_at is None:
            record = self._records.save(key, record, record.postpone(now))
        if record.promised_at is None and pause > timedelta(seconds=self._promises.moment):
            self._say_when(visit, error, now + pause, key, record)
        return True

    def _say_when(
        self,
        visit: Visit,
        error: RateLimited | SlackUnavailable,
        answer_at: datetime,
        key: str,
        record: AnsweredRequest,
    ) -> None:
        """Tell the asker when the answer comes. A failure is only logged."""
        service = "GitHub" if isinstance(error, RateLimited) else "Slack"
        log.info(
            "%s asks for a pause, the answer comes at %s [%s]", service, answer_at.isoformat(), visit.reference
        )
        try:
            self._whispers.whisper(visit, later(service, answer_at))
        except SlackUnavailable as refused:
            log.warning("the asker is not told when [%s]: %s", visit.reference, refused)
        else:
            self._records.save(key, record, record.promise(answer_at))

    def excuse(self, visit: Visit, key: str, began: datetime) -> None:
        """Tell the asker once that Slack accepts no answer, if that lasts.

        ``began`` (aware) is when this attempt began.
        """
        record = self._records.load(key)
        first = record.refused_at or began
        is_moment = self._now() - first < timedelta(seconds=self._promises.moment)
        if record.refused_at is None:
            record = self._records.save(key, record, record.note_refusal(began))
        if is_moment or not visit.response_url or record.excused_at:
            return
        try:
            self._whispers.whisper(visit, notice(_NOT_POSTED))
        except SlackUnavailable as error:
            log.warning("the asker is not told yet [%s]: %s", visit.reference, error)
        else:
            self._records.save(key, record, record.excuse(self._now()))

    @contextmanager
    def told_meanwhile(self, visit: Visit) -> Iterator[None]:
        """Tell the asker once the block takes long that it is in progress, if there is a ``response_url``."""
        if not visit.response_url or not self._promises.told < deadlines.left() < math.inf:
            yield
            return
        timer = threading.Timer(self._promises.working, self._tell_meanwhile, [visit])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            # the notice must not arrive after the answer
            timer.join(self._promises.telling)

    def _tell_meanwhile(self, visit: Visit) -> None:
        """Send the notice that the work is in progress. A failure is only logged."""
        try:
            self._whispers.whisper(visit, notice(_WORKING))
        except SlackUnavailable as error:
            log.info("the asker is not told that it is worked on [%s]: %s", visit.reference, error)
