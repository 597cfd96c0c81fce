"""The findings of a review: one in a line of a list, all of them in Details."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.domain.digest.models import Entry
from bot.domain.pull_requests.models import PullRequest
from bot.domain.review.models import BugFinding, FindingStatus
from bot.domain.text.strings import collapse_lines
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
from bot.render.review import sentences
from bot.render.summaries.evidence_url import build_evidence_url
from bot.render.summaries.quotes import render_quote

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
    status = sentences.format_status(finding)
    evidence = finding.evidence if urls and finding.status is FindingStatus.CONFIRMED else None
    return [
        *_render_condition(finding, urls, words, limit),
        make_text(" ("),
        make_link(build_evidence_url(pull, evidence), status) if evidence else make_text(status),
        make_text(f": {sentences.format_short_advice(finding)}). "),
    ]


def _render_condition(finding: BugFinding, urls: Mapping[int, str], words: int, limit: int) -> list[Element]:
    """Return the trigger with what stands before it; nothing if it is empty."""
    trigger = truncate_words(collapse_lines(finding.trigger), words).rstrip(" .;,")
    return make_prose(sentences.format_condition(trigger), urls, limit) if trigger else []


def render_review(entry: Entry, most: int, limit: int) -> Iterator[Block]:
    """Yield what the second reading found, at most ``most`` findings; nothing if there was none.

    Each text of a finding has up to ``limit`` characters.
    """
    if entry.review is None:
        return
    findings = entry.review.ranked_findings
    shown = findings[:most]
    title = [make_text(sentences.TITLE, bold=True), *([] if shown else [make_text(sentences.NO_BUG)])]
    items = [_render_finding(entry.pull, finding, limit) for finding in shown]
    yield make_block(make_section(title), *([make_bullets(items)] if items else []))
    yield make_context(sentences.format_review_note(entry.review, len(findings) - len(shown)))


def _render_finding(pull: PullRequest, finding: BugFinding, limit: int) -> list[Element]:
    """Return a finding: consequence, trigger, who is affected, how sure the model is, what to do, the quote."""
    affected = make_prose(finding.affected, {}, limit)
    return [
        make_text(sentences.format_status(finding).capitalize(), bold=True),
        make_text(": "),
        *end_sentence(make_prose(finding.consequence, {}, limit)),
        *end_sentence(_render_condition(finding, {}, _ALL_WORDS, limit)),
        *end_sentence([make_text(sentences.AFFECTED_LABEL), *affected] if affected else []),
        make_text(sentences.format_assessment(finding)),
        *([make_text(" "), *render_quote(pull, finding.evidence)] if finding.evidence else []),
    ]
