"""What comes after a digest: outcomes of its pull requests, and what people say about its hits, added to it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.app import App
from bot.dates import LocalDay
from bot.errors import DayUnavailable, UsageError
from bot.features.digest.posts import amend_messages
from bot.features.digest.tables import build_state_key
from bot.features.merges.outcomes import MergeOutcome, RevertIndex
from bot.features.merges.timeline import LOOK_AHEAD
from bot.features.touches.decisions import record_decision
from bot.features.touches.lines import HitKey, HitVote, TouchDecision, name_verdict, name_verdict_row
from bot.features.touches.service import show_vote
from bot.features.watches.service import has_watches, tell_watchers
from bot.platform.jobs import MINUTE, JobRetries, QueueName, job
from bot.platform.pulls.models import remove_duplicates
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.due_queue import OutcomeCheck
from bot.platform.store.keys import LAST_OUTCOME_CHECK, parse_digest_key
from impact.history.outcomes import find_outcomes
from impact.repository import Repository
from impact.text.strings import parse_date

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
    outcomes = _load_outcomes(app, repository, now)
    for key, record in records.iterate_records(keys):
        if build_state_key(record.select_new_outcomes(outcomes)) != record.amended_states:
            amend_digest.send_to(app.jobs, key, now)
    tell_watchers(app, repository)


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
    repository, now = vote.reference.repository, app.now()
    try:
        app.profiles.require_known(vote.profile, repository)
    except UsageError as error:
        app.replies.tell_asker(asker, str(error))
        return
    decision = TouchDecision(HitKey(vote.reference), vote.verdict, asker.user, at.astimezone(UTC))
    record_decision(app, vote.profile, decision)
    keys = app.list_digest_keys(repository, now - WATCH_PERIOD, now)
    partial = [key for key in keys if (parts := parse_digest_key(key)) and parts.view]
    for key, record in app.digest_records.iterate_records(partial):
        plan = record.posted_messages if record.spec and record.spec.view.profile == vote.profile else None
        blocks = [block for post in (plan.lead, *plan.thread) for block in post.blocks] if plan else []
        if name_verdict_row(vote.reference.number) in [block.get("block_id") for block in blocks]:
            amend_digest.run(app, key, now - _OUTCOMES_AGE)
    show_vote(app, asker, vote, blocks_json)
    noted = f"Noted: {name_verdict(vote.verdict)}. Digests and lists show it in a moment."
    app.replies.tell_asker(asker, noted)
