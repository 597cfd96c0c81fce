"""Answers to requests of people in Slack, with their buttons, and what an asker is told meanwhile."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count

from bot.errors import RateLimited, SlackCallRefused, SlackUnavailable, StoreUnavailable
from bot.platform import deadlines
from bot.platform.commands import CommandRequest
from bot.platform.slack import blocks
from bot.platform.slack.blocks import Attachment, Element, Post, merge_posts, write_request
from bot.platform.slack.messenger import SlackEphemeralMessenger, SlackMessenger
from bot.platform.slack.notices import NOT_POSTED_YET, format_still_working, render_delay, render_notice
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.codecs import RecordCodec
from bot.platform.store.keys import ANSWER_PROGRESS
from bot.platform.store.records import RecordStore
from bot.platform.worker_threads import WorkProgress, follow_progress

_DIGITS = 16


@dataclass(frozen=True, slots=True)
class RepeatableAnswer:
    """What makes answers the same: the parsed ``request`` and the fingerprint of the ``content``."""

    request: str
    content: str
    button: Element


@dataclass(frozen=True, slots=True)
class Answer:
    """A message as everybody sees it and as the asker alone does; they differ in their buttons.

    ``about`` is the subject of a thread below it (see :mod:`bot.features.questions.rules`).
    ``is_private``: only the asker may read it, also where it was meant for others. ``repeatable`` says which later
    answers are the same; None if there are none. ``attachment`` is a file for the thread of the message.
    ``further`` are messages that follow the private one.
    """

    public: Post
    private: Post
    about: str = ""
    is_private: bool = False
    repeatable: RepeatableAnswer | None = None
    attachment: Attachment | None = None
    further: tuple[Post, ...] = ()

    @classmethod
    def for_asker(cls, post: Post, *, is_private: bool = False) -> Answer:
        return cls(post, post, is_private=is_private)

    @classmethod
    def merge(cls, answers: Iterable[Answer], most: int) -> Answer:
        """Return one answer for the asker alone; if it takes more than ``most`` messages, each part is reduced."""
        first, *further = merge_posts([answer.private for answer in answers], most)
        return cls(first, first, is_private=True, further=tuple(further))


@dataclass(frozen=True, slots=True)
class Share:
    """The request that a button repeats for everybody; ``content`` is a fingerprint, else that of the message."""

    action: str
    request: CommandRequest
    content: str = ""


def build_answer(asker: str, post: Post, share: Share, details: Element | None, about: str) -> Answer:
    """Return the message for everybody, which says who asked and has a thread, and the one for the asker alone."""
    public = blocks.add_buttons(blocks.add_asker(post, asker), details, blocks.make_ask_button())
    private = blocks.add_buttons(post, details, blocks.make_share_button(share.action, share.request))
    repeatable = RepeatableAnswer(
        write_request(share.request),
        share.content or compute_content(post),
        blocks.make_repeat_button(share.action, share.request),
    )
    return Answer(public, private, about, repeatable=repeatable)


def compute_content(post: Post) -> str:
    return compute_fingerprint(json.dumps(post.build_payload(), sort_keys=True))


def compute_fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


@dataclass(frozen=True, slots=True)
class AnsweredRequest:
    """The record of one part of a request from Slack, with which a later attempt continues. Times are aware.

    ``begun_at``: a message may be posted. ``answered_at``: there is nothing left to do; the answer is posted, or
    its asker was notified that there is none.

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


@dataclass(frozen=True, slots=True)
class EarlierAnswer:
    """The record of the last answer to a request in a channel.

    ``message`` is Slack's timestamp of the answer, ``content`` the fingerprint of what it says, and ``posted_at``
    (aware) when it was posted.
    """

    message: str = ""
    content: str = ""
    posted_at: datetime | None = None


ANSWERED_REQUEST = RecordCodec(AnsweredRequest, version=1)
EARLIER_ANSWER_CODEC = RecordCodec(EarlierAnswer, version=1)


# --- what an asker is told meanwhile

# A ``response_url`` takes five messages in half an hour, and what it shows can't be edited. So where the answer
# will be posted, a message says how far the work is, which is edited each minute and deleted before the answer.
# Where only the asker may see it, they are told three times, so that the answer still gets through.

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ResponseTimes:
    """Times at which an asker gets a response, in seconds.

    - ``first_response``: the latest time of a first response.
    - ``started_notice``: when a request that is not answered yet gets a notice that the work began. Such a notice
      can't be removed later, so a quick answer comes without one.
    - ``progress_notice``: how often a request that may take longer says how far it is.
    - ``reply_reserve``: the part of a request's time that is reserved for posting the answer or an error.
    - ``apology_reserve``: the part of ``reply_reserve`` for the notice that Slack accepts no post.
    - ``short_outage``: how long such a failure may last before the asker gets that notice.
    - ``latest_answer``: how long after a request a delayed answer is still of use.
      A ``response_url`` lasts half an hour.
    - ``question_time``: the time for a question in a thread.
    - ``display_reserve``: the part of ``question_time`` for showing the answer in Slack.
      The writer gets the rest.
    """

    first_response: float = 120.0
    started_notice: float = 3.0
    progress_notice: float = 60.0
    reply_reserve: float = 25.0
    apology_reserve: float = 10.0
    short_outage: float = 10.0
    latest_answer: float = 1_500.0
    question_time: float = 240.0
    display_reserve: float = 30.0


# the minutes after which an asker alone is told how far the work is
_TOLD_AFTER = frozenset({1, 2, 4})


class AskerNotices:
    """Notices through the asker's ``response_url``, and the message that says how far the work is."""

    def __init__(
        self,
        posts: SlackMessenger,
        messenger: SlackEphemeralMessenger,
        records: RecordStore[AnsweredRequest],
        now: Callable[[], datetime],
        response_times: ResponseTimes,
    ) -> None:
        self._posts = posts
        self._messenger = messenger
        self._records = records
        self._now = now
        self._times = response_times

    @contextmanager
    def excuse_failures(self, slack_request: SlackRequest, key: str) -> Iterator[None]:
        """Tell the asker in another way if Slack refuses what the block needs. The error is raised again."""
        began = self._now()
        try:
            with deadlines.reserve_time(self._times.apology_reserve):
                yield
        except SlackUnavailable as error:
            if error.retry_after is None:
                self.send_excuse(slack_request, key, began)
            else:
                self.postpone_answer(slack_request, error)
            raise

    def postpone_answer(self, slack_request: SlackRequest, error: RateLimited | SlackUnavailable) -> bool:
        """Return whether an answer is of use after the pause that a service asks for; announce its time once."""
        key, now = _build_key(slack_request), self._now()
        record, pause = self._records.load(key), timedelta(seconds=error.retry_after or 0.0)
        if now + pause - (record.postponed_at or now) > timedelta(seconds=self._times.latest_answer):
            return False
        if record.postponed_at is None:
            record = self._records.save(key, record, replace(record, postponed_at=now))
        if record.promised_at is None and pause > timedelta(seconds=self._times.short_outage):
            service, then = "GitHub" if isinstance(error, RateLimited) else "Slack", now + pause
            reference = slack_request.reference
            log.info("%s asks for a pause, the answer comes at %s [%s]", service, then.isoformat(), reference)
            if self._try_send(slack_request, render_delay(service, then), logging.WARNING):
                self._records.save(key, record, replace(record, promised_at=then))
        return True

    def send_excuse(self, slack_request: SlackRequest, key: str, began: datetime) -> None:
        """Tell the asker once that Slack accepts no answer, if that lasts; ``began`` is when this attempt did."""
        record = self._records.load(key)
        is_short = self._now() - (record.refused_at or began) < timedelta(seconds=self._times.short_outage)
        if record.refused_at is None:
            record = self._records.save(key, record, replace(record, refused_at=began))
        if is_short or not slack_request.response_url or record.excused_at:
            return
        if self._try_send(slack_request, render_notice(NOT_POSTED_YET), logging.WARNING):
            self._records.save(key, record, replace(record, excused_at=self._now()))

    @contextmanager
    def report_progress(
        self, slack_request: SlackRequest, started: str = "", thread: str | None = None
    ) -> Iterator[None]:
        """Say how far the work is while the block takes.

        ``started`` is the sentence for a block that is not as quick as most; empty for none. ``thread`` is where
        the answer will be posted, empty for the channel; None if only the asker may see it.
        """
        with ExitStack() as timers:
            progress = timers.enter_context(follow_progress())
            if slack_request.response_url and started:
                timers.enter_context(
                    self._run_later(self._times.started_notice, lambda: self._send_started(slack_request, started))
                )
            if self._times.first_response < deadlines.get_seconds_left() < math.inf:
                timers.enter_context(self._show_each_minute(slack_request, progress, thread))
            yield

    @contextmanager
    def _show_each_minute(
        self, slack_request: SlackRequest, progress: WorkProgress, thread: str | None
    ) -> Iterator[None]:
        ended = threading.Event()

        def show() -> None:
            place = thread if slack_request.channel else None
            for minute in count(1):
                if ended.wait(self._times.progress_notice):
                    return
                notice = render_notice(format_still_working(progress))
                if place is not None and not self._show(slack_request, place, notice):
                    place = None
                if place is None and minute in _TOLD_AFTER:
                    self._try_send(slack_request, notice)

        worker = threading.Thread(target=show, daemon=True, name="progress")
        worker.start()
        try:
            yield
        finally:
            ended.set()
            # no notice may arrive after the answer
            worker.join(self._times.reply_reserve)
            self._remove_shown(slack_request)

    def _show(self, slack_request: SlackRequest, thread: str, notice: Post) -> bool:
        """Post or edit the message that says how far the work is. Return whether Slack lets the bot do so."""
        key, channel, payload = _build_key(slack_request), slack_request.channel, notice.build_payload()
        try:
            record = self._records.load(key)
            if record.message:
                self._posts.edit_message(channel, record.message, payload, key)
            else:
                message = self._posts.post_message(channel, payload, key, thread or None)
                self._records.save(key, record, replace(record, message=message))
        except (SlackUnavailable, StoreUnavailable) as error:
            log.info("how far it is can't be shown [%s]: %s", slack_request.reference, error)
        except SlackCallRefused as error:
            log.info("how far it is may not be shown [%s]: %s", slack_request.reference, error)
            return False
        return True

    def _remove_shown(self, slack_request: SlackRequest) -> None:
        """Delete the message that says how far the work was, also that of an earlier attempt."""
        key = _build_key(slack_request)
        try:
            record = self._records.load(key)
            if record.message:
                self._posts.delete_message(slack_request.channel, record.message)
                self._records.save(key, record, replace(record, message=""))
        except (SlackUnavailable, SlackCallRefused, StoreUnavailable) as error:
            log.info("a message stays that says how far it was [%s]: %s", slack_request.reference, error)

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
            timer.join(self._times.reply_reserve)

    def _send_started(self, slack_request: SlackRequest, sentence: str) -> None:
        """Send the notice that the work began, once for all attempts. A failure is only logged."""
        key = _build_key(slack_request)
        try:
            record = self._records.load(key)
            if record.started_at is None:
                self._records.save(key, record, replace(record, started_at=self._now()))
                self._try_send(slack_request, render_notice(sentence))
        except StoreUnavailable as error:
            log.info("the asker is not told that it began [%s]: %s", slack_request.reference, error)

    def _try_send(self, slack_request: SlackRequest, notice: Post, level: int = logging.INFO) -> bool:
        """Return whether the asker got a notice. A failure is only logged."""
        try:
            self._messenger.send(slack_request, notice)
        except SlackUnavailable as error:
            log.log(level, "the asker is not told yet [%s]: %s", slack_request.reference, error)
            return False
        return True


def _build_key(slack_request: SlackRequest) -> str:
    """Return the key of what the asker was told about all parts of a request together."""
    return ANSWER_PROGRESS.build_key(slack_request.key, "later")
