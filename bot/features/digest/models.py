"""The specification of a digest."""

from __future__ import annotations

from dataclasses import dataclass

from bot.dates import Span
from bot.features.merges.requests import FULL_VIEW, DigestView
from bot.platform.store.keys import DigestKeyParts
from impact.repository import Repository


@dataclass(frozen=True, slots=True)
class DigestSpec:
    """The specification of a digest: days of a repository, as one channel gets them."""

    channel: str
    repository: Repository
    span: Span
    view: DigestView = FULL_VIEW

    @property
    def title(self) -> str:
        """The name for operators: ``owner/name, Saturday 28 February 2026``."""
        return ", ".join([str(self.repository), self.span.title, *([str(self.view)] if str(self.view) else [])])

    def build_key(self, team: str) -> str:
        """Return the key in its messages and of its record: equal for equal content and no other.

        A zone counts by the UTC intervals of its dates: Berlin and Paris share a digest.
        """
        days, offsets = str(self.span), self.span.utc_offsets
        return DigestKeyParts(team, self.channel, str(self.repository), days, offsets, self.view.fingerprint).key
