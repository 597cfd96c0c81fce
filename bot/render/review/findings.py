"""The findings of a review: one in a line of a list, all of them in Details."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from bot.domain.digest.models import Entry
from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.models import PullRequest
from bot.domain.review.models import (
    BugFinding,
    BugReview,
    Certainty,
    FindingAdvice,
    FindingStatus,
    ReviewVerdict,
)
from bot.domain.summaries.models import Evidence, build_evidence_url
from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from bot.domain.text.words import truncate_words
from bot.render.blocks.rich_text import (
    Block,
    Element,
    make_block,
    make_bullets,
    make_context,
    make_link,
    make_prose,
    make_section,
    make_text,
)

# the word that a trigger begins with decides what stands before it
_OWN_BEGINNING = re.compile(r"(?:when|if|with|without|for|on|while|after|before|as soon as)\b", re.I)
_STATUSES = {FindingStatus.CONFIRMED: "confirmed in the code", FindingStatus.POSSIBLE: "possible"}
_CERTAINTIES = {Certainty.HIGH: "very sure", Certainty.MEDIUM: "fairly sure", Certainty.LOW: "not sure"}
_ADVICE = {
    FindingAdvice.ADAPT: "Adapt your code or settings.",
    FindingAdvice.WATCH: "Watch for it.",
    FindingAdvice.IGNORE: "No action needed.",
}
_VERDICT_FACTS = {
    ReviewVerdict.CONFIRMED: "second reading: confirmed bug",
    ReviewVerdict.POSSIBLE: "second reading: possible bug",
}
NO_PROOF = "This is a model's reading of the code, not a proof."
# after these, no full stop is added
_SENTENCE_ENDS = (".", "!", "?", "…")
# of a trigger in Details, which is limited in characters
_ALL_WORDS = 1_000


def get_claim(entry: Entry) -> str:
    """Return what may break by the strongest finding, else by the summary; empty if neither says so."""
    finding = entry.strongest_finding
    return collapse_lines(finding.consequence if finding else entry.summary.risk_reason)


def end_sentence(prose: list[Element]) -> list[Element]:
    """Return prose with a full stop, unless it ends a sentence, and a blank; nothing if it is empty."""
    if not prose:
        return []
    return [*prose, make_text(" " if prose[-1]["text"].endswith(_SENTENCE_ENDS) else ". ")]


def render_trigger(
    pull: PullRequest, finding: BugFinding, urls: Mapping[int, str], words: int, limit: int
) -> list[Element]:
    """Return when it fails, how far that was checked, with a link to the line, and the advice, as a sentence.

    The trigger has up to ``words`` words and ``limit`` characters. Without ``urls`` there is no room for links.
    """
    status = _STATUSES[finding.status]
    evidence = finding.evidence if urls and finding.status is FindingStatus.CONFIRMED else None
    return [
        *_render_condition(finding, urls, words, limit),
        make_text(" ("),
        make_link(build_evidence_url(pull, evidence), status) if evidence else make_text(status),
        make_text(f": {finding.advice}). "),
    ]


def _render_condition(finding: BugFinding, urls: Mapping[int, str], words: int, limit: int) -> list[Element]:
    """Return the trigger, such as ``Fails when …``; nothing if it is empty."""
    trigger = truncate_words(collapse_lines(finding.trigger), words).rstrip(" .;,")
    if not trigger:
        return []
    has_beginning = _OWN_BEGINNING.match(trigger)
    return make_prose(
        f"Fails {trigger[0].lower()}{trigger[1:]}" if has_beginning else f"Fails when {trigger}", urls, limit
    )


def render_review(entry: Entry, most: int, limit: int) -> Iterator[Block]:
    """Yield what the second reading found, at most ``most`` findings; nothing if there was none.

    Each text of a finding has up to ``limit`` characters.
    """
    if entry.review is None:
        return
    findings = entry.review.ranked_findings
    shown = findings[:most]
    title = [make_text("Second reading, for bugs", bold=True), *([] if shown else [make_text(": no bug found.")])]
    items = [_render_finding(entry.pull, finding, limit) for finding in shown]
    yield make_block(make_section(title), *([make_bullets(items)] if items else []))
    yield make_context(_format_note(entry.review, len(findings) - len(shown)))


def _format_note(review: BugReview, hidden: int) -> str:
    """Return how many findings are not shown, how many suspicions were refuted, and what a review is."""
    count = review.refuted
    refuted = f"{format_count(count, 'suspicion')} {'was' if count == 1 else 'were'} refuted." if count else ""
    more = f"Not shown: {format_count(hidden, 'more finding')}." if hidden else ""
    return " ".join(filter(None, [more, refuted, NO_PROOF]))


def _render_finding(pull: PullRequest, finding: BugFinding, limit: int) -> list[Element]:
    """Return a finding: consequence, trigger, who is affected, how sure the model is, what to do, the quote."""
    affected = make_prose(finding.affected, {}, limit)
    return [
        make_text(_STATUSES[finding.status].capitalize(), bold=True),
        make_text(": "),
        *end_sentence(make_prose(finding.consequence, {}, limit)),
        *end_sentence(_render_condition(finding, {}, _ALL_WORDS, limit)),
        *end_sentence([make_text("Affected: "), *affected] if affected else []),
        make_text(f"The model is {_CERTAINTIES[finding.certainty]}. {_ADVICE[finding.advice]}"),
        *([make_text(" "), *render_quote(pull, finding.evidence)] if finding.evidence else []),
    ]


def format_review_fact(review: BugReview | None) -> str:
    """Return the verdict among the facts of a change; empty if there is nothing to look at."""
    return _VERDICT_FACTS.get(review.verdict, "") if review else ""


def render_quote(pull: PullRequest, evidence: Evidence) -> list[Element]:
    """Return a quote that code found in the source, with a link to its position."""
    quote = make_text(truncate_text(collapse_lines(evidence.quote), 160), code=True)
    label = truncate_text(collapse_lines(evidence.path), 120)
    place = " (removed)" if evidence.side is DiffSide.OLD else f":{evidence.line}"
    return [make_link(build_evidence_url(pull, evidence), label + place), make_text(" "), quote]
