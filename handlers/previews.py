"""What Slack sends for previews of links: ``/prdigest previews``, and links that people post."""

from __future__ import annotations

import re
from typing import Any

from slack_bolt import App as Bolt

from bot.app import App
from bot.errors import UsageError
from bot.features.previews import parse_link, show_previews, switch_previews
from bot.features.subscriptions.tables import are_previews_on
from bot.platform.slack.app_manifest import LINK_EVENT
from bot.platform.slack.requests import SlackRequest
from handlers import declaration
from handlers.declaration import SubCommand, Verb
from handlers.intake import handle_posted_links
from impact.text.strings import quote_input

_TS = re.compile(r"\d{1,16}\.\d{1,9}", re.ASCII)
_MAX_LINKS = 50  # of one message that are looked at


def _enqueue_switch(app: App, asker: SlackRequest, text: str) -> None:
    word = text.strip().lower()
    if word not in ("", "on", "off"):
        raise UsageError(f"I don't understand {quote_input(text)}.")
    switch_previews.send_to(app.jobs, asker, word)


_VERB = Verb(
    "a card below each link to a pull request here",
    "previews [on | off]",
    ("previews on", "previews off"),
    "Without a word, it says whether they are on.",
    enqueue=_enqueue_switch,
)
SUB_COMMAND = SubCommand(verbs={"previews": _VERB}, place=60)


def register_link_listener(bolt: Bolt, app: App) -> None:
    """Listen to the links of all conversations, also of those that the bot is not in."""

    @bolt.event(LINK_EVENT)
    def handle_links(event: dict[str, Any]) -> None:
        # one event comes when somebody types a link into the message box, and another when the message is posted;
        # Slack names no source where links in the message box have no event
        if event.get("source") not in (None, "conversations_history") or not _TS.fullmatch(
            str(event["message_ts"])
        ):
            return
        links = dict.fromkeys(str(link["url"]) for link in event["links"][:_MAX_LINKS])
        if urls := tuple(url for url in links if parse_link(url, app.repositories)):
            poster = declaration.parse_poster(event)
            if are_previews_on(app, poster.channel):
                handle_posted_links(app, poster, lambda: show_previews.send_to(app.jobs, poster, urls))
