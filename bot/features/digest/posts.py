"""The messages of a digest in its channel: posted once, however often that is requested or an attempt breaks off.

Slack is the proof. Every message has the digest's key in its metadata. An attempt without a timestamp searches the
channel for the key before it posts. The rendered messages are recorded before the first post, so that a second
attempt finishes the same text. A digest with gaps is revised, and one whose merges were reverted since is amended:
both are edits, nothing is posted again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import TypeAdapter

from bot.app import App
from bot.dates import LocalDay, Span, parse_exact_span
from bot.errors import DayUnavailable, SlackCallRefused, SlackUnavailable, UsageError
from bot.features.digest.rules import DigestSpec
from bot.features.digest.view import RenderedDigest
from bot.features.merges.outcomes import MergeOutcome, RevertIndex
from bot.features.merges.requests import DigestRequest, DigestView, SubjectKind
from bot.features.merges.timeline import LOOK_AHEAD
from bot.features.merges.view import format_outcome, format_undone, render_outcome
from bot.features.noise.rules import UseKind
from bot.features.risks.ratings import PostedRatings, merge_ratings
from bot.features.summaries.service import note_merges
from bot.features.touches.decisions import (
    add_decisions,
    extend_lines,
    get_last_decisions,
    record_decision,
    replace_blocks,
)
from bot.features.touches.lines import HitKey, HitVote, TouchDecision, name_verdict, name_verdict_row
from bot.features.touches.service import show_vote
from bot.features.watches.service import has_watches, tell_watchers
from bot.platform.jobs import MINUTE, JobRetries, QueueName, job
from bot.platform.pulls.models import remove_duplicates
from bot.platform.slack.blocks import (
    CLOCK_SKEW,
    Attachment,
    Element,
    Post,
    escape_mrkdwn,
    make_block,
    make_link,
    make_section,
    make_text,
)
from bot.platform.slack.notices import render_notice
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.codecs import RecordCodec, VersionedJson, load_or_none
from bot.platform.store.due_queue import CHECK_INTERVAL, OutcomeCheck
from bot.platform.store.keys import LAST_OUTCOME_CHECK, parse_digest_key
from bot.platform.store.records import RecordStore
from bot.platform.store.tables import Index
from impact.history.outcomes import find_outcomes
from impact.repository import Repository
from impact.text.strings import parse_date

# --- what is kept

_RATINGS = TypeAdapter(PostedRatings)
PLANS = VersionedJson(RenderedDigest, 1)
_SPEC = TypeAdapter(DigestSpec)
# a record holds the texts of its digest too, some tens of kilobytes
_BATCH_SIZE = 50

# of a repository in lower case, since GitHub ignores the case of names
POSTED_DIGESTS = Index("issued:{repository}", "keys of digests, by the end of their last day")


@dataclass(frozen=True, slots=True)
class PostedDigest:
    """The record of a digest in one channel. Fields that end in ``_json`` are parsed on access: most never are.

    A field is written by itself, so those who write different ones do not disturb each other. Times are aware.

    Of posting: the messages are planned (``plan_json``, ``begun_at``), then the first one stands (``lead``, its
    timestamp, and ``text``, its short form), then all of it (``posted_at``). ``gaps`` are parts that are missing
    and may be available later. ``posted_json`` are the messages that were posted, kept as long as they may be
    amended. ``outcome_states`` are the states of the outcomes that the digest mentioned when it was posted,
    ``amended_states`` of those that were added since.

    Of the schedule: ``payer`` pays for repairs, the bot if it is empty. ``skipped_days`` are the days before it
    that were never posted. ``tokens`` and ``microdollars`` (millionths of a US dollar) are what all attempts and
    repairs took. ``spec_json`` is written when all consequences of the post are recorded.
    """

    begun_at: datetime | None = None
    plan_json: str = ""
    lead: str = ""
    posted_at: datetime | None = None
    permalink: str = ""
    text: str = ""
    merged_count: int | None = None
    gaps: tuple[str, ...] = ()
    fingerprint: str = ""
    file_fingerprint: str = ""
    corrections: int = 0
    posted_json: str = ""
    ratings_json: str = ""
    outcome_states: tuple[str, ...] = ()
    amended_states: str = ""
    spec_json: str = ""
    payer: str = ""
    repair_attempts: int = 0
    attempts: int = 0
    retry_at: datetime | None = None
    error: str = ""
    must_be_fixed_by_person: bool = False
    is_abandoned: bool = False
    skipped_days: str = ""
    tokens: int = 0
    microdollars: int = 0

    @property
    def is_posted(self) -> bool:
        return self.posted_at is not None

    @property
    def plan(self) -> RenderedDigest | None:
        """The plan of an attempt that is not finished. Raises StoreUnavailable for one of a later version."""
        return PLANS.load_text(self.plan_json) if self.plan_json else None

    @property
    def posted_messages(self) -> RenderedDigest | None:
        """The messages as they were posted. Raises StoreUnavailable for those of a later version."""
        return PLANS.load_text(self.posted_json) if self.posted_json else None

    @property
    def ratings(self) -> PostedRatings | None:
        """The ratings of its pull requests; None if they can't be parsed."""
        return load_or_none(_RATINGS, self.ratings_json or None)

    @property
    def spec(self) -> DigestSpec | None:
        """The digest that it is of; None until it is posted."""
        return load_or_none(_SPEC, self.spec_json or None)

    def parse_skipped_days(self, zone: ZoneInfo) -> Span | None:
        return parse_exact_span(self.skipped_days, zone) if self.skipped_days else None

    def keep_spec(self, spec: DigestSpec) -> PostedDigest:
        return replace(self, spec_json=_SPEC.dump_json(spec).decode())

    def keep_messages(self, plan: RenderedDigest) -> PostedDigest:
        """Return the record with what was posted: without the report and the ratings, which are not amended."""
        return replace(
            self,
            text=plan.lead.text,
            merged_count=plan.merged,
            gaps=plan.gaps,
            fingerprint=plan.fingerprint,
            file_fingerprint=compute_file_fingerprint(plan),
            posted_json=PLANS.dump_text(replace(plan, attachment=None, ratings=None)),
            outcome_states=plan.outcome_states,
            amended_states="",
        )

    def select_new_outcomes(self, outcomes: Iterable[MergeOutcome]) -> list[MergeOutcome]:
        """Return the outcomes within two weeks that the posted digest does not have, or has in another state."""
        ratings = self.ratings
        if ratings is None:
            return []
        shown = {rated.number for rated in ratings.rated}
        return [
            outcome
            for outcome in outcomes
            if (outcome.pull.number in shown or outcome.pair_key in self.outcome_states)
            and outcome.state_key not in self.outcome_states
            and outcome.lifetime <= LOOK_AHEAD
        ]


RECORDS = RecordCodec(PostedDigest, version=1)


def compute_file_fingerprint(plan: RenderedDigest) -> str:
    """Return a hash that is equal for reports of equal text; empty without a report."""
    return sha256(plan.attachment.text.encode()).hexdigest()[:16] if plan.attachment else ""


def dump_ratings(ratings: PostedRatings | None) -> str:
    return _RATINGS.dump_json(ratings).decode() if ratings else ""


def build_state_key(outcomes: Iterable[MergeOutcome]) -> str:
    """Return a key that is equal for equal outcomes; empty for none."""
    return " ".join(sorted(outcome.state_key for outcome in outcomes))


@dataclass(frozen=True, slots=True)
class TrackedDigest:
    """A digest, the key of its record, and the record as it was when it was loaded."""

    spec: DigestSpec
    key: str
    record: PostedDigest


class DigestRecords:
    """The records of digests in a ``store``. ``team`` returns the id of the bot's workspace.

    Every method may raise StoreUnavailable, the first two what ``team`` raises.
    """

    def __init__(self, store: RecordStore[PostedDigest], team: Callable[[], str]) -> None:
        self.store = store
        self._team = team

    def find_digest(self, spec: DigestSpec) -> TrackedDigest:
        return self.find_digests([spec])[0]

    def find_digests(self, specs: Sequence[DigestSpec]) -> Sequence[TrackedDigest]:
        team = self._team()
        keys = [spec.build_key(team) for spec in specs]
        return list(map(TrackedDigest, specs, keys, self.store.load_each(keys)))

    def load_digest(self, key: str) -> TrackedDigest | None:
        """Return the digest of a key; None if its record does not say that it was posted."""
        record = self.store.load(key)
        spec = record.spec
        return TrackedDigest(spec, key, record) if spec else None

    def iterate_records(self, keys: Sequence[str]) -> Iterator[tuple[str, PostedDigest]]:
        """Load the records in batches: those of a month of a hundred channels take hundreds of megabytes."""
        for at in range(0, len(keys), _BATCH_SIZE):
            some = keys[at : at + _BATCH_SIZE]
            yield from zip(some, self.store.load_each(some), strict=True)


# --- posting

log = logging.getLogger(__name__)

_MAX_ATTEMPTS = 3  # at a call of which nobody knows whether it had an effect
# of a workspace that does not allow edits, or only for a while; replies in the thread are still possible
_NOT_EDITABLE_CODES = ("edit_window_closed", "cant_update_message")
# a digest considers the merges of the day after its own; one that is posted later may lack later ones
_LATE_AFTER = timedelta(days=2)


@dataclass(frozen=True, slots=True)
class PostingResult:
    """The record of a posted digest, whether it was posted before, and notes on what failed."""

    record: PostedDigest
    was_posted: bool = False
    notes: tuple[str, ...] = ()


def post_digest(app: App, digest: TrackedDigest, build: Callable[[], RenderedDigest]) -> PostingResult:
    """Post a digest, or finish an earlier attempt. ``build`` is called only if needed.

    Raises UsageError: the day is not over; a digest of half of it would stand for the whole; PostingInProgress:
    another process works on it; SlackCallRefused, SlackUnavailable: it could not be posted; a later attempt
    continues from there.
    """
    spec, key, store, last = digest.spec, digest.key, app.digest_records.store, digest.spec.span.days[-1]
    if last.end > app.now():
        raise UsageError(f"{last.date} is not over in {last.zone}: post it later, or preview it with --dry-run.")
    with store.hold_lock(key):
        record = store.load(key)
        if record.is_posted:
            return PostingResult(record, was_posted=True)
        thread = _Thread(app, digest, record.lead)
        if not record.lead:
            thread.lead = thread.find_lead(is_retry=bool(record.plan_json))
        # a plan that was never posted may be out of date, such as the facts of a day without a model
        plan = record.plan if thread.lead else None
        if plan is None:
            plan = build()
            if record.begun_at is None:
                # building takes minutes; if another process has begun meanwhile, this one has lost its lock
                record = store.claim(key, record, replace(record, begun_at=app.now()))
            record = store.save(key, record, replace(record, plan_json=PLANS.dump_text(plan)))
        shown = _add_decisions(app, spec, plan)
        thread.post_lead(shown.lead)
        record = store.save(key, record, replace(record, lead=thread.lead, text=plan.lead.text))
        # App Home tells of it from here on: the thread takes a second for each of its messages
        address = app.messenger.fetch_permalink(spec.channel, thread.lead)
        record = store.save(key, record, replace(record, permalink=address))
        thread.post_replies(shown.thread)
        notes = thread.attach_report(plan.attachment)
        _plan_checks(app, spec, key)
        posted = replace(
            record.keep_messages(plan),
            posted_at=app.now(),
            plan_json="",
            ratings_json=dump_ratings(plan.ratings),
        )
        return PostingResult(store.save(key, record, posted), notes=notes)


def revise_digest(app: App, digest: TrackedDigest, build: Callable[[], RenderedDigest]) -> PostingResult:
    """Edit a posted digest to its present content. A second call changes nothing more.

    Raises PostingInProgress, and SlackCallRefused or SlackUnavailable: then another call edits the rest.
    """
    key, store = digest.key, app.digest_records.store
    with store.hold_lock(key):
        record, plan = store.load(key), build()
        corrections = record.corrections
        if record.fingerprint != plan.fingerprint:
            # an interrupted revision leaves a mixture of two plans
            record = store.save(key, record, replace(record, fingerprint=""))
            thread = _Thread(app, digest, record.lead)
            thread.revise(_add_decisions(app, digest.spec, plan))
            if compute_file_fingerprint(plan) != record.file_fingerprint:
                corrections += 1
                thread.attach_report(_rename_report(plan.attachment, corrections))
        # the ratings stay as posted; only missing ones are added
        ratings_json = record.ratings_json or dump_ratings(plan.ratings)
        if plan.ratings and (earlier := record.ratings):
            ratings_json = dump_ratings(merge_ratings(earlier, plan.ratings))
        revised = replace(record.keep_messages(plan), corrections=corrections, ratings_json=ratings_json)
        return PostingResult(store.save(key, record, revised), was_posted=True)


def amend_messages(app: App, digest: TrackedDigest, outcomes: Sequence[MergeOutcome]) -> None:
    """Add outcomes and decisions to the lines of pull requests, and reply once to each outcome that stands.

    Raises PostingInProgress, and SlackUnavailable: then another call does the rest.
    """
    key, store = digest.key, app.digest_records.store
    with store.hold_lock(key):
        record = store.load(key)
        plan = record.posted_messages
        if plan is None:
            return
        news = record.select_new_outcomes(outcomes)
        try:
            thread = _Thread(app, digest, record.lead)
            amended = _mark(plan, lambda post: mark_outcomes(post, news, plan.outcome_states))
            amended = _add_decisions(app, digest.spec, amended)
            # outcomes that no longer hold must be removed too
            _amend(thread, None if record.amended_states else plan, amended, record, news)
        except SlackCallRefused as error:
            # no retry helps: messages may not be edited there any more, or are deleted
            log.warning("%s can't be amended: %s", digest.spec.title, error)
        store.save(key, record, replace(record, amended_states=build_state_key(news)))


def _amend(
    thread: _Thread,
    before: RenderedDigest | None,
    amended: RenderedDigest,
    record: PostedDigest,
    news: Sequence[MergeOutcome],
) -> None:
    refused = None
    try:
        thread.edit_changed(before, amended)
    except SlackCallRefused as error:
        if error.code not in _NOT_EDITABLE_CODES:
            raise
        refused = error
    ratings = record.ratings
    listed = {rated.number for rated in ratings.rated if rated.is_listed} if ratings else set()
    for outcome in news:
        reply_key = f"{thread.key}!{outcome.pair_key}"
        if outcome.stands and reply_key not in thread.find_replies():
            reply = render_outcome_reply(outcome, was_listed=outcome.pull.number in listed)
            thread.post_reply(reply_key, reply)
    if refused:
        raise refused


def _mark(plan: RenderedDigest, mark: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> RenderedDigest:
    """Return a digest with something added to each of its messages."""
    marked = (mark(post.build_payload()) for post in (plan.lead, *plan.thread))
    lead, *thread = (Post(each["text"], tuple(each["blocks"])) for each in marked)
    return replace(plan, lead=lead, thread=tuple(thread))


def _rename_report(file: Attachment | None, times: int) -> Attachment | None:
    """Return a corrected report under another name: files in Slack can't be edited, so the wrong one stays."""
    if file is None:
        return None
    stem, _, ending = file.name.rpartition(".")
    again = f"-{times}" if times > 1 else ""
    return replace(file, name=f"{stem}-corrected{again}.{ending}", title=f"{file.title}, corrected")


def _add_decisions(app: App, spec: DigestSpec, plan: RenderedDigest) -> RenderedDigest:
    """Return a digest with what a team said last about its hits."""
    if not spec.view.profile:
        return plan
    decisions = get_last_decisions(app, spec.view.profile, spec.repository)
    return _mark(plan, lambda post: add_decisions(post, decisions))


def _plan_checks(app: App, spec: DigestSpec, key: str) -> None:
    """Have the repository of a posted digest checked from now on. Doing so twice changes nothing."""
    now, last, name = app.now(), spec.span.days[-1], str(spec.repository)
    app.tables.add_member(POSTED_DIGESTS, key, last.end, name.lower())
    # the next check begins at this UTC date, unless it begins earlier
    first = str(last.date if now >= last.end + _LATE_AFTER else now.astimezone(UTC).date())
    current = app.cache.get(LAST_OUTCOME_CHECK.build_key(name))
    if current is None or first < current:
        app.cache.put(LAST_OUTCOME_CHECK.build_key(name), first, LAST_OUTCOME_CHECK.lifetime)
    app.due_queue.add(OutcomeCheck(spec.repository), now + CHECK_INTERVAL)


class _Thread:
    """One attempt at the messages of a digest; ``lead`` is the timestamp of the first, empty until then."""

    def __init__(self, app: App, digest: TrackedDigest, lead: str) -> None:
        spec = digest.spec
        self._messenger, self._sleep = app.messenger, app.sleep
        self._channel = spec.channel
        self.key = digest.key
        # no digest is older than its last day; our own clock is less reliable
        self._since = spec.span.days[-1].start - CLOCK_SKEW
        view = DigestView(profile=spec.view.profile)
        request = DigestRequest(spec.repository, spec.span, zone=spec.span.zone, view=view)
        self._about = SubjectKind.DIGEST.format_subject(request)
        self.lead = lead
        # the thread of a message that this attempt posted is empty; a search would need a scope, and a call
        self._is_new = False

    def find_lead(self, *, is_retry: bool) -> str:
        """Return the timestamp of the lead message, empty if there is none. Raises SlackCallRefused."""
        try:
            return self._messenger.find_posts(self._channel, self._since).get(self.key, "")
        except SlackCallRefused as error:
            # without the permission to read the channel a first attempt is still safe; a second could post twice
            if error.code != "missing_scope" or is_retry:
                raise
            return ""

    def find_replies(self) -> dict[str, str]:
        """Return the timestamps of the bot's messages in the thread by their keys."""
        return self._messenger.find_posts(self._channel, self._since, thread=self.lead)

    def post_lead(self, post: Post) -> None:
        if not self.lead:
            self._is_new = True
            self.lead = self._run_once(
                lambda: self._messenger.post_message(
                    self._channel, post.build_payload(), self.key, about=self._about
                ),
                lambda: self.find_lead(is_retry=True),
            )

    def post_replies(self, posts: tuple[Post, ...]) -> None:
        """Post the missing messages of the thread, in order."""
        posted = {} if self._is_new else self.find_replies()
        for key, post in self._assign_keys(posts).items():
            if key not in posted:
                self.post_reply(key, post)

    def post_reply(self, key: str, post: Post) -> None:
        self._run_once(
            lambda: self._messenger.post_message(self._channel, post.build_payload(), key, self.lead),
            lambda: self.find_replies().get(key, ""),
        )

    def revise(self, plan: RenderedDigest) -> None:
        """Edit every message to the plan, post missing replies, and blank superfluous ones."""
        self._edit(self.lead, plan.lead, self.key)
        posted = self.find_replies()
        for key, post in self._assign_keys(plan.thread).items():
            if ts := posted.pop(key, None):
                self._edit(ts, post, key)
            else:
                self.post_reply(key, post)
        for key, ts in posted.items():
            if key.startswith(f"{self.key}#"):
                self._edit(ts, render_notice("This text is now part of the messages above."), key)

    def edit_changed(self, before: RenderedDigest | None, after: RenderedDigest) -> None:
        """Edit the messages that differ from ``before``, all if it is None. Deleted ones are not posted again."""
        if before is None or after.lead != before.lead:
            self._edit(self.lead, after.lead, self.key)
        old = self._assign_keys(before.thread) if before else {}
        changed = {key: post for key, post in self._assign_keys(after.thread).items() if old.get(key) != post}
        posted = self.find_replies() if changed else {}
        for key, post in changed.items():
            if key in posted:
                self._edit(posted[key], post, key)

    def attach_report(self, file: Attachment | None) -> tuple[str, ...]:
        """Attach the report unless it is attached already. Return a note if the bot lacks the scope for files."""
        if file is None:
            return ()

        def find() -> str:
            return file.name if self._messenger.has_attachment(self._channel, self.lead, file.name) else ""

        def upload() -> str:
            if self._is_new or not find():
                self._messenger.attach_file(self._channel, self.lead, file)
            return file.name

        try:
            self._run_once(upload, find)
        except SlackCallRefused as error:
            if error.code != "missing_scope":
                raise
            return (f"The report was not attached. {error}",)
        return ()

    def _edit(self, ts: str, post: Post, key: str) -> None:
        about = self._about if key == self.key else ""
        self._messenger.edit_message(self._channel, ts, post.build_payload(), key, about)

    def _assign_keys(self, posts: tuple[Post, ...]) -> dict[str, Post]:
        return {f"{self.key}#{place}": post for place, post in enumerate(posts, 1)}

    def _run_once(self, act: Callable[[], str], find: Callable[[], str]) -> str:
        """Call ``act``. If it is unknown whether it had an effect, look for that before the next attempt."""
        for pause in range(1, _MAX_ATTEMPTS):
            try:
                return act()
            except SlackUnavailable as error:
                if error.retry_after is not None:
                    # it had no effect, and the limit was waited for
                    raise
                log.info("not known whether Slack took it (%s), looking", error)
                self._sleep(float(pause))
            if earlier := find():
                return earlier
        return act()


def mark_outcomes(
    message: Mapping[str, Any], outcomes: Sequence[MergeOutcome], stated_marks: Collection[str] = ()
) -> dict[str, Any]:
    """Return a posted message with the outcomes of the pull requests that it lists, behind their lines.

    ``stated_marks`` are the marks of the outcomes that its lines already state; of these only what is new is
    added. A message that would become too long stays as it is.
    """
    by_address: dict[str, list[Element]] = {}
    for outcome in outcomes:
        link = make_link(outcome.by.url, f"#{outcome.by.number}")
        if outcome.pair_key in stated_marks and not outcome.stands:
            elements = [make_text(" — "), link, make_text(" was itself reverted")]
        else:
            undone = format_undone(outcome)
            elements = [make_text(" —"), make_text(f" {format_outcome(outcome)} ", bold=True), link]
            elements += [make_text(undone)] if undone else []
        by_address.setdefault(outcome.pull.url, []).extend(elements)
    blocks = extend_lines(message["blocks"], lambda first: by_address.get(first.get("url", ""), ()))
    return replace_blocks(message, blocks)


def render_outcome_reply(outcome: MergeOutcome, *, was_listed: bool) -> Post:
    """Render the reply that a thread gets once for an outcome."""
    text = f"#{outcome.pull.number} was {format_outcome(outcome)} #{outcome.by.number}"
    end = make_text(". It was listed above among the riskiest." if was_listed else ".")
    return Post(escape_mrkdwn(text), (make_block(make_section([*render_outcome(outcome), end])),))


# --- what changes in it later

WATCH_PERIOD = timedelta(days=30)  # after a merge: 95 of 100 reverts come within it
_DAY = timedelta(days=1)
# the amendments of a check follow at once; one that waited longer reads the history again. What the outcomes were
# that long ago is shown with a vote, too: the next check edits what is new
_OUTCOMES_AGE = timedelta(hours=1)
_READING = threading.Lock()


def check_repository(app: App, repository: Repository) -> None:
    """Record the merges since the last check, and have the digests amended whose outcomes have changed.

    What fails with a PrdigestError, the next check covers.
    """
    now, records = app.now(), app.digest_records
    start = now - WATCH_PERIOD
    # what is too old to be amended need not be kept, and is most of a record
    for key, record in records.iterate_records(app.list_digest_keys(repository, start - LOOK_AHEAD, start)):
        records.store.save(key, record, replace(record, posted_json=""))
    keys = app.list_digest_keys(repository, start, now)
    if not keys and not has_watches(app, repository):
        app.due_queue.drop(OutcomeCheck(repository))
        return
    _record_recent_merges(app, repository, now)
    tell_watchers(app, repository)
    outcomes = _load_outcomes(app, repository, now)
    for key, record in records.iterate_records(keys):
        if build_state_key(record.select_new_outcomes(outcomes)) != record.amended_states:
            amend_digest.send_to(app.jobs, key, now)


def _record_recent_merges(app: App, repository: Repository, now: datetime) -> None:
    """Record the merges since the last check and of the day before it, of two weeks at most."""
    name, today = LAST_OUTCOME_CHECK.build_key(repository), now.astimezone(UTC).date()
    last = app.cache.get(name)
    first = max(parse_date(last) if last else today, today - LOOK_AHEAD) - _DAY
    for days in range((today - first).days + 1):
        day = LocalDay(first + days * _DAY, ZoneInfo("UTC"))
        with suppress(DayUnavailable):
            app.merge_history.record_merges(app.day_lists.list_merged(repository, day).pulls)
    app.cache.put(name, str(today), LAST_OUTCOME_CHECK.lifetime)


@job("amend", QueueName.LONG, JobRetries(8, longest_pause=MINUTE))
def amend_digest(app: App, key: str, looked_at: datetime) -> None:
    """Add the outcomes of its pull requests to a digest, and reply once to each.

    A second run changes nothing more. ``looked_at`` is the instant (aware) of the check that requested it: only
    the first digest of that check reads the history. Raises PostingInProgress, and SlackUnavailable or
    StoreUnavailable after an unknown part is done.
    """
    digest = app.digest_records.load_digest(key)
    if digest and digest.record.posted_json:
        amend_messages(app, digest, _load_outcomes(app, digest.spec.repository, looked_at))


def _load_outcomes(app: App, repository: Repository, looked_at: datetime) -> Sequence[MergeOutcome]:
    """Return the outcomes of merges, as they were read at that instant or later, or else read them now.

    Raises StoreUnavailable: if that were taken for no outcomes, those in the digests would be removed.
    """
    now = app.now()
    with _READING:
        for name, (read_at, _) in list(app.recent_outcomes.items()):
            if now - read_at > _OUTCOMES_AGE:
                del app.recent_outcomes[name]
        recent = app.recent_outcomes.get(repository)
        if recent is None or recent[0] < looked_at:
            pulls = app.timeline.read_merges(repository, now - 2 * WATCH_PERIOD, now + _DAY)
            outcomes: list[MergeOutcome] = []
            for each in find_outcomes(RevertIndex(remove_duplicates(pulls))):
                # descriptions and files are evaluated already
                pull, by = (replace(half, body="", commit_message="", files=None) for half in (each.pull, each.by))
                outcomes.append(replace(each, pull=pull, by=by))
            recent = app.recent_outcomes[repository] = (now, tuple(outcomes))
        return recent[1]


@job("hit_votes")
def record_hit_vote(app: App, asker: SlackRequest, vote: HitVote, at: datetime, blocks_json: str = "") -> None:
    """Record what the asker said about a hit at an instant (aware), and show it in the digests and the answer.

    ``blocks_json`` are the blocks of the answer's message, empty if only the asker sees it. Another run changes
    nothing more, and does what is left.
    """
    repository = vote.reference.repository
    try:
        app.profiles.require_known(vote.profile, repository)
    except UsageError as error:
        app.replies.tell_asker(asker, str(error))
        return
    decision = TouchDecision(HitKey(vote.reference), vote.verdict, asker.user, at.astimezone(UTC))
    record_decision(app, vote.profile, decision)
    note_merges(app, asker, UseKind.MARKED, [vote.reference])
    for key in list_digests_with(app, vote.profile, repository, [vote.reference.number]):
        amend_digest.run(app, key, app.now() - _OUTCOMES_AGE)
    show_vote(app, asker, vote, blocks_json)
    noted = f"Noted: {name_verdict(vote.verdict)}. Digests and lists show it in a moment."
    app.replies.tell_asker(asker, noted)


def list_digests_with(app: App, profile: str, repository: Repository, numbers: Iterable[int]) -> Iterator[str]:
    """Yield the keys of the digests with a profile in which something may be said about some merges."""
    now, rows = app.now(), {*map(name_verdict_row, numbers)}
    keys = app.list_digest_keys(repository, now - WATCH_PERIOD, now) if rows else []
    partial = [key for key in keys if (parts := parse_digest_key(key)) and parts.view]
    for key, record in app.digest_records.iterate_records(partial):
        plan = record.posted_messages if record.spec and record.spec.view.profile == profile else None
        blocks = (block for post in (plan.lead, *plan.thread) for block in post.blocks) if plan else ()
        if rows & {str(block.get("block_id")) for block in blocks}:
            yield key
