"""App Home: the last digests in short, the subscriptions with their buttons, and the health of the bot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from bot.domain.conversations.slack_text import restore_bot_text
from bot.domain.operations.bot_health import BotHealth, LatestDigest
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.render.blocks.rich_text import (
    Block,
    Element,
    make_block,
    make_context,
    make_header,
    make_link,
    make_prose,
    make_section,
    make_text,
)
from bot.render.subscriptions import sentences
from bot.render.subscriptions.incidents import render_instant
from bot.render.subscriptions.subscription_list import DueSubscription, make_new_button, render_rows

_MAX_DIGESTS = 3
# characters
_MAX_LENGTH = 600
_NUMBER_PATTERN = re.compile(r"#(\d{1,9})\b", re.A)
_MAX_TICK_AGE = timedelta(minutes=3)


def render_home(
    latest: Sequence[LatestDigest],
    subscriptions: Sequence[DueSubscription],
    health: BotHealth,
    now: datetime,
    note: str = "",
) -> tuple[Block, ...]:
    """Return the blocks of the page. ``note`` is the result of the last click."""
    return (
        *([make_block(make_section([make_text(_shorten_line(note), bold=True)]))] if note else []),
        make_header(sentences.DIGESTS_TITLE),
        *_render_digests(latest),
        make_header(sentences.SUBSCRIPTIONS_TITLE),
        *(render_rows(subscriptions, with_place=True) if subscriptions else _render_no_subscriptions()),
        {"type": "actions", "elements": [make_new_button()]},
        make_header(sentences.HEALTH_TITLE),
        make_block(make_section(_render_health(health, now))),
        make_context(sentences.HOW_TO_ASK),
    )


def _render_digests(latest: Sequence[LatestDigest]) -> Iterator[Block]:
    """Yield the last digests, each with a link."""
    if not latest:
        yield make_block(make_section([make_text(sentences.NO_DIGESTS)]))
    for each in latest[:_MAX_DIGESTS]:
        link = [make_text(" "), make_link(each.address, sentences.OPEN_LINK)] if each.address else []
        line = _shorten_line(each.text)
        yield make_block(make_section([*make_prose(line, _collect_addresses(line, each), _MAX_LENGTH), *link]))


def _collect_addresses(line: str, digest: LatestDigest) -> dict[int, str]:
    """Return the addresses of the pull requests in the text of a digest."""
    numbers = map(int, _NUMBER_PATTERN.findall(line)) if digest.repository_url else ()
    return {number: f"{digest.repository_url}/pull/{number}" for number in numbers}


def _shorten_line(content: str) -> str:
    """Return a text of the bot on one line; Slack accepts no empty text."""
    return truncate_text(collapse_lines(restore_bot_text(content)), _MAX_LENGTH) or "…"


def _render_no_subscriptions() -> Iterator[Block]:
    """Yield that there are no subscriptions, and how to make one."""
    yield make_block(make_section([make_text(sentences.NONE_YET)]))


def _render_health(health: BotHealth, now: datetime) -> list[Element]:
    """Return the health of the bot, a line for each part."""
    return [
        *_render_clock_state(health, now),
        *_render_last_runs(health),
        *_render_store_state(health),
        *_render_budget(health),
    ]


def _render_clock_state(health: BotHealth, now: datetime) -> list[Element]:
    """Return whether the clock runs."""
    if health.last_tick is None:
        return [make_text(sentences.CLOCK_OFF, bold=True)]
    if now - health.last_tick > _MAX_TICK_AGE:
        last_tick = render_instant(health.last_tick, sentences.LAST_SEEN)
        return [make_text(sentences.CLOCK_STOPPED, bold=True), last_tick]
    return [make_text(sentences.CLOCK_ON)]


def _render_last_runs(health: BotHealth) -> Iterator[Element]:
    """Yield the last digest and the last failure."""
    success, failure = health.last_success, health.last_failure
    yield make_text(f"\n{sentences.LAST_DIGEST}")
    yield render_instant(success.at) if success else make_text(sentences.NO_LAST_DIGEST)
    if success and success.detail:
        yield make_text(sentences.format_incomplete(truncate_text(collapse_lines(success.detail), 200)))
    yield make_text(f"\n{sentences.LAST_FAILURE}")
    if failure is None:
        yield make_text(sentences.NO_LAST_FAILURE)
        return
    yield render_instant(failure.at)
    detail = truncate_text(collapse_lines(failure.detail), 200)
    yield make_text(sentences.format_failure(outcome=failure.outcome, detail=detail))


def _render_store_state(health: BotHealth) -> Iterator[Element]:
    """Yield the state of the store where it needs somebody; how much it uses is for operators."""
    if health.is_full:
        yield make_text(f"\n{sentences.format_store_state(health)}", bold=True)


def _render_budget(health: BotHealth) -> Iterator[Element]:
    """Yield how much of the model's budget is spent, or that there is no model."""
    if health.stand_in_note:
        yield make_text(f"\n{health.stand_in_note}")
        return
    if not health.has_model:
        yield make_text(f"\n{sentences.NO_MODEL}")
        return
    yield make_text(f"\n{sentences.format_budget(health)}")
