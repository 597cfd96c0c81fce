"""Gives each request from Slack its answer, once: however often it is delivered, wherever an earlier try ended.

An answer in the channel carries its key in the metadata, so that a try that may have posted is looked for before
the next one posts. What only the asker sees can't be looked for; if the process dies between Slack's answer and
ours to the store, the asker gets it twice rather than never.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.errors import (
    DayUnavailable,
    PostingInProgress,
    PrdigestError,
    RateLimited,
    SlackCallRefused,
    SlackUnavailable,
    StoreUnavailable,
)
from bot.domain.keyspace.keys import ANSWER_PROGRESS
from bot.domain.time.day import LocalDay
from bot.ports import EphemeralMessenger, Messenger, Post, RecordStore
from bot.ports.slack import CLOCK_SKEW
from bot.render.conversations import sentences
from bot.render.conversations.notices import render_budget_notice, render_error, render_notice
from bot.services.operations import deadlines
from bot.services.operations.billing import name_payer
from bot.services.slack.answered_request import AnsweredRequest
from bot.services.slack.asker_notices import DEFAULT_TIMES, AskerNotices, ResponseTimes

log = logging.getLogger(__name__)

# Slack's codes for a channel that the bot is not in
_CLOSED_CHANNEL_CODES = {"not_in_channel", "channel_not_found", "thread_not_found"}
_PUBLIC_AUDIENCES = (Audience.CHANNEL, Audience.SHARED)


@dataclass(frozen=True, slots=True)
class Answer:
    """A message as everybody sees it and as the asker alone does; they differ in their buttons.

    ``about`` says what a thread below it is about (see :mod:`bot.domain.conversations.thread_subject`).
    ``is_private``: nobody but the asker may read it, whoever was meant to.
    """

    public: Post
    private: Post
    about: str = ""
    is_private: bool = False

    @classmethod
    def for_asker(cls, post: Post, *, is_private: bool = False) -> Answer:
        """One that has the same buttons wherever it is read."""
        return cls(post, post, is_private=is_private)


class _EarlierPost(Enum):
    """Whether an earlier try posted; never, where there was none."""

    NOT_TRIED = "never"
    POSTED = "yes"
    NOT_POSTED = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class _Route:
    """How an answer reaches people: as a message, in a ``thread`` if there is one, or shown to the asker alone."""

    is_posted: bool
    thread: str = ""


class ReplySender:
    """Answers visits. ``posted`` hears of every answer that was posted, after it was."""

    def __init__(
        self,
        messenger: Messenger,
        whispers: EphemeralMessenger,
        records: RecordStore[AnsweredRequest],
        now: Callable[[], datetime],
        posted: Callable[[SlackRequest, Answer], None] = lambda slack_request, answer: None,
        promises: ResponseTimes = DEFAULT_TIMES,
    ) -> None:
        self._messenger = messenger
        self._whispers = whispers
        self._records = records
        self._now = now
        self._posted = posted
        self._notices = AskerNotices(whispers, records, now, promises)
        self.promises = promises

    def give_answer(
        self, slack_request: SlackRequest, part: str, audience: Audience, make: Callable[[], Answer | None]
    ) -> None:
        """Answer one part of a request. ``make`` is called only if this was not done; None needs no words.

        What goes wrong in it is told to the asker as a sentence with the visit's reference, which the log has too.
        While Slack takes no answer, the asker hears that through the ``response_url``, if there is one.

        Raises:
            SlackUnavailable, StoreUnavailable, InProgress, RateLimited: trying again goes on from there.
        """
        key = ANSWER_PROGRESS.build_key(slack_request.key, part)
        with self._records.hold_lock(key):
            record = self._records.load(key)
            if record.is_answered:
                return
            self._give_once(slack_request, key, record, audience, make)
            self._records.save(key, record, record.complete(self._now()))

    def _give_once(
        self,
        slack_request: SlackRequest,
        key: str,
        record: AnsweredRequest,
        audience: Audience,
        make: Callable[[], Answer | None],
    ) -> None:
        found = (
            self._find_earlier_post(slack_request, key, record.begun_at)
            if record.begun_at
            else _EarlierPost.NOT_TRIED
        )
        answer = self._make_answer(slack_request, key, make) if found is not _EarlierPost.POSTED else None
        if answer:
            self._deliver_answer(slack_request, key, audience, answer, found)

    def tell_asker(self, slack_request: SlackRequest, sentence: str) -> None:
        """Tell the asker something. Raises SlackUnavailable, StoreUnavailable."""
        self.give_answer(slack_request, "tell", Audience.ASKER, lambda: Answer.for_asker(render_notice(sentence)))

    def end_job(self, slack_request: SlackRequest, job: str, sentence: str) -> None:
        """Tell the asker, once, that nothing more comes of a job. Raises SlackUnavailable, StoreUnavailable."""
        self.give_answer(
            slack_request,
            f"end:{job}",
            Audience.ASKER,
            lambda: Answer.for_asker(render_notice(sentence), is_private=True),
        )

    def announce_change(self, slack_request: SlackRequest, channel: str, part: str, post: Post) -> None:
        """Tell a channel, once, what the visitor did to something of it, from wherever they are.

        Raises:
            SlackUnavailable, StoreUnavailable, InProgress: trying again goes on from there.
        """
        there = SlackRequest(f"news:{slack_request.key}", slack_request.team, channel, slack_request.user)
        self.give_answer(there, part, Audience.CHANNEL, lambda: Answer.for_asker(post))

    def report_spent_budget(self, slack_request: SlackRequest, today: LocalDay) -> None:
        """Tell somebody, once a day, that they have used up theirs. Raises SlackUnavailable, StoreUnavailable."""
        own = replace(slack_request, key=f"budget:{today.date}:{name_payer(slack_request)}")
        self.give_answer(own, "tell", Audience.ASKER, lambda: Answer.for_asker(render_budget_notice(today.end)))

    def _make_answer(
        self, slack_request: SlackRequest, key: str, make: Callable[[], Answer | None]
    ) -> Answer | None:
        try:
            with (
                self._notices.excuse_failures(slack_request, key),
                self._notices.report_progress(slack_request),
                deadlines.reserve_time(self.promises.reply_reserve),
            ):
                return make()
        except PrdigestError as error:
            if self.may_retry(slack_request, error):
                raise
            log_refusal(slack_request, error)
            return Answer.for_asker(render_error(error, slack_request.reference), is_private=True)
        except Exception as error:
            log.exception("a defect [%s]", slack_request.reference)
            return Answer.for_asker(render_error(error, slack_request.reference), is_private=True)

    def may_retry(self, slack_request: SlackRequest, error: PrdigestError) -> bool:
        """Tell whether trying again may help; where a service asks for a pause, its asker has heard until when."""
        if isinstance(error, RateLimited | SlackUnavailable) and error.retry_after is not None:
            return self._notices.postpone_answer(slack_request, error)
        return isinstance(error, StoreUnavailable | SlackUnavailable | PostingInProgress)

    def _deliver_answer(
        self, slack_request: SlackRequest, key: str, audience: Audience, answer: Answer, found: _EarlierPost
    ) -> None:
        way = _choose_route(slack_request, audience, answer)
        # posting again what nobody can look for could post it twice; its asker gets it in any case
        if not way.is_posted or found is _EarlierPost.UNKNOWN:
            self._whispers.send(slack_request, answer.private)
            return
        if found is _EarlierPost.NOT_TRIED:
            # if another process has begun meanwhile, this one lost its right to while the store was away
            self._records.claim(key, AnsweredRequest(), AnsweredRequest().begin_posting(self._now()))
        self._post_answer(slack_request, key, audience, answer, way.thread)

    def _post_answer(
        self, slack_request: SlackRequest, key: str, audience: Audience, answer: Answer, thread: str
    ) -> None:
        """Post to the channel; where Slack does not let the bot, the asker gets it, or hears why not."""
        post, began = answer.public if audience in _PUBLIC_AUDIENCES else answer.private, self._now()
        try:
            with deadlines.reserve_time(self.promises.apology_reserve):
                self._messenger.post_message(
                    slack_request.channel, post.build_payload(), key, thread or None, answer.about
                )
        except SlackCallRefused as error:
            log.info("not posted to %s, the asker gets it: %s", slack_request.channel, error)
            self._whispers.send(
                slack_request,
                _explain_missing_post(slack_request, error) if audience is Audience.SHARED else answer.private,
            )
        except SlackUnavailable as error:
            if error.retry_after is None:
                self._notices.send_excuse(slack_request, key, began)
                raise
            # with a pause it had no effect; one that is longer than the work may take is not waited for
            is_shared = audience is Audience.SHARED
            if (is_shared or not slack_request.response_url) and self._notices.postpone_answer(
                slack_request, error
            ):
                raise
            log.info("no post to %s for %s s, the asker gets it", slack_request.channel, error.retry_after)
            self._whispers.send(
                slack_request, render_error(error, slack_request.reference) if is_shared else answer.private
            )
        else:
            if thread == slack_request.thread:
                self._posted(slack_request, answer)

    def _find_earlier_post(self, slack_request: SlackRequest, key: str, begun_at: datetime) -> _EarlierPost:
        """Whether an earlier try posted."""
        since = begun_at - CLOCK_SKEW
        try:
            with self._notices.excuse_failures(slack_request, key):
                posts = [
                    self._messenger.find_posts(slack_request.channel, since, thread or None)
                    for thread in _list_threads(slack_request)
                ]
        except SlackCallRefused as error:
            log.info("can't look into %s: %s", slack_request.channel, error)
            # what is closed to the bot was not posted to
            return _EarlierPost.NOT_POSTED if error.code in _CLOSED_CHANNEL_CODES else _EarlierPost.UNKNOWN
        return _EarlierPost.POSTED if any(key in found for found in posts) else _EarlierPost.NOT_POSTED


def _choose_route(slack_request: SlackRequest, audience: Audience, answer: Answer) -> _Route:
    """How an answer gets there, so that it is seen.

    What is for the asker alone is an ordinary message in direct messages: nobody else is there, and Slack shows
    nothing of it in a thread that nobody has replied to. The same holds for what everybody in a thread may read.
    """
    if audience in _PUBLIC_AUDIENCES and not answer.is_private:
        return _Route(is_posted=True, thread=slack_request.thread)
    is_written = bool(slack_request.message) and not slack_request.response_url
    is_open = audience is Audience.HERE and not answer.is_private
    if is_written and (slack_request.is_direct or (is_open and slack_request.existing_thread)):
        return _Route(is_posted=True, thread=slack_request.existing_thread)
    return _Route(is_posted=False)


def _list_threads(slack_request: SlackRequest) -> tuple[str, ...]:
    """Where an earlier try may have posted; in direct messages also at top level, next to what was asked."""
    return tuple(
        dict.fromkeys(
            (slack_request.thread, slack_request.existing_thread)
            if slack_request.is_direct
            else (slack_request.thread,)
        )
    )


def log_refusal(slack_request: SlackRequest, error: PrdigestError) -> None:
    """Log that there is no answer, for whoever runs the bot, unless it could not be otherwise."""
    level = logging.INFO if isinstance(error, DayUnavailable) else logging.WARNING
    log.log(level, "no answer [%s]: %s", slack_request.reference, error)


def _explain_missing_post(slack_request: SlackRequest, error: SlackCallRefused) -> Post:
    return (
        render_notice(sentences.NOT_A_MEMBER)
        if error.code in _CLOSED_CHANNEL_CODES
        else render_error(error, slack_request.reference)
    )
