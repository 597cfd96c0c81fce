"""How good the bot's own lists were: of what they named, how much was taken back, beside chance and beside size.

The list of a digest is held against all that the digest showed. A pull request counts once, in the first digest
that showed it, and only if it was open then: what was taken back before is detected, not predicted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from itertools import groupby
from math import fsum

from bot.domain.history.outcomes import Fate, TakenBack
from bot.domain.track_record.posted_ratings import Issue, Rated
from bot.domain.track_record.statistics import Draw, at_least, at_most, interval, spread

# 95 % of the reverts of vLLM's merges of 2025 came within it
MATURE = timedelta(days=30)
# below these a share says nothing: even none of 20 listed leaves up to 16 % possible, none of 5 found up to 43 %
LEAST_LISTED, LEAST_TAKEN_BACK = 20, 5
# a list is called no better only once chance should have given some hits, so that a quiet month is no verdict
LEAST_BY_CHANCE = 3.0
# how often a list that is no better than chance may be called better, and one of doubled odds no better
_WRONGLY_BETTER, _WRONGLY_NOT = 0.05, 0.1
# about what ten rules reach on vLLM's merges of October to December 2025: 2.9 % of the listed were later reverted
# or repaired by one that names them, of all 1.3 %
USEFUL_ODDS = 2
_WEIGHTIEST = (Fate.REVERTED, Fate.PARTLY, Fate.REPAIRED)


class Verdict(Enum):
    """What the counts allow to say."""

    TOO_FEW = "too few to tell"
    BETTER = "better than chance"
    NOT_BETTER = "not better than chance"


@dataclass(frozen=True, slots=True)
class Tally:
    """Of so many ``pulls``, so many were ``reverted``, whole or in part, and ``repaired`` others."""

    pulls: int = 0
    reverted: int = 0
    repaired: int = 0

    @property
    def taken_back(self) -> int:
        return self.reverted + self.repaired

    @property
    def interval(self) -> tuple[float, float]:
        """Of the share taken back, from 0 to 1, with 95 % confidence."""
        return interval(self.taken_back, self.pulls)


@dataclass(frozen=True, slots=True)
class Score:
    """What came of the ``listed`` pull requests of some digests, and of all ``others`` that were open in them.

    ``hits`` are the listed ones that were taken back, newest first. As many drawn at random from each digest would
    have found ``by_chance`` of them on average, those with the most lines added ``by_lines``. ``luck`` is the
    probability of so many hits or more by chance, ``shortfall`` of so few or fewer on doubled odds. ``young`` of
    the listed were merged less than 30 days ago. Left out are ``known`` pull requests, taken back before their
    digest, and ``unrated`` digests, of which no ratings were kept. ``versions`` are those of the rules.
    """

    digests: int = 0
    listed: Tally = Tally()
    others: Tally = Tally()
    hits: tuple[TakenBack, ...] = ()
    by_chance: float = 0.0
    by_lines: float = 0.0
    luck: float = 1.0
    shortfall: float = 1.0
    young: int = 0
    known: int = 0
    unrated: int = 0
    versions: tuple[str, ...] = ()

    @property
    def shown(self) -> Tally:
        """All that was open."""
        one, other = self.listed, self.others
        return Tally(one.pulls + other.pulls, one.reverted + other.reverted, one.repaired + other.repaired)

    @property
    def is_large(self) -> bool:
        """Whether enough was listed and taken back to look at shares at all."""
        return self.listed.pulls >= LEAST_LISTED and self.shown.taken_back >= LEAST_TAKEN_BACK

    @property
    def verdict(self) -> Verdict:
        """Between the two errors that are guarded against lies what only more time can tell."""
        if self.is_large and self.luck <= _WRONGLY_BETTER:
            return Verdict.BETTER
        if self.is_large and self.by_chance >= LEAST_BY_CHANCE and self.shortfall <= _WRONGLY_NOT:
            return Verdict.NOT_BETTER
        return Verdict.TOO_FEW

    @property
    def is_sparing(self) -> bool:
        """Whether digests had better list less: these lists found no more than chance does."""
        return self.verdict is Verdict.NOT_BETTER


def score_of(issues: Sequence[Issue], outcomes: Iterable[TakenBack], now: datetime, *, unrated: int = 0) -> Score:
    """Hold the digests of one repository against what became of their pull requests up to ``now`` (aware).

    What was brought back counts as never taken back. The order of either does not matter.
    """
    slots, known = _slots_of(issues, _by_number(outcomes))
    draws = [slot.draw for slot in slots]
    hits = [hit for slot in slots for hit in slot.came_of(is_listed=True) if hit]
    return Score(
        digests=len(slots),
        listed=_tally(end for slot in slots for end in slot.came_of(is_listed=True)),
        others=_tally(end for slot in slots for end in slot.came_of(is_listed=False)),
        hits=tuple(sorted(hits, key=lambda hit: (hit.pull.merge_time, hit.pull.number), reverse=True)),
        by_chance=fsum(draw.expected for draw in draws),
        by_lines=fsum(slot.by_lines for slot in slots),
        luck=at_least(spread(draws), len(hits)),
        shortfall=at_most(spread(draws, USEFUL_ODDS), len(hits)),
        young=sum(each.is_listed and now - each.merged_at < MATURE for slot in slots for each in slot.rated),
        known=known,
        unrated=unrated,
        versions=tuple(sorted({issue.ratings.version for issue in issues})),
    )


@dataclass(frozen=True, slots=True)
class _Slot:
    """What a digest was the first to show and was open then, and what came of it, by number."""

    rated: tuple[Rated, ...]
    ends: Mapping[int, TakenBack]

    def came_of(self, *, is_listed: bool) -> list[TakenBack | None]:
        """What came of each of those that were listed, or were not."""
        return [self.ends.get(each.number) for each in self.rated if each.is_listed is is_listed]

    @property
    def draw(self) -> Draw:
        return Draw(sum(each.is_listed for each in self.rated), len(self.ends), len(self.rated))

    @property
    def by_lines(self) -> float:
        """The hits of as many with the most lines added; those that tie for the last places share them evenly."""
        found, left = 0.0, self.draw.drawn
        ranked = sorted(self.rated, key=lambda each: -each.lines)
        for _, same in groupby(ranked, key=lambda each: each.lines):
            tied = list(same)
            taken = min(left, len(tied))
            found += taken * sum(each.number in self.ends for each in tied) / len(tied)
            left -= taken
        return found


def _by_number(outcomes: Iterable[TakenBack]) -> dict[int, list[TakenBack]]:
    """The weightiest end that stands of each first; ends of a kind by their times."""
    found: dict[int, list[TakenBack]] = {}
    standing = (end for end in outcomes if end.stands)
    ordered = sorted(standing, key=lambda end: (_WEIGHTIEST.index(end.fate), end.by.merge_time, end.by.number))
    for end in ordered:
        found.setdefault(end.pull.number, []).append(end)
    return found


def _slots_of(issues: Iterable[Issue], ends: Mapping[int, Sequence[TakenBack]]) -> tuple[tuple[_Slot, ...], int]:
    """What each digest was the first to show and was open then, and how many were not open any more."""
    slots: list[_Slot] = []
    seen: set[int] = set()
    known = 0
    # by the time of posting; digests of one instant by their keys, so that the same is counted each time
    for issue in sorted(issues, key=lambda issue: (issue.at, issue.key)):
        first = {each.number: each for each in issue.ratings.rated if each.number not in seen}
        seen |= first.keys()
        still = tuple(each for each in first.values() if _is_open(each, issue, ends))
        known += len(first) - len(still)
        if still:
            slots.append(_Slot(still, _came_of(still, ends)))
    return tuple(slots), known


def _is_open(rated: Rated, issue: Issue, ends: Mapping[int, Sequence[TakenBack]]) -> bool:
    """Whether neither the digest knew that it was taken back, at least in part, nor could have known."""
    is_told = rated.number in issue.ratings.known
    return not is_told and all(end.by.merge_time > issue.at for end in ends.get(rated.number, ()))


def _came_of(rated: Iterable[Rated], ends: Mapping[int, Sequence[TakenBack]]) -> dict[int, TakenBack]:
    """The weightiest end of each that had one within 30 days of its merge."""
    timely = ((each, [end for end in ends.get(each.number, ()) if end.lasted <= MATURE]) for each in rated)
    return {each.number: found[0] for each, found in timely if found}


def _tally(ends: Iterable[TakenBack | None]) -> Tally:
    """Of pull requests by what came of them."""
    fates = [end and end.fate for end in ends]
    repaired = fates.count(Fate.REPAIRED)
    return Tally(len(fates), len(fates) - fates.count(None) - repaired, repaired)
