"""What was read of pull requests for one answer, and how arguments of tools name them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.thread_subject import ThreadSubject
from bot.domain.digest.models import Entry
from bot.domain.errors import PullRequestNotFound, UsageError
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.pull_requests.path_classes import PathClasses
from bot.domain.pull_requests.reference import Reference
from bot.domain.time.date_range import Span, parse_span
from bot.domain.time.day import LocalDay
from bot.services.history.merge_lists import MergeList
from bot.services.questions.archive import DayEntries, PullRequestArchive
from bot.services.questions.tools.provenance import Provenance
from bot.services.source.text_limits import MODEL_BOUNDS, BoundedText, TextBounds, limit_lines

# the files of every pull request of these days may have to be requested
MAX_DAYS = 14


class ReadingSession:
    """Reader for one answer. It reads each day and pull request once, and records it in ``provenance``."""

    def __init__(
        self,
        archive: PullRequestArchive,
        repositories: AllowedRepositories,
        today: LocalDay,
        subject: ThreadSubject,
        bounds: TextBounds = MODEL_BOUNDS,
    ) -> None:
        self._archive = archive
        self._repositories = repositories
        self._subject = subject
        self._days: dict[tuple[Repository, Span], DayEntries] = {}
        self._pulls: dict[Reference, Entry] = {}
        self._missing: set[Reference] = set()
        self._addresses: dict[Reference, str | None] = {}
        self.today = today
        self.bounds = bounds
        self.provenance = Provenance()

    # what is read

    def read_subject_days(self) -> DayEntries:
        """Return the days that the thread is about."""
        return self.read_days(self._subject.repository, self._subject.span)

    def read_days(self, repository: Repository, span: Span) -> DayEntries:
        """Return the pull requests merged in some days. Raises PrdigestError if no day is available."""
        if (repository, span) not in self._days:
            days = self._archive.read_days(repository, span)
            self._days[repository, span] = days
            self._pulls |= {Reference(repository, entry.number): entry for entry in days.entries}
            self._note_addresses(entry.pull for entry in days.entries)
            for caveat in days.caveats:
                self.provenance.add_gap(f"{span.title}: {caveat}")
        return self._days[repository, span]

    def read_named_days(self, repository: str, days: str) -> DayEntries:
        """Return the days that arguments name. Raises UsageError, and as ``read_days``."""
        return self.read_days(self.parse_repository(repository), self.parse_days(days))

    def list_merges(self, repository: Repository, span: Span) -> MergeList:
        """Return the pull requests merged in some days, without files. Raises as ``read_days``."""
        merged = self._archive.list_merges(repository, span)
        self._note_addresses(merged.pulls)
        return merged

    def get_entry(self, repository: Repository, number: int) -> Entry:
        """Return one pull request. Raises PrdigestError if it is not available."""
        reference = Reference(repository, number)
        if reference not in self._pulls:
            if reference in self._missing:
                raise reference.build_missing_error()
            self._pulls[reference] = self._read_entry(reference)
        return self._pulls[reference]

    def fetch_facts(self, repository: Repository, number: int) -> PullRequest:
        """Return one pull request, perhaps without its files. Raises PrdigestError if it is not available."""
        reference = Reference(repository, number)
        if reference in self._pulls:
            return self._pulls[reference].pull
        pull = self._archive.fetch_facts(reference)
        self._note_addresses([pull])
        return pull

    def find_commit_pulls(self, repository: Repository, commits: Sequence[str]) -> Mapping[str, PullRequest]:
        """Return the merged pull requests of commits that GitHub knows. Raises PrdigestError."""
        github = self._archive.background.github
        merges = github.find_merges(repository, commits) if github else {}
        self._note_addresses(merges.values())
        return merges

    def read_history(self, repository: Repository, since: datetime, until: datetime) -> tuple[PullRequest, ...]:
        """Return the recorded merges between two instants; empty if there is no record."""
        recorded = self._archive.background.read_history(repository, since, until)
        self._note_addresses(recorded)
        return recorded

    def note_address(self, reference: Reference, address: str) -> None:
        """Record that a pull request exists, and its address."""
        self._addresses[reference] = address

    def _read_entry(self, reference: Reference) -> Entry:
        try:
            entry = self._archive.read_pull_request(reference)
        except PullRequestNotFound:
            self._missing.add(reference)
            raise
        self._note_addresses([entry.pull])
        return entry

    def _note_addresses(self, pulls: Iterable[PullRequest]) -> None:
        """Record the addresses of existing pull requests."""
        self._addresses |= {Reference(pull.repository, pull.number): pull.url for pull in pulls}

    def find_address(self, number: int) -> str | None:
        """Return the address of a pull request of the thread's repository, None if it is not known to exist."""
        reference = Reference(self._subject.repository, number)
        if reference not in self._addresses:
            cached = self._archive.get_cached_summary(reference)
            self._addresses[reference] = cached.pull.url if cached else None
        return self._addresses[reference]

    def get_path_classes(self, repository: Repository) -> PathClasses:
        """Return the path classes of a repository."""
        return self._archive.get_path_classes(repository)

    # what arguments mean

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

    def parse_days(self, text: str) -> Span:
        """Parse days; an empty text means those of the thread. Raises UsageError."""
        return parse_span(text, self.today, MAX_DAYS) if text.strip() else self.span

    def parse_repository(self, text: str) -> Repository:
        """Parse a repository; an empty text means that of the thread. Raises UsageError, with those allowed."""
        if not text.strip():
            return self._subject.repository
        try:
            repository = Repository.parse(text, self._repositories.web)
        except UsageError as error:
            known = ", ".join(map(str, self._repositories.list_all()))
            raise UsageError(f"{str(error).rstrip('.')}; you may ask about {known}.") from error
        return self._repositories.require_known(repository)

    def parse_pull_request(self, text: str) -> Reference:
        """Parse the reference of a pull request; a bare number is one of the thread's repository.

        Raises UsageError.
        """
        number = text.strip().removeprefix("#")
        whole = f"{self._subject.repository}#{number}" if number.isdecimal() else text
        return self._repositories.parse_pull_request(whole)

    # what results have in common

    def limit_lines(self, lines: Iterable[str], advice: str, what: str, limit: int = 0) -> str:
        """Return as many lines as fit, and note how many are left out of ``what``.

        ``limit`` is in characters; without it, that of all results holds.
        """
        return self.note_cut(limit_lines(lines, limit or self.bounds.result, "line", advice), what)

    def note_cut(self, bounded: BoundedText, what: str) -> str:
        """Return a text; if lines of it were left out, record how many of ``what``."""
        if bounded.hidden_count:
            self.provenance.add_gap(f"{bounded.hidden_count} {what} (too long)")
        return bounded.text
