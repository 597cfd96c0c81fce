"""The tools that read pull requests: lists, searches, single ones, their diffs, and what was taken back."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from bot.domain.conversations.search import Where, format_match, interleave_matches, search_entries
from bot.domain.digest.models import Entry
from bot.domain.pull_requests.filters import Filters
from bot.domain.pull_requests.models import PullRequest
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from bot.services.questions.archive import DayEntries
from bot.services.questions.tools import context_text
from bot.services.questions.tools.reading_session import ReadingSession
from bot.services.questions.tools.revert_text import describe_reverts
from bot.services.questions.tools.reverted_pulls import RevertedPulls
from bot.services.questions.tools.schemas import (
    DiffArguments,
    ListArguments,
    PullArguments,
    SearchArguments,
    SelectionArguments,
    TakenBackArguments,
)
from bot.services.questions.tools.selection import find_places, is_selected, restrict_files, select_files
from bot.services.source.text_limits import join_items
from impact.history.reverts import WATCH_WINDOW

_MAX_RISKY = 8


class PullRequestTools:
    """The tools over what a session reads. Each returns a text, and raises PrdigestError."""

    def __init__(self, session: ReadingSession) -> None:
        self._session = session
        self._bounds = session.bounds
        self._provenance = session.provenance
        self._reverted = RevertedPulls(session)

    def list_pull_requests(self, arguments: ListArguments) -> str:
        """List pull requests, shortened if there are many: a missing number is worse than a missing headline."""
        days, fitting = self._select_entries(arguments)
        if any(word.strip() for word in arguments.words):
            hits = {match.number for match in search_entries(fitting, arguments.words, Where.TEXT)}
            fitting = tuple(entry for entry in fitting if entry.number in hits)
        self._provenance.add_days(days.span.title)
        doubt = context_text.format_doubt(days, _count_unchecked(days, arguments))
        head = [context_text.format_head(days), f"{len(fitting)} of them fit{doubt}:"]
        listing = context_text.format_entries(
            head, fitting, self._bounds.result, (context_text.format_line, context_text.format_short_line)
        )
        return self._session.note_cut(listing, "pull requests of the list")

    def search_lines(self, arguments: SearchArguments) -> str:
        """Search diffs or texts, and count the pull requests and lines that match."""
        days, fitting = self._select_entries(arguments)
        matches = tuple(
            search_entries(restrict_files(fitting, arguments.paths), arguments.any_of, arguments.where)
        )
        self._provenance.add_search(days.span.title)
        for entry in fitting:
            self._note_unsearched(entry.pull, arguments.where)
        counts = Counter(match.number for match in matches)
        unread = 0 if arguments.where is Where.TEXT else sum(entry.pull.files is None for entry in days.entries)
        doubt = context_text.format_doubt(days, max(unread, _count_unchecked(days, arguments)))
        matching = (
            join_items([f"#{number} ({count})" for number, count in counts.items()], self._bounds.result // 3)
            or "none"
        )
        fit = format_count(len(counts), "pull request")
        lines = [
            context_text.format_head(days),
            f"{fit} of {len(fitting)} searched match{doubt}: {matching}",
            *map(format_match, matches),
        ]
        if sum(map(len, lines)) > self._bounds.result:
            lines[2:] = map(format_match, interleave_matches(matches))
        return self._session.limit_lines(lines, "search for fewer words or days", "matching lines")

    def describe_pull_request(self, arguments: PullArguments) -> str:
        """Describe a pull request with everything but its diff."""
        entry = self._session.get_entry(self._session.parse_repository(arguments.repository), arguments.number)
        self._provenance.add_summary(entry.number)
        lines = context_text.format_pull_request(entry).split("\n")
        return self._session.limit_lines(lines, "read its diff", "lines about it")

    def read_diff(self, arguments: DiffArguments) -> str:
        """Read the diff of a pull request, or the places of it that contain a text."""
        pull = self._session.get_entry(self._session.parse_repository(arguments.repository), arguments.number).pull
        files = select_files(pull, arguments.paths)
        if pull.files is None:
            self._provenance.add_diff(pull, files, ())
            return f"#{pull.number}: its files could not be loaded, so there is no diff to read."
        total = format_count(pull.changed_files, "file")
        head = f"#{pull.number} {collapse_lines(pull.title)}: {len(files)} of {total}"
        if arguments.contains.strip():
            self._provenance.add_diff(pull, files, ())
            lines = [head, *find_places(files, arguments.contains)]
            return self._session.limit_lines(lines, "name a path", f"places in #{pull.number}", self._bounds.diff)
        count = len(files) if arguments.paths else pull.changed_files
        packed = context_text.fit_diff(
            replace(pull, files=files, changed_files=count),
            self._bounds.diff,
            self._session.get_path_classes(pull.repository),
        )
        self._provenance.add_diff(pull, files, packed.left_out)
        clipped = (
            "" if packed.coverage is Coverage.FULL else "\n[cut: not the whole diff; name paths to see the rest]"
        )
        return f"{head}\n{packed.text or '[no text diff]'}{clipped}"

    def list_reverts(self, arguments: TakenBackArguments) -> str:
        """List what was taken back, and the pull requests with the highest ratings."""
        days = self._session.read_named_days(arguments.repository, arguments.days)
        last = min(self._session.today.date, days.span.last + WATCH_WINDOW)
        later = self._session.list_merges(days.repository, replace(days.span, last=max(last, days.span.last)))
        watched = later.pulls
        for caveat in later.caveats:
            self._provenance.add_gap(f"perhaps some of what was merged after {days.span.title} ({caveat})")
        self._provenance.add_days(f"reverts and repairs of {days.span.title} until {last:%-d %B %Y}")
        lines = [
            context_text.format_head(days),
            *describe_reverts(watched, {entry.number for entry in days.entries}, self._reverted.find_reverted),
        ]
        risky = sorted((entry for entry in days.entries if entry.risk.is_listed), key=lambda e: -e.risk.points)
        lines += ["Rated riskiest by rules:" if risky else "No pull request is rated risky."]
        lines += [
            f"#{entry.number} {entry.pull.title}: {context_text.describe_risk(entry)}"
            for entry in risky[:_MAX_RISKY]
        ]
        return self._session.limit_lines(lines, "ask for fewer days", "what was taken back")

    def _select_entries(self, arguments: SelectionArguments) -> tuple[DayEntries, tuple[Entry, ...]]:
        """Return the days, and those of their pull requests that match. Raises UsageError."""
        filters = Filters(paths=arguments.paths, authors=arguments.authors, labels=arguments.labels)
        days = self._session.read_named_days(arguments.repository, arguments.days)
        if arguments.paths or arguments.areas or arguments.least_risk:
            # those without files cannot be distinguished from those that do not match
            self._provenance.add_unloaded(entry.pull for entry in days.entries)
        fitting = (
            entry for entry in days.entries if filters.is_match(entry.pull) and is_selected(entry, arguments)
        )
        return days, tuple(fitting)

    def _note_unsearched(self, pull: PullRequest, where: Where) -> None:
        if where is not Where.TEXT:
            self._provenance.add_unloaded([pull])
        for file in pull.files or ():
            if where is not Where.TEXT and file.patch is None and file.changed_lines:
                self._provenance.add_gap(
                    f"{truncate_text(file.path, 80)} of #{pull.number} (GitHub sends no diff)"
                )
            elif where is not Where.TEXT and file.unread:
                self._provenance.add_gap(
                    f"parts of {truncate_text(file.path, 80)} of #{pull.number} (its diff is cut)"
                )


def _count_unchecked(days: DayEntries, arguments: SelectionArguments) -> int:
    """Return how many pull requests can't be judged by a filter that needs their files."""
    if not (arguments.paths or arguments.areas or arguments.least_risk):
        return 0
    return sum(entry.pull.files is None for entry in days.entries)
