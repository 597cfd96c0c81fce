from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, StringConstraints

from bot.features.merges.review import (
    BugFinding,
    BugReview,
    Certainty,
    FindingAdvice,
    FindingStatus,
    locate_finding,
)
from bot.features.merges.summary import Quote
from bot.platform.models.answers import AnswerShape, SafeLine, limit_length
from bot.platform.pulls.models import PullRequest
from bot.platform.source.excerpts import SourceExcerpt, mark_lines, split_excerpt
from bot.platform.source.reading import find_change
from bot.redaction import redact_text
from impact.source.models import DiffSide, SourceFile

MAX_SUSPICIONS = 12  # the prompt asks for six; more would be read by nobody
# a longer quote is no single line; paths of git end at 4,096 bytes on common systems
MAX_QUOTE_LENGTH, MAX_PATH_LENGTH, MAX_LINE_NUMBER = 400, 1_000, 1_000_000_000


class SuspicionStatus(StrEnum):
    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    POSSIBLE = "possible"


class QuoteSide(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    UNCHANGED = "unchanged"


def _limit_number(line: int) -> int:
    return line if 0 < line < MAX_LINE_NUMBER else 0


def _limit_list(suspicions: Any) -> Any:
    # what is beyond the limit is not even parsed
    return suspicions[:MAX_SUSPICIONS] if isinstance(suspicions, list) else suspicions


Sentence = Annotated[str, SafeLine, limit_length(300)]


class SuspicionAnswer(AnswerShape):
    """One suspicion. Its quote is not verified."""

    consequence: Sentence
    trigger: Sentence
    affected: Annotated[str, SafeLine, limit_length(160)] = ""
    path: Annotated[str, StringConstraints(strip_whitespace=True), limit_length(MAX_PATH_LENGTH)] = ""
    quote: Annotated[str, AfterValidator(redact_text), limit_length(MAX_QUOTE_LENGTH)] = ""
    line: Annotated[int, AfterValidator(_limit_number)] = 0
    side: QuoteSide = QuoteSide.ADDED
    status: SuspicionStatus
    certainty: Certainty
    advice: FindingAdvice


class ReviewAnswer(AnswerShape):
    """The report on one pull request. ``recognised``: the model says that it knows what became of the change.

    Texts that are too long are cut, and a suspicion without a consequence or a trigger is dropped.
    """

    suspicions: Annotated[list[SuspicionAnswer], BeforeValidator(_limit_list)]
    recognised: bool = False


def build_review(answer: ReviewAnswer, pull: PullRequest, excerpts: Sequence[SourceExcerpt]) -> BugReview:
    """Build the review of a report: findings with proof, the most important first; what was refuted is counted."""
    # a finding is confirmed only if code finds its quote in the lines that were shown
    complete = [each for each in answer.suspicions if each.consequence and each.trigger]
    standing = [each for each in complete if each.status is not SuspicionStatus.REFUTED]
    findings = [_build_finding(each, pull, excerpts) for each in standing]
    findings.sort(
        key=lambda finding: (
            finding.advice is FindingAdvice.IGNORE,
            finding.status is not FindingStatus.CONFIRMED,
            [*FindingAdvice].index(finding.advice),
            [*Certainty].index(finding.certainty),
        )
    )
    return BugReview(tuple(findings), len(complete) - len(standing))


def _build_finding(suspicion: SuspicionAnswer, pull: PullRequest, excerpts: Sequence[SourceExcerpt]) -> BugFinding:
    side = DiffSide.OLD if suspicion.side is QuoteSide.REMOVED else DiffSide.NEW
    evidence = locate_finding(Quote(suspicion.path, suspicion.quote, suspicion.line, side), pull, excerpts)
    is_confirmed = suspicion.status is SuspicionStatus.CONFIRMED and evidence is not None
    return BugFinding(
        consequence=suspicion.consequence,
        trigger=suspicion.trigger,
        affected=suspicion.affected,
        status=FindingStatus.CONFIRMED if is_confirmed else FindingStatus.POSSIBLE,
        certainty=suspicion.certainty,
        advice=suspicion.advice,
        evidence=evidence,
    )


def list_prompt_excerpts(
    pull: PullRequest, text: str, sources: Mapping[str, SourceFile]
) -> Iterator[SourceExcerpt]:
    """Yield the lines of whole files that the text of the packed diff shows."""
    # each line of a diff begins with its mark
    shown = {line[1:] for line in text.split("\n")}
    for path, file in sources.items():
        if not file.problem:
            whole = mark_lines(file, find_change(pull, path))
            yield from split_excerpt(whole, [line.new for line in whole.lines if line.text in shown])
