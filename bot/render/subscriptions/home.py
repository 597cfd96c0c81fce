"""App Home: the last digests in short, the subscriptions with their buttons, and the health of the bot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from bot.domain.conversations.slack_text import labelled
from bot.domain.operations.bot_health import Health, Latest
from bot.domain.text.strings import one_line, shorten
from bot.render.blocks.rich_text import Block, Element, block, context, header, link, prose, section, text
from bot.render.subscriptions.incidents import moment
from bot.render.subscriptions.subscription_list import Planned, new_button, rows

_MOST_DIGESTS = 3
# characters
_LONGEST = 600
_ALIVE = timedelta(minutes=3)
_ASK = (
    "Write to me under Messages, or reply to any message of mine: I answer questions about the changes, with "
    "links to the lines. /prsummary 35617 explains a pull request, /prrisks 7d lists what may hurt."
)


def home(
    latest: Sequence[Latest], subscriptions: Sequence[Planned], health: Health, now: datetime, note: str = ""
) -> tuple[Block, ...]:
    """Return the blocks of the page. ``note`` is the result of the last click."""
    return (
        *([block(section([text(_short(note), bold=True)]))] if note else []),
        header("The last digests"),
        *_digests(latest),
        header("Subscriptions"),
        *(rows(subscriptions, with_place=True) if subscriptions else _none()),
        {"type": "actions", "elements": [new_button()]},
        header("How I am"),
        block(section(_health(health, now))),
        context(_ASK),
    )


def _digests(latest: Sequence[Latest]) -> Iterator[Block]:
    """Yield the last digests, each with a link."""
    if not latest:
        yield block(section([text("None was posted yet. The first one comes at the time below.")]))
    for each in latest[:_MOST_DIGESTS]:
        where: list[Element] = [text(" "), link(each.address, "Open it")] if each.address else []
        yield block(section([*prose(_short(each.text), {}, _LONGEST), *where]))


def _short(content: str) -> str:
    """Return a text of the bot on one line; Slack accepts no empty text."""
    return shorten(one_line(labelled(content)), _LONGEST) or "…"


def _none() -> Iterator[Block]:
    """Yield that there are no subscriptions, and how to make one."""
    yield block(section([text("None yet: make one here, or with /prdigest subscribe in a channel that I am in.")]))


def _health(health: Health, now: datetime) -> list[Element]:
    """Return the health of the bot, a line for each part."""
    return [*_clock(health, now), *_runs(health), *_store(health), *_budget(health)]


def _clock(health: Health, now: datetime) -> list[Element]:
    """Return whether the clock runs."""
    if health.ticked is None:
        return [text("Clock: not running, nothing is posted by itself", bold=True)]
    if now - health.ticked > _ALIVE:
        return [text("Clock: stopped, ", bold=True), moment(health.ticked, "last seen ")]
    return [text("Clock: running")]


def _runs(health: Health) -> Iterator[Element]:
    """Yield the last digest and the last failure."""
    yield text("\nLast digest: ")
    yield moment(health.good.at) if health.good else text("none yet")
    if health.good and health.good.detail:
        yield text(f", incomplete: {shorten(one_line(health.good.detail), 200)}")
    yield text("\nLast failure: ")
    if health.bad is None:
        yield text("none")
        return
    yield moment(health.bad.at)
    yield text(f", {health.bad.outcome}: {shorten(one_line(health.bad.detail), 200)}")


def _store(health: Health) -> Iterator[Element]:
    """Yield the state of the store."""
    yield text(f"\nStore: {'nearly full, ' if health.is_full else ''}{health.store}", bold=health.is_full)


def _budget(health: Health) -> Iterator[Element]:
    """Yield how much of the model's budget is spent, or that there is no model."""
    if health.stands_in:
        yield text(f"\n{health.stands_in}")
        return
    if not health.has_model:
        yield text("\nModel: none is set up, what you read are facts alone")
        return
    yield text(f"\nModel budget today: ${health.spent:.2f} of ${health.budget:.2f} used")
