"""Summaries of pull requests, their evidence, and the fallback where the model is not available."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from bot.domain.pull_requests.diff import DiffSide, find_quote
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import DEFAULT_PATH_CLASSES, PathClass, PathClasses
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.summaries.fallback import Fallback, FallbackReason
from bot.domain.summaries.quote_evidence import is_evidence
from bot.domain.text.strings import collapse_lines, format_count, remove_comments, truncate_text

MAX_HEADLINE_LENGTH = 120
INSIGHTS_HEADING = "Key insights"
NO_RISKS = "No particular risk stands out."
_NON_PRODUCT_CLASSES = {PathClass.DOCS, PathClass.TESTS, PathClass.CI}
# changed lines: a fallback calls only such small changes trivial, which hardly affect the product
_MAX_TRIVIAL_LINES = 20


class ChangeType(StrEnum):
    """Whether a change affects the meaning of the product. It does not rate safety."""

    TRIVIAL = "TRIVIAL"
    SUBSTANTIAL = "SUBSTANTIAL"


class RiskKind(StrEnum):
    """What a risk would break."""

    CORRECTNESS = "correctness"
    COMPATIBILITY = "compatibility"
    PERFORMANCE = "performance"
    SECURITY = "security"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class SummaryRisk:
    """Something that could break. ``where`` is the path of a changed file; it may be empty."""

    claim: str
    where: str = ""
    kind: RiskKind = RiskKind.OTHER


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote that the model gives as evidence; not verified.

    ``line`` (0: any) and ``side`` say which one is preferred if it stands in the diff more than once.
    """

    path: str
    quote: str
    line: int = 0
    side: DiffSide = DiffSide.NEW


@dataclass(frozen=True, slots=True)
class Evidence:
    """A verified quote and its position in the file. ``is_change``: a line of the quote is added or deleted."""

    path: str
    quote: str
    side: DiffSide
    line: int
    is_change: bool = True

    def build_url(self, pull: PullRequest) -> str:
        """Return the address of the line: in the merged file or, for a deleted line, in the diff."""
        if self.side is DiffSide.NEW:
            return pull.build_line_url(self.path, self.line)
        # GitHub's anchor of a line of the old side on the page of a pull request's files
        return f"{pull.url}/files#diff-{hashlib.sha256(self.path.encode()).hexdigest()}L{self.line}"


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of one pull request.

    ``fallback`` is the reason for a summary made of facts, None for a summary by the model. ``action``,
    ``risk_reason`` and ``key_insights`` may be empty. ``potential_risks`` has the claims of ``risks`` as one text.
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
    fallback: Fallback | None = None
    risks: tuple[SummaryRisk, ...] = ()

    @property
    def sections(self) -> tuple[tuple[str, str], ...]:
        """The sections with their headings; the last one only if there is something to say."""
        sections = (
            ("What changed and why", self.what_changed_and_why),
            ("Technical impact", self.technical_impact),
            ("Potential risks", self.potential_risks),
            (INSIGHTS_HEADING, self.key_insights),
        )
        return tuple(section for section in sections if section[1])

    @property
    def is_trivial(self) -> bool:
        """Whether the change is trivial."""
        return self.type is ChangeType.TRIVIAL

    @property
    def is_fallback(self) -> bool:
        """Whether the summary is not the model's."""
        return self.fallback is not None

    @property
    def is_unread(self) -> bool:
        """Whether the pull request could not be read."""
        return self.fallback is not None and self.fallback.reason is FallbackReason.UNREADABLE

    @property
    def fallback_note(self) -> str:
        """The note for readers on a fallback; empty for a summary by the model."""
        if self.is_unread:
            return "could not be read"
        return "facts only" if self.is_fallback else ""


@dataclass(frozen=True, slots=True)
class SummarisedPullRequest:
    """A pull request with its files, summary and area, not rated yet.

    ``cost`` is in US dollars for this run, None if a price is unknown.
    """

    pull: PullRequest
    summary: Summary
    area: str
    from_cache: bool = False
    cost: float | None = 0.0

    @property
    def number(self) -> int:
        """The number of the pull request."""
        return self.pull.number


def verify_quotes(quotes: Iterable[Quote], pull: PullRequest) -> tuple[Evidence, ...]:
    """Return the evidence among the quotes: those of changed lines. The others are dropped."""
    return tuple(evidence for evidence in locate_quotes(quotes, pull) if evidence.is_change)


def locate_quotes(quotes: Iterable[Quote], pull: PullRequest) -> Iterator[Evidence]:
    """Yield evidence for the distinctive quotes that are in the diff of their file, also of unchanged lines."""
    patches = {file.path: file.patch for file in pull.files or ()}
    for quote in quotes:
        if not is_evidence(quote.quote):
            continue
        position = find_quote(patches.get(quote.path) or "", quote.quote, quote.line, quote.side)
        if position:
            yield Evidence(quote.path, quote.quote.strip(), position.side, position.line, position.is_change)


def remove_unproven_claims(summary: Summary) -> Summary:
    """Remove the claims on which a reader would act if the summary has no evidence."""
    return summary if summary.evidence else replace(summary, risk_reason="", action="")


def build_fallback_summary(
    pull: PullRequest, fallback: Fallback, coverage: Coverage, classes: PathClasses = DEFAULT_PATH_CLASSES
) -> Summary:
    """Build a summary of facts: title, description, files, type by rule. Its first line says so."""
    description = (
        truncate_text(collapse_lines(remove_comments(pull.body)), 600) or "The pull request has no description."
    )
    return Summary(
        type=_determine_type(pull, classes),
        headline=truncate_text(collapse_lines(pull.title), MAX_HEADLINE_LENGTH),
        what_changed_and_why=f"*No model summary: {fallback.clause}. The facts stand in for it.*\n\nTitle: "
        f"{collapse_lines(pull.title)}\n\nDescription: {description}",
        technical_impact=f"{format_count(pull.changed_files, 'file')}, +{pull.additions} -{pull.deletions} lines. "
        f"{_format_file_classes(count_file_classes(pull, classes))}",
        potential_risks="Not assessed: no model read the diff.",
        key_insights=_format_largest_files(list_largest_files(pull)),
        coverage=coverage,
        fallback=fallback,
    )


def list_largest_files(pull: PullRequest) -> tuple[str, ...]:
    """Return the paths of the three files with the most changed lines."""
    return tuple(file.path for file in pull.largest_files[:3])


def count_file_classes(pull: PullRequest, classes: PathClasses) -> dict[PathClass, int]:
    """Count the files of each class that the pull request changes."""
    counts: dict[PathClass, int] = {}
    for file in pull.files or ():
        kind = classes.classify_path(file.path)
        counts[kind] = counts.get(kind, 0) + 1
    return counts


def _determine_type(pull: PullRequest, classes: PathClasses) -> ChangeType:
    kinds = set(count_file_classes(pull, classes))
    only_docs = bool(kinds) and kinds <= {PathClass.DOCS}
    tiny = bool(kinds) and kinds <= _NON_PRODUCT_CLASSES and pull.changed_lines <= _MAX_TRIVIAL_LINES
    return ChangeType.TRIVIAL if only_docs or tiny else ChangeType.SUBSTANTIAL


def _format_file_classes(counts: dict[PathClass, int]) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items(), key=lambda item: -item[1]))
    return f"By kind of file: {kinds}." if kinds else "The files could not be read."


def _format_largest_files(paths: tuple[str, ...]) -> str:
    names = ", ".join(f"`{path}`" for path in paths)
    return f"Most changed: {names}." if names else "Read the pull request itself."
