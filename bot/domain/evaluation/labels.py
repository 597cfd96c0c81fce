"""Labels of merged pull requests by their outcomes, and which of them a digest of their day already showed."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from bot.domain.history.repairs import Repair
from bot.domain.history.reverts import Revert
from bot.domain.pull_requests.models import PullRequest

# R: reverted, fully or in part. H: R, or a later repair names it as the cause.
REVERTED_LABEL, HARM_LABEL = "R", "H"
# local time of the next day at which a digest is read, as in the data on which the rules were measured
_READING_TIME = time(9)
# 98 % of reverts are merged within 60 days
LABEL_MATURITY = timedelta(days=60)


@dataclass(frozen=True, slots=True)
class LabelledOutcome:
    """The labels of a pull request, and since when (UTC) the first of them was known."""

    labels: frozenset[str]
    known_since: datetime | None = None


NO_LABELS = LabelledOutcome(frozenset())


@dataclass(frozen=True, slots=True)
class Case:
    """A pull request of a measurement: its local day and its labels.

    A known one was reverted or repaired before the digest of its day was read: it need not be predicted.
    """

    day: dt.date
    labels: frozenset[str]
    is_known: bool = False


@dataclass(frozen=True, slots=True)
class EvaluationWindow:
    """The dates (UTC, both included) whose merges are measured, by local days of ``zone``."""

    since: dt.date
    until: dt.date
    zone: ZoneInfo

    @property
    def start(self) -> datetime:
        """The first instant of the window (UTC)."""
        return datetime.combine(self.since, time(), UTC)

    def __contains__(self, merged_at: datetime) -> bool:
        return self.since <= merged_at.astimezone(UTC).date() <= self.until


def label_outcomes(
    pulls: Iterable[PullRequest], reverts: Iterable[Revert], repairs: Iterable[Repair]
) -> dict[int, LabelledOutcome]:
    """Return the labels of each pull request that was reverted or repaired, by number."""
    merged = {pull.number: pull.merge_time for pull in pulls}
    events: dict[int, list[tuple[datetime, str]]] = defaultdict(list)
    for revert in reverts:
        events[revert.number].append((merged[revert.by], REVERTED_LABEL))
    for repair in repairs:
        events[repair.number].append((merged[repair.by], HARM_LABEL))
    return {
        number: LabelledOutcome(
            frozenset({HARM_LABEL} | {label for _, label in labelled}), min(at for at, _ in labelled)
        )
        for number, labelled in events.items()
    }


def build_cases(
    pulls: Sequence[PullRequest], outcomes: Mapping[int, LabelledOutcome], zone: ZoneInfo
) -> tuple[Case, ...]:
    """Return the cases of merged pull requests, in their order."""
    return tuple(_build_case(pull, outcomes.get(pull.number, NO_LABELS), zone) for pull in pulls)


def _build_case(pull: PullRequest, outcome: LabelledOutcome, zone: ZoneInfo) -> Case:
    day = pull.merge_time.astimezone(zone).date()
    published = datetime.combine(day + timedelta(days=1), _READING_TIME, zone).astimezone(UTC)
    is_known = outcome.known_since is not None and outcome.known_since < published
    return Case(day, outcome.labels, is_known)
