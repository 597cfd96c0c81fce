"""Subscriptions as people see them: lists, sentences and the form."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from bot.dates import WEEKDAYS, parse_time, parse_zone
from bot.errors import UsageError
from bot.features.merges.requests import OF_PROFILES, DigestView, ViewLevel, parse_view_level
from bot.features.subscriptions.rules import (
    DAILY,
    ON_WEEKDAYS,
    OWN_ZONE_WORD,
    WEEKLY,
    Subscription,
    SubscriptionRequest,
    Timing,
    format_days,
    parse_days,
)
from bot.platform.commands import FILTER_NAMES, AllowedRepositories, QueryOptions
from bot.platform.pulls.paths import Filters
from bot.platform.slack.blocks import (
    Block,
    Element,
    Post,
    escape_mrkdwn,
    make_block,
    make_button,
    make_context,
    make_instant,
    make_plain_text,
    make_section,
    make_text,
    write_id,
)
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.codecs import VersionedJson
from bot.text import format_count
from impact.repository import Repository
from impact.text.strings import collapse_lines, quote_input, truncate_text

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
    timing += ", and open pull requests that would break it" if subscription.has_open_pulls else ""
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


# --- the form

FORM = "subscription_form"
REPOSITORY, WHERE, CHANNEL, AT, ZONE = "repository", "where", "channel", "at", "zone"
DAYS, ONLY, FILTER, PROFILE = "days", "only", "filter", "profile"
# values of options; no name of a profile begins with a dash
_HERE, _ME, _ALL_PULLS, _NO_PROFILE = "channel", "me", "all", "-"
_OWN_ZONE_LABEL = "My own time zone, as in Slack"
_MAX_OPTIONS = 100
_VIEWS = (
    ("Every pull request", _ALL_PULLS),
    ("All but trivial ones", ViewLevel.SUBSTANTIAL.value),
    ("Risky, breaking and reverted ones", ViewLevel.RISKY.value),
    ("Breaking ones", ViewLevel.BREAKING.value),
)
_PROFILE_VIEWS = (
    ("Those that touch the profile", ViewLevel.TOUCHING.value),
    ("Those of them that wait since its pin", ViewLevel.PENDING.value),
)
# shown before the user types: one for most offsets, from west to east
_COMMON_ZONES = (
    "America/Los_Angeles America/Denver America/Chicago America/New_York America/Sao_Paulo UTC Europe/London "
    "Europe/Berlin Europe/Helsinki Africa/Johannesburg Africa/Nairobi Asia/Dubai Asia/Kolkata Asia/Singapore "
    "Asia/Shanghai Asia/Tokyo Asia/Seoul Australia/Sydney Pacific/Auckland"
).split()


@dataclass(frozen=True, slots=True)
class FormContext:
    """What a form carries from the click that opens it to the one that sends it.

    ``channel`` is the one in which it was opened, empty in App Home; ``id`` that of the subscription that it
    changes, empty for a new one. ``answer`` is the ``response_url`` of the user who opened it.
    """

    channel: str
    id: str = ""
    answer: str = ""


_CONTEXT_CODEC = VersionedJson(FormContext, 2)


def read_form_context(text: str) -> FormContext:
    return _CONTEXT_CODEC.load(json.loads(text))


class FormErrors(UsageError):
    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__(" ".join(errors.values()))
        self.errors = dict(errors)


def render_form(
    repositories: Sequence[Repository],
    usual: Timing,
    old: Subscription | None,
    asker: SlackRequest,
    profiles: Sequence[str] = (),
) -> dict[str, Any]:
    """Render the form for a user; ``old`` is what is changed. Without ``profiles``, none is asked for."""
    # what a new one begins with is shown as a subscription, too
    shown = old or Subscription(asker.channel, repositories[0], usual, follows=asker.user * asker.is_direct)
    context = FormContext(asker.channel, old.id if old else "", asker.response_url)
    return {
        "type": "modal",
        "callback_id": FORM,
        # Slack accepts 3,000 characters
        "private_metadata": json.dumps(_CONTEXT_CODEC.dump(context)),
        "title": make_plain_text("Subscription", 24),
        "submit": make_plain_text("Save", 24),
        "close": make_plain_text("Cancel", 24),
        "blocks": _render_fields(shown, repositories, asker.user, profiles),
    }


def _render_fields(
    shown: Subscription, repositories: Sequence[Repository], user: str, profiles: Sequence[str]
) -> list[Element]:
    timing, view, is_personal = shown.timing, shown.view, shown.is_personal
    # the profile of a subscription may be gone
    names = [name for name in dict.fromkeys([view.profile, *profiles]) if name][: _MAX_OPTIONS - 1]
    words = " ".join(view.filters.list_options())
    # so may its repository, in whose place no other may be saved
    known = dict.fromkeys(map(str, (*repositories, shown.repository)))
    places = _make_select([("In a channel", _HERE), ("To me only", _ME)], _ME if is_personal else _HERE)
    channels: Element = {
        "type": "conversations_select",
        "filter": {"include": ["public", "private"], "exclude_bot_users": True},
        **({"initial_conversation": shown.channel} if shown.channel and not is_personal else {}),
    }
    # saving must not turn another user's zone into theirs
    zone = _make_zone_option(OWN_ZONE_WORD if shown.follows == user else str(timing.zone))
    weekly = [(f"Every {each.capitalize()}, for the last seven days", f"{WEEKLY} {each}") for each in WEEKDAYS]
    days = _make_select(
        [("Every day", DAILY), ("Monday to Friday", ON_WEEKDAYS), *weekly],
        format_days(timing),
    )
    filters = {"type": "plain_text_input", "max_length": 500, **({"initial_value": words} if words else {})}
    filter_hint = "Such as path:vllm/v1 label:rocm not-author:bots. Leave empty to show everything."
    blocks = [
        _make_input(REPOSITORY, "Repository", _make_repository_menu([*known], str(shown.repository))),
        _make_input(WHERE, "Where", {**places, "type": "radio_buttons"}),
        _make_input(
            CHANNEL, "Channel", channels, is_optional=True, hint="Only needed if the digest goes to a channel."
        ),
        _make_input(AT, "At", {"type": "timepicker", "initial_time": f"{timing.at:%H:%M}"}),
        _make_input(ZONE, "Time zone", {"type": "external_select", "min_query_length": 0, "initial_option": zone}),
        _make_input(DAYS, "Days", days),
        _make_input(
            ONLY, "Show", _make_select([*_VIEWS, *(_PROFILE_VIEWS if names else ())], view.only or _ALL_PULLS)
        ),
        _make_input(FILTER, "Filter", filters, is_optional=True, hint=filter_hint),
    ]
    if names:
        menu = _make_select([("None", _NO_PROFILE), *((name, name) for name in names)], view.profile)
        blocks.append(_make_input(PROFILE, "Profile", menu, hint="The code that each merge is checked against."))
    return blocks


def parse_form(view: Mapping[str, Any], repositories: AllowedRepositories) -> tuple[SubscriptionRequest, str, str]:
    """Return what the form requests, the channel, and the id of what it replaces. Raises FormErrors."""
    values = {name: fields[name] for name, fields in view["state"]["values"].items()}
    context = read_form_context(str(view["private_metadata"]))
    zone, is_personal = _get_choice(values[ZONE]), _get_choice(values[WHERE]) == _ME
    channel = "" if is_personal else str(values[CHANNEL].get("selected_conversation") or "")
    readers: dict[str, Callable[[], Any]] = {
        CHANNEL: lambda: _require_place(channel, is_personal=is_personal),
        REPOSITORY: lambda: repositories.parse_repository(_get_choice(values[REPOSITORY])),
        AT: lambda: parse_time(str(values[AT].get("selected_time") or "")),
        ZONE: lambda: None if zone == OWN_ZONE_WORD else parse_zone(zone),
        ONLY: lambda: parse_view_level(_get_choice(values[ONLY]).removeprefix(_ALL_PULLS)),
        FILTER: lambda: _parse_filters(str(values[FILTER].get("value") or "")),
        PROFILE: lambda: _parse_profile(values),
    }
    parsed: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for name, read in readers.items():
        try:
            parsed[name] = read()
        except UsageError as error:
            errors[name] = str(error)
    if errors:
        raise FormErrors(errors)
    try:
        request = SubscriptionRequest(
            repository=parsed[REPOSITORY],
            at=parsed[AT],
            zone=parsed[ZONE],
            is_mine=zone == OWN_ZONE_WORD,
            **parse_days(_get_choice(values[DAYS]) or DAILY),
            view=DigestView(parsed[FILTER], parsed[ONLY], parsed[PROFILE]),
            is_personal=is_personal,
        )
    except UsageError as error:
        # all of it together is too long to store: the filter is the only part without a fixed length
        raise FormErrors({FILTER: str(error)}) from error
    return request, channel, context.id


def _require_place(channel: str, *, is_personal: bool) -> None:
    if not channel and not is_personal:
        raise UsageError("Choose a channel, or send the digest to yourself.")


def _parse_filters(text: str) -> Filters:
    options = QueryOptions.parse(text, FILTER_NAMES)
    if options.arguments:
        word = quote_input(options.arguments[0])
        raise UsageError(f"I don't understand {word}: write path:…, [not-]author:… or label:… here.")
    return options.filters


def _parse_profile(values: Mapping[str, Any]) -> str:
    """Return the name of the profile; empty for none. Raises UsageError if the view needs one."""
    name = _get_choice(values.get(PROFILE, {})).removeprefix(_NO_PROFILE)
    if not name and _get_choice(values[ONLY]) in OF_PROFILES:
        raise UsageError("Choose a profile, or show more than what touches it.")
    return name


def suggest_repositories(repositories: Sequence[Repository], typed: str) -> list[Element]:
    """Return the repositories whose names contain what the user types, as many as Slack shows."""
    names = [str(each) for each in repositories if typed.strip().casefold() in str(each).casefold()]
    return [_make_option(name, name) for name in names[:_MAX_OPTIONS]]


def suggest_zones(typed: str) -> list[Element]:
    """Return the time zones whose names contain what the user types; before that, the common ones."""
    text = typed.strip().casefold()
    if not text:
        return list(map(_make_zone_option, (OWN_ZONE_WORD, *_COMMON_ZONES)))
    names = [name for name in _list_zones() if text.replace(" ", "_") in name.casefold()]
    if text in _OWN_ZONE_LABEL.casefold():
        names.insert(0, OWN_ZONE_WORD)
    return list(map(_make_zone_option, names[:_MAX_OPTIONS]))


@cache
def _list_zones() -> tuple[str, ...]:
    """Return the names of all zones; they are kept, since listing them reads hundreds of files."""
    return tuple(sorted(available_timezones() - {"localtime", "Factory"}))


def _get_choice(value: Mapping[str, Any]) -> str:
    return str((value.get("selected_option") or {}).get("value") or "")


def _make_input(name: str, label: str, element: Element, *, is_optional: bool = False, hint: str = "") -> Element:
    return {
        "type": "input",
        "block_id": name,
        "label": make_plain_text(label, 75),
        "element": {"action_id": name, **element},
        "optional": is_optional,
        **({"hint": make_plain_text(hint, 150)} if hint else {}),
    }


def _make_select(options: Sequence[tuple[str, str]], chosen: str) -> Element:
    """Return a menu with one option selected: the first if the chosen one is not there."""
    elements = [_make_option(*each) for each in options]
    first = next((option for option in elements if option["value"] == chosen), elements[0])
    return {"type": "static_select", "options": elements, "initial_option": first}


def _make_repository_menu(names: Sequence[str], chosen: str) -> Element:
    """Return a menu of all names. In one that is too long for Slack, users type a part of the name."""
    if len(names) <= _MAX_OPTIONS:
        return _make_select([(name, name) for name in names], chosen)
    return {"type": "external_select", "min_query_length": 0, "initial_option": _make_option(chosen, chosen)}


def _make_zone_option(name: str) -> Element:
    return _make_option(_OWN_ZONE_LABEL if name == OWN_ZONE_WORD else name, name)


def _make_option(label: str, value: str) -> Element:
    return {"text": make_plain_text(label, 75), "value": value}
