"""Subscriptions as users see them: one line each, with buttons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from bot.domain.subscriptions.models import Subscription
from bot.domain.text.strings import one_line, plural, shorten
from bot.ports import Post
from bot.render.blocks.button_values import write_id
from bot.render.blocks.buttons import button
from bot.render.blocks.mrkdwn import escape
from bot.render.blocks.rich_text import Block, Element, block, context, plain, section, text
from bot.render.subscriptions.incidents import moment, place

PAUSE, RESUME, REMOVE = "subscription_pause", "subscription_resume", "subscription_remove"
CHANGE, PREVIEW, NEW = "subscription_change", "subscription_preview", "subscription_new"
# two blocks each, of the 45 of a message
_MOST = 20
# characters of the filters of one, and of all in a message
_LONGEST, _ROOM = 300, 1_200
_NONE = "No digest comes here regularly: /prdigest subscribe makes one come, /prdigest help says how."

Planned = tuple[Subscription, datetime]


def confirmed(subscription: Subscription, due: datetime) -> Post:
    """Render what a user has just created or changed."""
    elements = [
        text("Subscribed: ", bold=True),
        *_line(subscription),
        text(". "),
        moment(due, "The next one comes "),
    ]
    row = _buttons(subscription)
    return Post(escape(f"Subscribed to {subscription.repository}"), (block(section([*elements, text(".")])), row))


def changed(subscriptions: Sequence[Subscription], how: str, note: str = "") -> Post:
    """Render what was done to some subscriptions, such as ``Paused``."""
    title = f"{how}: {', '.join(str(each.repository) for each in subscriptions)}"
    room = _room(len(subscriptions))
    lines = [
        section([text(f"{how}: ", bold=True), *_line(each, room), text(f". {note}")]) for each in subscriptions
    ]
    return Post(escape(shorten(title, 300)), (block(*lines),))


def describe_change(user: str, how: str, subscription: Subscription) -> Post:
    """Render who did what, such as ``paused``, to a digest of the channel. It pings that user and nobody else."""
    user_element: Element = {"type": "user", "user_id": user}
    elements = [user_element, text(f" {how} the digest of "), *_line(subscription), text(".")]
    title = f"The digest of {subscription.repository} was {how}."
    return Post(escape(title), (block(section(elements)),))


def listing(subscriptions: Sequence[Planned]) -> Post:
    """Render all subscriptions of a channel."""
    if not subscriptions:
        return Post(escape(_NONE), (block(section([text(_NONE)])),))
    title = plural(len(subscriptions), "digest comes", "digests come") + " here"
    return Post(escape(title), (block(section([text(title, bold=True)])), *rows(subscriptions)))


def resumed(subscriptions: Sequence[Planned]) -> Post:
    """Render the subscriptions that were resumed."""
    title = f"Resumed: {', '.join(str(each.repository) for each, _ in subscriptions)}"
    return Post(escape(shorten(title, 300)), (block(section([text("Resumed", bold=True)])), *rows(subscriptions)))


def rows(subscriptions: Sequence[Planned], *, with_place: bool = False) -> Iterator[Block]:
    """Yield a line and its buttons for each subscription, up to a limit."""
    first = subscriptions[:_MOST]
    for subscription, due in first:
        yield block(section(_described(subscription, due, _room(len(first)), with_place=with_place)))
        if not subscription.is_fixed:
            yield _buttons(subscription)
    if len(subscriptions) > _MOST:
        yield context(f"and {len(subscriptions) - _MOST} more: /prdigest list shows those of a channel")


def new_button() -> Element:
    """Return the button that opens the form for another one."""
    return button("New subscription", NEW, "new")


def _described(subscription: Subscription, due: datetime, room: int, *, with_place: bool) -> list[Element]:
    """Return the line of a subscription with its id and state."""
    where = [place(subscription.channel), text(": ")] if with_place else []
    elements = [*where, *_line(subscription, room), text(f" · {subscription.id}")]
    if subscription.is_fixed:
        elements.append(text(" · from the settings of the bot", italic=True))
    if subscription.is_paused:
        return [*elements, text(" · paused", bold=True)]
    return [*elements, text(" · "), moment(due, "next ")]


def _room(count: int) -> int:
    """Return how many characters of each filter are shown, so that all of them fit a message."""
    return min(_LONGEST, _ROOM // count)


def _line(subscription: Subscription, room: int = _LONGEST) -> list[Element]:
    """Return a line such as ``owner/name, every day at 09:00 (Europe/Berlin), path:…``."""
    timing = subscription.timing
    days = "from Monday to Friday" if timing.weekdays else "every day"
    zone = f"{timing.zone}, as your Slack is set" if subscription.follows else str(timing.zone)
    view = f", {shorten(one_line(str(subscription.view)), room)}" if subscription.view else ""
    when = f", {days} at {timing.at:%H:%M} ({zone}){view}"
    return [text(str(subscription.repository), bold=True), text(when)]


def _buttons(subscription: Subscription) -> Block:
    """Return the row of buttons of a subscription."""
    name = shorten(str(subscription.repository), 60)
    turn = ("Resume", RESUME) if subscription.is_paused else ("Pause", PAUSE)
    value = write_id(subscription.id)
    remove = button("Unsubscribe", REMOVE, value)
    remove["confirm"] = {
        "title": plain("Unsubscribe?", 100),
        "text": plain(f"{name} will not be posted there any more. What was posted stays.", 300),
        "confirm": plain("Unsubscribe", 30),
        "deny": plain("Keep it", 30),
        "style": "danger",
    }
    elements = [
        button("Preview", PREVIEW, value),
        button("Change", CHANGE, value),
        button(*turn, value),
        remove,
    ]
    return {"type": "actions", "elements": elements}
