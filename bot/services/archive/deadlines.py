"""The days on which deprecations end, as far as an announcement or a release says them."""

from __future__ import annotations

from datetime import UTC, datetime

from bot.domain.archive.models import RemovalDeadline
from bot.domain.contract.deprecations import DeprecationNews, DeprecationState
from bot.domain.pull_requests.models import Repository
from bot.services.archive.day_reader import clean_line
from bot.services.contract.deprecations import DeprecationLedgers

_MAX_TEXT = 200
_EVER = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def list_deadlines(ledgers: DeprecationLedgers, repository: Repository) -> tuple[RemovalDeadline, ...]:
    """Return the known deadlines of a repository, the earliest first.

    A version has a day once it was cut. A deadline that only names a later version has no day, and none is made
    up for it. What was removed before its deadline has none any more.

    Raises:
        StoreUnavailable: the store does not answer.
    """
    news = (step for step, _ in ledgers.list_news(repository, *_EVER))
    deadlines = [_build_deadline(step) for step in news if step.state is DeprecationState.OVERDUE]
    return tuple(sorted(deadlines, key=lambda each: (each.date, each.subject, each.name)))


def _build_deadline(step: DeprecationNews) -> RemovalDeadline:
    entry = step.entry
    date = step.release.released_at.date() if step.release else entry.date or step.at.date()
    return RemovalDeadline(
        date,
        entry.subject.value,
        clean_line(entry.name, _MAX_TEXT),
        entry.number,
        entry.announced_at,
        clean_line(entry.when, _MAX_TEXT),
        clean_line(entry.replacement, _MAX_TEXT),
        clean_line(step.release.name, _MAX_TEXT) if step.release else "",
    )
