"""Composer of the messages of a digest: one day as a digest, several as an overview with one thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from bot.domain.pull_requests.models import Repository
from bot.domain.subscriptions.models import DigestSpec
from bot.domain.time.day import LocalDay
from bot.features.digest.rules import Digest, MultiDayDigest
from bot.features.digest.view import RenderedDigest, render_days, render_digest
from bot.services.digest.builder import DigestBuilder
from bot.services.digest.multi_day import build_multi_day_digest


class DigestComposer:
    """Composer of the messages that are posted.

    ``name_of`` returns the name of a repository for headings. ``zone_of`` returns the time zone that readers of a
    channel expect, None if there are several: a digest in another zone names it in its heading.
    """

    def __init__(
        self,
        daily: DigestBuilder,
        name_of: Callable[[Repository], str],
        zone_of: Callable[[str], ZoneInfo | None],
    ) -> None:
        self._daily = daily
        self._name_of = name_of
        self._zone_of = zone_of

    def compose_messages(self, spec: DigestSpec, notes: Sequence[str] = ()) -> RenderedDigest:
        """Build a digest and render its messages. Raises what :meth:`DigestBuilder.build` raises."""
        whole = self.build_days(spec)
        return render_days(whole, notes) if len(spec.span) > 1 else render_digest(whole.digests[0], notes)

    def build_days(self, spec: DigestSpec) -> MultiDayDigest:
        """Build the digest of each day. Raises what :meth:`DigestBuilder.build` raises."""
        names_zone = self.must_show_zone(spec)

        def build(repository: Repository, day: LocalDay, name: str) -> Digest:
            digest = self._daily.build(repository, day, name, view=spec.view)
            return replace(digest, shows_zone=names_zone)

        return build_multi_day_digest(build, spec.repository, spec.span, self._name_of(spec.repository))

    def must_show_zone(self, spec: DigestSpec) -> bool:
        """Return whether the heading must name the zone. Raises StoreUnavailable."""
        return self._zone_of(spec.channel) != spec.span.zone
