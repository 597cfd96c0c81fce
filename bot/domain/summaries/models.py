"""What the model says of a pull request, what of it code could verify, and what stands in when it is away."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from bot.domain.pull_requests.diff import Side, find_quote
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import DEFAULT_PATHS, PathClass, PathClasses
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.summaries.quote_evidence import is_telling
from bot.domain.text.strings import one_line, plural, shorten, without_comments

HEADLINE_LIMIT = 120
# why there is none where nobody gave a key: that is no failure
NO_MODEL = "no model is set up"
# why there is none of a pull request that is not as they are
UNREAD = "it could not be read"
_QUIET = {PathClass.DOCS, PathClass.TESTS, PathClass.CI}
# a fallback may call a change trivial only where so few lines can hardly change the product's meaning
_TINY = 20


class ChangeType(StrEnum):
    """Whether the meaning of the product changes. It is no safety label."""

    TRIVIAL = "TRIVIAL"
    SUBSTANTIAL = "SUBSTANTIAL"


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote the model gives as evidence, not yet checked."""

    path: str
    quote: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quote that code found in the diff, with its place in the file. ``is_change``: what it says was changed."""

    path: str
    quote: str
    side: Side
    line: int
    is_change: bool = True

    def url(self, pull: PullRequest) -> str:
        """Where a reader finds it: the line in the merged file, or in the diff for a line that is gone."""
        if self.side is Side.NEW:
            return pull.line_url(self.path, self.line)
        # how GitHub names a line of the old side on the page of a pull request's files
        return f"{pull.url}/files#diff-{hashlib.sha256(self.path.encode()).hexdigest()}L{self.line}"


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of one pull request.

    ``fallback`` is empty for the model's work, else the reason, as a clause, why code wrote it.
    ``action`` and ``risk_reason`` may be empty.
    """

    type: ChangeType
    headline: str
    what_changed_and_why: str
    technical_impact: str
    potential_risks: str
    key_insights: str
    risk_reason: str = ""
    action: str = ""
    evidence: tuple[Evidence, ...] = ()
    coverage: Coverage = Coverage.FULL
    left_out: tuple[str, ...] = ()
    fallback: str = ""

    @property
    def sections(self) -> tuple[tuple[str, str], ...]:
        """The four sections with the names that readers see."""
        return (
            ("What changed and why", self.what_changed_and_why),
            ("Technical impact", self.technical_impact),
            ("Potential risks", self.potential_risks),
            ("Key insights", self.key_insights),
        )

    @property
    def is_trivial(self) -> bool:
        return self.type is ChangeType.TRIVIAL

    @property
    def is_fallback(self) -> bool:
        return bool(self.fallback)

    @property
    def is_unread(self) -> bool:
        return self.fallback == UNREAD

    @property
    def lack(self) -> str:
        """What a reader is told where it is not a model's; empty where it is."""
        if self.is_unread:
            return "could not be read"
        return "facts only" if self.is_fallback else ""


def verify(quotes: Iterable[Quote], pull: PullRequest) -> tuple[Evidence, ...]:
    """The quotes that prove something of the change; the others are dropped."""
    return tuple(found for found in locate(quotes, pull) if found.is_change)


def locate(quotes: Iterable[Quote], pull: PullRequest) -> Iterator[Evidence]:
    """The quotes that say something and stand in the diff of the file they name, also in what was not changed."""
    patches = {file.path: file.patch for file in pull.files or ()}
    for quote in quotes:
        place = find_quote(patches.get(quote.path) or "", quote.quote) if is_telling(quote.quote) else None
        if place:
            yield Evidence(quote.path, quote.quote.strip(), place.side, place.line, place.is_change)


def without_unproven(summary: Summary) -> Summary:
    """The summary less the claims that a reader would act on where no quote of it holds."""
    return summary if summary.evidence else replace(summary, risk_reason="", action="")


def fallback_summary(
    pull: PullRequest, reason: str, coverage: Coverage, classes: PathClasses = DEFAULT_PATHS
) -> Summary:
    """A summary from facts alone: title, description, files, type by rule; its first line says so."""
    said = shorten(one_line(without_comments(pull.body)), 600) or "The pull request has no description."
    return Summary(
        type=_type_by_rule(pull, classes),
        headline=shorten(one_line(pull.title), HEADLINE_LIMIT),
        what_changed_and_why=f"*No model summary: {reason}. The facts stand in for it.*\n\n"
        f"Title: {one_line(pull.title)}\n\nDescription: {said}",
        technical_impact=f"{plural(pull.changed_files, 'file')}, +{pull.additions} -{pull.deletions} lines. "
        f"{_kinds(files_kinds(pull, classes))}",
        potential_risks="Not assessed: no model has read the diff.",
        key_insights=_largest(files_by_size(pull)),
        coverage=coverage,
        fallback=reason,
    )


def files_by_size(pull: PullRequest) -> tuple[str, ...]:
    """Paths of the three files with the most changed lines."""
    return tuple(file.path for file in pull.largest_files[:3])


def files_kinds(pull: PullRequest, classes: PathClasses) -> dict[PathClass, int]:
    """How many files of each class the pull request changes."""
    counts: dict[PathClass, int] = {}
    for file in pull.files or ():
        kind = classes.classify(file.path)
        counts[kind] = counts.get(kind, 0) + 1
    return counts


def _type_by_rule(pull: PullRequest, classes: PathClasses) -> ChangeType:
    kinds = set(files_kinds(pull, classes))
    only_docs = bool(kinds) and kinds <= {PathClass.DOCS}
    tiny = bool(kinds) and kinds <= _QUIET and pull.changed_lines <= _TINY
    return ChangeType.TRIVIAL if only_docs or tiny else ChangeType.SUBSTANTIAL


def _kinds(counts: dict[PathClass, int]) -> str:
    named = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items(), key=lambda item: -item[1]))
    return f"By kind of file: {named}." if named else "The files could not be read."


def _largest(paths: tuple[str, ...]) -> str:
    named = ", ".join(f"`{path}`" for path in paths)
    return f"Most changed: {named}." if named else "Read the pull request itself."
