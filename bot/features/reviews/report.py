from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
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
_NUMBER = re.compile(r"#(\d{1,9})\b")


class SuspicionStatus(StrEnum):
    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    POSSIBLE = "possible"


class SuspicionAdvice(StrEnum):
    ADAPT = "adapt"
    AVOID = "avoid"
    WAIT = "wait"
    WATCH = "watch"
    IGNORE = "ignore"


class Recognition(StrEnum):
    """How far a model remembers a change and what became of it, by its own words."""

    NO = "no"
    PARTLY = "partly"
    YES = "yes"


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
    advice: SuspicionAdvice
    wait_for: Annotated[int, AfterValidator(_limit_number)] = 0


class ReviewAnswer(AnswerShape):
    """The report on one pull request. ``recognised``: how far the model says that it remembers the change.

    Texts that are too long are cut, and a suspicion without a consequence or a trigger is dropped.
    """

    suspicions: Annotated[list[SuspicionAnswer], BeforeValidator(_limit_list)]
    recognised: Recognition = Recognition.NO


def build_review(
    answer: ReviewAnswer, pull: PullRequest, excerpts: Sequence[SourceExcerpt], change: str = ""
) -> BugReview:
    """Build the review of a report: findings with proof, the most certain first; what was refuted is counted.

    What hardly concerns anybody is dropped. Who waits for a pull request waits for one that the text of the
    ``change`` names.
    """
    # a finding is confirmed only if code finds its quote in the lines that were shown
    complete = [each for each in answer.suspicions if each.consequence and each.trigger]
    standing = [each for each in complete if each.status is not SuspicionStatus.REFUTED]
    named = {int(number) for number in _NUMBER.findall(change)} - {pull.number}
    telling = (each for each in standing if each.advice is not SuspicionAdvice.IGNORE)
    findings = tuple(_build_finding(each, pull, excerpts, named) for each in telling)
    return BugReview(BugReview(findings).ranked_findings, len(complete) - len(standing))


def _build_finding(
    suspicion: SuspicionAnswer, pull: PullRequest, excerpts: Sequence[SourceExcerpt], named: Set[int]
) -> BugFinding:
    advice = FindingAdvice(suspicion.advice)
    if advice is FindingAdvice.WAIT and suspicion.wait_for not in named:
        advice = FindingAdvice.WATCH
    side = DiffSide.OLD if suspicion.side is QuoteSide.REMOVED else DiffSide.NEW
    evidence = locate_finding(Quote(suspicion.path, suspicion.quote, suspicion.line, side), pull, excerpts)
    is_confirmed = suspicion.status is SuspicionStatus.CONFIRMED and evidence is not None
    return BugFinding(
        consequence=suspicion.consequence,
        trigger=suspicion.trigger,
        affected=suspicion.affected,
        status=FindingStatus.CONFIRMED if is_confirmed else FindingStatus.POSSIBLE,
        certainty=suspicion.certainty,
        advice=advice,
        evidence=evidence,
        wait_for=suspicion.wait_for if advice is FindingAdvice.WAIT else 0,
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
