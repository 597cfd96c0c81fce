"""The digest of one local day of one repository: entries in order, an overview, and its completeness."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from bot.domain.digest.actions import changes_product, is_for_tests_only, rank_action
from bot.domain.digest.view import FULL_VIEW, DigestView
from bot.domain.history.pull_outcomes import MergeOutcome
from bot.domain.pull_requests.areas import OTHER_PRODUCT_AREA, build_area_sort_key, is_product_area
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.pull_requests.path_classes import DEFAULT_PATH_CLASSES, PathClasses
from bot.domain.review.models import NO_REVIEWS, BugFinding, BugReview, ReviewCoverage
from bot.domain.review.ranking import select_riskiest
from bot.domain.risk.assessment import Risk
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.summaries.fallback import Fallback, FallbackReason, describe_fallback
from bot.domain.summaries.models import SummarisedPullRequest, Summary
from bot.domain.text.strings import format_count, truncate_text
from bot.domain.time.day import LocalDay
from impact.contract.models import MergeContract
from impact.history.outcomes import OutcomeKind
from impact.history.revert_claims import RevertClaim
from impact.profile.moves import ProfileMove
from impact.touches.deprecations import DeprecationStep
from impact.touches.models import TouchReport

MAX_OVERVIEW_LENGTH = 600
MAX_LISTED_RISKS = 3
_MAX_SINGLE_AREAS = 3
_MAX_LABEL_LENGTH = 120
_MAX_NUMBERS_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Entry:
    """A pull request in a digest. ``cost`` is in US dollars for this run, None if a price is unknown.

    ``review`` is None if it was not read for bugs.
    """

    pull: PullRequest
    summary: Summary
    risk: Risk
    area: str
    from_cache: bool = False
    cost: float | None = 0.0
    review: BugReview | None = None

    @classmethod
    def from_summarised(cls, read: SummarisedPullRequest, risk: Risk, review: BugReview | None = None) -> Entry:
        """Build the entry of a pull request that was read and rated, with its review if there is one."""
        return cls(read.pull, read.summary, risk, read.area, read.from_cache, read.cost, review)

    @property
    def number(self) -> int:
        """The number of the pull request."""
        return self.pull.number

    @property
    def strongest_finding(self) -> BugFinding | None:
        """The finding that lists show, None if there is none."""
        return self.review.strongest_finding if self.review else None

    @property
    def is_revert(self) -> bool:
        """Whether the pull request says that it reverts another, by its assessment."""
        return not self.risk.may_be_listed


@dataclass(frozen=True, slots=True)
class Theme:
    """A topic that several pull requests of the day have in common."""

    title: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """One paragraph about the day, and its themes; ``fallback`` as in summaries."""

    text: str
    themes: tuple[Theme, ...] = ()
    from_cache: bool = False
    cost: float | None = 0.0
    fallback: Fallback | None = None


@dataclass(frozen=True, slots=True)
class CountCheck:
    """The number of merges by an independent source, None if it is unavailable, and the name of that source.

    ``unread`` records of GitHub's list are malformed and name no pull request or no merge time. ``note`` is a
    clause on why there is no count, if that is known.
    """

    counted: int | None
    source: str
    unread: int = 0
    note: str = ""

    def describe_caveats(self, listed: int) -> str:
        """Return the caveat for ``listed`` merges if the counts differ or there is none; otherwise empty."""
        malformed = (
            f"{format_count(self.unread, 'merge')} in GitHub's list could not be read" if self.unread else ""
        )
        return "; ".join(part for part in (self._describe_difference(listed), malformed) if part)

    def _describe_difference(self, listed: int) -> str:
        if self.counted is None:
            return self.note or f"count not checked: {self.source} gave no count"
        if self.counted == listed:
            return ""
        return f"possibly incomplete: {self.source} show {format_count(self.counted, 'merge')}, not {listed:,}"


class ReaderAction(NamedTuple):
    """An action that a reader may have to take, and the number of the pull request that requires it."""

    text: str
    number: int


@dataclass(frozen=True, slots=True)
class Digest:
    """The content of the report and of the Slack messages. Entries are sorted newest merge first.

    ``hidden`` is the number of pull requests that ``view`` leaves out. ``outcomes`` are those of the day's pull
    requests, and of earlier ones that one of the day reverted or repaired. ``missing`` are clauses on what else
    is missing. With ``is_reduced`` the lists of the repository were no better than chance. ``shows_zone`` is
    true if readers would assume another time zone, so that headings name it. ``path_classes`` are those of the
    repository. ``review_coverage`` says how many entries were read for bugs. ``touches`` says what the merges
    mean for the profile of the view, None without one; ``contracts`` are what they change for others, and
    ``deprecations`` the steps of what the profile uses. ``moves`` are those of the profile on the day. ``claims``
    are those of the entries and outcomes, by number, as far as they are known.
    """

    repository: Repository
    name: str
    day: LocalDay
    entries: tuple[Entry, ...]
    overview: Overview
    count: CountCheck
    outcomes: tuple[MergeOutcome, ...] = ()
    view: DigestView = FULL_VIEW
    hidden: int = 0
    missing: tuple[str, ...] = ()
    is_reduced: bool = False
    shows_zone: bool = False
    path_classes: PathClasses = DEFAULT_PATH_CLASSES
    review_coverage: ReviewCoverage = NO_REVIEWS
    touches: TouchReport | None = None
    contracts: tuple[MergeContract, ...] = ()
    deprecations: tuple[DeprecationStep, ...] = ()
    moves: tuple[ProfileMove, ...] = ()
    claims: Mapping[int, RevertClaim] = field(default_factory=dict, compare=False, repr=False)

    @property
    def zone_note(self) -> str:
        """The addition to a date in a heading: `` (Asia/Tokyo)``, or nothing where the zone is obvious."""
        return f" ({self.day.zone})" if self.shows_zone else ""

    @property
    def merged_count(self) -> int:
        """The number of merged pull requests, shown or not."""
        return len(self.entries) + self.hidden

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of the entries."""
        return frozenset(entry.number for entry in self.entries)

    def find_entry(self, number: int) -> Entry | None:
        """Return the entry with a number, or None."""
        return next((entry for entry in self.entries if entry.number == number), None)

    @property
    def trivial_entries(self) -> tuple[Entry, ...]:
        """The trivial entries."""
        return tuple(entry for entry in self.entries if entry.summary.is_trivial)

    @property
    def fallback_entries(self) -> tuple[Entry, ...]:
        """The entries whose summary is not the model's."""
        return tuple(entry for entry in self.entries if entry.summary.is_fallback)

    @property
    def unreadable_entries(self) -> tuple[Entry, ...]:
        """The fallbacks of pull requests that could not be read."""
        return tuple(entry for entry in self.entries if entry.summary.is_unread)

    @property
    def clipped_entries(self) -> tuple[Entry, ...]:
        """The entries of which the model did not see the whole diff."""
        return tuple(entry for entry in self.entries if entry.summary.coverage is not Coverage.FULL)

    @property
    def gaps(self) -> tuple[str, ...]:
        """Missing parts that may be available later, as sentences without a full stop.

        A model that is not set up is no gap.
        """
        failed = [entry for entry in self.entries if _is_gap(entry.summary.fallback)]
        is_checked = self.count.counted is not None or self.count.unread
        gaps = [self.count.describe_caveats(self.merged_count)] if is_checked else []
        if failed:
            numbers = ", ".join(f"#{entry.number}" for entry in failed[:_MAX_NUMBERS_SHOWN])
            rest = f" and {len(failed) - _MAX_NUMBERS_SHOWN} more" if len(failed) > _MAX_NUMBERS_SHOWN else ""
            gaps.append(f"facts alone of {numbers}{rest} ({describe_fallback(failed[0].summary.fallback)})")
        if _is_gap(self.overview.fallback):
            gaps.append(f"no overview by the model ({describe_fallback(self.overview.fallback)})")
        return tuple(clause for clause in (*gaps, *self.missing) if clause)

    @property
    def cost(self) -> float | None:
        """The cost of building this digest in US dollars, or None if a price is unknown."""
        costs = [self.overview.cost, self.review_coverage.cost, *(entry.cost for entry in self.entries)]
        amounts = [cost for cost in costs if cost is not None]
        return sum(amounts) if len(amounts) == len(costs) else None

    @property
    def reverted_numbers(self) -> frozenset[int]:
        """The numbers of fully reverted pull requests; a revert that was itself reverted does not count."""
        return frozenset(
            outcome.pull.number for outcome in self.standing_outcomes if outcome.kind is OutcomeKind.REVERTED
        )

    @property
    def standing_outcomes(self) -> tuple[MergeOutcome, ...]:
        """The outcomes that hold; first those of the day's own pull requests."""
        holding = [outcome for outcome in self.outcomes if outcome.stands]
        own = self.numbers
        return tuple(sorted(holding, key=lambda outcome: outcome.pull.number not in own))

    @property
    def riskiest_entries(self) -> tuple[Entry, ...]:
        """At most three entries above the threshold by rules and review, without those whose outcome is known."""
        settled = {outcome.pull.number for outcome in self.standing_outcomes}
        candidates = [entry for entry in self.entries if entry.number not in settled]
        return select_riskiest(candidates, MAX_LISTED_RISKS, is_reduced=self.is_reduced)

    @property
    def older_reverts(self) -> tuple[PullRequest, ...]:
        """The reverts of pull requests that are not known here: they were merged long before this day."""
        paired = {outcome.by.number for outcome in self.outcomes}
        return tuple(entry.pull for entry in self.entries if entry.is_revert and entry.number not in paired)

    @property
    def actions(self) -> tuple[ReaderAction, ...]:
        """The actions that concern readers, first those that break most; at equal rank newest first.

        Those of reverted entries, and of entries that change the environment of the tests alone, are left out.
        """
        reverted = self.reverted_numbers
        asking = [
            entry
            for entry in self.entries
            if entry.summary.action
            and entry.number not in reverted
            and not is_for_tests_only(entry.pull, self.path_classes)
        ]
        asking.sort(key=self._build_action_sort_key)
        return tuple(ReaderAction(entry.summary.action, entry.number) for entry in asking)

    def _build_action_sort_key(self, entry: Entry) -> tuple[int, bool]:
        """Return a key that orders actions: by what they break, then product code first."""
        return rank_action(entry.summary.action), not changes_product(entry.pull, self.path_classes)

    def group_entries(self) -> tuple[tuple[str, tuple[Entry, ...]], ...]:
        """Return substantial entries by area, then the trivial ones; each entry once, newest first in a group."""
        by_area: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.entries:
            if not entry.summary.is_trivial:
                by_area[entry.area].append(entry)
        joined = _merge_single_areas(by_area)
        ordered = sorted(joined.items(), key=lambda item: build_area_sort_key(item[0], len(item[1])))
        names = {OTHER_PRODUCT_AREA: _name_merged_areas(joined.get(OTHER_PRODUCT_AREA, ()))}
        last = (("Trivial", self.trivial_entries),) if self.trivial_entries else ()
        return (*((names.get(label, label), tuple(entries)) for label, entries in ordered), *last)


def _merge_single_areas(by_area: dict[str, list[Entry]]) -> dict[str, list[Entry]]:
    """Merge areas with one entry if there are many of them: a heading for each line would not group anything."""
    alone = [label for label, entries in by_area.items() if len(entries) == 1 and is_product_area(label)]
    if len(alone) <= _MAX_SINGLE_AREAS:
        return by_area
    together = [entry for label in (*alone, OTHER_PRODUCT_AREA) for entry in by_area.get(label, ())]
    together.sort(key=lambda entry: (entry.pull.merge_time, entry.number), reverse=True)
    return {label: entries for label, entries in by_area.items() if label not in alone} | {
        OTHER_PRODUCT_AREA: together
    }


def _name_merged_areas(entries: Iterable[Entry]) -> str:
    """Return the label of areas that were merged: their names, in order."""
    areas = sorted({entry.area for entry in entries} - {OTHER_PRODUCT_AREA}, key=str.casefold)
    return truncate_text(f"Other areas: {', '.join(areas)}", _MAX_LABEL_LENGTH) if areas else OTHER_PRODUCT_AREA


def keep_known_themes(themes: Iterable[Theme], numbers: frozenset[int]) -> tuple[Theme, ...]:
    """Return the themes without numbers that are not of the day, and without themes that become empty."""
    filtered = (
        Theme(theme.title, tuple(n for n in dict.fromkeys(theme.numbers) if n in numbers)) for theme in themes
    )
    return tuple(theme for theme in filtered if theme.numbers)


def _is_gap(fallback: Fallback | None) -> bool:
    """Return whether the model may answer later: one that is not set up is no gap."""
    return fallback is not None and fallback.reason is not FallbackReason.NO_MODEL
