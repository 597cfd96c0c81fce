"""Makes the messages of an edition: one day as a digest, several as an overview with one thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from bot.domain.days import LocalDay
from bot.domain.digest import Digest
from bot.domain.pulls import Repository
from bot.domain.subscriptions import Edition
from bot.render.digest import Rendered, render, render_days
from bot.services.catchup import catch_up
from bot.services.daily import DailyDigest


class Editions:
    """Builds editions. ``name_of`` gives what headings call a repository."""

    def __init__(self, daily: DailyDigest, name_of: Callable[[Repository], str]) -> None:
        self._daily = daily
        self._name_of = name_of

    def build(self, edition: Edition, notes: Sequence[str] = ()) -> Rendered:
        """The messages. Raises what :meth:`bot.services.daily.DailyDigest.build` raises."""
        build = partial(self._day, edition)
        name = self._name_of(edition.repository)
        if len(edition.span) == 1:
            return render(build(edition.repository, edition.span.days[0], name), notes)
        return render_days(catch_up(build, edition.repository, edition.span, name), notes)

    def _day(self, edition: Edition, repository: Repository, day: LocalDay, name: str) -> Digest:
        return self._daily.build(repository, day, name, view=edition.view)
