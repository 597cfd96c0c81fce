from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from bot.dates import WEEKDAYS
from bot.features.subscriptions.rules import Subscription
from bot.platform.slack.blocks import (
    Block,
    Element,
    escape_mrkdwn,
    make_block,
    make_context,
    make_instant,
    make_plain_text,
    make_section,
    make_text,
)
from bot.platform.slack.buttons import make_button, write_id
from bot.platform.slack.messages import Post
from bot.text import format_count
from impact.text.strings import collapse_lines, truncate_text

PAUSE, RESUME, REMOVE = "subscription_pause", "subscription_resume", "subscription_remove"
CHANGE, PREVIEW, NEW = "subscription_change", "subscription_preview", "subscription_new"
POSTS_STAY = "Posted digests stay."
_SNOOZE_NOTE = "/prdigest resume ends that sooner. For the days in between: /prdigest since DAY."
_LABELS = {PREVIEW: "Preview", CHANGE: "Change", PAUSE: "Pause", RESUME: "Resume", REMOVE: "Unsubscribe"}
# two blocks each, of the 45 of a message
_MAX_SUBSCRIPTIONS = 20
# characters of the filters of one, and of all in a message
_MAX_FILTER_LENGTH, _MAX_FILTERS_LENGTH = 300, 1_200
_CHANNEL_ID = re.compile(r"[CG][A-Z0-9]+")

DueSubscription = tuple[Subscription, datetime]


def render_confirmation(
    subscription: Subscription,
    due: datetime,
    now: datetime,
    previous: Subscription | None = None,
    *,
    has_previews: bool = False,
) -> Post:
    """Render what a user has just created or changed, where it goes, and what it was; ``now`` is aware."""
    is_personal = subscription.is_personal
    # whoever changes it, it has the same creator, and whether a channel is public is nobody's wish
    is_same = (
        previous is not None
        and replace(previous, by=subscription.by, is_open=subscription.is_open) == subscription
    )
    how = "Subscribed" if previous is None else "Nothing changed" if is_same else "Changed"
    elements = [
        make_text(f"{how}: ", bold=True),
        *_render_line(subscription),
        make_text(", in your direct messages with me" if is_personal else ", in "),
        *([] if is_personal else [make_channel(subscription.channel)]),
        make_text(". "),
        make_text("Next: in a minute") if due <= now else _make_next(due),
        make_text(". Links to pull requests get previews there." if has_previews else "."),
    ]
    if previous is None and subscription.is_second:
        elements.append(make_text(" The other one stays: /prdigest list shows both."))
    if previous and is_same:
        elements.append(make_text(" To change it, write what is to be different, such as at 08:00."))
    elif previous:
        paused = ", paused" if previous.is_paused else ""
        elements += [make_text(" Before: "), *_render_line(previous), make_text(f"{paused}.")]
    title = escape_mrkdwn(f"{'Subscribed to' if previous is None else f'{how}:'} {subscription.repository}")
    return Post(title, (make_block(make_section(elements)), _make_buttons(subscription)))


def render_changes(subscriptions: Sequence[Subscription], how: str, note: str) -> Post:
    room = _limit_filter_length(len(subscriptions))
    lines = [
        make_section([make_text(f"{how}: ", bold=True), *_render_line(each, room), make_text(f". {note}")])
        for each in subscriptions
    ]
    return Post(_format_changes(subscriptions, how), (make_block(*lines),))


def render_resumption(subscriptions: Sequence[DueSubscription], how: str) -> Post:
    """Render those that were "resumed" or "snoozed", with the digests that come next."""
    note = [make_text(f". {_SNOOZE_NOTE}")] if how == "snoozed" else []
    title = make_block(make_section([make_text(how.capitalize(), bold=True), *note]))
    changes = _format_changes([each for each, _ in subscriptions], how.capitalize())
    return Post(changes, (title, *render_rows(subscriptions)))


def _format_changes(subscriptions: Sequence[Subscription], how: str) -> str:
    return escape_mrkdwn(truncate_text(f"{how}: {', '.join(str(each.repository) for each in subscriptions)}", 300))


def render_change_notice(user: str, how: str, subscription: Subscription) -> Post:
    """Render who did what, such as ``paused``, to a digest of the channel. It pings that user and nobody else."""
    person: Element = {"type": "user", "user_id": user}
    elements = [person, make_text(f" {how} the digest of "), *_render_line(subscription), make_text(".")]
    title = escape_mrkdwn(f"The digest of {subscription.repository} was {how}.")
    return Post(title, (make_block(make_section(elements)),))


def render_listing(subscriptions: Sequence[DueSubscription]) -> Post:
    title = "There are no subscriptions here: create one with /prdigest subscribe. See /prdigest help."
    if subscriptions:
        title = f"{format_count(len(subscriptions), 'digest comes', 'digests come')} here"
    head = make_block(make_section([make_text(title, bold=bool(subscriptions))]))
    return Post(escape_mrkdwn(title), (head, *render_rows(subscriptions, is_numbered=True), make_new_row()))


def render_choice(subscriptions: Sequence[Subscription], action: str) -> Post:
    first, title = subscriptions[:_MAX_SUBSCRIPTIONS], "Which one?"
    room = _limit_filter_length(len(first))
    blocks = [make_block(make_section([make_text(title, bold=True)]))]
    for each in first:
        row = {"type": "actions", "elements": [_make_action_button(each, action)]}
        blocks += [make_block(make_section(_render_line(each, room))), row]
    return Post(title, tuple(blocks))


def render_rows(
    subscriptions: Sequence[DueSubscription], *, with_place: bool = False, is_numbered: bool = False
) -> Iterator[Block]:
    """Render a row for each; the numbers are what commands take."""
    first = subscriptions[:_MAX_SUBSCRIPTIONS]
    for number, (subscription, due) in enumerate(first, 1):
        room = _limit_filter_length(len(first))
        name = [make_text(f"{number}. ")] if is_numbered else []
        yield make_block(make_section([*name, *_render_row(subscription, due, room, with_place=with_place)]))
        if not subscription.is_fixed:
            yield _make_buttons(subscription)
    if more := len(subscriptions) - len(first):
        yield make_context(f"and {more} more: /prdigest list shows a channel's subscriptions")


def _render_row(subscription: Subscription, due: datetime, room: int, *, with_place: bool) -> list[Element]:
    elements = _render_line(subscription, room)
    if with_place:
        owner = make_text("Sent to you") if subscription.is_personal else make_channel(subscription.channel)
        elements = [owner, make_text(": "), *elements]
    if subscription.is_fixed:
        elements.append(make_text(" · set by the bot's admin", italic=True))
    if subscription.is_paused:
        return [*elements, make_text(" · paused", bold=True)]
    return [*elements, make_text(" · "), _make_next(due)]


def _make_next(due: datetime) -> Element:
    return make_instant(due, "Next: ", " your time", between=" ")


def _render_line(subscription: Subscription, room: int = _MAX_FILTER_LENGTH) -> list[Element]:
    """Return a line such as ``owner/name, every day at 09:00 (Europe/Berlin), path:…``."""
    view = truncate_text(collapse_lines(str(subscription.view)), room)
    timing = format_timing(subscription) + (f", {view}" if view else "")
    return [make_text(str(subscription.repository), bold=True), make_text(timing)]


def format_timing(subscription: Subscription) -> str:
    timing = subscription.timing
    days = "from Monday to Friday" if timing.weekdays else "every day"
    if timing.weekday is not None:
        days = f"every {WEEKDAYS[timing.weekday].capitalize()}"
    zone = f"{timing.zone}, as your Slack is set" if subscription.follows else str(timing.zone)
    return f", {days} at {timing.at:%H:%M} ({zone})"


def _limit_filter_length(count: int) -> int:
    """Return how many characters of each filter are shown, so that all of them fit a message."""
    return min(_MAX_FILTER_LENGTH, _MAX_FILTERS_LENGTH // count)


def make_channel(channel: str) -> Element:
    """Return a channel by its name, which Slack shows to users who may see it; it pings nobody."""
    if channel.startswith("D"):
        return make_text("a direct message")
    # a setting may hold something else, and Slack would refuse the message that reports it
    if _CHANNEL_ID.fullmatch(channel):
        return {"type": "channel", "channel_id": channel}
    return make_text(collapse_lines(channel))


def make_new_row() -> Block:
    return {"type": "actions", "elements": [make_button("New subscription", NEW, write_id("new"))]}


def _make_buttons(subscription: Subscription) -> Block:
    actions = (PREVIEW, CHANGE, RESUME if subscription.is_paused else PAUSE, REMOVE)
    return {"type": "actions", "elements": [_make_action_button(subscription, action) for action in actions]}


def _make_action_button(subscription: Subscription, action: str) -> Element:
    """Return the button of a subscription for one of the actions; the removal is asked for twice."""
    button = make_button(_LABELS[action], action, write_id(subscription.id))
    if action == REMOVE:
        name = truncate_text(str(subscription.repository), 60)
        button["confirm"] = {
            "title": make_plain_text("Unsubscribe?", 100),
            "text": make_plain_text(f"{name} will no longer be posted there. {POSTS_STAY}", 300),
            "confirm": make_plain_text(_LABELS[REMOVE], 30),
            "deny": make_plain_text("Keep it", 30),
            "style": "danger",
        }
    return button
