"""Subscriptions as users see them: one line each, with buttons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from bot.domain.subscriptions.models import Subscription
from bot.domain.text.strings import collapse_lines, truncate_text
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
from bot.render.subscriptions import sentences
from bot.render.subscriptions.incidents import render_channel, render_instant

PAUSE, RESUME, REMOVE = "subscription_pause", "subscription_resume", "subscription_remove"
CHANGE, PREVIEW, NEW = "subscription_change", "subscription_preview", "subscription_new"
_ACTION_LABELS = {
    PREVIEW: sentences.PREVIEW_LABEL,
    CHANGE: sentences.CHANGE_LABEL,
    PAUSE: sentences.PAUSE_LABEL,
    RESUME: sentences.RESUME_LABEL,
    REMOVE: sentences.REMOVE_LABEL,
}
# two blocks each, of the 45 of a message
_MAX_SUBSCRIPTIONS = 20
# characters of the filters of one, and of all in a message
_MAX_FILTER_LENGTH, _MAX_FILTERS_LENGTH = 300, 1_200

DueSubscription = tuple[Subscription, datetime]


def render_confirmation(
    subscription: Subscription, due: datetime, now: datetime, *, has_previews: bool = False
) -> Post:
    """Render what a user has just created or changed, and where it goes; ``now`` is aware.

    With ``has_previews`` it says that links get previews there.
    """
    elements = [
        make_text(sentences.SUBSCRIBED, bold=True),
        *_render_line(subscription),
        *_render_place(subscription),
        make_text(". "),
        *_render_due(due, now, sentences.NEXT_COMES, sentences.COMES_NOW),
    ]
    row = _make_buttons(subscription)
    return Post(
        escape_mrkdwn(sentences.format_subscribed(subscription.repository)),
        (make_block(make_section([*elements, make_text(sentences.AND_PREVIEWS if has_previews else ".")])), row),
    )


def render_changes(subscriptions: Sequence[Subscription], how: str, note: str = "") -> Post:
    """Render what was done to some subscriptions, such as ``Paused``."""
    title = sentences.format_changes(how, [each.repository for each in subscriptions])
    room = _limit_filter_length(len(subscriptions))
    lines = [
        make_section([make_text(f"{how}: ", bold=True), *_render_line(each, room), make_text(f". {note}")])
        for each in subscriptions
    ]
    return Post(escape_mrkdwn(truncate_text(title, 300)), (make_block(*lines),))


def render_change_notice(user: str, how: str, subscription: Subscription) -> Post:
    """Render who did what, such as ``paused``, to a digest of the channel. It pings that user and nobody else."""
    user_element: Element = {"type": "user", "user_id": user}
    elements = [user_element, make_text(sentences.format_change(how)), *_render_line(subscription), make_text(".")]
    title = sentences.format_change_notification(how, subscription.repository)
    return Post(escape_mrkdwn(title), (make_block(make_section(elements)),))


def render_listing(subscriptions: Sequence[DueSubscription]) -> Post:
    """Render all subscriptions of a channel."""
    if not subscriptions:
        nothing = make_block(make_section([make_text(sentences.NO_SUBSCRIPTIONS)]))
        return Post(escape_mrkdwn(sentences.NO_SUBSCRIPTIONS), (nothing,))
    title = sentences.format_listing_title(len(subscriptions))
    return Post(
        escape_mrkdwn(title),
        (make_block(make_section([make_text(title, bold=True)])), *render_rows(subscriptions)),
    )


def render_choice(subscriptions: Sequence[Subscription], action: str) -> Post:
    """Render the subscriptions that a command may mean, each with the button of one ``action``."""
    first = subscriptions[:_MAX_SUBSCRIPTIONS]
    room = _limit_filter_length(len(first))
    blocks = [make_block(make_section([make_text(sentences.WHICH_ONE, bold=True)]))]
    for each in first:
        row = {"type": "actions", "elements": [_make_action_button(each, action)]}
        blocks += [make_block(make_section(_render_line(each, room))), row]
    return Post(sentences.WHICH_ONE, tuple(blocks))


def render_resumption(subscriptions: Sequence[DueSubscription]) -> Post:
    """Render the subscriptions that were resumed."""
    title = sentences.format_changes(sentences.RESUMED, [each.repository for each, _ in subscriptions])
    return Post(
        escape_mrkdwn(truncate_text(title, 300)),
        (make_block(make_section([make_text(sentences.RESUMED, bold=True)])), *render_rows(subscriptions)),
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
        yield make_context(sentences.format_more_subscriptions(len(subscriptions) - _MAX_SUBSCRIPTIONS))


def make_new_button() -> Element:
    """Return the button that opens the form for another one."""
    return make_button(sentences.NEW_LABEL, NEW, write_id("new"))


def _render_description(
    subscription: Subscription, due: datetime, room: int, *, with_place: bool
) -> list[Element]:
    """Return the line of a subscription with its id and state."""
    # in App Home all is done with buttons; elsewhere commands take the id
    name = [] if with_place else [make_text(f" · {subscription.id}")]
    where = [_render_owner(subscription), make_text(": ")] if with_place else []
    elements = [*where, *_render_line(subscription, room), *name]
    if subscription.is_fixed:
        elements.append(make_text(sentences.FROM_SETTINGS, italic=True))
    if subscription.is_paused:
        return [*elements, make_text(sentences.IS_PAUSED, bold=True)]
    return [*elements, make_text(" · "), render_instant(due, sentences.NEXT, sentences.YOUR_TIME)]


def _render_owner(subscription: Subscription) -> Element:
    """Return for whom a subscription is: a channel, or the reader."""
    return make_text(sentences.SENT_TO_YOU) if subscription.is_personal else render_channel(subscription.channel)


def _render_place(subscription: Subscription) -> list[Element]:
    """Return where a subscription is posted, in a sentence."""
    if subscription.is_personal:
        return [make_text(f",{sentences.TO_YOU_ALONE}")]
    return [make_text(f",{sentences.IN_PLACE}"), render_channel(subscription.channel)]


def _render_due(due: datetime, now: datetime, lead: str, soon: str) -> list[Element]:
    """Return when a digest comes, in the zone of the reader; ``soon`` if it is due."""
    if due <= now:
        return [make_text(soon)]
    return [render_instant(due, lead, sentences.YOUR_TIME)]


def _limit_filter_length(count: int) -> int:
    """Return how many characters of each filter are shown, so that all of them fit a message."""
    return min(_MAX_FILTER_LENGTH, _MAX_FILTERS_LENGTH // count)


def _render_line(subscription: Subscription, room: int = _MAX_FILTER_LENGTH) -> list[Element]:
    """Return a line such as ``owner/name, every day at 09:00 (Europe/Berlin), path:…``."""
    view = truncate_text(collapse_lines(str(subscription.view)), room)
    timing = make_text(sentences.format_timing(subscription, view))
    return [make_text(str(subscription.repository), bold=True), timing]


def _make_buttons(subscription: Subscription) -> Block:
    """Return the row of buttons of a subscription."""
    return {"type": "actions", "elements": _list_buttons(subscription)}


def _list_buttons(subscription: Subscription) -> list[Element]:
    """Return the buttons of a subscription."""
    turn = RESUME if subscription.is_paused else PAUSE
    return [_make_action_button(subscription, action) for action in (PREVIEW, CHANGE, turn, REMOVE)]


def _make_action_button(subscription: Subscription, action: str) -> Element:
    """Return the button of a subscription for one of the actions; the removal is asked for twice."""
    button = make_button(_ACTION_LABELS[action], action, write_id(subscription.id))
    if action == REMOVE:
        name = truncate_text(str(subscription.repository), 60)
        button["confirm"] = {
            "title": make_plain_text(sentences.REMOVE_QUESTION, 100),
            "text": make_plain_text(sentences.format_removal(name), 300),
            "confirm": make_plain_text(sentences.REMOVE_LABEL, 30),
            "deny": make_plain_text(sentences.KEEP_LABEL, 30),
            "style": "danger",
        }
    return button
