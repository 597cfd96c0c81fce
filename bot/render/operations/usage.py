"""The answer to ``/prdigest usage``: what model calls cost, what for, and what is left."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.operations.usage_report import UsageReport
from bot.ports import Post
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import (
    Block,
    Element,
    make_block,
    make_bullets,
    make_context,
    make_header,
    make_section,
    make_text,
)
from bot.render.blocks.terminal import format_message
from bot.render.operations import sentences


def render_usage(report: UsageReport) -> Post:
    """Render the report as a message."""
    title = sentences.format_title(report.month)
    return Post(escape_mrkdwn(title), (make_header(title), *_render_blocks(report)))


def format_usage(report: UsageReport) -> str:
    """Format the report for a terminal."""
    return format_message(render_usage(report))


def _render_blocks(report: UsageReport) -> Iterator[Block]:
    """Yield the blocks below the title."""
    yield make_block(make_bullets(_list_amounts(report)))
    totals = report.month_totals
    if totals.by_kind:
        kinds = [[make_text(sentences.format_kind(*each))] for each in totals.by_kind.items()]
        yield make_block(make_section([make_text(sentences.PURPOSES_TITLE, bold=True)]), make_bullets(kinds))
    facts = [[make_text(fact)] for fact in _list_facts(report)]
    if facts:
        yield make_block(make_bullets(facts))
    if report.omissions:
        yield make_block(make_section([make_text(sentences.format_omissions(report.omissions), bold=True)]))
    yield make_context(sentences.format_order(report.zone))


def _list_amounts(report: UsageReport) -> Iterator[list[Element]]:
    """Yield the lines about today and the month."""
    amounts = [(sentences.MONTH, report.month_totals, report.month_spending)]
    if report.today_totals:
        amounts.insert(0, (sentences.TODAY, report.today_totals, report.day_spending))
    for name, totals, spending in amounts:
        used = sentences.format_expense(totals.total) if totals.by_kind else sentences.NOTHING_USED
        limit = f"; {sentences.format_spending(spending)}" if spending else ""
        heading = name if report.today_totals else f"{report.month:%B}"
        yield [make_text(f"{heading}: ", bold=True), make_text(used.rstrip(".") + limit)]


def _list_facts(report: UsageReport) -> Iterator[str]:
    """Yield what digests and answers took, and how much the caches saved."""
    totals = report.month_totals
    yield from (sentences.format_work(kind, work) for kind, work in totals.work.items())
    if report.last_digest:
        yield sentences.format_last_digest(report.last_digest)
    yield from filter(None, (sentences.format_cache(totals), sentences.format_terminal(totals)))
    if not report.has_prices:
        yield sentences.NO_PRICES
