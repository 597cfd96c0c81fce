"""Subscriptions as users see them: one line each, with buttons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from bot.domain.subscriptions.models import Subscription
from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from bot.ports import Post
from bot.render.blocks.button_values import write_id
from bot.render.blocks.buttons import make_button
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import (
    Block,
    Element,
    make_block,
    make_context,
    make_plain_text,
    make_section,
    make_text,
)
from bot.render.subscriptions.incidents import render_channel, render_instant

PAUSE, RESUME, REMOVE = "subscription_pause", "subscription_resume", "subscription_remove"
CHANGE, PREVIEW, NEW = "subscription_change", "subscription_preview", "subscription_new"
# two blocks each, of the 45 of a message
_MAX_SUBSCRIPTIONS = 20
# characters of the filters of one, and of all in a message
_MAX_FILTER_LENGTH, _MAX_FILTERS_LENGTH = 300, 1_200
_NO_SUBSCRIPTIONS = "No digest comes here regularly: /prdigest subscribe makes one come, /prdigest help says how."

DueSubscription = tuple[Subscription, datetime]


def render_confirmation(subscription: Subscription, due: datetime) -> Post:
    """Render what a user has just created or changed."""
    elements = [
        make_text("Subscribed: ", bold=True),
        *_render_line(subscription),
        make_text(". "),
        render_instant(due, "The next one comes "),
    ]
    row = _make_buttons(subscription)
    return Post(
        escape_mrkdwn(f"Subscribed to {subscription.repository}"),
        (make_block(make_section([*elements, make_text(".")])), row),
    )


def render_changes(subscriptions: Sequence[Subscription], how: str, note: str = "") -> Post:
    """Render what was done to some subscriptions, such as ``Paused``."""
    title = f"{how}: {', '.join(str(each.repository) for each in subscriptions)}"
    room = _limit_filter_length(len(subscriptions))
    lines = [
        make_section([make_text(f"{how}: ", bold=True), *_render_line(each, room), make_text(f". {note}")])
        for each in subscriptions
    ]
    return Post(escape_mrkdwn(truncate_text(title, 300)), (make_block(*lines),))


def render_change_notice(user: str, how: str, subscription: Subscription) -> Post:
    """Render who did what, such as ``paused``, to a digest of the channel. It pings that user and nobody else."""
    user_element: Element = {"type": "user", "user_id": user}
    elements = [user_element, make_text(f" {how} the digest of "), *_render_line(subscription), make_text(".")]
    title = f"The digest of {subscription.repository} was {how}."
    return Post(escape_mrkdwn(title), (make_block(make_section(elements)),))


def render_listing(subscriptions: Sequence[DueSubscription]) -> Post:
    """Render all subscriptions of a channel."""
    if not subscriptions:
        return Post(escape_mrkdwn(_NO_SUBSCRIPTIONS), (make_block(make_section([make_text(_NO_SUBSCRIPTIONS)])),))
    title = format_count(len(subscriptions), "digest comes", "digests come") + " here"
    return Post(
        escape_mrkdwn(title),
        (make_block(make_section([make_text(title, bold=True)])), *render_rows(subscriptions)),
    )


def render_resumption(subscriptions: Sequence[DueSubscription]) -> Post:
    """Render the subscriptions that were resumed."""
    title = f"Resumed: {', '.join(str(each.repository) for each, _ in subscriptions)}"
    return Post(
        escape_mrkdwn(truncate_text(title, 300)),
        (make_block(make_section([make_text("Resumed", bold=True)])), *render_rows(subscriptions)),
    )


def render_rows(subscriptions: Sequence[DueSubscription], *, with_place: bool = False) -> Iterator[Block]:
    """Yield a line and its buttons for each subscription, up to a limit."""
    first = subscriptions[:_MAX_SUBSCRIPTIONS]
    for subscription, due in first:
        yield make_block(
            make_section(
                _render_description(subscription, due, _limit_filter_length(len(first)), with_place=with_place)
            )
        )
        if not subscription.is_fixed:
            yield _make_buttons(subscription)
    if len(subscriptions) > _MAX_SUBSCRIPTIONS:
        yield make_context(
            f"and {len(subscriptions) - _MAX_SUBSCRIPTIONS} more: /prdigest list shows those of a channel"
        )


def make_new_button() -> Element:
    """Return the button that opens the form for another one."""
    return make_button("New subscription", NEW, "new")


def _render_description(
    subscription: Subscription, due: datetime, room: int, *, with_place: bool
) -> list[Element]:
    """Return the line of a subscription with its id and state."""
    where = [render_channel(subscription.channel), make_text(": ")] if with_place else []
    elements = [*where, *_render_line(subscription, room), make_text(f" · {subscription.id}")]
    if subscription.is_fixed:
        elements.append(make_text(" · from the settings of the bot", italic=True))
    if subscription.is_paused:
        return [*elements, make_text(" · paused", bold=True)]
    return [*elements, make_text(" · "), render_instant(due, "next ")]


def _limit_filter_length(count: int) -> int:
    """Return how many characters of each filter are shown, so that all of them fit a message."""
    return min(_MAX_FILTER_LENGTH, _MAX_FILTERS_LENGTH // count)


def _render_line(subscription: Subscription, room: int = _MAX_FILTER_LENGTH) -> list[Element]:
    """Return a line such as ``owner/name, every day at 09:00 (Europe/Berlin), path:…``."""
    timing = subscription.timing
    days = "from Monday to Friday" if timing.weekdays else "every day"
    zone = f"{timing.zone}, as your Slack is set" if subscription.follows else str(timing.zone)
    view = f", {truncate_text(collapse_lines(str(subscription.view)), room)}" if subscription.view else ""
    when = f", {days} at {timing.at:%H:%M} ({zone}){view}"
    return [make_text(str(subscription.repository), bold=True), make_text(when)]


def _make_buttons(subscription: Subscription) -> Block:
    """Return the row of buttons of a subscription."""
    name = truncate_text(str(subscription.repository), 60)
    turn = ("Resume", RESUME) if subscription.is_paused else ("Pause", PAUSE)
    value = write_id(subscription.id)
    remove = make_button("Unsubscribe", REMOVE, value)
    remove["confirm"] = {
        "title": make_plain_text("Unsubscribe?", 100),
        "text": make_plain_text(f"{name} will not be posted there any more. What was posted stays.", 300),
        "confirm": make_plain_text("Unsubscribe", 30),
        "deny": make_plain_text("Keep it", 30),
        "style": "danger",
    }
    elements = [
        make_button("Preview", PREVIEW, value),
        make_button("Change", CHANGE, value),
        make_button(*turn, value),
        remove,
    ]
    return {"type": "actions", "elements": elements}
