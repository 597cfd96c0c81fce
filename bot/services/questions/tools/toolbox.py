"""The tools that answer the model's questions about pull requests: read-only, for allowed repositories only.

Every result is limited, says where it was truncated, and is fenced data that cannot forge its fence.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from pydantic import ValidationError

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.search import Where, format_match, interleave_matches, search_entries
from bot.domain.conversations.thread_subject import ThreadSubject
from bot.domain.digest.models import Entry
from bot.domain.errors import PrdigestError, PullRequestNotFound, StoreUnavailable
from bot.domain.history.reverts import WATCH_WINDOW
from bot.domain.pull_requests.filters import Filters
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.pull_requests.path_classes import PathClasses
from bot.domain.pull_requests.reference import Reference
from bot.domain.summaries.citations import Citation, verify_citation
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.summaries.models import Evidence
from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from bot.domain.time.date_range import Span, parse_span
from bot.domain.time.day import LocalDay
from bot.render.conversations.notices import explain_error
from bot.services.questions.archive import DayEntries, PullRequestArchive
from bot.services.questions.tools import context_text
from bot.services.questions.tools.context_text import join_items, limit_lines
from bot.services.questions.tools.provenance import Provenance
from bot.services.questions.tools.revert_text import describe_reverts
from bot.services.questions.tools.schemas import (
    DiffArguments,
    ListArguments,
    PullArguments,
    SearchArguments,
    SelectionArguments,
    TakenBackArguments,
    ToolArguments,
    build_tool_schema,
)
from bot.services.questions.tools.selection import find_places, is_selected, restrict_files, select_files
from bot.services.summaries.prompts import fence_text

log = logging.getLogger(__name__)

A = TypeVar("A", bound=ToolArguments)

# characters of a result: some 3,000 tokens; of a diff twice that
MAX_RESULT_LENGTH = 12_000
MAX_DIFF_LENGTH = 24_000
# the files of every pull request of these days may have to be requested
MAX_DAYS = 14
_MAX_RISKY = 8


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """The result of a tool for the model."""

    text: str
    is_error: bool = False


class Toolbox:
    """The tools for one answer. They remember what was read, and record it in ``provenance``."""

    def __init__(
        self,
        archive: PullRequestArchive,
        repositories: AllowedRepositories,
        today: LocalDay,
        subject: ThreadSubject,
    ) -> None:
        self._archive = archive
        self._repositories = repositories
        self._today = today
        self._subject = subject
        self._days: dict[tuple[Repository, Span], DayEntries] = {}
        self._pulls: dict[Reference, Entry] = {}
        self._missing: set[Reference] = set()
        self._addresses: dict[Reference, str | None] = {}
        self.provenance = Provenance()

    @cached_property
    def _tools(self) -> dict[str, tuple[type[ToolArguments], Callable[[Any], str]]]:
        return {
            "list_pull_requests": (ListArguments, self._list_pull_requests),
            "search": (SearchArguments, self._search_lines),
            "pull_request": (PullArguments, self._describe_pull_request),
            "read_diff": (DiffArguments, self._read_diff),
            "taken_back": (TakenBackArguments, self._list_reverts),
        }

    @property
    def definitions(self) -> tuple[Mapping[str, Any], ...]:
        """The tools as the service expects them; the same for every question, so that they stay in its cache."""
        return tuple(
            {
                "name": name,
                "description": shape.description,
                "input_schema": build_tool_schema(shape),
            }
            for name, (shape, _) in self._tools.items()
        )

    def run_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolOutput:
        """Run a tool. An invalid call returns a sentence, so that the model can correct it.

        Raises StoreUnavailable: without the store, the answer could not be saved either.
        """
        if name not in self._tools:
            return ToolOutput(f"There is no tool {name!r}: use {', '.join(self._tools)}.", is_error=True)
        shape, tool = self._tools[name]
        try:
            text = tool(shape.model_validate(arguments))
        except ValidationError as error:
            problems = (f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()[:3])
            return ToolOutput("; ".join(problems), is_error=True)
        except StoreUnavailable:
            raise
        except PrdigestError as error:
            log.info("a tool could not answer: %s", error)
            return ToolOutput(explain_error(error), is_error=True)
        except Exception:
            log.exception("a defect in the tool %s", name)
            return ToolOutput("This tool failed: answer without it, and say so.", is_error=True)
        return ToolOutput(fence_text("data", text))

    # access to what was read, for other code

    def read_subject_days(self) -> DayEntries:
        """Return the days that the thread is about."""
        return self._read_days(self._subject.repository, self._subject.span)

    def get_entry(self, repository: Repository, number: int) -> Entry:
        """Return one pull request. Raises PrdigestError if it is not available."""
        reference = Reference(repository, number)
        if reference not in self._pulls:
            if reference in self._missing:
                raise PullRequestNotFound(f"{repository} has no pull request #{number}.")
            self._pulls[reference] = self._read_entry(reference)
        return self._pulls[reference]

    def get_path_classes(self, repository: Repository) -> PathClasses:
        """Return the path classes of a repository."""
        return self._archive.get_path_classes(repository)

    def _read_entry(self, reference: Reference) -> Entry:
        try:
            entry = self._archive.read_pull_request(reference)
        except PullRequestNotFound:
            self._missing.add(reference)
            raise
        self._note_addresses([entry.pull])
        return entry

    def find_address(self, number: int) -> str | None:
        """Return the address of a pull request of the thread's repository, None if it is not known to exist."""
        reference = Reference(self._subject.repository, number)
        if reference not in self._addresses:
            cached = self._archive.get_cached_summary(reference)
            self._addresses[reference] = cached.pull.url if cached else None
        return self._addresses[reference]

    def find_evidence(self, citation: Citation) -> tuple[PullRequest, Evidence] | None:
        """Return the place of a valid citation, None for an invalid one."""
        try:
            reference = self._repositories.parse_pull_request(self._complete_reference(citation.pull))
            pull = self.get_entry(reference.repository, reference.number).pull
        except PrdigestError:
            return None
        evidence = verify_citation(citation, pull)
        return (pull, evidence) if evidence else None

    # the tools

    def _list_pull_requests(self, arguments: ListArguments) -> str:
        """List pull requests, shortened if there are many: a missing number is worse than a missing headline."""
        days, fitting = self._select_entries(arguments)
        if any(word.strip() for word in arguments.words):
            hits = {match.number for match in search_entries(fitting, arguments.words, Where.TEXT)}
            fitting = tuple(entry for entry in fitting if entry.number in hits)
        self.provenance.add_days(days.span.title)
        head = [context_text.format_head(days), f"{len(fitting)} of them fit:"]
        listing = context_text.format_entries(
            head, fitting, MAX_RESULT_LENGTH, (context_text.format_line, context_text.format_short_line)
        )
        return self._note_cut(listing, "pull requests of the list")

    def _search_lines(self, arguments: SearchArguments) -> str:
        days, fitting = self._select_entries(arguments)
        matches = tuple(
            search_entries(restrict_files(fitting, arguments.paths), arguments.any_of, arguments.where)
        )
        self.provenance.add_search(days.span.title)
        for entry in fitting:
            self._note_unsearched(entry.pull, arguments.where)
        counts = Counter(match.number for match in matches)
        matching = (
            join_items([f"#{number} ({count})" for number, count in counts.items()], MAX_RESULT_LENGTH // 3)
            or "none"
        )
        fit = format_count(len(counts), "pull request")
        lines = [
            context_text.format_head(days),
            f"{fit} of {len(fitting)} searched match: {matching}",
            *map(format_match, matches),
        ]
        if sum(map(len, lines)) > MAX_RESULT_LENGTH:
            lines[2:] = map(format_match, interleave_matches(matches))
        return self._limit_lines(lines, "search for fewer words or days", "matching lines")

    def _describe_pull_request(self, arguments: PullArguments) -> str:
        entry = self.get_entry(self._parse_repository(arguments.repository), arguments.number)
        self.provenance.add_summary(entry.number)
        lines = context_text.format_pull_request(entry).split("\n")
        return self._limit_lines(lines, "read its diff", "lines about it")

    def _read_diff(self, arguments: DiffArguments) -> str:
        pull = self.get_entry(self._parse_repository(arguments.repository), arguments.number).pull
        files = select_files(pull, arguments.paths)
        if pull.files is None:
            self.provenance.add_diff(pull, files, ())
            return f"#{pull.number}: its files could not be loaded, so there is no diff to read."
        total = format_count(pull.changed_files, "file")
        head = f"#{pull.number} {collapse_lines(pull.title)}: {len(files)} of {total}"
        if arguments.contains.strip():
            self.provenance.add_diff(pull, files, ())
            lines = [head, *find_places(files, arguments.contains)]
            return self._limit_lines(lines, "name a path", f"places in #{pull.number}", MAX_DIFF_LENGTH)
        count = len(files) if arguments.paths else pull.changed_files
        packed = context_text.fit_diff(
            replace(pull, files=files, changed_files=count),
            MAX_DIFF_LENGTH,
            self.get_path_classes(pull.repository),
        )
        self.provenance.add_diff(pull, files, packed.left_out)
        clipped = (
            "" if packed.coverage is Coverage.FULL else "\n[cut: not the whole diff; name paths to see the rest]"
        )
        return f"{head}\n{packed.text or '[no text diff]'}{clipped}"

    def _list_reverts(self, arguments: TakenBackArguments) -> str:
        days = self._read_days(self._parse_repository(arguments.repository), self._parse_days(arguments.days))
        last = min(self._today.date, days.span.last + WATCH_WINDOW)
        later = self._archive.list_merges(days.repository, replace(days.span, last=max(last, days.span.last)))
        watched = later.pulls
        self._note_addresses(watched)
        for caveat in later.caveats:
            self.provenance.add_gap(f"perhaps some of what was merged after {days.span.title} ({caveat})")
        self.provenance.add_days(f"what was taken back of {days.span.title} until {last:%-d %B %Y}")
        lines = [
            context_text.format_head(days),
            *describe_reverts(watched, {entry.number for entry in days.entries}),
        ]
        risky = sorted((entry for entry in days.entries if entry.risk.is_listed), key=lambda e: -e.risk.points)
        lines += ["Rated riskiest by rules:" if risky else "No pull request is rated risky."]
        lines += [
            f"#{entry.number} {entry.pull.title}: {context_text.describe_risk(entry)}"
            for entry in risky[:_MAX_RISKY]
        ]
        return self._limit_lines(lines, "ask for fewer days", "what was taken back")

    # how the tools read

    def _select_entries(self, arguments: SelectionArguments) -> tuple[DayEntries, tuple[Entry, ...]]:
        """Return the days, and those of their pull requests that match. Raises UsageError."""
        filters = Filters(paths=arguments.paths, authors=arguments.authors, labels=arguments.labels)
        days = self._read_days(self._parse_repository(arguments.repository), self._parse_days(arguments.days))
        if arguments.paths or arguments.areas or arguments.least_risk:
            # those without files cannot be distinguished from those that do not match
            self.provenance.add_unloaded(entry.pull for entry in days.entries)
        fitting = (
            entry for entry in days.entries if filters.is_match(entry.pull) and is_selected(entry, arguments)
        )
        return days, tuple(fitting)

    def _read_days(self, repository: Repository, span: Span) -> DayEntries:
        if (repository, span) not in self._days:
            days = self._archive.read_days(repository, span)
            self._days[repository, span] = days
            self._pulls |= {Reference(repository, entry.number): entry for entry in days.entries}
            self._note_addresses(entry.pull for entry in days.entries)
            for caveat in days.caveats:
                self.provenance.add_gap(f"{span.title}: {caveat}")
        return self._days[repository, span]

    def _note_addresses(self, pulls: Iterable[PullRequest]) -> None:
        """Record the addresses of existing pull requests."""
        self._addresses |= {Reference(pull.repository, pull.number): pull.url for pull in pulls}

    def _parse_repository(self, text: str) -> Repository:
        return self._repositories.parse_repository(text) if text.strip() else self._subject.repository

    @property
    def span(self) -> Span:
        """The days that apply if none are named: for single pull requests, the day of the first merge."""
        subject_span = self._subject.span
        merged = [
            self._pulls[reference].pull.merge_time
            for number in self._subject.numbers
            if (reference := Reference(self._subject.repository, number)) in self._pulls
            and self._pulls[reference].pull.is_merged
        ]
        if not merged:
            return subject_span
        date = LocalDay(subject_span.first, subject_span.zone).to_local_time(merged[0]).date()
        return replace(subject_span, first=date, last=date)

    def _parse_days(self, text: str) -> Span:
        return parse_span(text, self._today, MAX_DAYS) if text.strip() else self.span

    def _complete_reference(self, text: str) -> str:
        """Complete a bare number with the thread's repository."""
        number = text.strip().removeprefix("#")
        return f"{self._subject.repository}#{number}" if number.isdecimal() else text

    def _note_unsearched(self, pull: PullRequest, where: Where) -> None:
        if where is not Where.TEXT:
            self.provenance.add_unloaded([pull])
        for file in pull.files or ():
            if where is not Where.TEXT and file.patch is None and file.changed_lines:
                self.provenance.add_gap(f"{truncate_text(file.path, 80)} of #{pull.number} (GitHub sends no diff)")
            elif where is not Where.TEXT and file.unread:
                self.provenance.add_gap(
                    f"parts of {truncate_text(file.path, 80)} of #{pull.number} (its diff is cut)"
                )

    def _limit_lines(self, lines: Iterable[str], advice: str, what: str, limit: int = MAX_RESULT_LENGTH) -> str:
        """Return as many lines as fit into ``limit`` characters, and note how many are left out of ``what``."""
        return self._note_cut(limit_lines(lines, limit, "line", advice), what)

    def _note_cut(self, bounded: context_text.BoundedText, what: str) -> str:
        if bounded.hidden_count:
            self.provenance.add_gap(f"{bounded.hidden_count} {what} (too long)")
        return bounded.text
