"""Tells who asked how their request stands, before there is an answer and where Slack takes none."""

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
from bot.ports import PostRecords, Whispers
from bot.render.conversations.notices import later, notice
from bot.services.operations import deadlines

log = logging.getLogger(__name__)

_WORKING = "I am still at it; I say so when it is done, or what went wrong."
_NOT_POSTED = (
    "Slack does not take my answer right now. I go on trying for some minutes: ask again if it does not come."
)


@dataclass(frozen=True, slots=True)
class Promises:
    """In seconds, when an asker hears something.

    ``told`` is when at the latest. Of the time of a request ``telling`` is kept for an answer to be posted, or for
    what went wrong, and of that ``excusing`` for saying that Slack takes no post, which passes by itself if it is
    only for a ``moment``. An answer that has to wait because a service asks for a pause is of use up to ``later``
    after it was asked for: their ``response_url`` reaches askers for half an hour. Who asks for something that may
    take longer hears after ``working`` that it is worked on. A question in a thread is ``answered`` within its own
    time, of which Slack has ``showing``, and writing the rest (``Limits`` there).
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
    """Tells the asker through their ``response_url``; who has none waits for the answer itself."""

    def __init__(
        self, whispers: Whispers, records: PostRecords, now: Callable[[], datetime], promises: Promises
    ) -> None:
        self._whispers = whispers
        self._records = records
        self._now = now
        self._promises = promises

    @contextmanager
    def excused(self, visit: Visit, key: str) -> Iterator[None]:
        """Where Slack does not do what is needed for an answer, say so another way, before it is tried again."""
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
        since = datetime.fromisoformat(record.get("since", now.isoformat()))
        if now + pause - since > timedelta(seconds=self._promises.later):
            return False
        if "since" not in record:
            self._records.save(key, since=since.isoformat())
        if "told" not in record and pause > timedelta(seconds=self._promises.moment):
            self._say_when(visit, error, now + pause, key)
        return True

    def _say_when(self, visit: Visit, error: RateLimited | SlackUnavailable, then: datetime, key: str) -> None:
        service = "GitHub" if isinstance(error, RateLimited) else "Slack"
        log.info("%s asks for a pause, the answer comes at %s [%s]", service, then.isoformat(), visit.reference)
        try:
            self._whispers.whisper(visit, later(service, then))
        except SlackUnavailable as refused:
            log.warning("the asker is not told when [%s]: %s", visit.reference, refused)
        else:
            self._records.save(key, told=then.isoformat())

    def excuse(self, visit: Visit, key: str, began: datetime) -> None:
        """Say once that Slack takes no answer, where that lasts. This try to post ``began`` then (aware)."""
        record = self._records.load(key)
        first = datetime.fromisoformat(record.get("troubled", began.isoformat()))
        is_moment = self._now() - first < timedelta(seconds=self._promises.moment)
        if "troubled" not in record:
            self._records.save(key, troubled=began.isoformat())
        if is_moment or not visit.response_url or "excused" in record:
            return
        try:
            self._whispers.whisper(visit, notice(_NOT_POSTED))
        except SlackUnavailable as error:
            log.warning("the asker is not told yet [%s]: %s", visit.reference, error)
        else:
            self._records.save(key, excused=self._now().isoformat())

    @contextmanager
    def told_meanwhile(self, visit: Visit) -> Iterator[None]:
        """Who waits for what may take long is told that it is worked on, where there is a ``response_url``."""
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
            # what it says shall not come after the answer
            timer.join(self._promises.telling)

    def _tell_meanwhile(self, visit: Visit) -> None:
        try:
            self._whispers.whisper(visit, notice(_WORKING))
        except SlackUnavailable as error:
            log.info("the asker is not told that it is worked on [%s]: %s", visit.reference, error)
