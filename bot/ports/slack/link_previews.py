"""Interfaces for previews of links: the cards below a message, and where previews are on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from bot.domain.conversations.requests.preview_request import PreviewSwitch

CardBlocks = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class MessagePlace:
    """A message by its conversation and its timestamp; ``thread`` is that of its thread, empty outside of one."""

    channel: str
    message: str
    thread: str = ""


@dataclass(frozen=True, slots=True)
class ShownCard:
    """A card that an app shows below a message, for the address ``url``. ``app`` is an id, empty if unknown."""

    url: str
    app: str
    is_own: bool


class LinkCards(Protocol):
    """Cards below messages. Both methods may raise SlackCallRefused or SlackUnavailable."""

    def list_cards(self, place: MessagePlace) -> Sequence[ShownCard] | None:
        """List the cards that apps show below a message; None if there is no such message any more.

        What Slack itself shows of a page is no card of an app.
        """

    def show_cards(self, place: MessagePlace, cards: Mapping[str, CardBlocks]) -> None:
        """Show a card for each address in the message. A repeated call replaces the cards, and adds none."""


class PreviewSwitches(Protocol):
    """Where previews are on. Durable. Every method may raise StoreUnavailable."""

    def get(self, channel: str) -> PreviewSwitch | None:
        """Return what was decided for a conversation, None if nothing was."""

    def put(self, channel: str, switch: PreviewSwitch) -> None:
        """Store what was decided for a conversation."""

    def list_on(self) -> Sequence[str]:
        """List the ids of the conversations in which previews are on."""
