"""What is read of pull requests for one answer, each once, and how arguments of tools name them.

No model is asked here: a pull request without a summary has only its facts.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import TypeVar

from bot.app import App
from bot.dates import LocalDay, Span, parse_span
from bot.errors import DiscussionUnavailable, PrdigestError, PullRequestNotFound, StoreUnavailable, UsageError
from bot.features.merges.outcomes import RevertIndex
from bot.features.merges.summary import Evidence, Fallback, FallbackReason, build_fallback_summary
from bot.features.merges.timeline import MergeList
from bot.features.merges.view import Entry
from bot.features.questions.rules import Citation, ThreadSubject, has_quote, verify_citation
from bot.features.summaries.reading import load_files
from bot.features.summaries.service import get_cached_entry, get_summary
from bot.features.touches.contracts import list_merges
from bot.platform.models.packing import Coverage
from bot.platform.models.prompts import MODEL_BOUNDS, BoundedText, TextBounds, limit_lines
from bot.platform.pulls.models import PullRequest, Reference
from bot.platform.pulls.paths import determine_area
from bot.platform.pulls.sources import Discussion, Remark
from bot.platform.source.reading import Provenance, PullSource
from bot.platform.worker_threads import DeadlineExecutor
from bot.redaction import redact_patch
from impact.contract.models import name_merge
from impact.coverage import COMPLETE, CoveredList, CoveredPart, cover_defects
from impact.coverage import Coverage as ReadCoverage
from impact.errors import READING_FAILED, attempt
from impact.history.outcomes import find_outcomes
from impact.history.reverts import RevertClaim
from impact.profile.models import Profile
from impact.repository import Repository
from impact.text.strings import collapse_lines, remove_comments, truncate_text

# the files of every pull request of these days may have to be requested
MAX_DAYS = 14
# what a citation writes in front of the name of a remark, in place of a path
REMARK_SIGN = "#"
T = TypeVar("T")
_NO_SUMMARY = Fallback(FallbackReason.NOT_REQUESTED)


@dataclass(frozen=True, slots=True)
class DayEntries:
    """The pull requests merged in some days, newest first; ``unloaded`` are days of which nothing is known."""

    repository: Repository
    span: Span
    entries: tuple[Entry, ...]
    caveats: tuple[str, ...] = ()
    unloaded: tuple[dt.date, ...] = ()
    coverage: ReadCoverage = COMPLETE

    def cover(self, items: Iterable[T], unchecked: int = 0) -> CoveredList[T]:
        """Return items of these days with their coverage; ``unchecked`` ones lack the files that count."""
        reason = "their files, or parts of their diffs, are not loaded"
        files = CoveredPart("pull requests", unchecked, len(self.entries), reason)
        return CoveredList(tuple(items), self.coverage + ReadCoverage.of(files))


class ReadingSession:
    """Reader for one answer about ``subject``. What it read and could not read is in ``provenance``.

    What reads raises PrdigestError if that is not available. ``shown_remarks`` are those that a tool has shown, by
    their anchors: only these can be quoted.
    """

    def __init__(
        self, app: App, today: LocalDay, subject: ThreadSubject, bounds: TextBounds = MODEL_BOUNDS
    ) -> None:
        self.app = app
        self.today = today
        self.subject = subject
        self.bounds = bounds
        self.provenance = Provenance()
        self.shown_remarks: dict[Reference, dict[str, Remark]] = {}
        self._days: dict[tuple[Repository, Span], DayEntries] = {}
        self._pulls: dict[Reference, Entry] = {}
        self._missing: set[Reference] = set()
        self._addresses: dict[Reference, str | None] = {}
        self._sources: dict[Reference, PullSource] = {}
        self._discussions: dict[Reference, Discussion] = {}

    # --- pull requests

    def read_days(self, repository: Repository, span: Span) -> DayEntries:
        if (repository, span) not in self._days:
            merged = self.list_merges(repository, span)
            with DeadlineExecutor(self.app.settings.prdigest_concurrency, "archive") as executor:
                built = [
                    *executor.map_items(
                        lambda one: attempt(name_merge(one.number), self.build_entry, one), merged.pulls
                    )
                ]
            entries = tuple(entry for entry in built if entry)
            names = [name_merge(pull.number) for pull, entry in zip(merged.pulls, built, strict=True) if not entry]
            coverage = merged.coverage + cover_defects("pull requests", names, len(names))
            days = DayEntries(repository, span, entries, merged.caveats, merged.unavailable, coverage)
            self._days[repository, span] = days
            self._pulls |= {Reference(repository, entry.number): entry for entry in entries}
            for caveat in (*days.caveats, *(f"{name} ({READING_FAILED})" for name in names)):
                self.provenance.add_gap(f"{span.title}: {caveat}")
        return self._days[repository, span]

    def read_named_days(self, repository: str, days: str) -> DayEntries:
        return self.read_days(self.parse_repository(repository), self.parse_days(days))

    def list_merges(self, repository: Repository, span: Span) -> MergeList:
        merged = list_merges(self.app, repository, span)
        self.note_addresses(merged.pulls)
        return merged

    def get_entry(self, repository: Repository, number: int) -> Entry:
        reference = Reference(repository, number)
        if reference not in self._pulls:
            if reference in self._missing:
                raise reference.build_missing_error()
            try:
                entry = self.build_entry(self.app.day_lists.fetch_pull_request(repository, number))
            except PullRequestNotFound:
                self._missing.add(reference)
                raise
            self.note_addresses([entry.pull])
            self._pulls[reference] = entry
        return self._pulls[reference]

    def fetch_facts(self, repository: Repository, number: int) -> PullRequest:
        reference = Reference(repository, number)
        if reference in self._pulls:
            return self._pulls[reference].pull
        pull = self.app.day_lists.fetch_pull_request(repository, number)
        self.note_addresses([pull])
        return pull

    def build_entry(self, pull: PullRequest) -> Entry:
        app, loaded = self.app, load_files(self.app, pull)
        if loaded.files is not None:
            # once a patch is cut into lines, the middle of a key could not be detected
            files = (
                replace(file, patch=redact_patch(file.patch)) if file.patch else file for file in loaded.files
            )
            loaded = replace(loaded, files=tuple(files))
        cached = get_cached_entry(app, Reference(pull.repository, pull.number)) if pull.is_merged else None
        if cached:
            return replace(cached, pull=loaded)
        classes = app.paths.get_path_classes(loaded.repository)
        summary = build_fallback_summary(loaded, _NO_SUMMARY, Coverage.NONE, classes)
        return Entry(loaded, summary, app.timeline.assess_risk(loaded), determine_area(loaded, classes))

    def read_history(self, repository: Repository, since: datetime, until: datetime) -> tuple[PullRequest, ...]:
        """Return the recorded merges between two instants; empty if there is no record."""
        recorded = self.app.timeline.read_merges_or_none(repository, since, until)
        self.note_addresses(recorded)
        return recorded

    def find_address(self, number: int) -> str | None:
        """Return the address of a pull request of the thread's repository, None if it is not known to exist."""
        reference = Reference(self.subject.repository, number)
        if reference not in self._addresses:
            cached = get_summary(self.app, reference)
            self._addresses[reference] = cached.pull.url if cached else None
        return self._addresses[reference]

    def note_addresses(self, pulls: Iterable[PullRequest]) -> None:
        self._addresses |= {Reference(pull.repository, pull.number): pull.url for pull in pulls}

    # --- what stands around them

    def get_source(self, repository: str, number: int) -> PullSource:
        pull = self.get_entry(self.parse_repository(repository), number).pull
        reference = Reference(pull.repository, pull.number)
        if reference not in self._sources:
            self._sources[reference] = PullSource(pull, self.app.code, self.provenance)
        return self._sources[reference]

    def fetch_discussion(self, reference: Reference) -> Discussion:
        if reference not in self._discussions:
            if self.app.background is None:
                raise DiscussionUnavailable("Discussions can't be read here.")
            discussion = self.app.background.fetch_discussion(reference.repository, reference.number)
            self._addresses[reference] = discussion.url
            self._discussions[reference] = discussion
        return self._discussions[reference]

    @cached_property
    def profile(self) -> Profile | None:
        try:
            profile = self.app.profiles.get_profile(self.subject.profile) if self.subject.profile else None
        except PrdigestError:
            return None
        return profile if profile and profile.explains else None

    # --- what proves a statement

    def find_evidence(self, citation: Citation) -> tuple[PullRequest, Evidence] | None:
        """Return the place of a quote that is in the diff, or in lines of a file that a tool has shown."""
        try:
            reference = self.parse_pull_request(citation.pull)
            pull = self.get_entry(reference.repository, reference.number).pull
        except PrdigestError:
            return None
        source = self._sources.get(reference)
        evidence = verify_citation(citation, pull, source.excerpts if source else ())
        return (pull, evidence) if evidence else None

    def find_remark(self, citation: Citation) -> tuple[Discussion, Remark] | None:
        try:
            reference = self.parse_pull_request(citation.pull)
        except PrdigestError:
            return None
        anchor = citation.path.strip().removeprefix(REMARK_SIGN)
        remark = self.shown_remarks.get(reference, {}).get(anchor)
        return (self._discussions[reference], remark) if remark and has_quote(remark, citation.quote) else None

    # --- what arguments mean

    @property
    def span(self) -> Span:
        """The days that apply if none are named: for single pull requests, the day of the first merge."""
        subject_span, repository = self.subject.span, self.subject.repository
        entries = (self._pulls.get(Reference(repository, number)) for number in self.subject.numbers)
        first = next((entry.pull for entry in entries if entry and entry.pull.is_merged), None)
        if first is None:
            return subject_span
        date = LocalDay(subject_span.first, subject_span.zone).to_local_time(first.merge_time).date()
        return replace(subject_span, first=date, last=date)

    def parse_days(self, text: str) -> Span:
        """Parse days; an empty text means those of the thread. Raises UsageError."""
        return parse_span(text, self.today, MAX_DAYS) if text.strip() else self.span

    def parse_repository(self, text: str) -> Repository:
        """Parse a repository; an empty text means that of the thread. Raises UsageError, with those allowed."""
        if not text.strip():
            return self.subject.repository
        repositories = self.app.repositories
        try:
            repository = Repository.parse(text, repositories.web)
        except UsageError as error:
            known = ", ".join(map(str, repositories.list_all()))
            raise UsageError(f"{str(error).rstrip('.')}; you may ask about {known}.") from error
        return repositories.require_known(repository)

    def parse_pull_request(self, text: str) -> Reference:
        """Parse a reference; a bare number is one of the thread's repository. Raises UsageError."""
        number = text.strip().removeprefix("#")
        whole = f"{self.subject.repository}#{number}" if number.isdecimal() else text
        return self.app.repositories.parse_pull_request(whole)

    # --- what results have in common

    def limit_lines(self, lines: Iterable[str], advice: str, what: str, limit: int = 0) -> str:
        """Return as many lines as fit (``limit`` is in characters), and note how many are left out of ``what``."""
        return self.note_cut(limit_lines(lines, limit or self.bounds.result, "line", advice), what)

    def note_cut(self, bounded: BoundedText, what: str) -> str:
        """Return a text; if lines of it were left out, record how many of ``what``."""
        if bounded.hidden_count:
            self.provenance.add_gap(f"{bounded.hidden_count} {what} (too long)")
        return bounded.text


# --- what was reverted: by which pull request and why, also where it was merged long before

# 19 of 20 reverts come within a month of what they revert
_LOOK_BACK = timedelta(days=60)
# reverts that are looked up, and numbers of each that GitHub is asked for
_MAX_REVERTS, _MAX_NUMBERS = 5, 5
_MAX_REASON_LENGTH = 800


def describe_reverts(session: ReadingSession, watched: tuple[PullRequest, ...], numbers: set[int]) -> list[str]:
    """Return lines on the reverts of, or by, the pull requests with these numbers. Raises StoreUnavailable."""
    index = RevertIndex(watched)
    outcomes = find_outcomes(index)
    pairs = [outcome for outcome in outcomes if outcome.pull.number in numbers]
    lines = [
        f"{_name(outcome.pull)} was {outcome.kind} by #{outcome.by.number} on "
        f"{outcome.by.merge_time:%Y-%m-%d %H:%M}Z. {_quote_reason(outcome.by)}"
        for outcome in pairs
        if outcome.stands
    ]
    lines += [
        f"#{outcome.pull.number} was {outcome.kind} by #{outcome.by.number}, which was itself reverted"
        for outcome in pairs
        if not outcome.stands
    ]
    paired = {outcome.by.number for outcome in outcomes}
    older = [pull for pull in watched if pull.number in numbers - paired and index.is_revert(pull.number)]
    reverted = find_reverted(session, older, {pull.number: index.claims[pull.number] for pull in older})
    for pull in older:
        names = ", ".join(map(_name, reverted.get(pull.number, ()))) or "something whose number is not known"
        lines.append(f"#{pull.number} takes back {names}, merged before these days. {_quote_reason(pull)}")
    return lines


def _name(pull: PullRequest) -> str:
    return f"#{pull.number} ({collapse_lines(pull.title)})"


def _quote_reason(pull: PullRequest) -> str:
    body = collapse_lines(remove_comments(pull.body))
    return f"{_name(pull)} says: {truncate_text(body, _MAX_REASON_LENGTH) or 'nothing'}"


def find_reverted(
    session: ReadingSession, reverts: Sequence[PullRequest], claims: Mapping[int, RevertClaim]
) -> dict[int, list[PullRequest]]:
    """Return the merged pull requests that each of the first five reverts means, by the revert's number.

    They are found by number, else by commit with one call to GitHub, else among recorded merges. Raises
    StoreUnavailable. What else fails is recorded as a gap.
    """
    asked = reverts[:_MAX_REVERTS]
    reverted = {pull.number: _find_by_numbers(session, pull, claims[pull.number]) for pull in asked}
    if missing := [pull for pull in asked if not reverted[pull.number]]:
        reverted |= _find_by_commits(session, missing, claims)
    if missing := [pull for pull in asked if not reverted[pull.number]]:
        since = min(pull.merge_time for pull in missing) - _LOOK_BACK
        until = max(pull.merge_time for pull in missing)
        recorded = session.read_history(missing[0].repository, since, until)
        index = RevertIndex((*recorded, *missing), {pull.number: claims[pull.number] for pull in missing})
        by_number = index.by_number
        for pull in missing:
            reverted[pull.number] = [by_number[each.number] for each in index.list_reverts_by(pull.number)]
    return reverted


def _find_by_numbers(session: ReadingSession, revert: PullRequest, claim: RevertClaim) -> list[PullRequest]:
    pulls = []
    numbers = dict.fromkeys(mention.number for mention, _ in claim.exact if mention.number)
    for number in list(numbers)[:_MAX_NUMBERS]:
        try:
            pulls.append(session.fetch_facts(revert.repository, number))
        except StoreUnavailable:
            raise
        except PullRequestNotFound:
            continue
        except PrdigestError:
            session.provenance.add_gap(f"#{number} (it could not be loaded)")
    return _select_earlier(revert, pulls)


def _find_by_commits(
    session: ReadingSession, reverts: Sequence[PullRequest], claims: Mapping[int, RevertClaim]
) -> dict[int, list[PullRequest]]:
    """Return what the commits that reverts name were merged as; some may be of a revert's own branch."""
    commits = {
        pull.number: [
            mention.commit.lower()
            for mention, _ in (*claims[pull.number].exact, *claims[pull.number].possible)
            if mention.commit
        ]
        for pull in reverts
    }
    hashes = list(dict.fromkeys(commit for listed in commits.values() for commit in listed))
    if not hashes:
        return {}
    try:
        background = session.app.background
        merges = background.find_merges(reverts[0].repository, hashes) if background else {}
    except StoreUnavailable:
        raise
    except PrdigestError:
        session.provenance.add_gap("the pull requests of reverted commits (they could not be loaded)")
        return {}
    session.note_addresses(merges.values())
    return {
        pull.number: _select_earlier(pull, (merges[each] for each in commits[pull.number] if each in merges))
        for pull in reverts
    }


def _select_earlier(revert: PullRequest, pulls: Iterable[PullRequest]) -> list[PullRequest]:
    """Return those that were merged before a revert, each once: its own commits name the revert itself."""
    earlier = {pull.number: pull for pull in pulls if pull.is_merged and pull.merge_time < revert.merge_time}
    return [pull for number, pull in earlier.items() if number != revert.number]
