"""Where requests from Slack arrive: who asks is checked, work goes on a queue, and only then Slack is told."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from bot.domain.conversations.commands import AllowedRepositories, ParseContext
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import StoreUnavailable, UsageError
from bot.domain.keyspace.keys import INITIAL_REPLY
from bot.domain.text.strings import truncate_text
from bot.domain.time.day import TodayProvider
from bot.ports import Cache, QuestionQueue
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.conversations.notices import describe_error, render_error
from bot.services.jobs.declaration import JobQueue
from bot.services.jobs.job_types import SEND_PRIVATE_NOTICE
from bot.services.jobs.payloads import NoticePayload
from bot.services.questions.thread_muting import ThreadMuting
from bot.services.slack.access_control import AccessControl
from bot.services.slack.welcome_log import WelcomeLog

log = logging.getLogger(__name__)

# longer than Slack goes on delivering a request again
_MAX_REPLY_LENGTH = 600


@dataclass(frozen=True)
class RequestIntake:
    """What the listeners need. ``parse_zone`` gives the time zone of a channel, None where it has several."""

    jobs: JobQueue
    access_control: AccessControl
    repositories: AllowedRepositories
    cache: Cache
    question_queue: QuestionQueue
    thread_muting: ThreadMuting
    welcomes: WelcomeLog
    today: TodayProvider
    get_channel_zone: Callable[[str], ZoneInfo | None]

    def build_parse_context(self, request: SlackRequest) -> ParseContext:
        """Return what the text of a request is read with."""
        return ParseContext(self.repositories, self.today, lambda: self.get_channel_zone(request.channel))

    def handle_command(self, request: SlackRequest, accept: Callable[[], str]) -> str:
        """Return what to say at once, as mrkdwn.

        That is what ``accept`` returns, having put the work on a queue, or why it did not. A request that is
        delivered again is not accepted again; the asker is told the same.
        """
        try:
            words = self.cache.get(_build_cache_key(request))
            if words is None:
                words = self.access_control.explain_refusal(request) or accept()
                self._remember_reply(request, words)
        except UsageError as error:
            return escape_mrkdwn(truncate_text(str(error), _MAX_REPLY_LENGTH))
        except StoreUnavailable as error:
            log.warning("not taken [%s]: %s", request.reference, error)
            return render_error(error, request.reference).text
        except Exception as error:
            log.exception("a defect [%s]", request.reference)
            return render_error(error, request.reference).text
        return words

    def handle_event(
        self, request: SlackRequest, accept: Callable[[], str | None], *, is_named: bool = True
    ) -> None:
        """Take what Slack lets nobody answer with words: what ``accept`` has to say goes to the asker as a job.

        Who did not name the bot (``is_named``) is not told that they may not ask.

        Raises:
            StoreUnavailable: nothing was taken; Slack, which gets no acknowledgement, delivers it again.
        """
        if not is_named and self.access_control.explain_exclusion(request):
            return
        if self.cache.get(_build_cache_key(request)) is None:
            words = self.access_control.explain_refusal(request) or self._accept_event(request, accept)
            if words:
                self.jobs.send(SEND_PRIVATE_NOTICE, NoticePayload(request, words))
            self._remember_reply(request, words)

    def _accept_event(self, request: SlackRequest, accept: Callable[[], str | None]) -> str:
        """Return what to tell the asker; nothing where the answer to come says it all."""
        try:
            return accept() or ""
        except UsageError as error:
            return str(error)
        except StoreUnavailable:
            raise
        except Exception as error:
            log.exception("a defect [%s]", request.reference)
            return describe_error(error, request.reference)

    def _remember_reply(self, request: SlackRequest, words: str) -> None:
        """Spare the work of a second delivery; without it, its job finds that it was done."""
        try:
            self.cache.put(_build_cache_key(request), words, INITIAL_REPLY.lifetime)
        except StoreUnavailable as error:
            log.warning("a request is not remembered [%s]: %s", request.reference, error)


def _build_cache_key(request: SlackRequest) -> str:
    return INITIAL_REPLY.build_key(request.key)
