"""``@prdigest 35617`` and ``@prdigest risks 7d``: the commands in threads, where Slack has no slash commands."""

from __future__ import annotations

import html
import re
from typing import Any

from slack_bolt import App

from bot.domain.errors import UsageError
from bot.domain.visits import Visit
from handlers import prdigest, prrisks, prsummary, visits
from handlers.desk import Accept, Desk

USAGE = (
    "Write my name and a number for a summary (35617), risks 7d for what may hurt, or digest 7d for an overview. "
    "I answer in the thread; add private to keep it to yourself."
)

_MENTION = re.compile(r"<@[A-Z0-9]+(?:\|[^<>]*)?>")
# Slack makes links of addresses in messages, and of whatever looks like one: <http://setup.py|setup.py>
_LINK = re.compile(r"<(?P<address>(?:https?://|mailto:)[^<>|\s]+)(?:\|(?P<label>[^<>]*))?>")
_DIGIT = re.compile(r"\d")
_KINDS: dict[str, Accept] = {
    "summary": prsummary.accept,
    "prsummary": prsummary.accept,
    "risks": prrisks.accept,
    "prrisks": prrisks.accept,
    "digest": prdigest.accept,
    "prdigest": prdigest.accept,
}


def register(app: App, desk: Desk) -> None:
    """Listen to mentions, and take other messages without a word."""

    @app.event("app_mention")
    def mention(body: dict[str, Any], event: dict[str, Any]) -> None:
        # other bots are not answered: two of them would never end
        if not event.get("bot_id") and event.get("user"):
            visit, text = visits.of_mention(body, event), typed(str(event.get("text") or ""))
            desk.hear(visit, lambda: _accept(desk, visit, text))

    # an event that nobody claims is a 404 to Slack, which sends it again and in the end stops sending any
    @app.event("message")
    def message() -> None:
        """Other people's messages are none of our business."""


def typed(text: str) -> str:
    """What a person typed besides names, as they typed it."""
    return html.unescape(_LINK.sub(_typed_link, _MENTION.sub(" ", text))).strip()


def _typed_link(found: re.Match[str]) -> str:
    """The label where Slack made the address of it, else the address."""
    address, label = found["address"], found["label"] or ""
    made_of_label = address in {f"{scheme}{label}" for scheme in ("http://", "https://", "mailto:")}
    return label if made_of_label else address


def _accept(desk: Desk, visit: Visit, text: str) -> None:
    """Raises UsageError, StoreUnavailable."""
    name, *rest = text.split(maxsplit=1) or [""]
    if accept := _KINDS.get(name.lower()):
        accept(desk, visit, "".join(rest))
    elif _DIGIT.search(text):
        prsummary.accept(desk, visit, text)
    else:
        raise UsageError(USAGE)
