"""What is in a digest: its pull requests in order and in groups, what stands out, and how complete it is."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from bot.dates import LocalDay, Span
from bot.features.digest.actions import changes_product, is_for_tests_only, rank_action
from bot.features.merges.others import OthersOfMerge
from bot.features.merges.outcomes import MergeOutcome, RevertIndex
from bot.features.merges.requests import FULL_VIEW, OF_PROFILES, DigestView, ViewLevel
from bot.features.merges.review import (
    NO_REVIEWS,
    BugFinding,
    Certainty,
    FindingAdvice,
    FindingStatus,
    ReviewCoverage,
    is_worth_listing,
    select_riskiest,
)
from bot.features.merges.risk import RULES_VERSION
from bot.features.merges.summary import Fallback, FallbackReason, describe_fallback
from bot.features.merges.view import Entry, LeadLine, LeadRule
from bot.features.noise.rules import LineFeature, Mute, is_muted, may_be_refused
from bot.features.risks.ratings import PostedRatings, RatedPullRequest
from bot.features.touches.lines import BreakingMerge, OtherNews, PendingHits, TeamLessons, select_breaking
from bot.platform.models.packing import Coverage as DiffCoverage
from bot.platform.pulls.models import PullRequest, remove_duplicates
from bot.platform.pulls.paths import (
    DEFAULT_PATH_CLASSES,
    OTHER_PRODUCT_AREA,
    PathClasses,
    build_area_sort_key,
    is_product_area,
)
from bot.platform.pulls.sources import CountCheck
from bot.platform.store.keys import DigestKeyParts
from impact.contract.models import MergeContract, cover_contracts
from impact.coverage import COMPLETE, Coverage, CoveredList, CoveredPart
from impact.history.outcomes import OutcomeKind, find_outcomes
from impact.history.reverts import Revert, RevertClaim
from impact.profile.models import ProfileMove
from impact.repository import Repository
from impact.text.strings import truncate_text
from impact.touches.models import TouchReport
from impact.touches.profile_index import DeprecationStep

MAX_LISTED_RISKS = 3
MAX_NUMBERS = 6  # of pull requests in a row in a sentence
_MAX_SINGLE_AREAS = 3
_MAX_LABEL_LENGTH = 120


@dataclass(frozen=True, slots=True)
class DigestSpec:
    """The specification of a digest: days of a repository, as one channel gets them."""

    channel: str
    repository: Repository
    span: Span
    view: DigestView = FULL_VIEW

    @property
    def title(self) -> str:
        """The name for operators: ``owner/name, Saturday 28 February 2026``."""
        return ", ".join([str(self.repository), self.span.title, *([str(self.view)] if str(self.view) else [])])

    def build_key(self, team: str) -> str:
        """Return the key in its messages and of its record: equal for equal content and no other.

        A zone counts by the UTC intervals of its dates: Berlin and Paris share a digest.
        """
        days, offsets = str(self.span), self.span.utc_offsets
        return DigestKeyParts(team, self.channel, str(self.repository), days, offsets, self.view.fingerprint).key


@dataclass(frozen=True, slots=True)
class Overview:
    """One paragraph about the day; ``fallback`` as in summaries."""

    text: str
    from_cache: bool = False
    cost: float | None = 0.0
    fallback: Fallback | None = None


class ReaderAction(NamedTuple):
    """An action that a reader may have to take, and the number of the pull request that requires it."""

    text: str
    number: int


class OpenFinding(NamedTuple):
    """A bug that the review of an entry found, which no later merge repaired, and why it stands in the lead."""

    entry: Entry
    finding: BugFinding
    rule: LeadRule


@dataclass(frozen=True, slots=True)
class Digest:
    """What was merged on one local day of one repository. Entries are sorted newest merge first.

    ``hidden`` is the number of pull requests that ``view`` leaves out. ``outcomes`` are those of the day's pull
    requests, and of earlier ones that one of the day reverted or repaired. ``missing`` is what else could not be
    read. With ``is_reduced`` the lists of the repository were no better than chance. ``shows_zone`` is
    true if readers would assume another time zone, so that headings name it. ``path_classes`` are those of the
    repository. ``review_coverage`` says how many entries were read for bugs. ``touches`` says what the merges
    mean for the profile of the view, None without one; ``contracts`` are what they change for callers, and
    ``deprecations`` the steps of what the profile uses. ``moves`` are those of the profile on the day,
    ``pending`` what waits since its pin. ``others`` is what other downstreams did about what touches, by number,
    ``other_news`` what one of them first did on the day about what waits. ``lessons`` is how the team adapted
    before to what touches, None where the thread does not show it. ``claims`` are those of the entries and
    outcomes, by number, as far as they are known. ``muted`` are the entries that its only reader has muted,
    ``less_wanted`` what people of the channel want less of.
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
    missing: Coverage = COMPLETE
    is_reduced: bool = False
    shows_zone: bool = False
    path_classes: PathClasses = DEFAULT_PATH_CLASSES
    review_coverage: ReviewCoverage = NO_REVIEWS
    touches: TouchReport | None = None
    contracts: tuple[MergeContract, ...] = ()
    deprecations: tuple[DeprecationStep, ...] = ()
    moves: tuple[ProfileMove, ...] = ()
    pending: PendingHits | None = None
    others: Mapping[int, OthersOfMerge] = field(default_factory=dict)
    other_news: tuple[OtherNews, ...] = ()
    lessons: TeamLessons | None = None
    claims: Mapping[int, RevertClaim] = field(default_factory=dict, compare=False, repr=False)
    muted: tuple[Entry, ...] = ()
    less_wanted: frozenset[LineFeature] = frozenset()

    def fold_muted(self, mutes: Collection[Mute]) -> Digest:
        """Return the digest as somebody reads it alone: what they mute is folded, with what always stays shown."""
        outcomes = [number for each in self.outcomes for number in (each.pull.number, each.by.number)]
        stays = {*outcomes, *(merge.number for merge in self.breaking)}
        if self.touches:
            stays |= {merge.number for merge in self.touches.touching.ignore_coverage()}
        muted = tuple(
            entry
            for entry in self.entries
            if entry.number not in stays
            and not entry.is_revert
            and is_muted(mutes, entry.pull, entry.area, entry.summary)
        )
        kept = tuple(entry for entry in self.entries if entry not in muted)
        return replace(self, entries=kept, muted=muted, hidden=self.hidden + len(muted)) if muted else self

    def unfold(self) -> Digest:
        """Return the digest with what was folded, as the report has it."""
        if not self.muted:
            return self
        entries = (*self.entries, *self.muted)
        entries = tuple(sorted(entries, key=lambda each: (each.pull.merge_time, each.number), reverse=True))
        return replace(self, entries=entries, muted=(), hidden=self.hidden - len(self.muted))

    def find_feature(self, entry: Entry, rule: LeadRule) -> LineFeature | None:
        """Return what a line of an entry has in common with others; None for one that nobody may refuse."""
        if not may_be_refused(rule, entry.pull, entry.summary):
            return None
        cause = ""
        if rule is LeadRule.RISKY and entry.risk.fired:
            cause = max(entry.risk.fired, key=lambda hit: hit.points).rule
        elif rule in (LeadRule.SHOULD_ACT, LeadRule.MAY_ACT):
            cause = rank_action(entry.summary.action).name
        return LineFeature.build(self.repository, rule, cause, entry.area)

    @property
    def merged_count(self) -> int:
        """The number of merged pull requests, shown or not."""
        return len(self.entries) + self.hidden

    @property
    def numbers(self) -> frozenset[int]:
        return frozenset(entry.number for entry in self.entries)

    @property
    def fallback_entries(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.summary.is_fallback)

    @property
    def unreadable_entries(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.summary.is_unread)

    @property
    def count_caveats(self) -> str:
        """What an independent count says if it differs or is missing, as a clause; empty if the counts agree."""
        return self.count.describe_caveats(self.merged_count)

    @property
    def coverage(self) -> Coverage:
        """How much was read of all that the digest rests on: whoever shows a part of it says first what was not.

        With a profile, what was not read of the changes is in the report on it, which has more to read.
        """
        files = sum(each.pull.files is None for each in self.entries)
        unseen = [
            entry.summary.fallback
            for entry in self.entries
            if entry.pull.files is not None
            and (entry.summary.is_fallback or entry.summary.coverage is DiffCoverage.NONE)
        ]
        review = self.review_coverage
        parts = Coverage.of(
            CoveredPart("merges' files", files, len(self.entries)),
            CoveredPart("diffs", len(unseen), len(self.entries), describe_fallback(unseen[0]) if unseen else ""),
            CoveredPart("merges for bugs", review.eligible - review.reviewed, review.eligible, review.stop),
        )
        changes = self.touches.touching.coverage if self.touches else cover_contracts(self.contracts)
        return self.count.cover(self.merged_count) + parts + changes + self.missing

    @property
    def gaps(self) -> tuple[str, ...]:
        """Missing parts that may be available later, as clauses. A model that is not set up is no gap."""
        gaps = [self.count_caveats] if self.count.counted is not None or self.count.unread else []
        if failed := [entry for entry in self.entries if _is_gap(entry.summary.fallback)]:
            reason = describe_fallback(failed[0].summary.fallback)
            gaps.append(f"facts alone of {format_numbers([entry.number for entry in failed])} ({reason})")
        if _is_gap(self.overview.fallback):
            gaps.append(f"no overview by the model ({describe_fallback(self.overview.fallback)})")
        return tuple(
            clause for clause in (*gaps, *(f"{gap} could not be read" for gap in self.missing.gaps)) if clause
        )

    @property
    def cost(self) -> float | None:
        """What building this digest cost in US dollars, None if a price is unknown."""
        return _add_costs([self.overview.cost, self.review_coverage.cost, *(each.cost for each in self.entries)])

    @property
    def standing_outcomes(self) -> tuple[MergeOutcome, ...]:
        """The outcomes that hold; first those of the day's own pull requests."""
        own = self.numbers
        holding = (outcome for outcome in self.outcomes if outcome.stands)
        return tuple(sorted(holding, key=lambda outcome: outcome.pull.number not in own))

    @property
    def reverted_numbers(self) -> frozenset[int]:
        """The numbers of fully reverted pull requests; a revert that was itself reverted does not count."""
        return frozenset(
            each.pull.number for each in self.outcomes if each.stands and each.kind is OutcomeKind.REVERTED
        )

    @property
    def older_reverts(self) -> tuple[PullRequest, ...]:
        """The reverts of pull requests that are not known here: they were merged long before this day."""
        paired = {outcome.by.number for outcome in self.outcomes}
        return tuple(entry.pull for entry in self.entries if entry.is_revert and entry.number not in paired)

    @property
    def reachable_entries(self) -> tuple[Entry, ...]:
        """The entries of the default branch that somebody can meet, or that have a confirmed bug."""
        return tuple(each for each in self.entries if not each.pull.other_branch and each.is_reachable)

    @property
    def riskiest_entries(self) -> tuple[Entry, ...]:
        """At most three entries above the threshold by rules and review, without those whose outcome is known.

        They are in the order of :func:`rank_reviewed`. What nothing reaches yet waits, as its actions do.
        """
        settled = self.settled_numbers
        candidates = (each for each in self.reachable_entries if each.number not in settled)
        return select_riskiest(candidates, MAX_LISTED_RISKS, is_reduced=self.is_reduced)

    @property
    def findings(self) -> tuple[OpenFinding, ...]:
        """What the AI bug review confirmed or calls very likely, the most certain and harmful first.

        What a later merge repaired is left out: it is told above.
        """
        bugs = [
            OpenFinding(entry, finding, rule)
            for entry in self.reachable_entries
            for finding in entry.close_findings(self.outcomes).findings
            if not finding.repaired_by
            and (rule := admit_finding(finding))
            and not (self.is_reduced and rule is LeadRule.LIKELY_FINDING)
        ]
        return tuple(sorted(bugs, key=_get_finding_order))

    @property
    def says_of_touches(self) -> bool:
        """Whether it says what touches: that nothing waits is in the line about all since the pin."""
        is_silent = self.view.only is ViewLevel.PENDING and self.touches and self.touches.touching.is_empty
        return self.touches is not None and not is_silent

    @property
    def settled_numbers(self) -> frozenset[int]:
        return frozenset(outcome.pull.number for outcome in self.outcomes if outcome.stands)

    @property
    def breaking(self) -> tuple[BreakingMerge, ...]:
        """The merges that code proved to break callers; what was reverted breaks nobody any more."""
        return select_breaking(self.contracts, (entry.pull for entry in self.entries), self.reverted_numbers)

    @property
    def elsewhere(self) -> tuple[PullRequest, ...]:
        """Those that went into another branch than the default one, which nothing is judged by."""
        return tuple(entry.pull for entry in self.entries if entry.pull.other_branch)

    @property
    def actions(self) -> tuple[ReaderAction, ...]:
        """The actions that concern readers: first those that break most, then of product code, then the newest.

        Those of reverted entries, and of entries that change the environment of the tests alone, are left out.
        """
        reverted, classes = self.reverted_numbers, self.path_classes
        asking = [
            entry
            for entry in self.reachable_entries
            if entry.summary.action and entry.number not in reverted and not is_for_tests_only(entry.pull, classes)
        ]
        asking.sort(
            key=lambda entry: (rank_action(entry.summary.action), not changes_product(entry.pull, classes))
        )
        return tuple(ReaderAction(entry.summary.action, entry.number) for entry in asking)

    def group_entries(self) -> tuple[tuple[str, tuple[Entry, ...]], ...]:
        """Return substantial entries by area, then the trivial ones; each entry once, newest first in a group.

        Many areas of one entry are put together: a heading for each line would not group anything.
        """
        by_area: dict[str, list[Entry]] = defaultdict(list)
        trivial: list[Entry] = []
        for entry in self.entries:
            (trivial if entry.summary.is_trivial else by_area[entry.area]).append(entry)
        alone = [area for area, entries in by_area.items() if len(entries) == 1 and is_product_area(area)]
        if len(alone) > _MAX_SINGLE_AREAS:
            together = [entry for area in (*alone, OTHER_PRODUCT_AREA) for entry in by_area.pop(area, ())]
            together.sort(key=lambda entry: (entry.pull.merge_time, entry.number), reverse=True)
            by_area[OTHER_PRODUCT_AREA] = together
        groups = []
        for area, entries in sorted(by_area.items(), key=lambda item: build_area_sort_key(item[0], len(item[1]))):
            others = sorted({entry.area for entry in entries} - {area}, key=lambda name: (name.casefold(), name))
            label = truncate_text(f"Other areas: {', '.join(others)}", _MAX_LABEL_LENGTH) if others else area
            groups.append((label, tuple(entries)))
        return (*groups, ("Trivial", tuple(trivial))) if trivial else tuple(groups)


@dataclass(frozen=True, slots=True)
class UnknownDay:
    """A day whose merges are unknown; ``reason`` says why in a few words."""

    date: dt.date
    reason: str


@dataclass(frozen=True)
class MultiDayDigest:
    """The digests of the days of a span, oldest first, at least one; ``unknown_days`` are those without one.

    ``tags`` are those that appeared in the span, ``watched`` says what its only reader watches.
    """

    span: Span
    digests: tuple[Digest, ...]
    unknown_days: tuple[UnknownDay, ...] = ()
    tags: tuple[str, ...] = ()
    watched: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.digests[0].name

    @property
    def merged_count(self) -> int:
        return sum(digest.merged_count for digest in self.digests)

    @property
    def gaps(self) -> tuple[str, ...]:
        return tuple(f"{digest.day.date}: {gap}" for digest in self.digests for gap in digest.gaps)

    @property
    def coverage(self) -> Coverage:
        reason = self.unknown_days[0].reason if self.unknown_days else ""
        days = CoveredPart("days", len(self.unknown_days), len(self.span), reason)
        return sum((digest.coverage for digest in self.digests), Coverage.of(days))

    @cached_property
    def combined(self) -> Digest:
        """All days as one digest, newest first: merges of one day may have been reverted on another."""
        newest, latest_first = self.digests[-1], self.digests[::-1]
        entries = tuple(entry for digest in latest_first for entry in digest.entries)
        # the first of each number is kept: entries have full descriptions, recorded ones only the beginning
        paired = (each for digest in self.digests for each in digest.outcomes)
        pulls = [entry.pull for digest in self.digests for entry in digest.entries]
        pulls += [pull for outcome in paired for pull in (outcome.pull, outcome.by)]
        # likewise, the claim that a day knows of its own entry is that of the whole description
        claims = {number: claim for digest in latest_first for number, claim in digest.claims.items()}
        for digest in latest_first:
            claims |= {number: digest.claims[number] for number in digest.numbers if number in digest.claims}
        reviews = [digest.review_coverage for digest in self.digests]
        return replace(
            newest,
            entries=entries,
            overview=Overview("", cost=_add_costs([digest.overview.cost for digest in self.digests])),
            # what was not read is in the coverage of the days
            count=CountCheck(self.merged_count, newest.count.source),
            outcomes=find_outcomes(RevertIndex(remove_duplicates(pulls), claims)),
            hidden=self.merged_count - len(entries),
            review_coverage=ReviewCoverage(
                eligible=sum(review.eligible for review in reviews),
                reviewed=sum(review.reviewed for review in reviews),
                stop=next((review.stop for review in reversed(reviews) if review.stop), ""),
                cost=_add_costs([review.cost for review in reviews]),
            ),
            touches=_combine_reports([digest.touches for digest in self.digests if digest.touches]),
            contracts=tuple(contract for digest in self.digests for contract in digest.contracts),
            deprecations=tuple(step for digest in self.digests for step in digest.deprecations),
            moves=tuple(move for digest in self.digests for move in digest.moves),
            pending=self.digests[-1].pending,
            others={number: others for digest in self.digests for number, others in digest.others.items()},
            other_news=tuple(news for digest in self.digests for news in digest.other_news),
            claims={},
            muted=tuple(entry for digest in latest_first for entry in digest.muted),
        )


def _combine_reports(reports: Sequence[TouchReport]) -> TouchReport | None:
    if not reports:
        return None
    touching = [merge for report in reports for merge in report.touching.ignore_coverage()]
    coverage = sum((report.touching.coverage for report in reports), COMPLETE)
    return TouchReport(
        reports[-1].profile,
        merges=sum(report.merges for report in reports),
        uses=max(report.uses for report in reports),
        touching=CoveredList(tuple(sorted(touching, key=lambda merge: merge.sort_key)), coverage),
        judges=" ".join(dict.fromkeys(report.judges for report in reports if report.merges and report.judges)),
    )


def select_entries(
    view: DigestView,
    entries: Iterable[Entry],
    reverts: Iterable[Revert],
    outcomes: Iterable[MergeOutcome] = (),
    kept: Collection[int] = (),
) -> tuple[Entry, ...]:
    """Return the entries that a view shows.

    Reverted pull requests and their reverts are always shown, and so are those ``kept``, which touch the profile
    or break callers. Of a view of one of these alone, ``entries`` are already what it shows. ``reverts`` are those
    of the day, ``outcomes`` those known of the days around it.
    """
    if view.only in (ViewLevel.ALL, *OF_PROFILES, ViewLevel.BREAKING):
        return tuple(entries)
    always = {*kept, *(number for revert in reverts for number in (revert.number, revert.by))}
    for outcome in outcomes:
        if outcome.stands and outcome.kind is not OutcomeKind.REPAIRED:
            always |= {outcome.pull.number, outcome.by.number}

    def weighs_enough(entry: Entry) -> bool:
        if view.only is ViewLevel.SUBSTANTIAL:
            return not entry.summary.is_trivial
        # a review adds and hides nothing; a pull request that could not be read may be risky
        return entry.risk.is_listed or is_worth_listing(entry) or entry.pull.files is None

    return tuple(entry for entry in entries if entry.number in always or weighs_enough(entry))


# by what readers should do: a commit that nobody should take harms most
_HARMS = (FindingAdvice.AVOID, FindingAdvice.ADAPT, FindingAdvice.WAIT, FindingAdvice.WATCH)


def admit_finding(finding: BugFinding) -> LeadRule | None:
    """Return the rule by which a finding stands in the lead by itself, whatever the points of its merge."""
    if finding.status is FindingStatus.CONFIRMED:
        return LeadRule.CONFIRMED_FINDING
    return LeadRule.LIKELY_FINDING if finding.certainty is Certainty.HIGH else None


def _get_finding_order(bug: OpenFinding) -> tuple[bool, int, int, float]:
    finding = bug.finding
    is_unsure, harm = finding.status is not FindingStatus.CONFIRMED, _HARMS.index(finding.advice)
    return is_unsure, finding.uncertainty, harm, -bug.entry.risk.points


def collect_ratings(digest: Digest, lead: Iterable[LeadLine] = ()) -> PostedRatings:
    """Return the ratings of a digest, of one day or of several, for a comparison with what comes later.

    With the rules that admitted the lines of its ``lead``.
    """
    unreviewed = replace(digest, entries=tuple(replace(entry, review=None) for entry in digest.entries))
    by_rules = {entry.number for entry in unreviewed.riskiest_entries}
    listed = {each.number for each in (*digest.riskiest_entries, *(bug.entry for bug in digest.findings))}
    rules: dict[int, dict[str, None]] = defaultdict(dict)
    for line in lead:
        rules[line.number][line.rule] = None
    rated = tuple(
        RatedPullRequest(
            entry.number,
            entry.pull.merge_time,
            round(entry.risk.points, 4),
            entry.pull.additions,
            entry.number in listed,
            tuple(rule.rule for rule in entry.risk.fired),
            is_listed_by_rules=entry.number in by_rules,
            verdict=entry.review.verdict if entry.review else None,
            lead=tuple(map(LeadRule, rules[entry.number])),
        )
        for entry in digest.unfold().entries
    )
    return PostedRatings(RULES_VERSION, rated, tuple(sorted(digest.settled_numbers & digest.numbers)))


def format_numbers(numbers: Sequence[int]) -> str:
    rest = f" and {len(numbers) - MAX_NUMBERS} more" if len(numbers) > MAX_NUMBERS else ""
    return ", ".join(f"#{number}" for number in numbers[:MAX_NUMBERS]) + rest


def _add_costs(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _is_gap(fallback: Fallback | None) -> bool:
    """Return whether the model may answer later: one that is not set up is no gap."""
    return fallback is not None and fallback.reason is not FallbackReason.NO_MODEL
