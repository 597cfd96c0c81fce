"""Listener for links that people post: those to pull requests and comparisons get a preview where that is on.

Slack sends one event when somebody types a link into the message box, which is ignored, and another one when the
message is posted. Links of all conversations arrive, also of those that the bot is not in.
"""

from __future__ import annotations

import re
from typing import Any

from slack_bolt import App

from bot.domain.conversations.preview_links import parse_preview_link
from bot.domain.operations.app_manifest import LINK_EVENT
from bot.ports.slack.link_previews import MessagePlace
from bot.services.jobs.job_types import SHOW_LINK_PREVIEWS
from bot.services.jobs.payloads import LinksPayload
from handlers import requests
from handlers.intake import RequestIntake

_POSTED = "conversations_history"
_TS = re.compile(r"\d{1,16}\.\d{1,9}", re.ASCII)
# of one message that are looked at
_MAX_LINKS = 50


def register_link_listener(app: App, intake: RequestIntake) -> None:
    """Register the listener for posted links."""

    @app.event(LINK_EVENT)
    def handle_links(body: dict[str, Any], event: dict[str, Any]) -> None:
        # Slack names no source where links in the message box have no event
        if event.get("source") not in (None, _POSTED) or not _TS.fullmatch(str(event["message_ts"])):
            return
        links = dict.fromkeys(str(link["url"]) for link in event["links"][:_MAX_LINKS])
        urls = tuple(url for url in links if parse_preview_link(url, intake.repositories))
        if urls:
            poster = requests.parse_poster(body, event)
            place = MessagePlace(poster.channel, poster.message, poster.thread)
            intake.handle_posted_links(
                poster, lambda: intake.jobs.send(SHOW_LINK_PREVIEWS, LinksPayload(place, urls))
            )
