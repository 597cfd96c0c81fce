"""The form in which users create or change a subscription with pickers instead of a command."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import time
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.digest.view import DigestView, ViewLevel, parse_view_level
from bot.domain.errors import UsageError
from bot.domain.pull_requests.filters import Filters
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.query_options import FILTER_NAMES, QueryOptions
from bot.domain.subscriptions.models import Subscription
from bot.domain.subscriptions.request import OWN_ZONE_WORD, SubscriptionRequest, parse_time
from bot.domain.text.strings import quote_input
from bot.domain.time.day import parse_zone
from bot.render.blocks.rich_text import Element, make_plain_text
from bot.render.subscriptions import sentences
from bot.render.subscriptions.form_context import FormContext, read_form_context, write_form_context

FORM = "subscription_form"
REPOSITORY, WHERE, CHANNEL, AT, ZONE, DAYS, ONLY, FILTER, PROFILE = (
    "repository",
    "where",
    "channel",
    "at",
    "zone",
    "days",
    "only",
    "filter",
    "profile",
)
_HERE, _ME = "channel", "me"
_PLACE_OPTIONS = ((sentences.IN_CHANNEL_LABEL, _HERE), (sentences.TO_ME_LABEL, _ME))
_ALL_PULLS = "all"
# no name of a profile begins with a dash
_NO_PROFILE = "-"
_DAYS_OPTIONS = ((sentences.DAILY_LABEL, "daily"), (sentences.WEEKDAYS_LABEL, "weekdays"))
_MAX_OPTIONS = 100
_VIEW_OPTIONS = (
    (sentences.SHOW_ALL_LABEL, _ALL_PULLS),
    (sentences.SHOW_SUBSTANTIAL_LABEL, "substantial"),
    (sentences.SHOW_RISKY_LABEL, "risky"),
)
_TOUCHING_OPTION = (sentences.SHOW_TOUCHING_LABEL, ViewLevel.TOUCHING.value)
# shown before the user types: one for most offsets, from west to east
_COMMON_ZONES = (
    "America/Los_Angeles America/Denver America/Chicago America/New_York America/Sao_Paulo UTC Europe/London "
    "Europe/Berlin Europe/Helsinki Africa/Johannesburg Africa/Nairobi Asia/Dubai Asia/Kolkata Asia/Singapore "
    "Asia/Shanghai Asia/Tokyo Asia/Seoul Australia/Sydney Pacific/Auckland"
).split()


def render_form(
    repositories: Sequence[Repository],
    usual: tuple[time, ZoneInfo],
    old: Subscription | None,
    slack_request: SlackRequest,
    profiles: Sequence[str] = (),
) -> dict[str, Any]:
    """Render the form for a user.

    ``old`` is the subscription that is changed. Where there are no ``profiles``, none is asked for.
    """
    names = _list_profiles(profiles, old)
    views = (*_VIEW_OPTIONS, _TOUCHING_OPTION) if names else _VIEW_OPTIONS
    where = old.channel if old else slack_request.channel
    is_personal = where.startswith("D")
    target = _make_radio_buttons(_PLACE_OPTIONS, _ME if is_personal else _HERE)
    at, zone = (old.timing.at, old.timing.zone) if old else usual
    zone_name = OWN_ZONE_WORD if _is_own_zone(old, slack_request) else str(zone)
    repository = old.repository if old else repositories[0]
    repository_menu = _make_select(list_repository_options(repositories), str(repository))
    picker = _make_channel_picker("" if is_personal else where)
    view = old.view.only.value or _ALL_PULLS if old else _ALL_PULLS
    blocks = [
        _make_input(REPOSITORY, sentences.REPOSITORY_LABEL, repository_menu),
        _make_input(WHERE, sentences.WHERE_LABEL, target),
        _make_input(CHANNEL, sentences.CHANNEL_LABEL, picker, is_optional=True),
        _make_input(AT, sentences.AT_LABEL, {"type": "timepicker", "initial_time": f"{at:%H:%M}"}),
        _make_input(ZONE, sentences.ZONE_LABEL, _make_zone_picker(zone_name)),
        _make_input(DAYS, sentences.DAYS_LABEL, _make_radio_buttons(_DAYS_OPTIONS, _get_days_value(old))),
        _make_input(ONLY, sentences.SHOW_LABEL, _make_select(views, view)),
        _make_input(
            FILTER, sentences.FILTER_LABEL, _make_filter_input(old), is_optional=True, hint=sentences.FILTER_HINT
        ),
        *_render_profile_field(names, old),
    ]
    return {
        "type": "modal",
        "callback_id": FORM,
        "private_metadata": write_form_context(
            FormContext(slack_request.channel, old.id if old else "", slack_request.response_url)
        ),
        "title": make_plain_text(sentences.FORM_TITLE, 24),
        "submit": make_plain_text(sentences.SAVE_LABEL, 24),
        "close": make_plain_text(sentences.CANCEL_LABEL, 24),
        "blocks": blocks,
    }


def _list_profiles(profiles: Sequence[str], old: Subscription | None) -> tuple[str, ...]:
    """Return the profiles to choose from, with the one of a subscription, which may be gone."""
    own = [old.view.profile] if old and old.view.profile else []
    return tuple(dict.fromkeys([*own, *profiles]))[: _MAX_OPTIONS - 1]


def _render_profile_field(names: Sequence[str], old: Subscription | None) -> Iterator[Element]:
    """Yield the menu of profiles, if there are any."""
    if names:
        options = ((sentences.NO_PROFILE_LABEL, _NO_PROFILE), *((name, name) for name in names))
        menu = _make_select(options, old.view.profile if old else _NO_PROFILE)
        yield _make_input(PROFILE, sentences.PROFILE_LABEL, menu, hint=sentences.PROFILE_HINT)


class FormErrors(UsageError):
    """The values that can't be used, by the field in which they stand."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__(" ".join(errors.values()))
        self.errors = dict(errors)


def parse_form(view: Mapping[str, Any], repositories: AllowedRepositories) -> tuple[SubscriptionRequest, str, str]:
    """Return what the form requests, the channel, and the id of the subscription that it replaces.

    Raises:
        FormErrors: a field can't be used.
    """
    values = {name: fields[name] for name, fields in view["state"]["values"].items()}
    context = read_form_context(str(view["private_metadata"]))
    zone, is_personal = _get_selected_value(values[ZONE]), _get_selected_value(values[WHERE]) == _ME
    channel = "" if is_personal else str(values[CHANNEL].get("selected_conversation") or "")
    readers: dict[str, Callable[[], Any]] = {
        CHANNEL: lambda: _require_channel(channel or is_personal),
        REPOSITORY: lambda: repositories.parse_repository(_get_selected_value(values[REPOSITORY])),
        AT: lambda: parse_time(str(values[AT].get("selected_time") or "")),
        ZONE: lambda: None if zone == OWN_ZONE_WORD else parse_zone(zone),
        ONLY: lambda: parse_view_level(_get_selected_value(values[ONLY]).removeprefix(_ALL_PULLS)),
        FILTER: lambda: _parse_filters(values),
        PROFILE: lambda: _parse_profile(values),
    }
    parsed, errors = _read_fields(readers)
    if errors:
        raise FormErrors(errors)
    try:
        request = SubscriptionRequest(
            repository=parsed[REPOSITORY],
            at=parsed[AT],
            zone=parsed[ZONE],
            is_mine=zone == OWN_ZONE_WORD,
            weekdays=_get_selected_value(values[DAYS]) == "weekdays",
            view=DigestView(parsed[FILTER], parsed[ONLY], parsed[PROFILE]),
            is_personal=is_personal,
        )
    except UsageError as error:
        # all of it together is too long to store: the filter is the only part without a fixed length
        raise FormErrors({FILTER: str(error)}) from error
    return request, channel, context.id


def _read_fields(readers: Mapping[str, Callable[[], Any]]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what the fields hold, and the errors of those that can't be used."""
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for name, read in readers.items():
        try:
            values[name] = read()
        except UsageError as error:
            errors[name] = str(error)
    return values, errors


def _require_channel(is_there: object) -> None:
    """Check that there is a channel or that the digest is personal. Raises UsageError."""
    if not is_there:
        raise UsageError(sentences.CHANNEL_MISSING)


def suggest_zones(typed: str) -> list[Element]:
    """Return the time zones whose names contain what the user types; before that, the common ones."""
    text = typed.strip().casefold()
    if not text:
        return [_make_zone_option(OWN_ZONE_WORD), *(_make_zone_option(name) for name in _COMMON_ZONES)]
    part = text.replace(" ", "_")
    names = (name for name in _list_zones() if part in name.casefold())
    mine = [_make_zone_option(OWN_ZONE_WORD)] if text in sentences.OWN_ZONE_LABEL.casefold() else []
    return [*mine, *(_make_zone_option(name) for name in names)][:_MAX_OPTIONS]


@cache
def _list_zones() -> tuple[str, ...]:
    """Return the names of all zones; they are kept, since listing them reads hundreds of files."""
    return tuple(sorted(available_timezones() - {"localtime", "Factory"}))


def list_repository_options(repositories: Sequence[Repository]) -> tuple[tuple[str, str], ...]:
    """Return the repositories as options: label and value."""
    return tuple((str(each), str(each)) for each in repositories[:_MAX_OPTIONS])


def _parse_filters(values: Mapping[str, Any]) -> Filters:
    """Return the filters that the form holds. Raises UsageError."""
    options = QueryOptions.parse(str(values[FILTER].get("value") or ""), FILTER_NAMES)
    if options.arguments:
        raise UsageError(sentences.format_unknown_filter(quote_input(options.arguments[0])))
    return options.filters


def _parse_profile(values: Mapping[str, Any]) -> str:
    """Return the name of the profile; empty for none. Raises UsageError if the view needs one."""
    name = _get_selected_value(values.get(PROFILE, {})).removeprefix(_NO_PROFILE)
    if not name and _get_selected_value(values[ONLY]) == ViewLevel.TOUCHING:
        raise UsageError(sentences.PROFILE_MISSING)
    return name


def _is_own_zone(old: Subscription | None, slack_request: SlackRequest) -> bool:
    """Return whether the zone is the user's own: saving must not turn another user's zone into theirs."""
    return old.follows == slack_request.user if old else slack_request.is_direct


def _get_selected_value(value: Mapping[str, Any]) -> str:
    """Return the value of the selected option, empty if there is none."""
    return str((value.get("selected_option") or {}).get("value") or "")


def _get_days_value(old: Subscription | None) -> str:
    """Return the value of the option for the days of a subscription."""
    return "weekdays" if old and old.timing.weekdays else "daily"


def _make_input(name: str, label: str, element: Element, *, is_optional: bool = False, hint: str = "") -> Element:
    """Return a field with its label."""
    return {
        "type": "input",
        "block_id": name,
        "label": make_plain_text(label, 75),
        "element": {"action_id": name, **element},
        "optional": is_optional,
        **({"hint": make_plain_text(hint, 150)} if hint else {}),
    }


def _make_select(options: Sequence[tuple[str, str]], chosen: str) -> Element:
    """Return a menu with one option selected."""
    elements = [_make_option(*each) for each in options]
    first = next((option for option in elements if option["value"] == chosen), elements[0])
    return {"type": "static_select", "options": elements, "initial_option": first}


def _make_radio_buttons(options: Sequence[tuple[str, str]], chosen: str) -> Element:
    """Return radio buttons with one option selected."""
    return {**_make_select(options, chosen), "type": "radio_buttons"}


def _make_channel_picker(chosen: str) -> Element:
    """Return a picker of channels."""
    first = {"initial_conversation": chosen} if chosen else {}
    kinds = {"include": ["public", "private"], "exclude_bot_users": True}
    return {"type": "conversations_select", "filter": kinds, **first}


def _make_zone_picker(chosen: str) -> Element:
    """Return a picker of time zones, which asks for options as the user types."""
    return {"type": "external_select", "min_query_length": 0, "initial_option": _make_zone_option(chosen)}


def _make_zone_option(name: str) -> Element:
    """Return the option of a time zone."""
    return _make_option(sentences.OWN_ZONE_LABEL if name == OWN_ZONE_WORD else name, name)


def _make_filter_input(old: Subscription | None) -> Element:
    """Return the field of the filters with those of a subscription."""
    words = " ".join(old.view.filters.list_options()) if old else ""
    return {"type": "plain_text_input", "max_length": 500, **({"initial_value": words} if words else {})}


def _make_option(label: str, value: str) -> Element:
    """Return an option."""
    return {"text": make_plain_text(label, 75), "value": value}
