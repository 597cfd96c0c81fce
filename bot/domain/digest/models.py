"""The digest of one local day of one repository: entries in order, an overview, and how complete it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from bot.domain.digest.view import WHOLE, Only, View
from bot.domain.history.outcomes import Fate, TakenBack
from bot.domain.history.reverts import Revert, is_revert
from bot.domain.pull_requests.areas import ELSEWHERE, area_order, is_product_area
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.risk.assessment import Risk, worth_a_look
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.summaries.models import NO_MODEL, Summary
from bot.domain.text.strings import plural
from bot.domain.time.day import LocalDay

OVERVIEW_LIMIT = 600
MOST_RISKS = 3
_MOST_ALONE = 3
_MOST_NAMED = 6


@dataclass(frozen=True, slots=True)
class Entry:
    """A pull request in a digest. ``cost`` is US dollars of this run, None where the price is unknown."""

    pull: PullRequest
    summary: Summary
    risk: Risk
    area: str
    from_cache: bool = False
    cost: float | None = 0.0

    @property
    def number(self) -> int:
        return self.pull.number


@dataclass(frozen=True, slots=True)
class Theme:
    """What several pull requests of the day have in common."""

    title: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """One paragraph about the day and its themes; ``fallback`` as for summaries."""

    text: str
    themes: tuple[Theme, ...] = ()
    from_cache: bool = False
    cost: float | None = 0.0
    fallback: str = ""


@dataclass(frozen=True, slots=True)
class CountCheck:
    """How many merges an independent source counts, None if it gave no count, and which source that is.

    ``unread`` records of GitHub's list say of no pull request, or of no time, that it was merged. ``note`` is a
    clause on why there is no count, where that is known.
    """

    counted: int | None
    source: str
    unread: int = 0
    note: str = ""

    def doubt(self, listed: int) -> str:
        """What to tell a reader of ``listed`` merges if the count is another or there was none; else empty."""
        odd = f"{plural(self.unread, 'merge')} in GitHub's list could not be read" if self.unread else ""
        return "; ".join(part for part in (self._difference(listed), odd) if part)

    def _difference(self, listed: int) -> str:
        if self.counted is None:
            return self.note or f"count not checked: {self.source} gave none"
        if self.counted == listed:
            return ""
        return f"incomplete? {self.source} name {plural(self.counted, 'merge')}, not {listed:,}"


class Action(NamedTuple):
    """Something a reader may have to do, and the pull request that makes it so."""

    text: str
    number: int


@dataclass(frozen=True, slots=True)
class Digest:
    """Everything that the report and the Slack messages show. Entries are newest merge first.

    ``hidden`` pull requests of the day are left out, because ``view`` does not show them. ``outcomes`` are of the
    day's pull requests, and of earlier ones that one of the day reverted or repaired. ``missing`` are clauses on
    what else could not be had. Where it ``is_sparing``, the lists of the repository found no more than chance.
    ``names_zone`` says that readers would take the day for that of another zone, unless the heading tells them.
    """

    repository: Repository
    name: str
    day: LocalDay
    entries: tuple[Entry, ...]
    overview: Overview
    count: CountCheck
    outcomes: tuple[TakenBack, ...] = ()
    view: View = WHOLE
    hidden: int = 0
    missing: tuple[str, ...] = ()
    is_sparing: bool = False
    names_zone: bool = False

    @property
    def zone_note(self) -> str:
        """What follows a date in a heading: `` (Asia/Tokyo)``, or nothing where the zone goes without saying."""
        return f" ({self.day.zone})" if self.names_zone else ""

    @property
    def merged(self) -> int:
        """How many pull requests were merged, shown or not."""
        return len(self.entries) + self.hidden

    @property
    def numbers(self) -> frozenset[int]:
        return frozenset(entry.number for entry in self.entries)

    def entry(self, number: int) -> Entry | None:
        return next((entry for entry in self.entries if entry.number == number), None)

    @property
    def trivial(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.summary.is_trivial)

    @property
    def fallbacks(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.summary.is_fallback)

    @property
    def unread(self) -> tuple[Entry, ...]:
        """Those of the fallbacks that are facts because something of them could not be read."""
        return tuple(entry for entry in self.entries if entry.summary.is_unread)

    @property
    def clipped(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.summary.coverage is not Coverage.FULL)

    @property
    def gaps(self) -> tuple[str, ...]:
        """What is missing and may be had later, as sentences without a full stop; a model never set up is none."""
        failed = [entry for entry in self.entries if entry.summary.fallback not in ("", NO_MODEL)]
        is_checked = self.count.counted is not None or self.count.unread
        found = [self.count.doubt(self.merged)] if is_checked else []
        if failed:
            named = ", ".join(f"#{entry.number}" for entry in failed[:_MOST_NAMED])
            rest = f" and {len(failed) - _MOST_NAMED} more" if len(failed) > _MOST_NAMED else ""
            found.append(f"facts alone of {named}{rest} ({failed[0].summary.fallback})")
        if self.overview.fallback not in ("", NO_MODEL):
            found.append(f"no overview by the model ({self.overview.fallback})")
        return tuple(gap for gap in (*found, *self.missing) if gap)

    @property
    def cost(self) -> float | None:
        """US dollars that building this digest took, or None where a price is unknown."""
        costs = [self.overview.cost, *(entry.cost for entry in self.entries)]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    @property
    def unpriced(self) -> Digest:
        """The same as if nothing of it had been kept and nothing had cost: what it tells of the day is equal."""
        entries = tuple(replace(entry, from_cache=False, cost=0.0) for entry in self.entries)
        return replace(self, entries=entries, overview=replace(self.overview, from_cache=False, cost=0.0))

    @property
    def taken_back(self) -> frozenset[int]:
        """What is no longer there, as far as known: a revert that was itself reverted takes nothing back."""
        return frozenset(found.pull.number for found in self.standing if found.fate is Fate.REVERTED)

    @property
    def standing(self) -> tuple[TakenBack, ...]:
        """The outcomes that hold; first those of the day's own pull requests."""
        held = [found for found in self.outcomes if found.stands]
        return tuple(sorted(held, key=lambda found: found.pull.number not in self.numbers))

    @property
    def riskiest(self) -> tuple[Entry, ...]:
        """At most three entries above the threshold, riskiest first; none of those whose outcome is known."""
        known = {found.pull.number for found in self.standing}
        open_still = [entry for entry in self.entries if entry.number not in known]
        return worth_a_look(open_still, MOST_RISKS, is_sparing=self.is_sparing)

    @property
    def older_reverts(self) -> tuple[PullRequest, ...]:
        """Those that take back what nobody knows here: it was merged long before this day."""
        paired = {found.by.number for found in self.outcomes}
        pulls = (entry.pull for entry in self.entries)
        return tuple(pull for pull in pulls if is_revert(pull) and pull.number not in paired)

    @property
    def actions(self) -> tuple[Action, ...]:
        gone = self.taken_back
        return tuple(
            Action(entry.summary.action, entry.number)
            for entry in self.entries
            if entry.summary.action and entry.number not in gone
        )

    def groups(self) -> tuple[tuple[str, tuple[Entry, ...]], ...]:
        """Substantial entries by area, then the trivial ones; every entry once, newest first in each."""
        by_area: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.entries:
            if not entry.summary.is_trivial:
                by_area[entry.area].append(entry)
        joined = _with_few_alone(by_area)
        ordered = sorted(joined.items(), key=lambda item: area_order(item[0], len(item[1])))
        last = (("Trivial", self.trivial),) if self.trivial else ()
        return (*((label, tuple(entries)) for label, entries in ordered), *last)


def _with_few_alone(by_area: dict[str, list[Entry]]) -> dict[str, list[Entry]]:
    """Areas of one entry are put together when there are many: a heading for each line is no grouping."""
    alone = [label for label, entries in by_area.items() if len(entries) == 1 and is_product_area(label)]
    if len(alone) <= _MOST_ALONE:
        return by_area
    together = [entry for label in (*alone, ELSEWHERE) for entry in by_area.get(label, ())]
    together.sort(key=lambda entry: (entry.pull.merge_time, entry.number), reverse=True)
    return {label: entries for label, entries in by_area.items() if label not in alone} | {ELSEWHERE: together}


def shown_by(
    view: View, entries: Iterable[Entry], reverts: Iterable[Revert], outcomes: Iterable[TakenBack] = ()
) -> tuple[Entry, ...]:
    """The entries that weigh enough for a view; what was reverted, and what did so, always does.

    ``reverts`` are those of the day, ``outcomes`` what is known of the days around it too.
    """
    paired = {number for revert in reverts for number in (revert.number, revert.by)}
    reverted = (found for found in outcomes if found.stands and found.fate is not Fate.REPAIRED)
    paired |= {number for found in reverted for number in (found.pull.number, found.by.number)}
    return tuple(entry for entry in entries if entry.number in paired or _weighs_enough(view.only, entry))


def _weighs_enough(only: Only, entry: Entry) -> bool:
    match only:
        case Only.ALL:
            return True
        case Only.SUBSTANTIAL:
            return not entry.summary.is_trivial
        case Only.RISKY:
            # what nobody could read may be risky
            return entry.risk.is_listed or entry.pull.files is None


def only_known(themes: Iterable[Theme], known: frozenset[int]) -> tuple[Theme, ...]:
    """The themes less the numbers that are not of the day, and less those that then hold none."""
    kept = (Theme(theme.title, tuple(n for n in dict.fromkeys(theme.numbers) if n in known)) for theme in themes)
    return tuple(theme for theme in kept if theme.numbers)
