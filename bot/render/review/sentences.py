"""What people read of the second reading: in lines of lists, in Details and in the thread."""

from __future__ import annotations

import re

from bot.domain.review.models import (
    BugFinding,
    BugReview,
    Certainty,
    FindingAdvice,
    FindingStatus,
    ReviewVerdict,
)
from bot.domain.text.strings import format_count

# lines of lists

# the word that a trigger begins with decides what stands before it
_OWN_BEGINNING = re.compile(r"(?:when|if|with|without|for|on|while|after|before|as soon as)\b", re.I)
_STATUSES = {FindingStatus.CONFIRMED: "confirmed in the code", FindingStatus.POSSIBLE: "possible"}
_SHORT_ADVICE = {FindingAdvice.ADAPT: "adapt", FindingAdvice.WATCH: "watch", FindingAdvice.IGNORE: "ignore"}

# the thread

_VERDICT_FACTS = {
    ReviewVerdict.CONFIRMED: "second reading: confirmed bug",
    ReviewVerdict.POSSIBLE: "second reading: possible bug",
}

# details

TITLE = "Second reading, for bugs"
NO_BUG = ": no bug found."
NO_PROOF = "This is a model's reading of the code, not a proof."
AFFECTED_LABEL = "Affected: "
_CERTAINTIES = {Certainty.HIGH: "very sure", Certainty.MEDIUM: "fairly sure", Certainty.LOW: "not sure"}
_ADVICE = {
    FindingAdvice.ADAPT: "Adapt your code or settings.",
    FindingAdvice.WATCH: "Watch for it.",
    FindingAdvice.IGNORE: "No action needed.",
}


def format_condition(trigger: str) -> str:
    """Format a trigger: ``Fails when …``, or ``Fails …`` if it has its own beginning, such as ``with``."""
    if _OWN_BEGINNING.match(trigger):
        return f"Fails {trigger[0].lower()}{trigger[1:]}"
    return f"Fails when {trigger}"


def format_status(finding: BugFinding) -> str:
    """Return how far a finding was checked."""
    return _STATUSES[finding.status]


def format_short_advice(finding: BugFinding) -> str:
    """Return the advice as one word."""
    return _SHORT_ADVICE[finding.advice]


def format_assessment(finding: BugFinding) -> str:
    """Return how sure the model is, and what to do."""
    return f"The model is {_CERTAINTIES[finding.certainty]}. {_ADVICE[finding.advice]}"


def format_review_note(review: BugReview, hidden: int = 0) -> str:
    """Return how many findings are not shown, how many suspicions were refuted, and what a review is."""
    parts = [
        *([f"Not shown: {format_count(hidden, 'more finding')}."] if hidden else []),
        *([_format_refuted(review.refuted)] if review.refuted else []),
        NO_PROOF,
    ]
    return " ".join(parts)


def _format_refuted(count: int) -> str:
    """Return how many suspicions were refuted."""
    return f"{format_count(count, 'suspicion')} {'was' if count == 1 else 'were'} refuted."


def format_review_fact(review: BugReview | None) -> str:
    """Return the verdict among the facts of a change; empty if there is nothing to look at."""
    return _VERDICT_FACTS.get(review.verdict, "") if review else ""
