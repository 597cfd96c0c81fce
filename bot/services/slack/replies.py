"""Replies to requests from Slack, each sent once, however often it is delivered and wherever an attempt ended.

An answer in the channel carries its key in the metadata, so that the next attempt looks for an earlier post
before it posts. What only the asker sees can't be looked for: if the process dies between Slack's response and
the write to the store, the asker gets it twice rather than never.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.errors import (
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
from bot.render.blocks.buttons import add_buttons
from bot.render.conversations import sentences
from bot.render.conversations.notices import (
    is_user_mistake,
    render_ask_hint,
    render_budget_notice,
    render_earlier_answer,
    render_error,
    render_notice,
)
from bot.services.operations import deadlines
from bot.services.operations.billing import name_payer
from bot.services.slack.answered_request import AnsweredRequest
from bot.services.slack.asker_notices import DEFAULT_TIMES, AskerNotices, ResponseTimes
from bot.services.slack.earlier_answer import EarlierAnswers, RepeatableAnswer
from bot.services.slack.permalinks import find_permalink

log = logging.getLogger(__name__)

# Slack's codes for a channel that the bot is not in
_CLOSED_CHANNEL_CODES = {"not_in_channel", "channel_not_found", "thread_not_found"}
_PUBLIC_AUDIENCES = (Audience.CHANNEL, Audience.SHARED)


@dataclass(frozen=True, slots=True)
class Answer:
    """A message as everybody sees it and as the asker alone does; they differ in their buttons.

    ``about`` is the subject of a thread below it (see :mod:`bot.domain.conversations.thread_subject`).
    ``is_private``: only the asker may read it, also where it was meant for others. ``repeatable`` says which later
    answers are the same; None if there are none.
    """

    public: Post
    private: Post
    about: str = ""
    is_private: bool = False
    repeatable: RepeatableAnswer | None = None

    @classmethod
    def for_asker(cls, post: Post, *, is_private: bool = False) -> Answer:
        """Return an answer with the same buttons for everybody and for the asker."""
        return cls(post, post, is_private=is_private)


class _EarlierPost(Enum):
    """Whether an earlier attempt posted; ``NOT_TRIED`` if there was none."""

    NOT_TRIED = "never"
    POSTED = "yes"
    NOT_POSTED = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class _Route:
    """The way of an answer: a message, in a ``thread`` if there is one, or a notice that only the asker sees."""

    is_posted: bool
    thread: str = ""


class ReplySender:
    """Sender of answers to requests. ``on_posted`` is called after each answer that was posted.

    With ``earlier_answers``, an asker gets a link to the same answer if the channel got it within the last hour.
    """

    def __init__(
        self,
        messenger: Messenger,
        ephemeral_messenger: EphemeralMessenger,
        records: RecordStore[AnsweredRequest],
        now: Callable[[], datetime],
        on_posted: Callable[[SlackRequest, Answer], None] = lambda slack_request, answer: None,
        response_times: ResponseTimes = DEFAULT_TIMES,
        earlier_answers: EarlierAnswers | None = None,
    ) -> None:
        self._messenger = messenger
        self._ephemeral_messenger = ephemeral_messenger
        self._records = records
        self._now = now
        self._on_posted = on_posted
        self._earlier_answers = earlier_answers
        self._notices = AskerNotices(ephemeral_messenger, records, now, response_times)
        self.response_times = response_times

    def give_answer(
        self,
        slack_request: SlackRequest,
        part: str,
        audience: Audience,
        make: Callable[[], Answer | None],
        started: str = "",
    ) -> None:
        """Answer one part of a request. ``make`` is called only if there is no answer yet; None needs no message.

        ``started`` is shown to the asker after some seconds without an answer; empty for nothing.
        The asker gets an error as a sentence with the request's reference, which the log has too. While Slack
        accepts no answer, the asker is notified through the ``response_url``, if there is one.

        Raises:
            SlackUnavailable, StoreUnavailable, PostingInProgress, RateLimited: another attempt continues from
            there.
        """
        key = ANSWER_PROGRESS.build_key(slack_request.key, part)
        with self._records.hold_lock(key):
            record = self._records.load(key)
            if record.is_answered:
                return
            self._give_once(slack_request, key, record, audience, make, started)
            self._records.save(key, record, record.complete(self._now()))

    def _give_once(
        self,
        slack_request: SlackRequest,
        key: str,
        record: AnsweredRequest,
        audience: Audience,
        make: Callable[[], Answer | None],
        started: str,
    ) -> None:
        earlier = (
            self._find_earlier_post(slack_request, key, record.begun_at)
            if record.begun_at
            else _EarlierPost.NOT_TRIED
        )
        answer = None
        if earlier is not _EarlierPost.POSTED:
            answer = self._make_answer(slack_request, key, make, started)
        if answer:
            self._deliver_answer(slack_request, key, audience, answer, earlier)

    def tell_asker(self, slack_request: SlackRequest, sentence: str) -> None:
        """Send the asker a sentence. Raises SlackUnavailable, StoreUnavailable."""
        self.give_answer(slack_request, "tell", Audience.ASKER, lambda: Answer.for_asker(render_notice(sentence)))

    def explain_asking(self, slack_request: SlackRequest) -> None:
        """Tell the asker how to ask about the message whose button they pressed. Raises what tell_asker raises.

        The hint appears at the end of the channel, so it has the address of the message, if Slack gives it.
        """

        def make() -> Answer:
            address = find_permalink(self._messenger, slack_request.channel, slack_request.message)
            return Answer.for_asker(render_ask_hint(address))

        self.give_answer(slack_request, "tell", Audience.ASKER, make)

    def end_job(self, slack_request: SlackRequest, job: str, sentence: str) -> None:
        """Notify the asker, once, that a job is given up. Raises SlackUnavailable, StoreUnavailable."""
        self.give_answer(
            slack_request,
            f"end:{job}",
            Audience.ASKER,
            lambda: Answer.for_asker(render_notice(sentence), is_private=True),
        )

    def announce_change(self, slack_request: SlackRequest, channel: str, part: str, post: Post) -> None:
        """Notify a channel, once, of a change that the user made to one of its subscriptions from any channel.

        Raises:
            SlackUnavailable, StoreUnavailable, PostingInProgress: another attempt continues from there.
        """
        channel_request = SlackRequest(
            f"news:{slack_request.key}", slack_request.team, channel, slack_request.user
        )
        self.give_answer(channel_request, part, Audience.CHANNEL, lambda: Answer.for_asker(post))

    def report_spent_budget(self, slack_request: SlackRequest, today: LocalDay) -> None:
        """Notify a user, once a day, that their budget is used up. Raises SlackUnavailable, StoreUnavailable."""
        daily_request = replace(slack_request, key=f"budget:{today.date}:{name_payer(slack_request)}")
        self.give_answer(
            daily_request, "tell", Audience.ASKER, lambda: Answer.for_asker(render_budget_notice(today.end))
        )

    def _make_answer(
        self, slack_request: SlackRequest, key: str, make: Callable[[], Answer | None], started: str
    ) -> Answer | None:
        try:
            with (
                self._notices.excuse_failures(slack_request, key),
                self._notices.report_progress(slack_request, started),
                deadlines.reserve_time(self.response_times.reply_reserve),
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
        """Return whether another attempt may help. If a service asks for a pause, the asker knows its end."""
        if isinstance(error, RateLimited | SlackUnavailable) and error.retry_after is not None:
            return self._notices.postpone_answer(slack_request, error)
        return isinstance(error, StoreUnavailable | SlackUnavailable | PostingInProgress)

    def _deliver_answer(
        self, slack_request: SlackRequest, key: str, audience: Audience, answer: Answer, earlier: _EarlierPost
    ) -> None:
        same, channel = answer.repeatable, slack_request.channel
        if same is None or self._earlier_answers is None or audience not in _PUBLIC_AUDIENCES:
            self._deliver_once(slack_request, key, audience, answer, earlier)
            return
        with self._earlier_answers.hold_lock(channel, same):
            # a button that posts the answer for everybody does so
            link = self._earlier_answers.find_link(channel, same) if audience is Audience.CHANNEL else ""
            if link:
                pointer = add_buttons(render_earlier_answer(link, answer.public.text), same.button)
                answer, audience = Answer.for_asker(pointer), Audience.ASKER
            self._deliver_once(slack_request, key, audience, answer, earlier)

    def _deliver_once(
        self, slack_request: SlackRequest, key: str, audience: Audience, answer: Answer, earlier: _EarlierPost
    ) -> None:
        route = _choose_route(slack_request, audience, answer)
        # without a search for an earlier post, another could be a duplicate; the asker gets the answer in any case
        if not route.is_posted or earlier is _EarlierPost.UNKNOWN:
            self._ephemeral_messenger.send(slack_request, answer.private)
            return
        if earlier is _EarlierPost.NOT_TRIED:
            # if another process has begun meanwhile, this one lost its lock while the store was unavailable
            self._records.claim(key, AnsweredRequest(), AnsweredRequest().begin_posting(self._now()))
        self._post_answer(slack_request, key, audience, answer, route.thread)

    def _post_answer(
        self, slack_request: SlackRequest, key: str, audience: Audience, answer: Answer, thread: str
    ) -> None:
        """Post to the channel; if Slack refuses, send the asker the answer or the reason."""
        post, began = answer.public if audience in _PUBLIC_AUDIENCES else answer.private, self._now()
        try:
            with deadlines.reserve_time(self.response_times.apology_reserve):
                message = self._messenger.post_message(
                    slack_request.channel, post.build_payload(), key, thread or None, answer.about
                )
        except SlackCallRefused as error:
            log.info("not posted to %s, the asker gets it: %s", slack_request.channel, error)
            self._ephemeral_messenger.send(
                slack_request,
                _explain_missing_post(slack_request, error) if audience is Audience.SHARED else answer.private,
            )
        except SlackUnavailable as error:
            if error.retry_after is None:
                self._notices.send_excuse(slack_request, key, began)
                raise
            # with a pause the call had no effect; a pause that exceeds the time for the work is not waited for
            is_shared = audience is Audience.SHARED
            if (is_shared or not slack_request.response_url) and self._notices.postpone_answer(
                slack_request, error
            ):
                raise
            log.info("no post to %s for %s s, the asker gets it", slack_request.channel, error.retry_after)
            self._ephemeral_messenger.send(
                slack_request, render_error(error, slack_request.reference) if is_shared else answer.private
            )
        else:
            if self._earlier_answers and answer.repeatable and audience in _PUBLIC_AUDIENCES:
                self._earlier_answers.note_answer(slack_request.channel, answer.repeatable, message)
            if thread == slack_request.thread:
                self._on_posted(slack_request, answer)

    def _find_earlier_post(self, slack_request: SlackRequest, key: str, begun_at: datetime) -> _EarlierPost:
        """Return whether an earlier attempt posted."""
        since = begun_at - CLOCK_SKEW
        try:
            with self._notices.excuse_failures(slack_request, key):
                posts = [
                    self._messenger.find_posts(slack_request.channel, since, thread or None)
                    for thread in _list_threads(slack_request)
                ]
        except SlackCallRefused as error:
            log.info("can't look into %s: %s", slack_request.channel, error)
            # nothing was posted to a channel that is closed to the bot
            return _EarlierPost.NOT_POSTED if error.code in _CLOSED_CHANNEL_CODES else _EarlierPost.UNKNOWN
        return _EarlierPost.POSTED if any(key in messages for messages in posts) else _EarlierPost.NOT_POSTED


def _choose_route(slack_request: SlackRequest, audience: Audience, answer: Answer) -> _Route:
    """Return the way of an answer that makes sure it is seen.

    In direct messages, an answer for the asker alone is an ordinary message: nobody else is there, and Slack does
    not show ephemeral messages in a thread without replies. The same holds for what everybody in a thread may
    read.
    """
    if audience in _PUBLIC_AUDIENCES and not answer.is_private:
        return _Route(is_posted=True, thread=slack_request.thread)
    is_written = bool(slack_request.message) and not slack_request.response_url
    is_open = audience is Audience.HERE and not answer.is_private
    if is_written and (slack_request.is_direct or (is_open and slack_request.existing_thread)):
        return _Route(is_posted=True, thread=slack_request.existing_thread)
    return _Route(is_posted=False)


def _list_threads(slack_request: SlackRequest) -> tuple[str, ...]:
    """Return the threads in which an earlier attempt may have posted; in direct messages also the top level."""
    return tuple(
        dict.fromkeys(
            (slack_request.thread, slack_request.existing_thread)
            if slack_request.is_direct
            else (slack_request.thread,)
        )
    )


def log_refusal(slack_request: SlackRequest, error: PrdigestError) -> None:
    """Log for operators that there is no answer, as a warning unless the asker can do something about it."""
    level = logging.INFO if is_user_mistake(error) else logging.WARNING
    log.log(level, "no answer [%s]: %s", slack_request.reference, error)


def _explain_missing_post(slack_request: SlackRequest, error: SlackCallRefused) -> Post:
    return (
        render_notice(sentences.NOT_A_MEMBER)
        if error.code in _CLOSED_CHANNEL_CODES
        else render_error(error, slack_request.reference)
    )
