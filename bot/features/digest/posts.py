"""The messages of a digest in its channel: posted once, however often that is requested or an attempt breaks off.

Slack is the proof. Every message has the digest's key in its metadata. An attempt without a timestamp searches the
channel for the key before it posts. The rendered messages are recorded before the first post, so that a second
attempt finishes the same text. A digest with gaps is revised, and one whose merges were reverted since is amended:
both are edits, nothing is posted again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, timedelta
from typing import Any

from bot.app import App
from bot.errors import SlackCallRefused, SlackUnavailable, UsageError
from bot.features.digest.rules import DigestSpec
from bot.features.digest.tables import (
    PLANS,
    POSTED_DIGESTS,
    PostedDigest,
    TrackedDigest,
    build_state_key,
    compute_file_fingerprint,
    dump_ratings,
)
from bot.features.digest.view import RenderedDigest
from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.requests import DigestRequest, DigestView, SubjectKind
from bot.features.merges.view import format_outcome, format_undone, render_outcome
from bot.features.risks.ratings import merge_ratings
from bot.features.touches.decisions import add_decisions, extend_lines, get_last_decisions, replace_blocks
from bot.platform.slack.blocks import Element, escape_mrkdwn, make_block, make_link, make_section, make_text
from bot.platform.slack.messages import CLOCK_SKEW, Attachment, Post
from bot.platform.slack.notices import render_notice
from bot.platform.store.due_queue import CHECK_INTERVAL, OutcomeCheck
from bot.platform.store.keys import LAST_OUTCOME_CHECK

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
