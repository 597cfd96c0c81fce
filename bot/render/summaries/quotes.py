"""Quotes that code found in the source, with links to where they are."""

from __future__ import annotations

from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.models import PullRequest
from bot.domain.summaries.models import Evidence
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.render.blocks.rich_text import Element, make_link, make_text
from bot.render.summaries import sentences
from bot.render.summaries.evidence_url import build_evidence_url


def render_quote(pull: PullRequest, evidence: Evidence) -> list[Element]:
    """Return a quote with a link to its position."""
    quote = make_text(truncate_text(collapse_lines(evidence.quote), 160), code=True)
    label = truncate_text(collapse_lines(evidence.path), 120)
    place = sentences.REMOVED if evidence.side is DiffSide.OLD else f":{evidence.line}"
    return [make_link(build_evidence_url(pull, evidence), label + place), make_text(" "), quote]
