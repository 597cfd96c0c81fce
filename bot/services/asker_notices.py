"""Tells who asked how their request stands, before there is an answer and where Slack takes none."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.errors import SlackUnavailable
from bot.domain.visits import Visit
from bot.ports import PostRecords, Whispers
from bot.render.notices import notice
from bot.services import deadlines

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
    only for a ``moment``. Who asks for something that may take longer hears after ``working`` that it is worked
    on. A question in a thread is ``answered`` within its own time, of which Slack has ``showing``, and writing the
    rest (``Limits`` there).
    """

    told: float = 120.0
    working: float = 100.0
    telling: float = 25.0
    excusing: float = 10.0
    moment: float = 10.0
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
        except SlackUnavailable:
            self.excuse(visit, key, began)
            raise

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
