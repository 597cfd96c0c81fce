"""Cards below links: shown once for each link, and not where another app shows one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.preview_links import PreviewTarget, compute_link_fingerprint, parse_preview_link
from bot.domain.errors import PostingInProgress, SlackCallRefused
from bot.domain.keyspace.keys import LINK_PREVIEW, OTHER_PREVIEWER
from bot.ports import Cache, RecordStore
from bot.ports.slack.link_previews import CardBlocks, LinkCards, MessagePlace, PreviewSwitches
from bot.render.previews.card import render_card
from bot.services.previews.cards import PreviewCardBuilder
from bot.services.previews.link_preview import LinkPreview

log = logging.getLogger(__name__)

# of one message: more cards would hide it
MAX_CARDS = 5
# Slack accepts no card before it has the acknowledgement of the event, which comes after the job is on its queue
_NOT_ACKNOWLEDGED = "cannot_unfurl_url"
_ACKNOWLEDGEMENT_PAUSE = 0.5


@dataclass(frozen=True, slots=True)
class _Link:
    """A link of a message, what it is about, and the record of its preview with its key."""

    url: str
    target: PreviewTarget
    key: str
    record: LinkPreview


@dataclass(frozen=True, slots=True)
class PreviewStores:
    """Where previews are on, which links had one, and where another app shows them."""

    switches: PreviewSwitches
    records: RecordStore[LinkPreview]
    cache: Cache


class LinkPreviewer:
    """Service that shows cards.

    Another app is looked for before a card is shown, and once more by :meth:`look_again` some seconds later: both
    apps hear of a link at the same time. A conversation in which one was seen gets no cards for four weeks.
    """

    def __init__(
        self,
        cards: LinkCards,
        builder: PreviewCardBuilder,
        stores: PreviewStores,
        repositories: AllowedRepositories,
        now: Callable[[], datetime],
        sleep: Callable[[float], None],
    ) -> None:
        self._cards = cards
        self._builder = builder
        self._stores = stores
        self._repositories = repositories
        self._now = now
        self._sleep = sleep

    def show_previews(self, place: MessagePlace, urls: Sequence[str], look_later: Callable[[], None]) -> None:
        """Show the cards of a message's links, if there are any.

        ``look_later`` plans the second look. It is called first: a process that dies afterwards must not leave it
        out.

        Raises:
            SlackUnavailable, StoreUnavailable: another call continues from there.
        """
        if not self._is_wanted(place.channel):
            return
        links = self._list_new_links(place, urls)
        if not links or not self._is_alone(place):
            return
        cards = self._build_cards(place, links)
        planned = [link for link in links if link.url in cards and self._plan(place, link)]
        if not planned:
            return
        look_later()
        self._show(place, {link.url: cards[link.url] for link in planned})
        for link in planned:
            record = link.record.plan(place.message)
            self._stores.records.save(link.key, record, record.end(self._now()))

    def look_again(self, place: MessagePlace) -> None:
        """Look once more whether another app shows a card below a message. Raises as :meth:`show_previews`."""
        self._is_alone(place)

    def _is_wanted(self, channel: str) -> bool:
        """Return whether a conversation wants cards of this bot."""
        switch = self._stores.switches.get(channel)
        return bool(switch and switch.is_on) and self._stores.cache.get(_build_other_key(channel)) is None

    def _list_new_links(self, place: MessagePlace, urls: Sequence[str]) -> list[_Link]:
        """Return the first links that may get a card, one for each pull request or range."""
        by_key: dict[str, tuple[str, PreviewTarget]] = {}
        for url in urls:
            target = parse_preview_link(url, self._repositories)
            if target and len(by_key) < MAX_CARDS:
                key = LINK_PREVIEW.build_key(place.channel, compute_link_fingerprint(target))
                by_key.setdefault(key, (url, target))
        records = self._stores.records.load_each(list(by_key))
        links = [
            _Link(url, target, key, record)
            for (key, (url, target)), record in zip(by_key.items(), records, strict=True)
        ]
        return [link for link in links if link.record.may_show(place.message)]

    def _is_alone(self, place: MessagePlace) -> bool:
        """Return whether a message exists and no other app shows a card of GitHub below it.

        Where the bot may not look, it counts as not alone: a second card is worse than none.
        """
        try:
            shown = self._cards.list_cards(place)
        except SlackCallRefused as error:
            log.info("no preview in %s: %s", place.channel, error)
            return False
        if shown is None:
            return False
        web = f"{self._repositories.web}/"
        others = [card for card in shown if not card.is_own and card.url.startswith(web)]
        if others:
            log.info("no previews in %s: the app %s shows them", place.channel, others[0].app or "?")
            self._stores.cache.put(_build_other_key(place.channel), others[0].app or "?", OTHER_PREVIEWER.lifetime)
        return not others

    def _build_cards(self, place: MessagePlace, links: Sequence[_Link]) -> dict[str, CardBlocks]:
        """Return the cards of the links that have one, by address."""
        cards = self._builder.build_cards([link.target for link in links], place.channel)
        return {link.url: render_card(card) for link, card in zip(links, cards, strict=True) if card}

    def _plan(self, place: MessagePlace, link: _Link) -> bool:
        """Record that the link of this message gets the card; return False if another message was faster."""
        if link.record.message == place.message:
            return True
        try:
            self._stores.records.claim(link.key, link.record, link.record.plan(place.message))
        except PostingInProgress:
            return False
        return True

    def _show(self, place: MessagePlace, cards: dict[str, CardBlocks]) -> None:
        """Show cards. A refusal is only logged. Raises SlackUnavailable."""
        for is_last in (False, True):
            try:
                self._cards.show_cards(place, cards)
            except SlackCallRefused as error:
                if is_last or error.code != _NOT_ACKNOWLEDGED:
                    log.info("no preview in %s: %s", place.channel, error)
                    return
                self._sleep(_ACKNOWLEDGEMENT_PAUSE)
            else:
                return


def _build_other_key(channel: str) -> str:
    return OTHER_PREVIEWER.build_key(channel)
