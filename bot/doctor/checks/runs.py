"""Checks of the last runs: how digests ended, and which are overdue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.domain.keyspace.digest_keys import parse_digest_key
from bot.domain.operations.finding import CheckStatus, Finding
from bot.domain.operations.run import Run, RunOutcome
from bot.domain.subscriptions.due_items import NextDigest
from bot.domain.subscriptions.models import Subscription
from bot.domain.text.strings import format_count
from bot.domain.time.date_range import parse_exact_span
from bot.ports.probes import StoreRecords

SCHEDULE, RUNS = "Schedule", "Runs"
_MAX_SHOWN = 5
# the length of the whole log
_LOG_LENGTH = 400
# twice the time after which people are notified
_OVERDUE_AFTER = timedelta(minutes=30)
_RETRY_ADVICE = "Fix the problem: the bot tries again every 15 minutes"
_OVERDUE_ADVICE = "Check the clock, the worker and the runs above: the bot posts it as soon as it can."


@dataclass(frozen=True, slots=True)
class _DigestKey:
    """The parts of a digest's key: ``days`` is a date or ``first..last``, an empty ``view`` shows everything."""

    channel: str
    repository: str
    days: str
    view: str
    offsets: str

    @classmethod
    def parse(cls, key: str) -> _DigestKey | None:
        """Parse the key of a digest. Return None if it is the key of something else."""
        parts = parse_digest_key(key)
        return cls(parts.channel, parts.repository, parts.days, parts.view, parts.offsets) if parts else None

    def is_in_zone(self, zone: ZoneInfo) -> bool:
        """Return whether the days are those of a zone: people may request the days of other zones."""
        return self.offsets == parse_exact_span(self.days, zone).utc_offsets

    @property
    def series(self) -> tuple[str, str, str]:
        """What all digests of a subscription have in common."""
        return self.channel, self.repository, self.view

    def __str__(self) -> str:
        return f"{self.repository} of {self.days} for {self.channel}"


def check_runs(
    records: StoreRecords | str, subscriptions: Sequence[Subscription], zone: ZoneInfo, now: datetime
) -> Iterator[Finding]:
    """Check the last runs, the last failure of each subscription, and what is overdue or comes next."""
    if isinstance(records, str):
        yield from (Finding.build_unchecked(name, records) for name in (RUNS, SCHEDULE))
        return
    yield from _check_recent_runs(records.run_log.list_recent(_LOG_LENGTH), subscriptions, zone)
    yield from _check_schedule(records, subscriptions, zone, now)


def _check_recent_runs(
    runs: Sequence[Run], subscriptions: Sequence[Subscription], zone: ZoneInfo
) -> Iterator[Finding]:
    """Yield the last runs and, of older ones, the failures that still count."""
    if not runs:
        yield Finding.build_note(RUNS, "none yet: no digest was due")
    zones = {
        (each.channel, str(each.repository), each.view.fingerprint): each.timing.zone
        for each in subscriptions
        if not each.is_paused
    }
    seen: set[tuple[str, str, str]] = set()
    for number, run in enumerate(runs):
        digest = _DigestKey.parse(run.key)
        own = _find_zone(digest, zones) if digest and digest.series not in seen else None
        seen |= {digest.series} if digest and own else set()
        finding = _check_run(run, digest, zone, own)
        if number < _MAX_SHOWN or finding.status is CheckStatus.FAILED:
            yield finding


def _find_zone(digest: _DigestKey, zones: Mapping[tuple[str, str, str], ZoneInfo]) -> ZoneInfo | None:
    """Return the zone of the subscription that a digest belongs to; None if it belongs to none."""
    own = zones.get(digest.series)
    return own if own and digest.is_in_zone(own) else None


def _check_run(run: Run, digest: _DigestKey | None, zone: ZoneInfo, own: ZoneInfo | None) -> Finding:
    """Return the finding about a run.

    ``own`` is the zone of the subscription if this is its last run: only then does a failure still count.
    """
    name = f"Run of {run.at.astimezone(zone):%Y-%m-%d %H:%M %Z}"
    summary = f"{digest or run.key}: {run.outcome}{', ' if run.detail else ''}{run.detail}"
    if run.outcome in (RunOutcome.POSTED, RunOutcome.MENDED):
        return Finding.build_success(name, summary)
    if run.outcome is RunOutcome.FAILED and digest and own:
        return Finding.build_failure(name, summary, _advise_on_failure(digest, own))
    return Finding.build_note(name, summary)


def _advise_on_failure(digest: _DigestKey, zone: ZoneInfo) -> str:
    """Return what to do about a digest that failed."""
    if digest.view or ".." in digest.days:
        return f"{_RETRY_ADVICE}."
    where = f"--repo {digest.repository} --date {digest.days} --timezone {zone} --channel {digest.channel}"
    return f"{_RETRY_ADVICE}, or at once with `prdigest digest {where}`."


def _check_schedule(
    records: StoreRecords, subscriptions: Sequence[Subscription], zone: ZoneInfo, now: datetime
) -> Iterator[Finding]:
    """Yield the overdue digests or, if there are none, the next one."""
    active = {each.id: each for each in subscriptions if not each.is_paused}
    overdue = [
        (active[item.subscription], due)
        for item, due in records.due_queue.list_due(now - _OVERDUE_AFTER)
        if isinstance(item, NextDigest) and item.subscription in active
    ]
    for subscription, due in overdue:
        was_due = f"{due.astimezone(zone):%Y-%m-%d %H:%M %Z}"
        problem = f"the digest of {subscription.repository} for {subscription.channel} was due at {was_due}"
        yield Finding.build_failure(SCHEDULE, problem, _OVERDUE_ADVICE)
    if not overdue:
        yield _report_next_digest(records, active, len(subscriptions) - len(active), zone)


def _report_next_digest(
    records: StoreRecords, active: Mapping[str, Subscription], paused: int, zone: ZoneInfo
) -> Finding:
    """Return the finding about the next digest that is due."""
    if not active:
        return Finding.build_note(SCHEDULE, "nothing: PRDIGEST_CHANNEL is not set, and there are no subscriptions")
    planned = [
        (due, each) for name, each in active.items() if (due := records.due_queue.get_time(NextDigest(name)))
    ]
    if not planned:
        return Finding.build_note(SCHEDULE, "nothing is planned yet: the clock plans digests when it runs")
    due, first = min(planned, key=lambda each: each[0])
    when = f"{due.astimezone(zone):%Y-%m-%d %H:%M %Z}"
    count = format_count(len(active), "subscription") + (f" and {paused} paused" if paused else "")
    return Finding.build_success(
        SCHEDULE, f"{count}, the next is {first.repository} for {first.channel} at {when}"
    )
