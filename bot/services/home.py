"""App Home, as one user sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from bot.domain.health import Health, Latest
from bot.domain.runs import Outcome, Run
from bot.domain.subscriptions import Edition, Subscription
from bot.ports import Cache, Journal, PostRecords
from bot.ports.places import Homes
from bot.render.home import home
from bot.services.schedule import TICKED
from bot.services.subscribing import Subscribing

_GOOD = (Outcome.POSTED, Outcome.MENDED)
_LOOKED_AT = 50


class Home:
    """Shows App Home. ``spent`` and ``budget`` are US dollars of today's answers."""

    def __init__(
        self,
        subscribing: Subscribing,
        records: PostRecords,
        journal: Journal,
        cache: Cache,
        homes: Homes,
        key_of: Callable[[Edition], str],
        money: Callable[[], tuple[float, float, bool]],
        now: Callable[[], datetime],
    ) -> None:
        self._subscribing = subscribing
        self._records = records
        self._journal = journal
        self._cache = cache
        self._homes = homes
        self._key_of = key_of
        self._money = money
        self._now = now

    def show(self, user: str, note: str = "") -> None:
        """Show it as it is now; ``note`` is what came of the user's last click.

        Raises:
            SlackRefused, SlackUnavailable, StoreUnavailable: it stays as it was.
        """
        visible, now = self._subscribing.visible(user), self._now()
        planned = [(each, self._subscribing.next_of(each)) for each in visible]
        latest = sorted(self._latest(visible, now), key=lambda each: each.due, reverse=True)
        self._homes.show(user, home(latest, planned, self._health(), now, note))

    def _latest(self, subscriptions: Sequence[Subscription], now: datetime) -> Iterator[Latest]:
        """The last digest of each that stands, each text once: a hundred channels may get the same."""
        seen: set[str] = set()
        for subscription in subscriptions:
            found = self._last_of(subscription, now)
            if found and found.text not in seen:
                seen.add(found.text)
                yield found

    def _last_of(self, subscription: Subscription, now: datetime) -> Latest | None:
        """Its last digest, or the one before while that is not posted yet."""
        due = now
        for _ in range(2):
            due = subscription.timing.last_before(due)
            record = self._records.load(self._key_of(subscription.edition(due)))
            if record.get("done") and record.get("text"):
                return Latest(record["text"], record.get("address", ""), due)
        return None

    def _health(self) -> Health:
        runs = self._journal.recent(_LOOKED_AT)
        ticked = self._cache.get(TICKED)
        spent, budget, has_model = self._money()
        return Health(
            ticked=datetime.fromisoformat(ticked) if ticked else None,
            good=_first(runs, is_good=True),
            bad=_first(runs, is_good=False),
            spent=spent,
            budget=budget,
            has_model=has_model,
        )


def _first(runs: Sequence[Run], *, is_good: bool) -> Run | None:
    return next((run for run in runs if (run.outcome in _GOOD) is is_good), None)
