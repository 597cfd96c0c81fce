"""The form in which users create or change a subscription with pickers instead of a command."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from bot.dates import WEEKDAYS, parse_time, parse_zone
from bot.errors import UsageError
from bot.features.merges.requests import DigestView, ViewLevel, parse_view_level
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
from bot.platform.pulls.filters import Filters
from bot.platform.slack.blocks import Element, make_plain_text
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.codecs import VersionedJson
from impact.repository import Repository
from impact.text.strings import quote_input

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
_TOUCHING_VIEW = ("Those that touch the profile", ViewLevel.TOUCHING.value)
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
    places = _make_radio_buttons([("In a channel", _HERE), ("To me only", _ME)], _ME if is_personal else _HERE)
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
        _make_input(WHERE, "Where", places),
        _make_input(
            CHANNEL, "Channel", channels, is_optional=True, hint="Only needed if the digest goes to a channel."
        ),
        _make_input(AT, "At", {"type": "timepicker", "initial_time": f"{timing.at:%H:%M}"}),
        _make_input(ZONE, "Time zone", {"type": "external_select", "min_query_length": 0, "initial_option": zone}),
        _make_input(DAYS, "Days", days),
        _make_input(
            ONLY, "Show", _make_select([*_VIEWS, *([_TOUCHING_VIEW] if names else [])], view.only or _ALL_PULLS)
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
    if not name and _get_choice(values[ONLY]) == ViewLevel.TOUCHING:
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


def _make_radio_buttons(options: Sequence[tuple[str, str]], chosen: str) -> Element:
    return {**_make_select(options, chosen), "type": "radio_buttons"}


def _make_zone_option(name: str) -> Element:
    return _make_option(_OWN_ZONE_LABEL if name == OWN_ZONE_WORD else name, name)


def _make_option(label: str, value: str) -> Element:
    return {"text": make_plain_text(label, 75), "value": value}
