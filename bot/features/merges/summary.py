from __future__ import annotations

import hashlib
import keyword
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from bot.errors import BudgetExceeded, ModelError, PrdigestError
from bot.platform.models.packing import Coverage
from bot.platform.pulls.diff import find_quote
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import DEFAULT_PATH_CLASSES, OTHER_AREA, PathClass, PathClasses
from bot.text import format_count
from bot.usage import BudgetRefusal
from impact.source.models import DiffSide
from impact.text.strings import collapse_lines, remove_comments, truncate_text

MAX_HEADLINE_LENGTH, MAX_CONDITION_LENGTH = 120, 100
# a headline with its condition
MAX_CLAIM_LENGTH = MAX_HEADLINE_LENGTH + MAX_CONDITION_LENGTH + 2
INSIGHTS_HEADING = "Key insights"
NO_RISKS = "No particular risk stands out."
# Slack allows 3,000 characters; a path of signs that are not ASCII is three times as long in an address
_MAX_URL_LENGTH = 500
_NON_PRODUCT_CLASSES = {PathClass.DOCS, PathClass.TESTS, PathClass.CI}
# changed lines: a fallback calls only such small changes trivial, which hardly affect the product
_MAX_TRIVIAL_LINES = 20


# --- why facts stand in for the model


class FallbackReason(StrEnum):
    """A reason that has nothing to do with the budget."""

    NO_MODEL = "no_model"  # no key is set, which is no failure
    UNREADABLE = "unreadable"  # GitHub's record of the pull request is malformed
    NO_FILES = "no_files"
    NOT_SUMMARISED = "not_summarised"  # the digest was made without it
    NOT_REQUESTED = "not_requested"
    MODEL_FAILED = "model_failed"


_CLAUSES: Mapping[FallbackReason, str] = {
    FallbackReason.NO_MODEL: "no model is set up",
    FallbackReason.UNREADABLE: "it could not be read",
    FallbackReason.NO_FILES: "its files could not be loaded",
    FallbackReason.NOT_SUMMARISED: "it was not summarized when the digest was made",
    FallbackReason.NOT_REQUESTED: "nobody has asked for it before",
    FallbackReason.MODEL_FAILED: "the model gave no answer",
}


@dataclass(frozen=True, slots=True)
class Fallback:
    """Why facts stand in for the model. ``detail`` is the clause of the error with which the model failed."""

    reason: FallbackReason | BudgetRefusal
    detail: str = ""

    @property
    def clause(self) -> str:
        if isinstance(self.reason, BudgetRefusal):
            return self.reason.clause
        return self.detail or _CLAUSES[self.reason]


def explain_fallback(error: ModelError) -> Fallback:
    if isinstance(error, BudgetExceeded):
        return Fallback(error.refusal)
    return Fallback(FallbackReason.MODEL_FAILED, str(error))


def describe_fallback(fallback: Fallback | None) -> str:
    """Return the reason as a clause for readers; empty without one, as the model answered."""
    return fallback.clause if fallback else ""


def is_for_budget(fallback: Fallback | None) -> bool:
    return fallback is not None and isinstance(fallback.reason, BudgetRefusal)


# --- what proves something: a quote that occurs in every second diff does not

_WORD = re.compile(r"\w+")
# these words alone do not distinguish lines: keywords of common languages, and the most common imports
_COMMON_WORDS = frozenset(
    f"""
    {" ".join((*keyword.kwlist, *keyword.softkwlist)).casefold()}
    self cls os sys re int str float bool list dict set tuple len print null nil undefined
    const let var func function fn end then fi esac done echo exit void char long short double unsigned
    public private protected static final abstract virtual override inline template typename struct enum
    this super new delete switch default catch throw throws extends implements interface package use using
    namespace export require include define ifdef ifndef endif pragma once mut impl pub mod crate todo
    """.split()
)
_MIN_LETTERS = 3
_MIN_SPECIFIC_WORDS, _MIN_WORDS = 2, 3
# a single name is distinctive by its length, or by its length and being a compound
_MIN_COMPOUND_LENGTH, _MIN_NAME_LENGTH = 8, 12
_COMPOUND = re.compile(r"(?<!_)[^\W\d]_+[^\W_]|[a-z][A-Z]|[^\W\d_]\d|\d[^\W\d_]")


def is_evidence(quote: str) -> bool:
    """Return whether a quote is evidence: it has several words, one of them specific, or one distinctive name."""
    words = _WORD.findall(quote)
    numbers = {word for word in words if word.isdecimal()}
    own = {word for word in {*words} - numbers if len(word) >= _MIN_LETTERS or not word.isascii()}
    own = {word for word in own if word.casefold() not in _COMMON_WORDS}
    for word in own:
        if len(word) >= _MIN_NAME_LENGTH or (len(word) >= _MIN_COMPOUND_LENGTH and _COMPOUND.search(word)):
            return True
    return bool(own) and (len(own | numbers) >= _MIN_SPECIFIC_WORDS or len(words) >= _MIN_WORDS)


# --- summaries

# a condition that nobody can meet so far
_NOT_REACHABLE = re.compile(r"\bnot (?:yet )?reach(?:able|ed)\b|\bnothing (?:calls|uses|reaches) it\b", re.I)


class ChangeType(StrEnum):
    """Whether a change affects the meaning of the product. It does not rate safety."""

    TRIVIAL = "TRIVIAL"
    SUBSTANTIAL = "SUBSTANTIAL"


class RiskKind(StrEnum):
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
    """A quote, not verified. ``line`` (0: any) and ``side`` say which one is preferred of several in the diff."""

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


def build_evidence_url(pull: PullRequest, evidence: Evidence) -> str:
    """Return the address of a quote, or that of the pull request's files if Slack would find it too long."""
    url = evidence.build_url(pull)
    return url if len(url) <= _MAX_URL_LENGTH else f"{pull.url}/files"


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of one pull request.

    ``fallback`` is the reason for a summary made of facts, None for a summary by the model. ``action``,
    ``risk_reason`` and ``key_insights`` may be empty. ``potential_risks`` has the claims of ``risks`` as one text.
    ``condition`` is when the change matters at all, empty for always: ``headline``, ``risk_reason`` and ``action``
    have it already (:func:`bot.text.add_condition`).
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
    condition: str = ""

    @property
    def is_reachable(self) -> bool:
        """Whether anything reaches the change so far, by its condition."""
        return not _NOT_REACHABLE.search(self.condition)

    @property
    def sections(self) -> tuple[tuple[str, str], ...]:
        sections = (
            ("What changed and why", self.what_changed_and_why),
            ("Technical impact", self.technical_impact),
            ("Potential risks", self.potential_risks),
            (INSIGHTS_HEADING, self.key_insights),
        )
        return tuple(section for section in sections if section[1])

    @property
    def is_trivial(self) -> bool:
        return self.type is ChangeType.TRIVIAL

    @property
    def is_fallback(self) -> bool:
        return self.fallback is not None

    @property
    def is_unread(self) -> bool:
        return self.fallback is not None and self.fallback.reason is FallbackReason.UNREADABLE

    @property
    def fallback_note(self) -> str:
        if self.is_unread:
            return "could not be read"
        return "facts only" if self.is_fallback else ""


@dataclass(frozen=True, slots=True)
class SummarisedPullRequest:
    """A pull request that is not rated yet. ``cost`` is in US dollars for this run, None if a price is unknown."""

    pull: PullRequest
    summary: Summary
    area: str
    from_cache: bool = False
    cost: float | None = 0.0

    @property
    def number(self) -> int:
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
    title = collapse_lines(pull.title)
    description = truncate_text(collapse_lines(remove_comments(pull.body)), 600)
    counts = Counter(classes.classify_path(file.path) for file in pull.files or ())
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items(), key=lambda item: -item[1]))
    largest = ", ".join(f"`{file.path}`" for file in pull.largest_files[:3])
    is_tiny = pull.changed_lines <= _MAX_TRIVIAL_LINES and counts.keys() <= _NON_PRODUCT_CLASSES
    is_trivial = bool(counts) and (counts.keys() <= {PathClass.DOCS} or is_tiny)
    return Summary(
        type=ChangeType.TRIVIAL if is_trivial else ChangeType.SUBSTANTIAL,
        headline=truncate_text(title, MAX_HEADLINE_LENGTH),
        what_changed_and_why=f"*No model summary: {fallback.clause}. The facts stand in for it.*\n\n"
        f"Title: {title}\n\nDescription: {description or 'The pull request has no description.'}",
        technical_impact=f"{format_count(pull.changed_files, 'file')}, +{pull.additions} -{pull.deletions} lines. "
        + (f"By kind of file: {kinds}." if kinds else "The files could not be read."),
        potential_risks="Not assessed: no model read the diff.",
        key_insights=f"Most changed: {largest}." if largest else "Read the pull request itself.",
        coverage=coverage,
        fallback=fallback,
    )


log = logging.getLogger(__name__)


def read_isolated(
    pull: PullRequest, read: Callable[[PullRequest], SummarisedPullRequest]
) -> SummarisedPullRequest:
    """Read a pull request. If ``read`` meets a defect, log it and return the facts. Raises its PrdigestErrors."""
    try:
        return read(pull)
    except PrdigestError:
        raise
    except Exception as error:
        log_defect(pull, error)
        bare = replace(pull, files=None)
        # no classes are needed without files
        summary = build_fallback_summary(bare, Fallback(FallbackReason.UNREADABLE), Coverage.NONE)
        return SummarisedPullRequest(bare, summary, OTHER_AREA)


def log_defect(pull: PullRequest, error: Exception) -> None:
    """Log one line about a pull request that can't be processed; the traceback is logged for debugging."""
    description = truncate_text(collapse_lines(f"{type(error).__name__}: {error}"), 200)
    log.warning("%s#%d could not be read (%s)", pull.repository, pull.number, description)
    log.debug("where #%d could not be read", pull.number, exc_info=error)
