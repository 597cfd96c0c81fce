"""What a report proves: a finding is confirmed only if code finds its quote in the lines that were shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.models import PullRequest
from bot.domain.review.models import BugFinding, BugReview, Certainty, FindingAdvice, FindingStatus
from bot.domain.review.quotes import locate_finding
from bot.domain.source.excerpts import SourceExcerpt, mark_lines, split_excerpt
from bot.domain.summaries.models import Quote
from bot.platform.source import find_change
from bot.services.review.schemas import QuoteSide, ReviewAnswer, SuspicionAnswer, SuspicionStatus
from impact.source.models import SourceFile

_ADVICE = tuple(FindingAdvice)
_CERTAINTY = tuple(Certainty)


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


def build_review(answer: ReviewAnswer, pull: PullRequest, excerpts: Sequence[SourceExcerpt]) -> BugReview:
    """Build the review of a report: findings with proof, the most important first; what was refuted is counted."""
    complete = [each for each in answer.suspicions if each.is_complete]
    refuted = sum(each.status is SuspicionStatus.REFUTED for each in complete)
    standing = [each for each in complete if each.status is not SuspicionStatus.REFUTED]
    findings = [_build_finding(each, pull, excerpts) for each in standing]
    return BugReview(tuple(sorted(findings, key=_build_sort_key)), refuted)


def _build_finding(suspicion: SuspicionAnswer, pull: PullRequest, excerpts: Iterable[SourceExcerpt]) -> BugFinding:
    """Return the finding; without its quote in the code, nothing is confirmed, and nothing is quoted."""
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


def _build_sort_key(finding: BugFinding) -> tuple[bool, bool, int, int]:
    return (
        finding.advice is FindingAdvice.IGNORE,
        finding.status is not FindingStatus.CONFIRMED,
        _ADVICE.index(finding.advice),
        _CERTAINTY.index(finding.certainty),
    )
