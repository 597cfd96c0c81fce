"""Where requests from Slack arrive: who asks is checked, work goes on a queue, and only then Slack is told."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from bot.domain.conversations.commands import ParseContext, Repositories
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import StoreUnavailable, UsageError
from bot.domain.keyspace.keys import ASKED
from bot.domain.text.strings import truncate_text
from bot.domain.time.day import TodayProvider
from bot.ports import Cache, Line
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.conversations.notices import describe_error, render_error
from bot.services.jobs.declaration import JobQueue
from bot.services.jobs.job_types import TELL
from bot.services.jobs.payloads import SentencePayload
from bot.services.questions.thread_muting import Attention
from bot.services.slack.access_control import AccessControl
from bot.services.slack.welcomes import WelcomeLog

log = logging.getLogger(__name__)

# longer than Slack goes on delivering a request again
_LONGEST = 600


@dataclass(frozen=True)
class RequestIntake:
    """What the listeners need. ``parse_zone`` gives the time zone of a channel, None where it has several."""

    jobs: JobQueue
    admission: AccessControl
    repositories: Repositories
    cache: Cache
    line: Line
    attention: Attention
    welcomes: WelcomeLog
    today: TodayProvider
    zone_of: Callable[[str], ZoneInfo | None]

    def context_of(self, request: SlackRequest) -> ParseContext:
        """Return what the text of a request is read with."""
        return ParseContext(self.repositories, self.today, lambda: self.zone_of(request.channel))

    def handle_command(self, request: SlackRequest, accept: Callable[[], str]) -> str:
        """Return what to say at once, as mrkdwn.

        That is what ``accept`` returns, having put the work on a queue, or why it did not. A request that is
        delivered again is not accepted again; the asker is told the same.
        """
        try:
            words = self.cache.get(_key(request))
            if words is None:
                words = self.admission.explain_refusal(request) or accept()
                self._remember(request, words)
        except UsageError as error:
            return escape_mrkdwn(truncate_text(str(error), _LONGEST))
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
        if not is_named and self.admission.explain_exclusion(request):
            return
        if self.cache.get(_key(request)) is None:
            words = self.admission.explain_refusal(request) or self._accept(request, accept)
            if words:
                self.jobs.send(TELL, SentencePayload(request, words))
            self._remember(request, words)

    def _accept(self, request: SlackRequest, accept: Callable[[], str | None]) -> str:
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

    def _remember(self, request: SlackRequest, words: str) -> None:
        """Spare the work of a second delivery; without it, its job finds that it was done."""
        try:
            self.cache.put(_key(request), words, ASKED.lifetime)
        except StoreUnavailable as error:
            log.warning("a request is not remembered [%s]: %s", request.reference, error)


def _key(request: SlackRequest) -> str:
    return ASKED.key(request.key)
