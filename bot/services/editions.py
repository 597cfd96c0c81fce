"""Makes the messages of an edition: one day as a digest, several as an overview with one thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from bot.domain.days import LocalDay
from bot.domain.digest import Digest
from bot.domain.pulls import PullRequest, Repository
from bot.domain.subscriptions import Edition
from bot.render.digest import Rendered, render, render_days
from bot.services.catchup import catch_up
from bot.services.daily import DailyDigest


class Editions:
    """Builds editions. ``name_of`` gives what headings call a repository; ``read`` hears of all that was read."""

    def __init__(
        self,
        daily: DailyDigest,
        name_of: Callable[[Repository], str],
        read: Callable[[Sequence[PullRequest]], None] = lambda pulls: None,
    ) -> None:
        self._daily = daily
        self._name_of = name_of
        self._read = read

    def build(self, edition: Edition, notes: Sequence[str] = ()) -> Rendered:
        """The messages. Raises what :meth:`bot.services.daily.DailyDigest.build` raises."""
        build = partial(self._day, edition)
        name = self._name_of(edition.repository)
        if len(edition.span) == 1:
            return render(build(edition.repository, edition.span.days[0], name), notes)
        return render_days(catch_up(build, edition.repository, edition.span, name), notes)

    def _day(self, edition: Edition, repository: Repository, day: LocalDay, name: str) -> Digest:
        digest = self._daily.build(repository, day, name, view=edition.view)
        self._read([entry.pull for entry in digest.entries])
        return digest
