"""Brings digests to their channels, and records what came of it: for the schedule, the watchdog and operators."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.errors import (
    DayUnavailable,
    GitHubRefused,
    InProgress,
    NotSetUp,
    PrdigestError,
    RepositoryNotFound,
    SlackRefused,
    StoreUnavailable,
    pause_of,
)
from bot.domain.operations.incident import Kind, Trouble
from bot.domain.operations.run import Outcome, Run
from bot.domain.subscriptions.due_items import DigestRepair, NextDigest
from bot.domain.subscriptions.models import Edition, Subscription
from bot.ports import Agenda, Journal, PostRecords
from bot.ports.cached_json import read_back
from bot.render.digest.post import Rendered, skipped_note
from bot.services.digest.composer import Editions
from bot.services.digest.poster import Published, Publisher
from bot.services.digest.records import EDITION
from bot.services.operations.payer import OPERATOR, bill_to, get_account
from bot.services.subscriptions.incidents import Watchdog
from bot.services.subscriptions.repository import Directory
from bot.services.subscriptions.retry_policy import FIRST, MOST, skipped_before

log = logging.getLogger(__name__)

# what only a person can mend
_FOR_PEOPLE = (SlackRefused, GitHubRefused, RepositoryNotFound, NotSetUp)
_PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 2, 5, 10, 15))
_DEFECT = "a defect: the log of the worker has it"
# a week: what is usual on a Sunday is not what is usual on a Monday
_EXPECTED_FROM, _FEWEST = 7, 3


class Delivery:
    """Posts what is due, mends what was posted with gaps."""

    def __init__(
        self,
        directory: Directory,
        publisher: Publisher,
        editions: Editions,
        records: PostRecords,
        agenda: Agenda,
        journal: Journal,
        watchdog: Watchdog,
        now: Callable[[], datetime],
    ) -> None:
        self._directory = directory
        self._publisher = publisher
        self._editions = editions
        self._records = records
        self._agenda = agenda
        self._journal = journal
        self._watchdog = watchdog
        self._now = now

    def deliver(self, name: str, due: datetime) -> None:
        """Post the digest of a subscription that was due at an instant, if it still is, or finish it.

        What goes wrong is recorded, with the time of the next try; the schedule puts that on the queue.

        Raises:
            StoreUnavailable: nothing could be recorded.
        """
        subscription = self._directory.get(name)
        if subscription is None or subscription.is_paused:
            return
        edition, item = subscription.edition(due), NextDigest(name)
        [(key, record)] = self._publisher.digests.find([edition])
        if self._agenda.at(item) != due and "lead" not in record:
            log.info("%s is planned for another time, or was skipped", edition.title)
            return
        try:
            published = self.publish(edition)
        except StoreUnavailable:
            raise
        except InProgress as error:
            log.info("%s: %s", edition.title, error)
        except PrdigestError as error:
            log.warning("%s is not posted yet: %s", edition.title, error)
            self._failed(key, error, str(error))
        except Exception as error:
            log.exception("%s is not posted", edition.title)
            self._failed(key, error, _DEFECT)
        else:
            self._look(subscription, edition, published)
            # whoever changes the zone now begins with the next day, not with this one in the other zone
            self._agenda.move(item, due, subscription.timing.next_after(due))

    def publish(self, edition: Edition, build: Callable[[], Rendered] | None = None) -> Published:
        """Post an edition, once, and plan to mend it if it has gaps. Raises what the publisher raises.

        ``build`` makes it the first time, in place of the usual way.
        """
        key = self._publisher.key(edition)
        published = self._publisher.publish(edition, build or (lambda: self._built(key, edition)))
        log.info("%s: %s", edition.title, published.address)
        if "edition" not in self._records.load(key):
            detail = "; ".join([*published.gaps, *published.notes])
            self._journal.note(Run(self._now(), key, Outcome.POSTED, detail))
            if published.gaps:
                self._agenda.add(DigestRepair(key), self._now() + FIRST)
            self._watchdog.settle(key, Kind.MISSING, f"posted after all, {published.address}", self._now())
            # last: a try that died before did none of this, and the next one does all of it
            kept = EDITION.dump_json(edition).decode()
            payer = get_account().payer
            # what is mended later is mended by the bot, whoever ran a command
            self._records.save(key, edition=kept, payer="" if payer == OPERATOR else payer)
        return published

    def mend(self, key: str) -> None:
        """Look again at a digest that was posted with gaps, and edit it. The agenda has the time of the next try.

        Raises:
            StoreUnavailable: nothing could be recorded.
        """
        record = self._records.load(key)
        edition = read_back(EDITION, record.get("edition"))
        if edition is None:
            self._agenda.drop(DigestRepair(key))
            return
        try:
            # whoever asked for it pays for this too, or asking would be a way around their budget
            with bill_to(record.get("payer", "")):
                published = self._publisher.revise(edition, lambda: self._built(key, edition))
        except StoreUnavailable:
            raise
        except PrdigestError as error:
            log.warning("%s is not mended yet: %s", edition.title, error)
        except Exception:
            log.exception("%s is not mended", edition.title)
        else:
            if not self._missing(edition, published):
                self._mended(key, published)
                return
        if int(record.get("mends", "0")) >= MOST:
            self._watchdog.give_up(key, Kind.INCOMPLETE, self._now())

    def _built(self, key: str, edition: Edition) -> Rendered:
        skipped = skipped_before(self._records.load(key), edition)
        return self._editions.build(edition, [skipped_note(edition.repository, skipped)] if skipped else [])

    def _mended(self, key: str, published: Published) -> None:
        now = self._now()
        self._agenda.drop(DigestRepair(key))
        self._journal.note(Run(now, key, Outcome.MENDED))
        self._watchdog.settle(key, Kind.INCOMPLETE, f"complete now, {published.address}", now)

    def _look(self, subscription: Subscription, edition: Edition, published: Published) -> None:
        """Tell of what is missing in what was posted."""
        missing = self._missing(edition, published)
        if not missing:
            return
        key, now = self._publisher.key(edition), self._now()
        if published.already:
            # somebody whose budget was used up may have asked for it before its time: the bot completes it
            self._records.save(key, payer="")
        self._agenda.add(DigestRepair(key), now + FIRST)
        reason, retry = "; ".join(missing), self._agenda.at(DigestRepair(key))
        self._watchdog.note(
            Trouble(key, Kind.INCOMPLETE, edition.title, reason, now, retry, edition.channel, subscription.by)
        )

    def _missing(self, edition: Edition, published: Published) -> tuple[str, ...]:
        return (*published.gaps, *self._surprises(edition, published))

    def _surprises(self, edition: Edition, published: Published) -> Iterator[str]:
        """That nothing was merged, where each of the last digests, at least three, had something."""
        if published.merged != 0:
            return
        before = [self._merged_before(edition, days) for days in range(1, _EXPECTED_FROM + 1)]
        known = [merged for merged in before if merged is not None]
        if len(known) >= _FEWEST and all(known):
            yield f"nothing was merged, while each of the last {len(known)} digests had something"

    def _merged_before(self, edition: Edition, days: int) -> int | None:
        back = timedelta(days=days)
        span = replace(edition.span, first=edition.span.first - back, last=edition.span.last - back)
        [(_, record)] = self._publisher.digests.find([replace(edition, span=span)])
        merged = record.get("merged")
        return int(merged) if merged else None

    def _failed(self, key: str, error: Exception, sentence: str) -> None:
        """Record it, with the time of the next try if there is any use in one."""
        if isinstance(error, DayUnavailable):
            self._records.save(key, error=sentence, hopeless="1")
            return
        record, now = self._records.load(key), self._now()
        tries = int(record.get("tries", "0"))
        pause = _PAUSES[min(tries, len(_PAUSES) - 1)]
        if isinstance(error, PrdigestError) and (asked := pause_of(error)):
            pause = max(pause, timedelta(seconds=asked))
        is_for_people = isinstance(error, _FOR_PEOPLE)
        # first: a try that died before the record is made again, and one line twice is better than none
        if record.get("error") != sentence:
            self._journal.note(Run(now, key, Outcome.FAILED, sentence))
        self._records.save(
            key,
            error=sentence,
            person="1" if is_for_people else "",
            tries=str(tries + 1),
            retry=(now + (_PAUSES[-1] if is_for_people else pause)).isoformat(),
        )
