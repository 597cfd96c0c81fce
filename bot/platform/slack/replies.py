"""Replies to requests from Slack, each sent once, however often it is delivered and wherever an attempt ended.

An answer in the channel carries its key in the metadata, so that the next attempt looks for an earlier post
before it posts. What only the asker sees can't be looked for: if the process dies between Slack's response and
the write to the store, the asker gets it twice rather than never. The file of an answer is recorded before its
message is posted, so that an attempt after a crash attaches what is missing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, auto
from typing import Any

from bot.dates import LocalDay
from bot.errors import (
    PostingInProgress,
    PrdigestError,
    RateLimited,
    SlackCallRefused,
    SlackUnavailable,
    StoreUnavailable,
)
from bot.platform import deadlines
from bot.platform.costs import name_payer
from bot.platform.slack.answers import (
    Answer,
    AnsweredRequest,
    AskerNotices,
    EarlierAnswer,
    RepeatableAnswer,
    ResponseTimes,
    compute_fingerprint,
)
from bot.platform.slack.blocks import CLOCK_SKEW, WINDOW_TOO_LATE, Attachment, Post, add_buttons
from bot.platform.slack.messenger import SlackEphemeralMessenger, SlackMessenger, SlackViews
from bot.platform.slack.notices import (
    add_file_note,
    add_missing_file_note,
    is_user_mistake,
    render_budget_notice,
    render_earlier_answer,
    render_error,
    render_missing_file,
    render_notice,
)
from bot.platform.slack.requests import Audience, SlackRequest
from bot.platform.store.codecs import VersionedJson
from bot.platform.store.keys import ANSWER_PROGRESS, EARLIER_ANSWER, build_request_name
from bot.platform.store.records import RecordStore

log = logging.getLogger(__name__)

_PUBLIC_AUDIENCES = (Audience.CHANNEL, Audience.SHARED)
# Slack's codes for a channel that the bot is not in
_CLOSED_CHANNEL_CODES = {"not_in_channel", "channel_not_found", "thread_not_found"}
_NOT_A_MEMBER = "I'm not in this channel: invite me with /invite, then share again."
_DEFAULT_TIMES = ResponseTimes()
FILE_JSON = VersionedJson(Attachment, 1)


class _Earlier(Enum):
    """Whether an earlier attempt posted; ``UNTRIED`` if there was none."""

    UNTRIED = auto()
    POSTED = auto()
    NOT_POSTED = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class _Attempt:
    asker: SlackRequest
    key: str
    audience: Audience
    earlier: _Earlier = _Earlier.UNTRIED


class ReplySender:
    """Gives answers to requests. ``on_posted`` is called after each answer that was posted.

    With ``earlier_answers``, an asker gets a link to the same answer if the channel got it within the last hour.
    """

    def __init__(
        self,
        messenger: SlackMessenger,
        ephemeral_messenger: SlackEphemeralMessenger,
        records: RecordStore[AnsweredRequest],
        now: Callable[[], datetime],
        on_posted: Callable[[SlackRequest, Answer], None] | None = None,
        response_times: ResponseTimes = _DEFAULT_TIMES,
        earlier_answers: RecordStore[EarlierAnswer] | None = None,
    ) -> None:
        self._messenger = messenger
        self._ephemeral_messenger = ephemeral_messenger
        self._records = records
        self._now = now
        self._on_posted = on_posted
        self._notices = AskerNotices(messenger, ephemeral_messenger, records, now, response_times)
        self._earlier_answers = earlier_answers
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
        attempt, thread = _Attempt(slack_request, ANSWER_PROGRESS.build_key(slack_request.key, part), audience), ""
        with self._records.hold_lock(attempt.key):
            record = self._records.load(attempt.key)
            if record.answered_at:
                return
            if record.begun_at:
                with self._notices.excuse_failures(slack_request, attempt.key):
                    earlier, thread = self._find_earlier(attempt, record.begun_at)
                attempt = replace(attempt, earlier=earlier)
            if attempt.earlier is _Earlier.POSTED:
                if record.file_json:
                    self._attach_file(slack_request, thread, FILE_JSON.load_text(record.file_json), is_retry=True)
            elif answer := self._make_answer(attempt, make, started):
                self._deliver(attempt, answer)
            self._records.save(attempt.key, record, replace(record, answered_at=self._now()))

    def tell_asker(self, slack_request: SlackRequest, sentence: str) -> None:
        """Send the asker a sentence. Raises SlackUnavailable, StoreUnavailable."""
        self.give_answer(slack_request, "tell", Audience.ASKER, lambda: Answer.for_asker(render_notice(sentence)))

    def end_job(self, slack_request: SlackRequest, job: str, sentence: str) -> None:
        """Notify the asker, once, that a job is given up. Raises SlackUnavailable, StoreUnavailable."""
        answer = Answer.for_asker(render_notice(sentence), is_private=True)
        self.give_answer(slack_request, f"end:{job}", Audience.ASKER, lambda: answer)

    def announce_change(self, slack_request: SlackRequest, channel: str, part: str, post: Post) -> None:
        """Notify a channel, once, of a change that the user made to one of its subscriptions from any channel.

        Raises SlackUnavailable, StoreUnavailable, PostingInProgress: another attempt continues from there.
        """
        news = SlackRequest(f"news:{slack_request.key}", slack_request.team, channel, slack_request.user)
        self.give_answer(news, part, Audience.CHANNEL, lambda: Answer.for_asker(post))

    def report_spent_budget(self, slack_request: SlackRequest, today: LocalDay) -> None:
        """Notify a user, once a day, that their budget is used up. Raises SlackUnavailable, StoreUnavailable."""
        daily = replace(slack_request, key=build_request_name("budget", today.date, name_payer(slack_request)))
        answer = Answer.for_asker(render_budget_notice(today.end))
        self.give_answer(daily, "tell", Audience.ASKER, lambda: answer)

    # --- making it

    def make_or_explain(self, slack_request: SlackRequest, make: Callable[[], Answer]) -> Answer:
        """Return what ``make`` makes, or why it can't. Raises errors for which another attempt may help."""
        try:
            return make()
        except Exception as error:
            return self._explain_error(slack_request, error)

    def may_retry(self, slack_request: SlackRequest, error: PrdigestError) -> bool:
        """Return whether another attempt may help. If a service asks for a pause, the asker knows its end."""
        if isinstance(error, RateLimited | SlackUnavailable) and error.retry_after is not None:
            return self._notices.postpone_answer(slack_request, error)
        return isinstance(error, StoreUnavailable | SlackUnavailable | PostingInProgress)

    def _make_answer(self, attempt: _Attempt, make: Callable[[], Answer | None], started: str) -> Answer | None:
        try:
            with (
                self._notices.excuse_failures(attempt.asker, attempt.key),
                self._notices.report_progress(attempt.asker, started, _choose_thread(attempt)),
                deadlines.reserve_time(self.response_times.reply_reserve),
            ):
                return make()
        except Exception as error:
            return self._explain_error(attempt.asker, error)

    def _explain_error(self, slack_request: SlackRequest, error: Exception) -> Answer:
        """Return the answer that explains an error. Raises the error if another attempt may help."""
        if not isinstance(error, PrdigestError):
            log.error("a defect [%s]", slack_request.reference, exc_info=error)
        elif self.may_retry(slack_request, error):
            raise error
        else:
            log_refusal(slack_request, error)
        return Answer.for_asker(render_error(error, slack_request.reference), is_private=True)

    # --- what an earlier attempt left

    def _find_earlier(self, attempt: _Attempt, begun_at: datetime) -> tuple[_Earlier, str]:
        """Return what an earlier attempt left, with its thread if POSTED. Raises SlackUnavailable."""
        asker, since = attempt.asker, begun_at - CLOCK_SKEW
        # in direct messages, an answer to a message in a thread may be there or at the top level
        threads = [asker.thread, asker.existing_thread] if asker.is_direct else [asker.thread]
        try:
            for thread in dict.fromkeys(threads):
                posts = self._messenger.find_posts(asker.channel, since, thread or None)
                if attempt.key in posts:
                    return _Earlier.POSTED, thread or posts[attempt.key]
        except SlackCallRefused as error:
            log.info("can't look into %s: %s", asker.channel, error)
            # nothing was posted to a channel that is closed to the bot
            is_closed = error.code in _CLOSED_CHANNEL_CODES
            return (_Earlier.NOT_POSTED if is_closed else _Earlier.UNKNOWN), ""
        return _Earlier.NOT_POSTED, ""

    def _attach_file(
        self, slack_request: SlackRequest, thread: str, file: Attachment, *, is_retry: bool = False
    ) -> None:
        """Attach a file in a thread, unless an earlier attempt did. The asker reads why Slack refuses it.

        Raises SlackUnavailable: it is not known whether the file is there.
        """
        channel = slack_request.channel
        try:
            if not (is_retry and self._messenger.has_attachment(channel, thread, file.name)):
                self._messenger.attach_file(channel, thread, file)
        except SlackCallRefused as error:
            log.warning("no file in %s: %s", channel, error)
            self._ephemeral_messenger.send(slack_request, render_missing_file(file.title))

    # --- delivering it: posted to the channel, or sent to the asker alone where that is not possible

    def _deliver(self, attempt: _Attempt, answer: Answer) -> None:
        """Deliver an answer, or point to the same one of the last hour. Raises what another attempt may mend."""
        same, records, channel = answer.repeatable, self._earlier_answers, attempt.asker.channel
        if same is None or records is None or attempt.audience not in _PUBLIC_AUDIENCES:
            self._deliver_once(attempt, answer)
            return
        key = _build_earlier_key(channel, same)
        # of two people who ask at once, one is answered
        with records.hold_lock(key):
            # a button that posts the answer for everybody does so
            is_asked = attempt.audience is Audience.CHANNEL
            link = self._find_same(channel, records.load(key), same.content) if is_asked else ""
            if link:
                pointer = add_buttons(render_earlier_answer(link, answer.public.text), same.button)
                answer, attempt = Answer.for_asker(pointer), replace(attempt, audience=Audience.ASKER)
            self._deliver_once(attempt, answer)

    def _deliver_once(self, attempt: _Attempt, answer: Answer) -> None:
        thread = _choose_thread(attempt, is_private=answer.is_private)
        # without a search for an earlier post, another could be a duplicate; the asker gets the answer in any case
        if thread is None or attempt.earlier is _Earlier.UNKNOWN:
            self._send_privately(attempt.asker, answer)
            return
        file_json = FILE_JSON.dump_text(answer.attachment) if answer.attachment else ""
        begun = AnsweredRequest(begun_at=self._now(), file_json=file_json)
        if attempt.earlier is _Earlier.UNTRIED:
            # if another process has begun meanwhile, this one lost its lock while the store was unavailable
            self._records.claim(attempt.key, AnsweredRequest(), begun)
        elif answer.attachment:
            self._records.save(attempt.key, AnsweredRequest(), begun)
        self._post(attempt, answer, thread)

    def _post(self, attempt: _Attempt, answer: Answer, thread: str) -> None:
        """Post to the channel; if Slack refuses, send the asker the answer or the reason."""
        asker, began = attempt.asker, self._now()
        post = answer.public if attempt.audience in _PUBLIC_AUDIENCES else answer.private
        if answer.attachment:
            post = add_file_note(post, answer.attachment.title)
        try:
            with deadlines.reserve_time(self.response_times.apology_reserve):
                message = self._messenger.post_message(
                    asker.channel, post.build_payload(), attempt.key, thread or None, answer.about
                )
        except SlackCallRefused as error:
            log.info("not posted to %s, the asker gets it: %s", asker.channel, error)
            is_closed = error.code in _CLOSED_CHANNEL_CODES
            reason = render_notice(_NOT_A_MEMBER) if is_closed else render_error(error, asker.reference)
            self._send_instead(attempt, answer, reason)
        except SlackUnavailable as error:
            self._answer_without_post(attempt, answer, error, began)
        else:
            if answer.repeatable and attempt.audience in _PUBLIC_AUDIENCES:
                self._note_same(asker.channel, answer.repeatable, message)
            if self._on_posted and thread == asker.thread:
                self._on_posted(asker, answer)
            if answer.attachment:
                self._attach_file(asker, thread or message, answer.attachment)

    def _answer_without_post(
        self, attempt: _Attempt, answer: Answer, error: SlackUnavailable, began: datetime
    ) -> None:
        """Send the asker the answer or the reason. Raises the error if another attempt may post."""
        asker = attempt.asker
        if error.retry_after is None:
            self._notices.send_excuse(asker, attempt.key, began)
            raise error
        # with a pause the call had no effect; a pause that exceeds the time for the work is not waited for
        can_wait = attempt.audience is Audience.SHARED or not asker.response_url
        if can_wait and self._notices.postpone_answer(asker, error):
            raise error
        log.info("no post to %s for %s s, the asker gets it", asker.channel, error.retry_after)
        self._send_instead(attempt, answer, render_error(error, asker.reference))

    def _send_instead(self, attempt: _Attempt, answer: Answer, reason: Post) -> None:
        """Send the asker an answer that can't be posted; if they have it already, the reason."""
        if attempt.audience is Audience.SHARED:
            self._ephemeral_messenger.send(attempt.asker, reason)
        else:
            self._send_privately(attempt.asker, answer)

    def _send_privately(self, slack_request: SlackRequest, answer: Answer) -> None:
        """Send the asker an answer that only they see, and to which no file can be attached."""
        first, file = answer.private, answer.attachment
        for each in (add_missing_file_note(first, file.title) if file else first, *answer.further):
            self._ephemeral_messenger.send(slack_request, each)

    # --- the same answer within an hour

    def _find_same(self, channel: str, record: EarlierAnswer, content: str) -> str:
        """Return the address of the channel's same answer of the last hour; empty if Slack does not find one."""
        if record.posted_at is None or record.content != content:
            return ""
        # the store removes the record by its own clock
        if self._now() - record.posted_at >= EARLIER_ANSWER.lifetime:
            return ""
        return find_permalink(self._messenger, channel, record.message)

    def _note_same(self, channel: str, answer: RepeatableAnswer, message: str) -> None:
        """Record an answer that was just posted. A failure is only logged: who asks again is answered again."""
        if self._earlier_answers is None:
            return
        key = _build_earlier_key(channel, answer)
        try:
            before = self._earlier_answers.load(key)
            self._earlier_answers.save(key, before, EarlierAnswer(message, answer.content, self._now()))
        except StoreUnavailable as error:
            log.info("an answer in %s is not remembered: %s", channel, error)


def _choose_thread(attempt: _Attempt, *, is_private: bool = False) -> str | None:
    """Return the thread in which an answer is surely seen, empty for the channel; None for a private notice."""
    # In direct messages, an answer for the asker alone is an ordinary message: nobody else is there, and Slack
    # does not show ephemeral messages in a thread without replies. The same holds for what everybody in a thread
    # may read.
    asker, audience = attempt.asker, attempt.audience
    if audience in _PUBLIC_AUDIENCES and not is_private:
        return asker.thread
    is_written = bool(asker.message) and not asker.response_url
    is_open = audience is Audience.HERE and not is_private
    if is_written and (asker.is_direct or (is_open and asker.existing_thread)):
        return asker.existing_thread
    return None


def _build_earlier_key(channel: str, answer: RepeatableAnswer) -> str:
    return EARLIER_ANSWER.build_key(channel, compute_fingerprint(answer.request))


def find_permalink(messenger: SlackMessenger, channel: str, message: str) -> str:
    """Return the address of a message; empty if Slack does not give it, which is logged."""
    try:
        return messenger.fetch_permalink(channel, message)
    except (SlackCallRefused, SlackUnavailable) as error:
        log.info("no address of message %s in %s: %s", message, channel, error)
        return ""


def log_refusal(slack_request: SlackRequest, error: PrdigestError) -> None:
    """Log for operators that there is no answer, as a warning unless the asker can do something about it."""
    level = logging.INFO if is_user_mistake(error) else logging.WARNING
    log.log(level, "no answer [%s]: %s", slack_request.reference, error)


View = dict[str, Any]


class ModalPresenter:
    """Service that opens modals and fills them. Both methods may raise SlackUnavailable and StoreUnavailable."""

    def __init__(self, views: SlackViews, replies: ReplySender) -> None:
        self._views = views
        self._replies = replies

    def open_modal(self, slack_request: SlackRequest, trigger: str, first: View) -> bool:
        """Open a modal, or show ``first`` in the one that an earlier attempt opened; return whether it is open."""
        # Slack accepts a trigger for three seconds. The asker reads it if that was too late.
        try:
            self._views.open_view(trigger, slack_request.key, first)
        except SlackCallRefused as error:
            # an earlier attempt of this job may have opened it
            log.info("the window [%s] is not opened: %s", slack_request.reference, error)
            if not self._views.update_view(slack_request.key, first):
                self._replies.tell_asker(slack_request, WINDOW_TOO_LATE)
                return False
        return True

    def fill_modal(
        self, slack_request: SlackRequest, build: Callable[[], View], explain: Callable[[Exception], View]
    ) -> None:
        try:
            with deadlines.reserve_time(self._replies.response_times.reply_reserve):
                view = build()
        except StoreUnavailable:
            raise
        except PrdigestError as error:
            log_refusal(slack_request, error)
            view = explain(error)
        except Exception as error:
            log.exception("a defect [%s]", slack_request.reference)
            view = explain(error)
        if not self._views.update_view(slack_request.key, view):
            log.info("the window [%s] was closed before it was filled", slack_request.reference)
