"""Where requests from Slack arrive: who asks is checked, work goes on a queue, and only then Slack is told."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Protocol
from zoneinfo import ZoneInfo

from bot.domain.conversations.commands import Repositories
from bot.domain.conversations.slack_request import Audience, Visit
from bot.domain.errors import StoreUnavailable, UsageError
from bot.domain.keyspace.keys import ASKED
from bot.domain.text.strings import shorten
from bot.domain.time.day import Today
from bot.ports import Cache, Line, Queue
from bot.render.blocks.mrkdwn import escape
from bot.render.conversations.notices import describe_error, regret
from bot.services.questions.thread_muting import Attention
from bot.services.slack.access_control import Admission
from bot.services.slack.welcomes import Welcomes

log = logging.getLogger(__name__)

# longer than Slack goes on delivering a request again
_LONGEST = 600


class Accept(Protocol):
    """Puts the work that a text asks for on a queue."""

    def __call__(self, desk: Desk, visit: Visit, text: str, audience: Audience = ...) -> str:
        """What to tell the visitor. Raises UsageError, StoreUnavailable."""


@dataclass(frozen=True)
class Queues:
    """Where work goes, by kind."""

    summary: Queue
    risks: Queue
    long_risks: Queue
    score: Queue
    digest: Queue
    overview: Queue
    details: Queue
    tell: Queue
    say: Queue
    greet: Queue
    questions: Queue
    votes: Queue
    regular: Queue
    preview: Queue
    form: Queue
    home: Queue


@dataclass(frozen=True)
class Desk:
    """What the listeners need. ``zone_of`` gives the time zone of a channel, None where it has several."""

    queues: Queues
    admission: Admission
    repositories: Repositories
    cache: Cache
    line: Line
    attention: Attention
    welcomes: Welcomes
    today: Today
    zone_of: Callable[[str], ZoneInfo | None]

    def answer(self, visit: Visit, accept: Callable[[], str]) -> str:
        """What to say at once, as mrkdwn: what ``accept`` says, having put the work on a queue, or why it did not.

        A request that is delivered again is not taken again; the visitor is told the same.
        """
        try:
            said = self.cache.get(_key(visit))
            if said is None:
                said = self.admission.refusal(visit) or accept()
                self._remember(visit, said)
        except UsageError as error:
            return escape(shorten(str(error), _LONGEST))
        except StoreUnavailable as error:
            log.warning("not taken [%s]: %s", visit.reference, error)
            return regret(error, visit.reference).text
        except Exception as error:
            log.exception("a defect [%s]", visit.reference)
            return regret(error, visit.reference).text
        return said

    def hear(self, visit: Visit, accept: Callable[[], str | None], *, is_named: bool = True) -> None:
        """For what Slack lets nobody answer with words: what ``accept`` has to say goes to the visitor as a job.

        Who did not name the bot (``is_named``) is not told that they may not ask.

        Raises:
            StoreUnavailable: nothing was taken; Slack, which gets no acknowledgement, delivers it again.
        """
        if not is_named and self.admission.bar(visit):
            return
        if self.cache.get(_key(visit)) is None:
            said = self.admission.refusal(visit) or self._accepted(visit, accept)
            if said:
                self.queues.tell.send(asdict(visit), said)
            self._remember(visit, said)

    def _accepted(self, visit: Visit, accept: Callable[[], str | None]) -> str:
        """What to tell the visitor; empty where the answer to come says it all."""
        try:
            return accept() or ""
        except UsageError as error:
            return str(error)
        except StoreUnavailable:
            raise
        except Exception as error:
            log.exception("a defect [%s]", visit.reference)
            return describe_error(error, visit.reference)

    def _remember(self, visit: Visit, said: str) -> None:
        """Spare the work of a second delivery; without it, its job finds that it was done."""
        try:
            self.cache.put(_key(visit), said, ASKED.lifetime)
        except StoreUnavailable as error:
            log.warning("a request is not remembered [%s]: %s", visit.reference, error)


def _key(visit: Visit) -> str:
    return ASKED.key(visit.key)
