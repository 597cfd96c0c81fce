"""The tools that answer the model's questions about pull requests: they read, and only what the bot may speak of.

Every result is bounded, says when it was cut, and is data between marks that it can't forge.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from pydantic import ValidationError

from bot.domain.conversations.commands import Repositories
from bot.domain.conversations.search import Where, fairly, search, shown
from bot.domain.conversations.thread_subject import Subject
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
from bot.services.questions.archive import Archive, Days
from bot.services.questions.tools import context_text
from bot.services.questions.tools.context_text import bounded, enumerated
from bot.services.questions.tools.provenance import Ledger
from bot.services.questions.tools.revert_text import taken_back
from bot.services.questions.tools.schemas import (
    Arguments,
    DiffArguments,
    ListArguments,
    PullArguments,
    SearchArguments,
    Selection,
    TakenBackArguments,
    schema_of,
)
from bot.services.questions.tools.selection import chosen, fits, only, places
from bot.services.summaries.prompts import fenced

log = logging.getLogger(__name__)

A = TypeVar("A", bound=Arguments)

# characters of a result: some 3,000 tokens; of a diff twice that
MOST = 12_000
MOST_DIFF = 24_000
# the files of every pull request of the days may have to be asked for
LONGEST_DAYS = 14
_MOST_RISKY = 8


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool says to the model."""

    text: str
    is_error: bool = False


class Toolbox:
    """The tools for one answer. What was read is remembered in it, and accounted for in ``ledger``."""

    def __init__(self, archive: Archive, repositories: Repositories, today: LocalDay, subject: Subject) -> None:
        self._archive = archive
        self._repositories = repositories
        self._today = today
        self._subject = subject
        self._days: dict[tuple[Repository, Span], Days] = {}
        self._pulls: dict[Reference, Entry] = {}
        self._missing: set[Reference] = set()
        self._addresses: dict[Reference, str | None] = {}
        self.ledger = Ledger()

    @cached_property
    def _tools(self) -> dict[str, tuple[type[Arguments], Callable[[Any], str]]]:
        return {
            "list_pull_requests": (ListArguments, self._list),
            "search": (SearchArguments, self._search),
            "pull_request": (PullArguments, self._pull),
            "read_diff": (DiffArguments, self._diff),
            "taken_back": (TakenBackArguments, self._taken_back),
        }

    @property
    def definitions(self) -> tuple[Mapping[str, Any], ...]:
        """The tools as the service takes them; the same for every question, so that they stay in its cache."""
        return tuple(
            {"name": name, "description": collapse_lines(shape.__doc__ or ""), "input_schema": schema_of(shape)}
            for name, (shape, _) in self._tools.items()
        )

    def run(self, name: str, given: Mapping[str, Any]) -> Result:
        """Use a tool. What is asked wrongly is said in a sentence, so that the model can ask better.

        Raises StoreUnavailable: without the store there is no answer to keep either.
        """
        if name not in self._tools:
            return Result(f"There is no tool {name!r}: use {', '.join(self._tools)}.", is_error=True)
        shape, tool = self._tools[name]
        try:
            text = tool(shape.model_validate(given))
        except ValidationError as error:
            problems = (f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()[:3])
            return Result("; ".join(problems), is_error=True)
        except StoreUnavailable:
            raise
        except PrdigestError as error:
            log.info("a tool could not answer: %s", error)
            return Result(explain_error(error), is_error=True)
        except Exception:
            log.exception("a defect in the tool %s", name)
            return Result("This tool failed: answer without it, and say so.", is_error=True)
        return Result(fenced("data", text))

    # what code asks of what was read

    def subject_days(self) -> Days:
        """The days that the thread is about."""
        return self._read_days(self._subject.repository, self._subject.span)

    def entry(self, repository: Repository, number: int) -> Entry:
        """One pull request. Raises PrdigestError where it can't be had."""
        reference = Reference(repository, number)
        if reference not in self._pulls:
            if reference in self._missing:
                raise PullRequestNotFound(f"{repository} has no pull request #{number}.")
            self._pulls[reference] = self._found(reference)
        return self._pulls[reference]

    def classes_of(self, repository: Repository) -> PathClasses:
        """The classes of a repository's paths."""
        return self._archive.classes_of(repository)

    def _found(self, reference: Reference) -> Entry:
        try:
            found = self._archive.one(reference)
        except PullRequestNotFound:
            self._missing.add(reference)
            raise
        self._note([found.pull])
        return found

    def address(self, number: int) -> str | None:
        """Where a pull request of the thread's repository is, if it is known that there is one."""
        reference = Reference(self._subject.repository, number)
        if reference not in self._addresses:
            known = self._archive.known(reference)
            self._addresses[reference] = known.pull.url if known else None
        return self._addresses[reference]

    def evidence(self, citation: Citation) -> tuple[PullRequest, Evidence] | None:
        """The place of a citation that holds; None for one that does not."""
        try:
            reference = self._repositories.reference(self._own(citation.pull))
            pull = self.entry(reference.repository, reference.number).pull
        except PrdigestError:
            return None
        found = verify_citation(citation, pull)
        return (pull, found) if found else None

    # the tools

    def _list(self, asked: ListArguments) -> str:
        """In short where it would be too long otherwise: a number that is missing is worse than a headline."""
        days, fitting = self._selected(asked)
        if any(word.strip() for word in asked.words):
            hits = {match.number for match in search(fitting, asked.words, Where.TEXT)}
            fitting = tuple(entry for entry in fitting if entry.number in hits)
        self.ledger.days(days.span.title)
        head = [context_text.head(days), f"{len(fitting)} of them fit:"]
        found = context_text.listed(head, fitting, MOST, (context_text.line, context_text.short))
        return self._cut(found, "pull requests of the list")

    def _search(self, asked: SearchArguments) -> str:
        days, fitting = self._selected(asked)
        found = tuple(search(only(fitting, asked.paths), asked.any_of, asked.where))
        self.ledger.searched(days.span.title)
        for entry in fitting:
            self._note_unsearched(entry.pull, asked.where)
        counts = Counter(match.number for match in found)
        named = enumerated([f"#{number} ({count})" for number, count in counts.items()], MOST // 3) or "none"
        fit = format_count(len(counts), "pull request")
        lines = [context_text.head(days), f"{fit} of {len(fitting)} searched match: {named}", *map(shown, found)]
        if sum(map(len, lines)) > MOST:
            lines[2:] = map(shown, fairly(found))
        return self._cut(bounded(lines, MOST, "line", "search for fewer words or days"), "matching lines")

    def _pull(self, asked: PullArguments) -> str:
        entry = self.entry(self._repository(asked.repository), asked.number)
        self.ledger.record(entry.number)
        return self._cut(
            bounded(context_text.whole(entry).split("\n"), MOST, "line", "read its diff"), "lines about it"
        )

    def _diff(self, asked: DiffArguments) -> str:
        pull = self.entry(self._repository(asked.repository), asked.number).pull
        files = chosen(pull, asked.paths)
        if pull.files is None:
            self.ledger.diff(pull, files, ())
            return f"#{pull.number}: its files could not be loaded, so there is no diff to read."
        total = format_count(pull.changed_files, "file")
        head = f"#{pull.number} {collapse_lines(pull.title)}: {len(files)} of {total}"
        if asked.contains.strip():
            self.ledger.diff(pull, files, ())
            lines = [head, *places(files, asked.contains)]
            return self._cut(bounded(lines, MOST_DIFF, "line", "name a path"), f"places in #{pull.number}")
        count = len(files) if asked.paths else pull.changed_files
        packed = context_text.diff_of(
            replace(pull, files=files, changed_files=count), MOST_DIFF, self.classes_of(pull.repository)
        )
        self.ledger.diff(pull, files, packed.left_out)
        clipped = (
            "" if packed.coverage is Coverage.FULL else "\n[cut: not the whole diff; name paths to see the rest]"
        )
        return f"{head}\n{packed.text or '[no text diff]'}{clipped}"

    def _taken_back(self, asked: TakenBackArguments) -> str:
        days = self._read_days(self._repository(asked.repository), self._span(asked.days))
        last = min(self._today.date, days.span.last + WATCH_WINDOW)
        later = self._archive.merged(days.repository, replace(days.span, last=max(last, days.span.last)))
        watched = later.pulls
        self._note(watched)
        for doubt in later.caveats:
            self.ledger.unseen(f"perhaps some of what was merged after {days.span.title} ({doubt})")
        self.ledger.days(f"what was taken back of {days.span.title} until {last:%-d %B %Y}")
        lines = [context_text.head(days), *taken_back(watched, {entry.number for entry in days.entries})]
        risky = sorted((entry for entry in days.entries if entry.risk.is_listed), key=lambda e: -e.risk.points)
        lines += ["Rated riskiest by rules:" if risky else "No pull request is rated risky."]
        lines += [
            f"#{entry.number} {entry.pull.title}: {context_text.risk_of(entry)}" for entry in risky[:_MOST_RISKY]
        ]
        return self._cut(bounded(lines, MOST, "line", "ask for fewer days"), "what was taken back")

    # how they read

    def _selected(self, asked: Selection) -> tuple[Days, tuple[Entry, ...]]:
        """The days, and those of their pull requests that fit. Raises UsageError."""
        filters = Filters(paths=asked.paths, authors=asked.authors, labels=asked.labels)
        days = self._read_days(self._repository(asked.repository), self._span(asked.days))
        if asked.paths or asked.areas or asked.least_risk:
            # they can't be told from those that do not fit
            self.ledger.unloaded(entry.pull for entry in days.entries)
        fitting = (entry for entry in days.entries if filters.is_match(entry.pull) and fits(entry, asked))
        return days, tuple(fitting)

    def _read_days(self, repository: Repository, span: Span) -> Days:
        if (repository, span) not in self._days:
            found = self._archive.days(repository, span)
            self._days[repository, span] = found
            self._pulls |= {Reference(repository, entry.number): entry for entry in found.entries}
            self._note(entry.pull for entry in found.entries)
            for doubt in found.doubts:
                self.ledger.unseen(f"{span.title}: {doubt}")
        return self._days[repository, span]

    def _note(self, pulls: Iterable[PullRequest]) -> None:
        """These exist."""
        self._addresses |= {Reference(pull.repository, pull.number): pull.url for pull in pulls}

    def _repository(self, named: str) -> Repository:
        return self._repositories.parse(named) if named.strip() else self._subject.repository

    @property
    def span(self) -> Span:
        """The days that are meant where none are named: of single pull requests, when the first was merged."""
        usual = self._subject.span
        merged = [
            self._pulls[reference].pull.merge_time
            for number in self._subject.numbers
            if (reference := Reference(self._subject.repository, number)) in self._pulls
            and self._pulls[reference].pull.is_merged
        ]
        if not merged:
            return usual
        date = LocalDay(usual.first, usual.zone).to_local_time(merged[0]).date()
        return replace(usual, first=date, last=date)

    def _span(self, named: str) -> Span:
        return parse_span(named, self._today, LONGEST_DAYS) if named.strip() else self.span

    def _own(self, named: str) -> str:
        """A bare number is one of the thread's repository."""
        number = named.strip().removeprefix("#")
        return f"{self._subject.repository}#{number}" if number.isdecimal() else named

    def _note_unsearched(self, pull: PullRequest, where: Where) -> None:
        if where is not Where.TEXT:
            self.ledger.unloaded([pull])
        for file in pull.files or ():
            if where is not Where.TEXT and file.patch is None and file.changed_lines:
                self.ledger.unseen(f"{truncate_text(file.path, 80)} of #{pull.number} (GitHub sends no diff)")
            elif where is not Where.TEXT and file.unread:
                self.ledger.unseen(f"parts of {truncate_text(file.path, 80)} of #{pull.number} (its diff is cut)")

    def _cut(self, found: context_text.Bounded, what: str) -> str:
        if found.hidden:
            self.ledger.unseen(f"{found.hidden} {what} (too long)")
        return found.text
