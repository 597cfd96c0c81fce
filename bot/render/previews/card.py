"""The card below a link: a headline and one line of facts."""

from __future__ import annotations

from bot.domain.digest.previews import PreviewCard, PullPreview, RangePreview
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.render.blocks.rich_text import (
    Block,
    Element,
    make_block,
    make_context,
    make_link,
    make_prose,
    make_section,
    make_text,
)
from bot.render.previews import sentences

_MAX_HEADLINE = 160
_MAX_FACTS = 300


def render_card(card: PreviewCard) -> tuple[Block, ...]:
    """Render a card: text from outside is only text, and the only address is that of the link's own page."""
    title, facts = _render_pull(card) if isinstance(card, PullPreview) else _render_range(card)
    return make_block(make_section(title)), make_context(truncate_text(facts, _MAX_FACTS))


def _render_pull(card: PullPreview) -> tuple[list[Element], str]:
    pull = card.pull
    headline = truncate_text(collapse_lines(card.headline or pull.title), _MAX_HEADLINE)
    number = make_link(pull.url, f"{pull.repository}#{pull.number}", bold=True)
    return [number, make_text(" "), *make_prose(headline, {}, _MAX_HEADLINE)], sentences.format_pull_facts(card)


def _render_range(card: RangePreview) -> tuple[list[Element], str]:
    name = truncate_text(collapse_lines(card.page.name), 60)
    ends = make_link(card.url, f"{name} {card.start}…{card.end}", bold=True)
    return [ends, make_text(f" {sentences.format_range_title(card)}")], sentences.format_range_facts(card)
