"""Poster of digests: each is posted once, however often that is requested or an attempt is interrupted.

Slack is the proof. Every message has the digest's key in its metadata. An attempt without a timestamp searches the
channel for the key before it posts. The rendered messages are recorded before the first post, so that a second
attempt finishes the same text. A digest with gaps can be revised: edited, never posted again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.errors import SlackCallRefused, UsageError
from bot.domain.history.pull_outcomes import MergeOutcome
from bot.domain.subscriptions.models import DigestSpec
from bot.domain.touches.decisions import TouchDecision
from bot.features.digest.marks import render_outcome_reply
from bot.features.digest.view import RenderedDigest
from bot.ports import Messenger
from bot.services.digest.digest_thread import DigestThread
from bot.services.digest.posted_digest import PostedDigest
from bot.services.digest.posting_plan import PostingPlan
from bot.services.digest.records import DigestRecords, TrackedDigest

log = logging.getLogger(__name__)

# of a workspace that does not allow edits, or only for a while; replies in the thread are still possible
_NOT_EDITABLE_CODES = ("edit_window_closed", "cant_update_message")


@dataclass(frozen=True, slots=True)
class PostingResult:
    """The address of a posted digest, its record, whether it was posted before, and notes on what failed."""

    permalink: str
    record: PostedDigest
    was_posted: bool = False
    notes: tuple[str, ...] = ()

    @property
    def gaps(self) -> tuple[str, ...]:
        """The parts that are missing and may be available later."""
        return self.record.gaps

    @property
    def merged_count(self) -> int | None:
        """The number of merged pull requests; None if it is not recorded."""
        return self.record.merged_count


class DigestPoster:
    """Poster of digests. ``begin`` is called with each posted digest and its key, perhaps more than once.

    ``get_decisions`` returns what a team said about the hits of a digest, by the numbers of pull requests.
    """

    def __init__(
        self,
        messenger: Messenger,
        records: DigestRecords,
        now: Callable[[], datetime],
        sleep: Callable[[float], None],
        begin: Callable[[DigestSpec, str], None] = lambda spec, key: None,
        get_decisions: Callable[[DigestSpec], Mapping[int, TouchDecision]] = lambda spec: {},
    ) -> None:
        self._messenger = messenger
        self._begin = begin
        self._get_decisions = get_decisions
        self._store = records.store
        self._now = now
        self._sleep = sleep

    def post_digest(self, digest: TrackedDigest, build: Callable[[], RenderedDigest]) -> PostingResult:
        """Post a digest, or finish an earlier attempt. ``build`` is called only if needed.

        Raises:
            UsageError: the day is not over; a digest of half of it would stand for the whole.
            PostingInProgress: another process works on it.
            SlackCallRefused, SlackUnavailable: it could not be posted; a later attempt continues from there.
        """
        last = digest.spec.span.days[-1]
        if last.end > self._now():
            raise UsageError(
                f"{last.date} is not over in {last.zone}: post it later, or preview it with --dry-run."
            )
        with self._store.hold_lock(digest.key):
            record = self._store.load(digest.key)
            if record.is_posted:
                return self._build_existing_result(digest, record)
            thread = self._open_thread(digest)
            thread.lead = record.lead or thread.find_lead(is_retry=bool(record.plan_json))
            # a plan that was never posted may be out of date, such as the facts of a day without a model
            plan = record.plan if thread.lead else None
            if plan is None:
                plan = PostingPlan.from_rendered(build())
                record = self._record_plan(digest.key, record, plan)
            return self._post_messages(digest, thread, record, plan)

    def _record_plan(self, key: str, record: PostedDigest, plan: PostingPlan) -> PostedDigest:
        if record.begun_at is None:
            # building takes minutes; if another process has begun meanwhile, this one has lost its lock
            record = self._store.claim(key, record, record.begin_posting(self._now()))
        return self._store.save(key, record, record.record_plan(plan))

    def _post_messages(
        self, digest: TrackedDigest, thread: DigestThread, record: PostedDigest, plan: PostingPlan
    ) -> PostingResult:
        shown = plan.add_decisions(self._get_decisions(digest.spec))
        lead = thread.post_lead(shown.lead)
        record = self._store.save(digest.key, record, record.record_lead(lead))
        thread.post_replies(shown.thread)
        notes = thread.attach_report(plan.attachment)
        address = self._messenger.fetch_permalink(digest.spec.channel, lead)
        self._begin(digest.spec, digest.key)
        record = self._store.save(digest.key, record, record.complete(plan, address, self._now()))
        return PostingResult(address, record, notes=notes)

    def revise_digest(self, digest: TrackedDigest, build: Callable[[], RenderedDigest]) -> PostingResult:
        """Edit a posted digest to its present content. A second call changes nothing more.

        Raises:
            PostingInProgress: another process works on it.
            SlackCallRefused, SlackUnavailable: an unknown part is edited; another call edits the rest.
        """
        key = digest.key
        with self._store.hold_lock(key):
            record = self._store.load(key)
            plan, corrections = PostingPlan.from_rendered(build()), record.corrections
            if record.fingerprint != plan.fingerprint:
                record = self._store.save(key, record, record.begin_revision())
                thread = self._open_thread(digest, record.lead)
                thread.revise_messages(plan.add_decisions(self._get_decisions(digest.spec)))
                if plan.file_fingerprint != record.file_fingerprint:
                    corrections += 1
                    thread.attach_report(plan.build_corrected_report(corrections))
            record = self._store.save(key, record, record.complete_revision(plan, corrections))
            return self._build_existing_result(digest, record)

    def add_outcomes(self, digest: TrackedDigest, outcomes: Sequence[MergeOutcome]) -> None:
        """Add outcomes and decisions to the lines of pull requests, and reply once to each outcome that stands.

        Raises:
            PostingInProgress: another process works on it.
            SlackUnavailable: an unknown part is done; another call does the rest.
        """
        key = digest.key
        with self._store.hold_lock(key):
            record = self._store.load(key)
            plan = record.posted_messages
            if plan is None:
                return
            news = record.select_new_outcomes(outcomes)
            try:
                decided = plan.add_outcomes(news).add_decisions(self._get_decisions(digest.spec))
                self._amend_messages(self._open_thread(digest, record.lead), record, decided, news)
            except SlackCallRefused as error:
                # no retry helps: messages may not be edited there any more, or are deleted
                log.warning("%s can't be amended: %s", digest.spec.title, error)
            self._store.save(key, record, record.record_amendment(news))

    def _amend_messages(
        self, thread: DigestThread, record: PostedDigest, amended: PostingPlan, news: Sequence[MergeOutcome]
    ) -> None:
        # outcomes that no longer hold must be removed too
        before, refused = None if record.amended_states else record.posted_messages, None
        try:
            thread.edit_changed(before, amended)
        except SlackCallRefused as error:
            if error.code not in _NOT_EDITABLE_CODES:
                raise
            refused = error
        ratings = record.ratings
        listed = {rated.number for rated in ratings.rated if rated.is_listed} if ratings else set()
        for outcome in news:
            if outcome.stands:
                thread.reply_once(
                    outcome.pair_key, render_outcome_reply(outcome, was_listed=outcome.pull.number in listed)
                )
        if refused:
            raise refused

    def _open_thread(self, digest: TrackedDigest, lead: str = "") -> DigestThread:
        return DigestThread(self._messenger, self._sleep, digest, lead)

    def _build_existing_result(self, digest: TrackedDigest, record: PostedDigest) -> PostingResult:
        return PostingResult(record.permalink, record, was_posted=True)
