"""Checks of the last runs: how digests ended, and which are overdue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.domain.keyspace.keys import parse_digest
from bot.domain.operations.finding import Finding, Status
from bot.domain.operations.run import Outcome, Run
from bot.domain.subscriptions.due_items import NextDigest
from bot.domain.subscriptions.models import Subscription
from bot.domain.text.strings import plural
from bot.domain.time.date_range import written_span
from bot.ports.probes import Records

SCHEDULE, RUNS = "Schedule", "Runs"
_SHOWN = 5
# the whole journal
_LOOKED_AT = 400
# twice the time after which the watchdog sends a notice
_LATE = timedelta(minutes=30)
_MEND = "Mend what it names: it is tried again every quarter of an hour"
_LATE_ADVICE = "See the clock, the worker and the runs above: it is posted as soon as nothing stands in its way."


@dataclass(frozen=True, slots=True)
class _Digest:
    """The parts of a digest's key: ``days`` is a date or ``first..last``, and an empty ``view`` shows everything.

    ``offsets`` are the UTC offsets of the zone, empty in keys of versions that left them out.
    """

    channel: str
    repository: str
    days: str
    view: str = ""
    offsets: str = ""

    @classmethod
    def of(cls, key: str) -> _Digest | None:
        """None if it is the key of something else."""
        found = parse_digest(key)
        return cls(found.channel, found.repository, found.days, found.view, found.offsets) if found else None

    def is_in(self, zone: ZoneInfo) -> bool:
        """Return whether the days are those of a zone: people may request the days of other zones."""
        return self.offsets in ("", written_span(self.days, zone).offsets)

    @property
    def series(self) -> tuple[str, str, str]:
        """What all digests of a subscription have in common."""
        return self.channel, self.repository, self.view

    def __str__(self) -> str:
        return f"{self.repository} of {self.days} for {self.channel}"


def run_checks(
    records: Records | str, subscriptions: Sequence[Subscription], zone: ZoneInfo, now: datetime
) -> Iterator[Finding]:
    """Check the last runs, the last failure of each subscription, and what is overdue or comes next."""
    if isinstance(records, str):
        yield from (Finding.unchecked(name, records) for name in (RUNS, SCHEDULE))
        return
    yield from _runs(records.journal.recent(_LOOKED_AT), subscriptions, zone)
    yield from _schedule(records, subscriptions, zone, now)


def _runs(runs: Sequence[Run], subscriptions: Sequence[Subscription], zone: ZoneInfo) -> Iterator[Finding]:
    """Yield the last runs and, of older ones, the failures that still count."""
    if not runs:
        yield Finding.note(RUNS, "none yet: no digest has been due")
    zones = {
        (each.channel, str(each.repository), each.view.mark): each.timing.zone
        for each in subscriptions
        if not each.is_paused
    }
    seen: set[tuple[str, str, str]] = set()
    for number, run in enumerate(runs):
        digest = _Digest.of(run.key)
        own = _zone_of(digest, zones) if digest and digest.series not in seen else None
        seen |= {digest.series} if digest and own else set()
        finding = _run(run, digest, zone, own)
        if number < _SHOWN or finding.status is Status.FAILED:
            yield finding


def _zone_of(digest: _Digest, zones: Mapping[tuple[str, str, str], ZoneInfo]) -> ZoneInfo | None:
    """Return the zone of the subscription that a digest belongs to; None if it belongs to none."""
    own = zones.get(digest.series)
    return own if own and digest.is_in(own) else None


def _run(run: Run, digest: _Digest | None, zone: ZoneInfo, own: ZoneInfo | None) -> Finding:
    """Return the finding about a run.

    ``own`` is the zone of the subscription if this is its last run: only then does a failure still count.
    """
    name = f"Run of {run.at.astimezone(zone):%Y-%m-%d %H:%M %Z}"
    summary = f"{digest or run.key}: {run.outcome}{', ' if run.detail else ''}{run.detail}"
    if run.outcome in (Outcome.POSTED, Outcome.MENDED):
        return Finding.ok(name, summary)
    if run.outcome is Outcome.FAILED and digest and own:
        return Finding.failed(name, summary, _advice(digest, own))
    return Finding.note(name, summary)


def _advice(digest: _Digest, zone: ZoneInfo) -> str:
    """Return what to do about a digest that failed."""
    if digest.view or ".." in digest.days:
        return f"{_MEND}."
    where = f"--repo {digest.repository} --date {digest.days} --timezone {zone} --channel {digest.channel}"
    return f"{_MEND}, or at once with `prdigest digest {where}`."


def _schedule(
    records: Records, subscriptions: Sequence[Subscription], zone: ZoneInfo, now: datetime
) -> Iterator[Finding]:
    active = {each.id: each for each in subscriptions if not each.is_paused}
    overdue = [
        (active[item.subscription], due)
        for item, due in records.agenda.due(now - _LATE)
        if isinstance(item, NextDigest) and item.subscription in active
    ]
    for subscription, due in overdue:
        was_due = f"{due.astimezone(zone):%Y-%m-%d %H:%M %Z}"
        problem = f"the digest of {subscription.repository} for {subscription.channel} was due at {was_due}"
        yield Finding.failed(SCHEDULE, problem, _LATE_ADVICE)
    if not overdue:
        yield _next(records, active, len(subscriptions) - len(active), zone)


def _next(records: Records, active: Mapping[str, Subscription], paused: int, zone: ZoneInfo) -> Finding:
    """Return the finding about the next digest that is due."""
    if not active:
        return Finding.note(SCHEDULE, "nothing: PRDIGEST_CHANNEL is not set and nobody has subscribed")
    planned = [(due, each) for name, each in active.items() if (due := records.agenda.at(NextDigest(name)))]
    if not planned:
        return Finding.note(SCHEDULE, "nothing is planned yet: a clock plans when it runs")
    due, first = min(planned, key=lambda each: each[0])
    when = f"{due.astimezone(zone):%Y-%m-%d %H:%M %Z}"
    count = plural(len(active), "subscription") + (f" and {paused} paused" if paused else "")
    return Finding.ok(SCHEDULE, f"{count}, the next is {first.repository} for {first.channel} at {when}")
