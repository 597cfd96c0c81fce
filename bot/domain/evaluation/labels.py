"""What happened to merged pull requests, and what of it a digest of their day already showed."""

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

# R: taken back, whole or in part. H: R, or a later repair names it as the cause.
TAKEN_BACK, HARD = "R", "H"
# when the digest of a day is read on the next one, as in the data that the rules were measured on
_PUBLISHED = time(9)
# 98 % of what is taken back is so within 60 days
MATURE = timedelta(days=60)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The labels of a pull request, and since when (UTC) the first of them was known."""

    labels: frozenset[str]
    known_since: datetime | None = None


NOTHING = Outcome(frozenset())


@dataclass(frozen=True, slots=True)
class Case:
    """A pull request of a measurement: its local day and its labels.

    One that is known was taken back or repaired before the digest of its day was read: nobody needs to foresee it.
    """

    day: dt.date
    labels: frozenset[str]
    is_known: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """The dates (UTC, both included) whose merges are measured, by local days of ``zone``."""

    since: dt.date
    until: dt.date
    zone: ZoneInfo

    @property
    def start(self) -> datetime:
        return datetime.combine(self.since, time(), UTC)

    def __contains__(self, merged_at: datetime) -> bool:
        return self.since <= merged_at.astimezone(UTC).date() <= self.until


def outcomes_of(
    pulls: Iterable[PullRequest], reverts: Iterable[Revert], repairs: Iterable[Repair]
) -> dict[int, Outcome]:
    """What happened to each pull request to which something did, by number."""
    merged = {pull.number: pull.merge_time for pull in pulls}
    found: dict[int, list[tuple[datetime, str]]] = defaultdict(list)
    for revert in reverts:
        found[revert.number].append((merged[revert.by], TAKEN_BACK))
    for repair in repairs:
        found[repair.number].append((merged[repair.by], HARD))
    return {
        number: Outcome(frozenset({HARD} | {label for _, label in seen}), min(at for at, _ in seen))
        for number, seen in found.items()
    }


def cases_of(pulls: Sequence[PullRequest], outcomes: Mapping[int, Outcome], zone: ZoneInfo) -> tuple[Case, ...]:
    """The cases of merged pull requests, in their order."""
    return tuple(_case(pull, outcomes.get(pull.number, NOTHING), zone) for pull in pulls)


def _case(pull: PullRequest, outcome: Outcome, zone: ZoneInfo) -> Case:
    day = pull.merge_time.astimezone(zone).date()
    published = datetime.combine(day + timedelta(days=1), _PUBLISHED, zone).astimezone(UTC)
    known = outcome.known_since is not None and outcome.known_since < published
    return Case(day, outcome.labels, known)
