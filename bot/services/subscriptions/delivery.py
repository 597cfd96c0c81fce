"""Brings digests to their channels, and records what came of it: for the schedule, the watchdog and operators."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.errors import (
    ConfigurationError,
    DayUnavailable,
    GitHubAccessDenied,
    PostingInProgress,
    PrdigestError,
    RepositoryNotFound,
    SlackCallRefused,
    StoreUnavailable,
    get_retry_delay,
)
from bot.domain.operations.incident import Incident, IncidentKind
from bot.domain.operations.run import Run, RunOutcome
from bot.domain.subscriptions.due_items import DigestRepair, NextDigest
from bot.domain.subscriptions.models import DigestSpec, Subscription
from bot.ports import DueQueue, RunLog
from bot.render.digest.post import RenderedDigest, describe_skipped_days
from bot.render.subscriptions import sentences
from bot.services.digest.composer import DigestComposer
from bot.services.digest.posted_digest import PostedDigest
from bot.services.digest.poster import DigestPoster, PostingResult
from bot.services.digest.records import DigestRecords, TrackedDigest
from bot.services.operations.billing import OPERATOR, bill_to, get_account
from bot.services.subscriptions.incidents import IncidentReporter
from bot.services.subscriptions.repository import SubscriptionRepository
from bot.services.subscriptions.retry_policy import FIRST_REPAIR_DELAY, MAX_REPAIRS

log = logging.getLogger(__name__)

# what only a person can mend
_OPERATOR_ERRORS = (SlackCallRefused, GitHubAccessDenied, RepositoryNotFound, ConfigurationError)
_RETRY_PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 2, 5, 10, 15))
# a week: what is usual on a Sunday is not what is usual on a Monday
_COMPARED_DAYS, _MIN_COMPARED_DAYS = 7, 3


class DigestDelivery:
    """Posts what is due, mends what was posted with gaps."""

    def __init__(
        self,
        directory: SubscriptionRepository,
        poster: DigestPoster,
        composer: DigestComposer,
        records: DigestRecords,
        agenda: DueQueue,
        journal: RunLog,
        watchdog: IncidentReporter,
        now: Callable[[], datetime],
    ) -> None:
        self._directory = directory
        self._poster = poster
        self._composer = composer
        self._records = records
        self._agenda = agenda
        self._journal = journal
        self._watchdog = watchdog
        self._now = now

    def deliver_digest(self, name: str, due: datetime) -> None:
        """Post the digest of a subscription that was due at an instant, if it still is, or finish it.

        What goes wrong is recorded, with the time of the next try; the schedule puts that on the queue.

        Raises:
            StoreUnavailable: nothing could be recorded.
        """
        subscription = self._directory.get(name)
        if subscription is None or subscription.is_paused:
            return
        digest, item = self._records.find_digest(subscription.build_digest_spec(due)), NextDigest(name)
        title = digest.spec.title
        if self._agenda.get_time(item) != due and not digest.record.lead:
            log.info("%s is planned for another time, or was skipped", title)
            return
        try:
            published = self._post_digest(digest, lambda: self._compose_digest(digest))
        except StoreUnavailable:
            raise
        except PostingInProgress as error:
            log.info("%s: %s", title, error)
        except PrdigestError as error:
            log.warning("%s is not posted yet: %s", title, error)
            self._record_failure(digest.key, error, str(error))
        except Exception as error:
            log.exception("%s is not posted", title)
            self._record_failure(digest.key, error, sentences.DEFECT_REASON)
        else:
            self._report_gaps(subscription, digest, published)
            # whoever changes the zone now begins with the next day, not with this one in the other zone
            self._agenda.move(item, due, subscription.timing.find_next_after(due))

    def post_digest(self, spec: DigestSpec, build: Callable[[], RenderedDigest] | None = None) -> PostingResult:
        """Post a digest, once, and plan to mend it if it has gaps. Raises what the poster raises.

        ``build`` makes it the first time, in place of the usual way.
        """
        digest = self._records.find_digest(spec)
        return self._post_digest(digest, build or (lambda: self._compose_digest(digest)))

    def _post_digest(self, digest: TrackedDigest, build: Callable[[], RenderedDigest]) -> PostingResult:
        published = self._poster.post_digest(digest, build)
        log.info("%s: %s", digest.spec.title, published.permalink)
        return published if published.record.spec_json else self._record_posting(digest, published)

    def _record_posting(self, digest: TrackedDigest, published: PostingResult) -> PostingResult:
        """Note, once, what follows from a post."""
        key, now = digest.key, self._now()
        detail = "; ".join([*published.gaps, *published.notes])
        self._journal.add_run(Run(now, key, RunOutcome.POSTED, detail))
        if published.gaps:
            self._agenda.add(DigestRepair(key), now + FIRST_REPAIR_DELAY)
        self._watchdog.resolve(key, IncidentKind.MISSING, sentences.format_posted_late(published.permalink), now)
        payer = get_account().payer
        # what is mended later is mended by the bot, whoever ran a command
        noted = published.record.record_posting(digest.spec, "" if payer == OPERATOR else payer)
        # last: a try that died before did none of this, and the next one does all of it
        return replace(published, record=self._records.store.save(key, published.record, noted))

    def repair_incomplete(self, key: str) -> None:
        """Look again at a digest that was posted with gaps, and edit it. The agenda has the time of the next try.

        Raises:
            StoreUnavailable: nothing could be recorded.
        """
        digest = self._records.load_digest(key)
        if digest is None:
            self._agenda.drop(DigestRepair(key))
            return
        try:
            # whoever asked for it pays for this too, or asking would be a way around their budget
            with bill_to(digest.record.payer):
                published = self._poster.revise_digest(digest, lambda: self._compose_digest(digest))
        except StoreUnavailable:
            raise
        except PrdigestError as error:
            log.warning("%s is not mended yet: %s", digest.spec.title, error)
        except Exception:
            log.exception("%s is not mended", digest.spec.title)
        else:
            if not self._list_missing(digest.spec, published):
                self._record_repair(key, published)
                return
        if digest.record.repair_attempts >= MAX_REPAIRS:
            self._watchdog.abandon(key, IncidentKind.INCOMPLETE, self._now())

    def _compose_digest(self, digest: TrackedDigest) -> RenderedDigest:
        skipped = digest.record.parse_skipped_days(digest.spec.span.zone)
        notes = [describe_skipped_days(digest.spec.repository, skipped)] if skipped else []
        return self._composer.compose_messages(digest.spec, notes)

    def _record_repair(self, key: str, published: PostingResult) -> None:
        now = self._now()
        self._agenda.drop(DigestRepair(key))
        self._journal.add_run(Run(now, key, RunOutcome.MENDED))
        self._watchdog.resolve(key, IncidentKind.INCOMPLETE, sentences.format_completed(published.permalink), now)

    def _report_gaps(self, subscription: Subscription, digest: TrackedDigest, published: PostingResult) -> None:
        """Report what is missing in what was posted."""
        spec, key, now = digest.spec, digest.key, self._now()
        missing = self._list_missing(spec, published)
        if not missing:
            return
        if published.was_posted:
            # somebody whose budget was used up may have asked for it before its time: the bot completes it
            self._records.store.save(key, published.record, published.record.bill_to_bot())
        self._agenda.add(DigestRepair(key), now + FIRST_REPAIR_DELAY)
        reason, retry = "; ".join(missing), self._agenda.get_time(DigestRepair(key))
        self._watchdog.report(
            Incident(key, IncidentKind.INCOMPLETE, spec.title, reason, now, retry, spec.channel, subscription.by)
        )

    def _list_missing(self, spec: DigestSpec, published: PostingResult) -> tuple[str, ...]:
        return (*published.gaps, *self._detect_missing_merges(spec, published))

    def _detect_missing_merges(self, spec: DigestSpec, published: PostingResult) -> Iterator[str]:
        """That nothing was merged, where each of the last digests, at least three, had something."""
        if published.merged_count != 0:
            return
        before = [_shift_back(spec, timedelta(days=days)) for days in range(1, _COMPARED_DAYS + 1)]
        counts = [digest.record.merged_count for digest in self._records.find_digests(before)]
        known = [merged for merged in counts if merged is not None]
        if len(known) >= _MIN_COMPARED_DAYS and all(known):
            yield sentences.format_nothing_merged(len(known))

    def _record_failure(self, key: str, error: Exception, sentence: str) -> None:
        """Record it, with the time of the next try if there is any use in one."""
        record, now = self._records.store.load(key), self._now()
        if isinstance(error, DayUnavailable):
            failed = record.record_abandonment(sentence)
        else:
            # first: a try that died before the record is made again, and one line twice is better than none
            if record.error != sentence:
                self._journal.add_run(Run(now, key, RunOutcome.FAILED, sentence))
            is_for_people = isinstance(error, _OPERATOR_ERRORS)
            pause = _RETRY_PAUSES[-1] if is_for_people else _compute_pause(record, error)
            failed = record.record_failure(sentence, now + pause, needs_person=is_for_people)
        self._records.store.save(key, record, failed)


def _compute_pause(record: PostedDigest, error: Exception) -> timedelta:
    """Return how long to wait after one more try that failed, at least as long as a service asks for."""
    pause = _RETRY_PAUSES[min(record.attempts, len(_RETRY_PAUSES) - 1)]
    asked = get_retry_delay(error) if isinstance(error, PrdigestError) else None
    return max(pause, timedelta(seconds=asked)) if asked else pause


def _shift_back(spec: DigestSpec, back: timedelta) -> DigestSpec:
    """Return the digest of the same channel that many days before."""
    return replace(spec, span=replace(spec.span, first=spec.span.first - back, last=spec.span.last - back))
