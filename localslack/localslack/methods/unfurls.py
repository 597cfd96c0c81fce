"""The Web API's method that shows a card below a link (``chat.unfurl``)."""

from __future__ import annotations

import json
from html import unescape

from localslack.errors import SlackError, raise_error
from localslack.rules.live_text import find_links
from localslack.rules.messages import check_blocks
from localslack.state.channel import copy_json
from localslack.state.identity import APP_ID, BOT_ID
from localslack.state.unfurls import COMPOSER, SOURCES, SharedLinks
from localslack.state.workspace import Json, Workspace

# what an unfurl may have beside blocks, as far as it is drawn here
_FIELDS = frozenset(
    "blocks text title title_link fallback color pretext author_name author_link fields footer preview "
    "hide_color image_url thumb_url".split()
)


def unfurl_links(team: Workspace, arguments: Json) -> Json:
    """Show cards for links of a message (``chat.unfurl``). Another call for a link replaces its card."""
    if arguments.get("unfurl_id") or arguments.get("source"):
        shared = _find_shared(team, arguments)
        unfurls = _read_unfurls(arguments)
        # there is no message yet whose card could be seen
        if shared.source == COMPOSER:
            _check_links(team, shared.channel, shared.ts, shared.urls, unfurls)
            return {}
        channel_id, ts = shared.channel, shared.ts
    else:
        raise_error(None if arguments.get("channel") else "missing_channel")
        raise_error(None if arguments.get("ts") else "missing_ts")
        channel_id, ts = str(arguments["channel"]), str(arguments["ts"])
        unfurls = _read_unfurls(arguments)
    message = _find_message(team, channel_id, ts)
    _check_links(team, channel_id, ts, tuple(find_links(_without_attachments(message))), unfurls)
    for url, card in unfurls.items():
        _attach_card(message, url, card)
    return {}


def attach_foreign_card(message: Json, url: str, *, app_id: str, bot_id: str, text: str) -> None:
    """Show the card of another app, as readers of the message then get it."""
    own = {"text": text, "fallback": text, "app_id": app_id, "bot_id": bot_id}
    _add_attachment(message, {**own, "from_url": url, "app_unfurl_url": url, "is_app_unfurl": True})


def _find_shared(team: Workspace, arguments: Json) -> SharedLinks:
    """Return the links that an id names. Raises SlackError."""
    raise_error(None if arguments.get("unfurl_id") else "missing_unfurl_id")
    raise_error(None if arguments.get("source") else "missing_source")
    raise_error(None if arguments["source"] in SOURCES else "invalid_source")
    shared = team.unfurls.find(str(arguments["unfurl_id"]), str(arguments["source"]))
    if shared is None:
        raise SlackError("invalid_unfurl_id")
    return shared


def _read_unfurls(arguments: Json) -> dict[str, Json]:
    """Return the cards by link. Raises SlackError."""
    raw_unfurls = arguments.get("unfurls")
    if not raw_unfurls:
        raise SlackError("missing_unfurls")
    try:
        unfurls = json.loads(raw_unfurls) if isinstance(raw_unfurls, str) else raw_unfurls
    except ValueError:
        raise SlackError("invalid_unfurls_format") from None
    if not isinstance(unfurls, dict) or not all(isinstance(card, dict) for card in unfurls.values()):
        raise SlackError("invalid_unfurls_format")
    for card in unfurls.values():
        if not card or not card.keys() <= _FIELDS or not isinstance(card.get("blocks", []), list):
            raise SlackError("cannot_parse_attachment")
        raise_error(check_blocks(card.get("blocks", [])))
    return unfurls


def _find_message(team: Workspace, channel_id: str, ts: str) -> Json:
    """Return a message of any conversation: an app may unfurl links where it is no member. Raises SlackError."""
    if channel_id not in team.channels:
        raise SlackError("cannot_find_channel")
    return team.channels[channel_id].find_message(ts, "cannot_find_message")


def _check_links(team: Workspace, channel: str, ts: str, links: tuple[str, ...], unfurls: dict[str, Json]) -> None:
    """Raise SlackError for a link that is not in the message, or that the app was not told of."""
    for url in unfurls:
        raise_error(None if unescape(url) in links else "cannot_unfurl_message")
        is_known = team.unfurls.find_domain(unescape(url)) and team.unfurls.is_acknowledged(channel, ts, url)
        raise_error(None if is_known else "cannot_unfurl_url")


def _without_attachments(message: Json) -> Json:
    return {key: value for key, value in message.items() if key != "attachments"}


def _attach_card(message: Json, url: str, card: Json) -> None:
    """Show the app's card for a link in place of an earlier one."""
    address = unescape(url)
    kept = [
        each
        for each in message.get("attachments", ())
        if not (each.get("bot_id") == BOT_ID and each.get("app_unfurl_url") == address)
    ]
    message["attachments"] = kept
    own = {"app_id": APP_ID, "bot_id": BOT_ID, "from_url": address, "app_unfurl_url": address}
    shown = {key: value for key, value in card.items() if key != "preview"}
    _add_attachment(message, {**copy_json(shown), **own, "is_app_unfurl": True})


def _add_attachment(message: Json, attachment: Json) -> None:
    attachments = message.setdefault("attachments", [])
    number = max((each.get("id", 0) for each in attachments), default=0) + 1
    attachments.append({"id": number, **attachment})
