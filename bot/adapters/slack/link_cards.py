"""Cards below the links of people's messages, over Slack's Web API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slack_sdk import WebClient

from bot.adapters.slack.errors import translate_slack_errors
from bot.adapters.slack.messenger import SlackMessenger
from bot.ports.slack.link_previews import CardBlocks, MessagePlace, ShownCard

# of our cards, so that they are known even where Slack does not say whose an attachment is
_OWN_BLOCK = "prdigest_preview"


class SlackLinkCards:
    """``LinkCards`` over the Web API."""

    def __init__(self, client: WebClient, messenger: SlackMessenger) -> None:
        self._client = client
        self._messenger = messenger

    def list_cards(self, place: MessagePlace) -> Sequence[ShownCard] | None:
        """List the cards of apps below a message, from its attachments."""
        message = self._fetch_message(place)
        if message is None:
            return None
        attachments = [each for each in message.get("attachments") or () if isinstance(each, Mapping)]
        return [self._parse_card(each) for each in attachments if _is_of_app(each)]

    def show_cards(self, place: MessagePlace, cards: Mapping[str, CardBlocks]) -> None:
        """Show cards. Slack replaces those that it has for the same addresses of the message."""
        unfurls = {url: {"blocks": _mark_blocks(blocks)} for url, blocks in cards.items()}
        with translate_slack_errors(place.channel):
            self._client.chat_unfurl(channel=place.channel, ts=place.message, unfurls=unfurls)

    def _fetch_message(self, place: MessagePlace) -> Mapping[str, Any] | None:
        only: dict[str, Any] = {"oldest": place.message, "latest": place.message, "inclusive": True, "limit": 2}
        with translate_slack_errors(place.channel):
            if place.thread:
                answer = self._client.conversations_replies(channel=place.channel, ts=place.thread, **only)
            else:
                answer = self._client.conversations_history(channel=place.channel, **only)
        return next((each for each in answer["messages"] if each.get("ts") == place.message), None)

    def _parse_card(self, attachment: Mapping[str, Any]) -> ShownCard:
        blocks = [each for each in attachment.get("blocks") or () if isinstance(each, Mapping)]
        is_marked = any(str(each.get("block_id", "")).startswith(_OWN_BLOCK) for each in blocks)
        return ShownCard(
            str(attachment.get("app_unfurl_url") or attachment.get("from_url") or ""),
            str(attachment.get("app_id") or attachment.get("bot_id") or ""),
            is_own=is_marked or self._messenger.is_own(attachment),
        )


def _is_of_app(attachment: Mapping[str, Any]) -> bool:
    """Return whether an app made an attachment. Slack's own look at a page names no app."""
    return bool(attachment.get("is_app_unfurl") or attachment.get("app_id") or attachment.get("bot_id"))


def _mark_blocks(blocks: CardBlocks) -> list[dict[str, Any]]:
    return [{**block, "block_id": f"{_OWN_BLOCK}_{place}"} for place, block in enumerate(blocks)]
