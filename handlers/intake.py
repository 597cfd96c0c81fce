"""Intake of requests from Slack: check the asker, enqueue the work, and only then answer Slack."""

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
from bot.jobs.asker_jobs import send_private_notice
from bot.platform.correlation import identify_request
from bot.platform.jobs import JobQueue
from bot.platform.store.tables import Store
from bot.ports import Cache
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.conversations.greetings import HelpExample
from bot.render.conversations.notices import describe_error, render_error
from bot.services.slack.access_control import AccessControl
from bot.services.slack.welcome_log import WelcomeLog

log = logging.getLogger(__name__)

# characters of a reply about a mistake, which may quote what somebody wrote
_MAX_REPLY_LENGTH = 600


@dataclass(frozen=True)
class RequestIntake:
    """Intake of requests, with everything that listeners need.

    ``get_channel_zone`` returns the time zone of a channel, None if its digests have several. ``has_previews``
    returns whether links of a channel get previews.
    ``examples`` are the lines of all commands in the help of the bot.
    """

    jobs: JobQueue
    access_control: AccessControl
    repositories: AllowedRepositories
    cache: Cache
    tables: Store
    welcomes: WelcomeLog
    today: TodayProvider
    get_channel_zone: Callable[[str], ZoneInfo | None]
    has_previews: Callable[[str], bool] = lambda channel: False
    examples: tuple[HelpExample, ...] = ()

    def build_parse_context(self, request: SlackRequest) -> ParseContext:
        """Return the context for parsing the text of a request."""
        return ParseContext(self.repositories, self.today, lambda: self.get_channel_zone(request.channel))

    def handle_command(self, request: SlackRequest, accept: Callable[[], str]) -> str:
        """Return the reply to send at once, as mrkdwn.

        This is the result of ``accept``, which enqueues the work, or the reason why it failed. If Slack delivers a
        request again, the asker gets the same reply and the work is not enqueued again.
        """
        with identify_request(request.reference):
            return self._reply_to_command(request, accept)

    def _reply_to_command(self, request: SlackRequest, accept: Callable[[], str]) -> str:
        """Return the reply to a command, or the reason why it failed."""
        try:
            reply = self.cache.get(_build_cache_key(request))
            if reply is None:
                reply = self.access_control.explain_refusal(request) or accept()
                self._remember_reply(request, reply)
        except UsageError as error:
            return escape_mrkdwn(truncate_text(str(error), _MAX_REPLY_LENGTH))
        except StoreUnavailable as error:
            log.warning("not taken [%s]: %s", request.reference, error)
            return render_error(error, request.reference).text
        except Exception as error:
            log.exception("a defect [%s]", request.reference)
            return render_error(error, request.reference).text
        return reply

    def handle_event(
        self, request: SlackRequest, accept: Callable[[], str | None], *, is_named: bool = True
    ) -> None:
        """Accept an event, to which Slack allows no reply: a result of ``accept`` is sent to the asker by a job.

        An asker who did not name the bot (``is_named``) is not told that they may not ask.

        Raises:
            StoreUnavailable: nothing was enqueued. Slack gets no acknowledgement and delivers the event again.
        """
        with identify_request(request.reference):
            self._take_event(request, accept, is_named=is_named)

    def handle_posted_links(self, request: SlackRequest, accept: Callable[[], None]) -> None:
        """Accept links that somebody posted for others: whatever comes of them, their poster is told nothing.

        Raises:
            StoreUnavailable: nothing was enqueued. Slack gets no acknowledgement and delivers the event again.
        """
        with identify_request(request.reference):
            if not self.has_previews(request.channel) or self.cache.get(_build_cache_key(request)) is not None:
                return
            if self.access_control.may_post_links(request):
                accept()
            self._remember_reply(request, "")

    def _take_event(self, request: SlackRequest, accept: Callable[[], str | None], *, is_named: bool) -> None:
        """Accept an event that is not known yet. Raises StoreUnavailable."""
        if not is_named and self.access_control.explain_exclusion(request):
            return
        if self.cache.get(_build_cache_key(request)) is None:
            reply = self.access_control.explain_refusal(request) or self._accept_event(request, accept)
            if reply:
                send_private_notice.send_to(self.jobs, request, reply)
            self._remember_reply(request, reply)

    def _accept_event(self, request: SlackRequest, accept: Callable[[], str | None]) -> str:
        """Return the reply to the asker, empty if the answer to come is enough. Raises StoreUnavailable."""
        try:
            return accept() or ""
        except UsageError as error:
            return str(error)
        except StoreUnavailable:
            raise
        except Exception as error:
            log.exception("a defect [%s]", request.reference)
            return describe_error(error, request.reference)

    def _remember_reply(self, request: SlackRequest, reply: str) -> None:
        """Store the reply, so that a second delivery takes no work. Without it, its job finds the work done."""
        try:
            self.cache.put(_build_cache_key(request), reply, INITIAL_REPLY.lifetime)
        except StoreUnavailable as error:
            log.warning("a request is not remembered [%s]: %s", request.reference, error)


def _build_cache_key(request: SlackRequest) -> str:
    return INITIAL_REPLY.build_key(request.key)
