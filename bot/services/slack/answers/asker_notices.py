"""Notices to the asker about the state of a request, before there is an answer and when Slack accepts none."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import RateLimited, SlackUnavailable, StoreUnavailable
from bot.domain.keyspace.keys import ANSWER_PROGRESS
from bot.platform import deadlines
from bot.ports import EphemeralMessenger, RecordStore
from bot.render.conversations import sentences
from bot.render.conversations.notices import render_delay, render_notice
from bot.services.operations.progress import WorkProgress, follow_progress
from bot.services.slack.answers.answered_request import AnsweredRequest

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ResponseTimes:
    """Times at which an asker gets a response, in seconds.

    - ``first_response``: the latest time of a first response.
    - ``started_notice``: when a request that is not answered yet gets a notice that the work began. Such a notice
      can't be removed later, so a quick answer comes without one.
    - ``progress_notice``: when a request that may take longer gets a notice that it is in progress.
    - ``reply_reserve``: the part of a request's time that is reserved for posting the answer or an error.
    - ``apology_reserve``: the part of ``reply_reserve`` for the notice that Slack accepts no post.
    - ``short_outage``: how long such a failure may last before the asker gets that notice.
    - ``latest_answer``: how long after a request a delayed answer is still of use.
      A ``response_url`` lasts half an hour.
    - ``question_time``: the time for a question in a thread.
    - ``display_reserve``: the part of ``question_time`` for showing the answer in Slack.
      The writer gets the rest (``ANSWER_LIMITS`` there).
    """

    first_response: float = 120.0
    started_notice: float = 3.0
    progress_notice: float = 100.0
    reply_reserve: float = 25.0
    apology_reserve: float = 10.0
    short_outage: float = 10.0
    latest_answer: float = 1_500.0
    question_time: float = 240.0
    display_reserve: float = 30.0


DEFAULT_TIMES = ResponseTimes()


class AskerNotices:
    """Notices through the asker's ``response_url``. An asker without one waits for the answer itself."""

    def __init__(
        self,
        messenger: EphemeralMessenger,
        records: RecordStore[AnsweredRequest],
        now: Callable[[], datetime],
        response_times: ResponseTimes,
    ) -> None:
        self._messenger = messenger
        self._records = records
        self._now = now
        self._response_times = response_times

    @contextmanager
    def excuse_failures(self, slack_request: SlackRequest, key: str) -> Iterator[None]:
        """Notify the asker in another way if Slack refuses what the block needs for an answer.

        The error is raised again.
        """
        began = self._now()
        try:
            with deadlines.reserve_time(self._response_times.apology_reserve):
                yield
        except SlackUnavailable as error:
            if error.retry_after is None:
                self.send_excuse(slack_request, key, began)
            else:
                self.postpone_answer(slack_request, error)
            raise

    def postpone_answer(self, slack_request: SlackRequest, error: RateLimited | SlackUnavailable) -> bool:
        """Return whether an answer is of use after the pause that a service asks for; announce its time once."""
        key, now = ANSWER_PROGRESS.build_key(slack_request.key, "later"), self._now()
        record, pause = self._records.load(key), timedelta(seconds=error.retry_after or 0.0)
        since = record.postponed_at or now
        if now + pause - since > timedelta(seconds=self._response_times.latest_answer):
            return False
        if record.postponed_at is None:
            record = self._records.save(key, record, record.record_postponement(now))
        if record.promised_at is None and pause > timedelta(seconds=self._response_times.short_outage):
            self._announce_delay(slack_request, error, now + pause, key, record)
        return True

    def _announce_delay(
        self,
        slack_request: SlackRequest,
        error: RateLimited | SlackUnavailable,
        answer_at: datetime,
        key: str,
        record: AnsweredRequest,
    ) -> None:
        """Tell the asker when the answer comes. A failure is only logged."""
        service = "GitHub" if isinstance(error, RateLimited) else "Slack"
        log.info(
            "%s asks for a pause, the answer comes at %s [%s]",
            service,
            answer_at.isoformat(),
            slack_request.reference,
        )
        try:
            self._messenger.send(slack_request, render_delay(service, answer_at))
        except SlackUnavailable as refused:
            log.warning("the asker is not told when [%s]: %s", slack_request.reference, refused)
        else:
            self._records.save(key, record, record.record_promise(answer_at))

    def send_excuse(self, slack_request: SlackRequest, key: str, began: datetime) -> None:
        """Tell the asker once that Slack accepts no answer, if that lasts.

        ``began`` (aware) is when this attempt began.
        """
        record = self._records.load(key)
        first = record.refused_at or began
        is_short = self._now() - first < timedelta(seconds=self._response_times.short_outage)
        if record.refused_at is None:
            record = self._records.save(key, record, record.record_refusal(began))
        if is_short or not slack_request.response_url or record.excused_at:
            return
        try:
            self._messenger.send(slack_request, render_notice(sentences.NOT_POSTED_YET))
        except SlackUnavailable as error:
            log.warning("the asker is not told yet [%s]: %s", slack_request.reference, error)
        else:
            self._records.save(key, record, record.record_excuse(self._now()))

    @contextmanager
    def report_progress(self, slack_request: SlackRequest, started: str = "") -> Iterator[None]:
        """Notify the asker of the progress while the block takes, if there is a ``response_url``.

        ``started`` is the sentence for a block that is not as quick as most; empty for none.
        """
        with ExitStack() as timers:
            progress = timers.enter_context(follow_progress())
            if slack_request.response_url and started:
                wait = self._response_times.started_notice
                timers.enter_context(self._run_later(wait, lambda: self._send_started(slack_request, started)))
            if (
                slack_request.response_url
                and self._response_times.first_response < deadlines.get_seconds_left() < math.inf
            ):
                wait = self._response_times.progress_notice
                timers.enter_context(self._run_later(wait, lambda: self._send_step(slack_request, progress)))
            yield

    @contextmanager
    def _run_later(self, wait: float, send: Callable[[], None]) -> Iterator[None]:
        """Send a notice after ``wait`` seconds unless the block has ended by then."""
        timer = threading.Timer(wait, send)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            # the notice must not arrive after the answer
            timer.join(self._response_times.reply_reserve)

    def _send_started(self, slack_request: SlackRequest, sentence: str) -> None:
        """Send the notice that the work began, once for all attempts. A failure is only logged."""
        key = ANSWER_PROGRESS.build_key(slack_request.key, "later")
        try:
            record = self._records.load(key)
            if record.started_at is None:
                self._records.save(key, record, record.record_start(self._now()))
                self._send_progress(slack_request, sentence)
        except StoreUnavailable as error:
            log.info("the asker is not told that it began [%s]: %s", slack_request.reference, error)

    def _send_step(self, slack_request: SlackRequest, progress: WorkProgress) -> None:
        """Send how far the work is. A failure is only logged."""
        self._send_progress(slack_request, sentences.format_still_working(progress.done, progress.total))

    def _send_progress(self, slack_request: SlackRequest, sentence: str) -> None:
        """Send a notice that the work is in progress. A failure is only logged."""
        try:
            self._messenger.send(slack_request, render_notice(sentence))
        except SlackUnavailable as error:
            log.info("the asker is not told that it is worked on [%s]: %s", slack_request.reference, error)
