"""Replies to requests from Slack, each sent once, however often it is delivered and wherever an attempt ended.

An answer in the channel carries its key in the metadata, so that the next attempt looks for an earlier post
before it posts. What only the asker sees can't be looked for: if the process dies between Slack's response and
the write to the store, the asker gets it twice rather than never.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.errors import (
    PostingInProgress,
    PrdigestError,
    RateLimited,
    SlackUnavailable,
    StoreUnavailable,
)
from bot.domain.keyspace.keys import ANSWER_PROGRESS
from bot.domain.keyspace.names import build_request_name
from bot.domain.time.day import LocalDay
from bot.platform import deadlines
from bot.platform.costs import name_payer
from bot.ports import EphemeralMessenger, Messenger, Post, RecordStore
from bot.render.conversations.notices import (
    is_user_mistake,
    render_ask_hint,
    render_budget_notice,
    render_error,
    render_notice,
)
from bot.services.slack.answers.answer import Answer
from bot.services.slack.answers.answer_delivery import AnswerDelivery
from bot.services.slack.answers.answer_posts import (
    AnswerPosts,
    EarlierPost,
    PostState,
    load_file,
)
from bot.services.slack.answers.answered_request import AnsweredRequest
from bot.services.slack.answers.asker_notices import DEFAULT_TIMES, AskerNotices, ResponseTimes
from bot.services.slack.answers.earlier_answer import EarlierAnswers
from bot.services.slack.permalinks import find_permalink

log = logging.getLogger(__name__)


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
        self._posts = AnswerPosts(messenger, ephemeral_messenger)
        self._notices = AskerNotices(ephemeral_messenger, records, now, response_times)
        self._delivery = AnswerDelivery(
            messenger,
            ephemeral_messenger,
            records,
            now,
            self._notices,
            on_posted,
            response_times,
            earlier_answers,
        )
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
        earlier = EarlierPost()
        if record.begun_at:
            with self._notices.excuse_failures(slack_request, key):
                earlier = self._posts.find_earlier(slack_request, key, record.begun_at)
        if earlier.state is PostState.POSTED:
            if file := load_file(record.file_json):
                self._posts.attach_file(slack_request, earlier.thread, file, is_retry=True)
        elif answer := self._make_answer(slack_request, key, make, started):
            self._delivery.deliver_answer(slack_request, key, audience, answer, earlier.state)

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
        daily_request = replace(
            slack_request, key=build_request_name("budget", today.date, name_payer(slack_request))
        )
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
        except Exception as error:
            return self._explain_error(slack_request, error)

    def make_or_explain(self, slack_request: SlackRequest, make: Callable[[], Answer]) -> Answer:
        """Return what ``make`` makes, or why it can't. Raises errors for which another attempt may help."""
        try:
            return make()
        except Exception as error:
            return self._explain_error(slack_request, error)

    def _explain_error(self, slack_request: SlackRequest, error: Exception) -> Answer:
        """Return the answer that explains an error. Raises the error if another attempt may help."""
        if not isinstance(error, PrdigestError):
            log.error("a defect [%s]", slack_request.reference, exc_info=error)
        elif self.may_retry(slack_request, error):
            raise error
        else:
            log_refusal(slack_request, error)
        return Answer.for_asker(render_error(error, slack_request.reference), is_private=True)

    def may_retry(self, slack_request: SlackRequest, error: PrdigestError) -> bool:
        """Return whether another attempt may help. If a service asks for a pause, the asker knows its end."""
        if isinstance(error, RateLimited | SlackUnavailable) and error.retry_after is not None:
            return self._notices.postpone_answer(slack_request, error)
        return isinstance(error, StoreUnavailable | SlackUnavailable | PostingInProgress)


def log_refusal(slack_request: SlackRequest, error: PrdigestError) -> None:
    """Log for operators that there is no answer, as a warning unless the asker can do something about it."""
    level = logging.INFO if is_user_mistake(error) else logging.WARNING
    log.log(level, "no answer [%s]: %s", slack_request.reference, error)
