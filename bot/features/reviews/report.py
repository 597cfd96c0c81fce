from __future__ import annotations

import logging
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
from bot.platform.models.completion import AnswerShape, SafeLine, limit_length
from bot.platform.pulls.models import PullRequest
from bot.platform.source.excerpts import SourceExcerpt, mark_lines, split_excerpt
from bot.platform.source.reading import find_change
from bot.redaction import redact_text
from impact.source.models import DiffSide, SourceFile

MAX_SUSPICIONS = 12  # the prompt asks for six; more would be read by nobody
# a longer quote is no single line; paths of git end at 4,096 bytes on common systems
MAX_QUOTE_LENGTH, MAX_PATH_LENGTH, MAX_LINE_NUMBER = 400, 1_000, 1_000_000_000
_NUMBER = re.compile(r"#(\d{1,9})\b")
# names in backticks; without them, options and what has an underscore, as no prose has
_QUOTED, _BARE = re.compile(r"`([^`]+)`"), re.compile(r"(?<![\w-])(?:--)?\w[\w-]*")
_WORD = re.compile(r"\w{3,}")

log = logging.getLogger(__name__)


class SuspicionStatus(StrEnum):
    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    POSSIBLE = "possible"


class Harm(StrEnum):
    CRASH = "crash"
    WRONG_OUTPUT = "wrong_output"
    HANG_OR_LEAK = "hang_or_leak"
    SLOW = "slow"
    SECURITY = "security"
    LOST_COMPATIBILITY = "lost_compatibility"
    NONE = "none"


_SILENT_HARMS = {Harm.WRONG_OUTPUT, Harm.SECURITY}


class Exposure(StrEnum):
    """Who meets what makes it fail, by the model's own words."""

    MANY = "many"
    SOME = "some"
    FEW = "few"
    NOBODY = "nobody"


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
    reached_by: Sentence = ""
    affected: Annotated[str, SafeLine, limit_length(160)] = ""
    harm: Harm
    exposure: Exposure
    path: Annotated[str, StringConstraints(strip_whitespace=True), limit_length(MAX_PATH_LENGTH)] = ""
    quote: Annotated[str, AfterValidator(redact_text), limit_length(MAX_QUOTE_LENGTH)] = ""
    line: Annotated[int, AfterValidator(_limit_number)] = 0
    side: QuoteSide = QuoteSide.ADDED
    status: SuspicionStatus
    certainty: Certainty
    advice: FindingAdvice
    wait_for: Annotated[int, AfterValidator(_limit_number)] = 0


class ReviewAnswer(AnswerShape):
    """The report on one pull request. ``recognised``: how far the model says that it remembers the change.

    Texts that are too long are cut, and a suspicion without a consequence or a trigger is dropped.
    """

    suspicions: Annotated[list[SuspicionAnswer], BeforeValidator(_limit_list)]
    recognised: Recognition = Recognition.NO


def build_review(
    answer: ReviewAnswer, pull: PullRequest, excerpts: Sequence[SourceExcerpt], change: str, results: str
) -> BugReview:
    """Build the review of a report: findings with proof, the most certain first; what was refuted is counted.

    What hardly concerns anybody is dropped. Who waits for a pull request waits for one that the text of the
    ``change`` names. ``results`` are what the model was shown besides it.
    """
    # a finding is confirmed only if code finds its quote in the lines that were shown
    complete = [each for each in answer.suspicions if each.consequence and each.trigger]
    standing = [each for each in complete if each.status is not SuspicionStatus.REFUTED]
    named = {int(number) for number in _NUMBER.findall(change)} - {pull.number}
    known = frozenset(_WORD.findall(f"{change}\n{results}".casefold()))
    telling = [each for each in standing if _concerns_somebody(each) and _is_reached(each, known)]
    if dropped := len(standing) - len(telling):
        log.info("%s#%d: %d suspicions hardly concern anybody", pull.repository, pull.number, dropped)
    findings = tuple(_build_finding(each, pull, excerpts, named) for each in telling)
    return BugReview(BugReview(findings).ranked_findings, len(complete) - len(standing))


def _concerns_somebody(suspicion: SuspicionAnswer) -> bool:
    if suspicion.exposure is Exposure.FEW:
        # nobody notices these by themselves
        return suspicion.harm in _SILENT_HARMS and suspicion.certainty is Certainty.HIGH
    return suspicion.harm is not Harm.NONE and suspicion.exposure is not Exposure.NOBODY


def _is_reached(suspicion: SuspicionAnswer, known: Set[str]) -> bool:
    """Return whether one of the names that lead to the trigger occurs, word by word, in what was shown."""
    told = suspicion.reached_by.casefold()
    bare = (name for name in _BARE.findall(_QUOTED.sub(" ", told)) if "_" in name or name.startswith("--"))
    names = (*_QUOTED.findall(told), *bare)
    return any(words and known >= {*words} for words in map(_WORD.findall, names))


def _build_finding(
    suspicion: SuspicionAnswer, pull: PullRequest, excerpts: Sequence[SourceExcerpt], named: Set[int]
) -> BugFinding:
    advice = suspicion.advice
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
