"""Links that people posted and that the app may unfurl: what ``link_shared`` announced, and the ids for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from html import unescape
from urllib.parse import urlsplit

COMPOSER, HISTORY = "composer", "conversations_history"
SOURCES = frozenset({COMPOSER, HISTORY})
# the place of a link in a message that is not sent yet
COMPOSER_CHANNEL = "COMPOSER"


@dataclass(frozen=True, slots=True)
class SharedLinks:
    """The links of a message of the app's domains. ``unfurl_id`` names them to ``chat.unfurl``."""

    channel: str
    ts: str
    unfurl_id: str
    source: str
    urls: tuple[str, ...]


@dataclass
class Unfurls:
    """The domains that an app unfurls (of its manifest), and the links that it was told of.

    Slack refuses a link whose event the app has not acknowledged yet.
    """

    domains: frozenset[str] = frozenset()
    _shared: dict[str, SharedLinks] = field(default_factory=dict)
    _acknowledged: set[tuple[str, str, str]] = field(default_factory=set)

    def select_links(self, links: Iterable[str]) -> tuple[str, ...]:
        """Return the links of the app's domains and of their subdomains, each once."""
        return tuple(dict.fromkeys(link for link in links if self.find_domain(link)))

    def find_domain(self, link: str) -> str:
        """Return the registered domain of a link, empty if it has none."""
        try:
            host = (urlsplit(link).hostname or "").lower()
        except ValueError:
            return ""
        return next((each for each in sorted(self.domains) if host == each or host.endswith(f".{each}")), "")

    def add(self, shared: SharedLinks) -> None:
        """Remember links that are announced."""
        self._shared[shared.unfurl_id] = shared

    def acknowledge(self, shared: SharedLinks) -> None:
        """Remember that the app has acknowledged the event of these links."""
        self._acknowledged |= {(shared.channel, shared.ts, url) for url in shared.urls}

    def find(self, unfurl_id: str, source: str) -> SharedLinks | None:
        """Return the links of an id, None if there are none of that source."""
        shared = self._shared.get(unfurl_id)
        return shared if shared and shared.source == source else None

    def is_acknowledged(self, channel: str, ts: str, url: str) -> bool:
        """Return whether the app has acknowledged the event of a link."""
        return (channel, ts, unescape(url)) in self._acknowledged
