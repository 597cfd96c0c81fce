"""The delivery of an answer: posted to the channel, or sent to the asker alone where that is not possible."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime

from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.errors import SlackCallRefused, SlackUnavailable
from bot.platform import deadlines
from bot.ports import EphemeralMessenger, Messenger, Post, RecordStore
from bot.render.blocks.buttons import add_buttons
from bot.render.conversations import sentences
from bot.render.conversations.notices import (
    add_file_note,
    add_missing_file_note,
    render_earlier_answer,
    render_error,
    render_notice,
)
from bot.services.slack.answers.answer import PUBLIC_AUDIENCES, Answer, choose_route
from bot.services.slack.answers.answer_posts import CLOSED_CHANNEL_CODES, AnswerPosts, PostState, dump_file
from bot.services.slack.answers.answered_request import AnsweredRequest
from bot.services.slack.answers.asker_notices import AskerNotices, ResponseTimes
from bot.services.slack.answers.earlier_answer import EarlierAnswers

log = logging.getLogger(__name__)


class AnswerDelivery:
    """Deliverer of answers. ``on_posted`` is called after each answer that was posted.

    With ``earlier_answers``, an asker gets a link to the same answer if the channel got it within the last hour.
    """

    def __init__(
        self,
        messenger: Messenger,
        ephemeral_messenger: EphemeralMessenger,
        records: RecordStore[AnsweredRequest],
        now: Callable[[], datetime],
        notices: AskerNotices,
        on_posted: Callable[[SlackRequest, Answer], None],
        response_times: ResponseTimes,
        earlier_answers: EarlierAnswers | None,
    ) -> None:
        self._messenger = messenger
        self._ephemeral_messenger = ephemeral_messenger
        self._records = records
        self._now = now
        self._notices = notices
        self._on_posted = on_posted
        self._response_times = response_times
        self._earlier_answers = earlier_answers
        self._posts = AnswerPosts(messenger, ephemeral_messenger)

    def deliver_answer(
        self, slack_request: SlackRequest, key: str, audience: Audience, answer: Answer, earlier: PostState
    ) -> None:
        """Deliver an answer. ``earlier`` is whether an earlier attempt posted one.

        Raises:
            SlackUnavailable, StoreUnavailable, PostingInProgress: another attempt continues from there.
        """
        same, channel = answer.repeatable, slack_request.channel
        if same is None or self._earlier_answers is None or audience not in PUBLIC_AUDIENCES:
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
        self, slack_request: SlackRequest, key: str, audience: Audience, answer: Answer, earlier: PostState
    ) -> None:
        route = choose_route(slack_request, audience, answer)
        # without a search for an earlier post, another could be a duplicate; the asker gets the answer in any case
        if not route.is_posted or earlier is PostState.UNKNOWN:
            self._send_privately(slack_request, answer)
            return
        begun = AnsweredRequest().begin_posting(self._now(), dump_file(answer.attachment))
        if earlier is PostState.NOT_TRIED:
            # if another process has begun meanwhile, this one lost its lock while the store was unavailable
            self._records.claim(key, AnsweredRequest(), begun)
        elif answer.attachment:
            self._records.save(key, AnsweredRequest(), begun)
        self._post_answer(slack_request, key, audience, answer, route.thread)

    def _post_answer(
        self, slack_request: SlackRequest, key: str, audience: Audience, answer: Answer, thread: str
    ) -> None:
        """Post to the channel; if Slack refuses, send the asker the answer or the reason."""
        post, began = answer.public if audience in PUBLIC_AUDIENCES else answer.private, self._now()
        if answer.attachment:
            post = add_file_note(post, answer.attachment.title)
        try:
            with deadlines.reserve_time(self._response_times.apology_reserve):
                message = self._messenger.post_message(
                    slack_request.channel, post.build_payload(), key, thread or None, answer.about
                )
        except SlackCallRefused as error:
            log.info("not posted to %s, the asker gets it: %s", slack_request.channel, error)
            reason = _explain_missing_post(slack_request, error)
            self._send_instead(slack_request, audience, answer, reason)
        except SlackUnavailable as error:
            self._answer_without_post(slack_request, key, audience, answer, error, began)
        else:
            self._complete_post(slack_request, key, audience, answer, thread, message)

    def _answer_without_post(
        self,
        slack_request: SlackRequest,
        key: str,
        audience: Audience,
        answer: Answer,
        error: SlackUnavailable,
        began: datetime,
    ) -> None:
        """Send the asker the answer or the reason. Raises the error if another attempt may post."""
        if error.retry_after is None:
            self._notices.send_excuse(slack_request, key, began)
            raise error
        # with a pause the call had no effect; a pause that exceeds the time for the work is not waited for
        is_shared = audience is Audience.SHARED
        if (is_shared or not slack_request.response_url) and self._notices.postpone_answer(slack_request, error):
            raise error
        log.info("no post to %s for %s s, the asker gets it", slack_request.channel, error.retry_after)
        self._send_instead(slack_request, audience, answer, render_error(error, slack_request.reference))

    def _complete_post(
        self,
        slack_request: SlackRequest,
        key: str,
        audience: Audience,
        answer: Answer,
        thread: str,
        message: str,
    ) -> None:
        """Remember a message that was posted, and attach the file of the answer."""
        if self._earlier_answers and answer.repeatable and audience in PUBLIC_AUDIENCES:
            self._earlier_answers.note_answer(slack_request.channel, answer.repeatable, message)
        if thread == slack_request.thread:
            self._on_posted(slack_request, answer)
        if answer.attachment:
            self._posts.attach_file(slack_request, thread or message, answer.attachment)

    def _send_instead(self, slack_request: SlackRequest, audience: Audience, answer: Answer, reason: Post) -> None:
        """Send the asker an answer that can't be posted; if they have it already, the reason."""
        if audience is Audience.SHARED:
            self._ephemeral_messenger.send(slack_request, reason)
        else:
            self._send_privately(slack_request, answer)

    def _send_privately(self, slack_request: SlackRequest, answer: Answer) -> None:
        """Send the asker an answer that only they see, and to which no file can be attached."""
        post = (
            add_missing_file_note(answer.private, answer.attachment.title) if answer.attachment else answer.private
        )
        for each in (post, *answer.further):
            self._ephemeral_messenger.send(slack_request, each)


def _explain_missing_post(slack_request: SlackRequest, error: SlackCallRefused) -> Post:
    return (
        render_notice(sentences.NOT_A_MEMBER)
        if error.code in CLOSED_CHANNEL_CODES
        else render_error(error, slack_request.reference)
    )
