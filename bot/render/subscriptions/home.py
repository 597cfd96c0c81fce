"""App Home: the last digests in short, the subscriptions with their buttons, and the health of the bot."""

from __future__ import annotations

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
from bot.render.subscriptions.incidents import render_instant
from bot.render.subscriptions.subscription_list import DueSubscription, make_new_button, render_rows

_MAX_DIGESTS = 3
# characters
_MAX_LENGTH = 600
_MAX_TICK_AGE = timedelta(minutes=3)
_HOW_TO_ASK = (
    "Write to me under Messages, or reply to any message of mine: I answer questions about the changes, with "
    "links to the lines. /prsummary 35617 explains a pull request, /prrisks 7d lists what may hurt."
)


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
        make_header("The last digests"),
        *_render_digests(latest),
        make_header("Subscriptions"),
        *(render_rows(subscriptions, with_place=True) if subscriptions else _render_no_subscriptions()),
        {"type": "actions", "elements": [make_new_button()]},
        make_header("How I am"),
        make_block(make_section(_render_health(health, now))),
        make_context(_HOW_TO_ASK),
    )


def _render_digests(latest: Sequence[LatestDigest]) -> Iterator[Block]:
    """Yield the last digests, each with a link."""
    if not latest:
        yield make_block(make_section([make_text("None was posted yet. The first one comes at the time below.")]))
    for each in latest[:_MAX_DIGESTS]:
        where: list[Element] = [make_text(" "), make_link(each.address, "Open it")] if each.address else []
        yield make_block(make_section([*make_prose(_shorten_line(each.text), {}, _MAX_LENGTH), *where]))


def _shorten_line(content: str) -> str:
    """Return a text of the bot on one line; Slack accepts no empty text."""
    return truncate_text(collapse_lines(restore_bot_text(content)), _MAX_LENGTH) or "…"


def _render_no_subscriptions() -> Iterator[Block]:
    """Yield that there are no subscriptions, and how to make one."""
    yield make_block(
        make_section(
            [make_text("None yet: make one here, or with /prdigest subscribe in a channel that I am in.")]
        )
    )


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
        return [make_text("Clock: not running, nothing is posted by itself", bold=True)]
    if now - health.last_tick > _MAX_TICK_AGE:
        return [make_text("Clock: stopped, ", bold=True), render_instant(health.last_tick, "last seen ")]
    return [make_text("Clock: running")]


def _render_last_runs(health: BotHealth) -> Iterator[Element]:
    """Yield the last digest and the last failure."""
    yield make_text("\nLast digest: ")
    yield render_instant(health.last_success.at) if health.last_success else make_text("none yet")
    if health.last_success and health.last_success.detail:
        yield make_text(f", incomplete: {truncate_text(collapse_lines(health.last_success.detail), 200)}")
    yield make_text("\nLast failure: ")
    if health.last_failure is None:
        yield make_text("none")
        return
    yield render_instant(health.last_failure.at)
    yield make_text(
        f", {health.last_failure.outcome}: {truncate_text(collapse_lines(health.last_failure.detail), 200)}"
    )


def _render_store_state(health: BotHealth) -> Iterator[Element]:
    """Yield the state of the store."""
    yield make_text(f"\nStore: {'nearly full, ' if health.is_full else ''}{health.store}", bold=health.is_full)


def _render_budget(health: BotHealth) -> Iterator[Element]:
    """Yield how much of the model's budget is spent, or that there is no model."""
    if health.stand_in_note:
        yield make_text(f"\n{health.stand_in_note}")
        return
    if not health.has_model:
        yield make_text("\nModel: none is set up, what you read are facts alone")
        return
    yield make_text(f"\nModel budget today: ${health.cost_today:.2f} of ${health.budget:.2f} used")
