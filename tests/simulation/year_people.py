import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from random import Random
from zoneinfo import ZoneInfo

from hypothesis import settings

from bot.app import App
from bot.dates import Span
from bot.features.digest.rules import DigestSpec
from bot.features.merges.requests import FULL_VIEW, DigestView
from bot.features.subscriptions.rules import SubscriptionRequest, SubscriptionSelector, SubscriptionVerb
from bot.features.subscriptions.service import change_selected, subscribe
from bot.platform.commands import AllowedRepositories
from bot.platform.slack.requests import SlackRequest
from tests.dates.wall_clocks import Walls
from tests.helpers.builders import REPOSITORY
from tests.helpers.doubles import slack_request
from tests.simulation.year import AWAY, BACK, DAY, END, FIXED, HOUR, START, WINDOW, Year

# more of the same where there is time for it: with 48, each zone and time is there twice
CHANNELS = 200 if settings.get_current_profile_name() == "search" else 48
# each with two times at which digests are due: those that come twice or never on some nights, or off the hour
TIMES = {
    "America/Los_Angeles": ("09:00", "02:30"),
    "America/St_Johns": ("09:00", "01:30"),
    "America/Havana": ("09:00", "00:00"),
    "America/Santiago": ("23:59", "00:00"),
    "UTC": ("09:00", "00:00"),
    "Europe/Berlin": ("09:00", "02:30"),
    "Asia/Tehran": ("09:00", "23:59"),
    "Asia/Kolkata": ("09:00", "00:00"),
    "Asia/Kathmandu": ("09:00", "23:59"),
    "Australia/Lord_Howe": ("01:45", "02:15"),
    "Pacific/Chatham": ("09:00", "03:00"),
    "Pacific/Apia": ("09:00", "00:00"),
}
BY_HAND = 500
VIEWS = ("", "", "", "only:risky", "not-author:bots path:csrc")
_FIRST, _LAST = dt.date(2024, 12, 28), dt.date(2026, 1, 4)
_DATES = tuple(_FIRST + n * DAY for n in range((_LAST - _FIRST).days + 1))
_MONDAY, _SATURDAY = 0, 5


@cache
def walls(zone: str) -> Walls:
    return Walls(ZoneInfo(zone), _FIRST, _LAST)


@cache
def _due(zone: str, at: str, date: dt.date) -> datetime | None:
    return walls(zone).due(date, dt.time.fromisoformat(at))


def nights() -> list[tuple[datetime, datetime]]:
    """When clocks change somewhere, with some hours before and after."""
    return [(change - 3 * HOUR, change + 3 * HOUR) for zone in TIMES for change in walls(zone).changes]


@dataclass(frozen=True, slots=True)
class Digest:
    """What somebody is to get: of which days in which zone, and from when on."""

    days: tuple[dt.date, ...]
    due: datetime
    zone: str

    @property
    def is_lost(self) -> bool:
        """Whether nothing ran until it was too late."""
        return AWAY <= self.due < BACK - WINDOW

    @property
    def possible(self) -> datetime:
        return BACK if AWAY <= self.due < BACK else self.due


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody wants: when, where, on which days, and what of it."""

    at: str
    zone: str
    weekdays: bool
    view: str = ""

    def wish(self) -> SubscriptionRequest:
        days = "weekdays" if self.weekdays else "daily"
        return SubscriptionRequest.parse(
            f"at {self.at} tz {self.zone} {days} {self.view}", AllowedRepositories(REPOSITORY)
        )

    def due(self, date: dt.date) -> datetime | None:
        return None if self.weekdays and date.weekday() >= _SATURDAY else _due(self.zone, self.at, date)

    def days(self, date: dt.date) -> tuple[dt.date, ...]:
        back = 3 if self.weekdays and date.weekday() == _MONDAY else 1
        return tuple(date - n * DAY for n in range(back, 0, -1))


@dataclass(frozen=True, slots=True)
class Life:
    """A subscription as it is for a while. ``kept`` is the date of its first digest, if a change kept one."""

    preferences: Wanted
    since: datetime
    until: datetime = END
    kept: dt.date | None = None

    def digests(self) -> Iterator[Digest]:
        for date in _DATES:
            due = self.preferences.due(date)
            if due and due < self.until and (date >= self.kept if self.kept else due > self.since):
                yield Digest(self.preferences.days(date), max(due, self.since), self.preferences.zone)

    def next_date(self, instant: datetime) -> dt.date:
        """That of the first digest after an instant."""
        return next(date for date in _DATES if (due := self.preferences.due(date)) and due > instant)

    def is_calm(self, instant: datetime) -> bool:
        """Whether nothing is being posted at that time, or soon."""
        dues = [self.preferences.due(instant.date() + n * DAY) for n in (-1, 0, 1)]
        return not any(due and abs(due - instant) < HOUR for due in dues)


@dataclass
class Subscriber:
    app: App
    channel: str
    user: str
    name: str = ""
    lives: list[Life] = field(default_factory=list)

    @property
    def digests(self) -> list[Digest]:
        return [digest for life in self.lives for digest in life.digests()]

    @property
    def zones(self) -> set[ZoneInfo]:
        """Those in which they ever get digests."""
        return {walls(life.preferences.zone).zone for life in self.lives}

    @property
    def view(self) -> DigestView:
        return self.lives[0].preferences.wish().view if self.lives else FULL_VIEW

    def is_calm(self, now: datetime) -> bool:
        return bool(self.lives) and self.lives[-1].is_calm(now)

    def begin(self, preferences: Wanted, now: datetime) -> None:
        self.name = subscribe(self.app, self._visit, preferences.wish())[0].id
        self.lives.append(Life(preferences, now))

    def change(self, now: datetime, *, at: str = "", zone: str = "") -> None:
        """The next digest is that of the same date."""
        old, date = self.lives[-1].preferences, self.lives[-1].next_date(now)
        preferences = replace(old, at=at or old.at, zone=zone or old.zone)
        self._end(now)
        assert subscribe(self.app, self._visit, preferences.wish())[0].id == self.name
        self.lives.append(Life(preferences, now, kept=date))

    def pause(self, now: datetime) -> None:
        self._end(now)
        self._run(SubscriptionVerb.PAUSE)

    def resume(self, now: datetime) -> None:
        self._run(SubscriptionVerb.RESUME)
        self.lives.append(Life(self.lives[-1].preferences, now))

    def leave(self, now: datetime) -> None:
        self._end(now)
        self._run(SubscriptionVerb.UNSUBSCRIBE)

    def _run(self, verb: SubscriptionVerb) -> None:
        change_selected(self.app, self._visit, verb, SubscriptionSelector(id=self.name))

    @property
    def _visit(self) -> SlackRequest:
        return slack_request(channel=self.channel, user=self.user)

    def _end(self, now: datetime) -> None:
        self.lives[-1] = replace(self.lives[-1], until=min(now, self.lives[-1].until))


class People:
    def __init__(self, year: Year, random: Random) -> None:
        self._year = year
        self._random = random
        self.all: Sequence[Subscriber] = [
            self._add_fixed_subscriber(),
            *(self._new(n, START) for n in range(CHANNELS - 1)),
            # a second one in some channels, sooner or later
            *(self._new(n, START, "only:substantial") for n in range(0, CHANNELS, 40)),
            *(self._new(n, self._some_day(), "only:substantial") for n in range(20, CHANNELS, 40)),
        ]
        for n, subscriber in enumerate(self.all[1::5]):
            self._plan(subscriber, n)
        for _ in range(BY_HAND):
            self._year.people(self._some_day(), self._ask_by_hand)

    def _ask_by_hand(self) -> None:
        """Somebody asks for a day that is over, in another zone: often the very date that is due next."""
        zone = ZoneInfo(self._random.choice(list(TIMES)))
        days = self._random.choice([1, 1, 2, 5])
        day = (self._year.now().astimezone(zone) - days * DAY).date()
        who = self._random.choice(self.all)
        edition = DigestSpec(who.channel, REPOSITORY, Span(day, day, zone), who.view)
        # of those who get the same there: they may have begun before or after each other
        same = [each for each in self.all if (each.channel, each.view) == (who.channel, who.view)]
        own = {Span(day, day, zone).utc_offsets for each in same for zone in each.zones}
        # what has the same content is the channel's own digest, and may come early
        if edition.span.utc_offsets not in own:
            self._year.workers.post_by_hand(edition)

    def _add_fixed_subscriber(self) -> Subscriber:
        """The subscription of the settings begins with the digest of the day on which the bot first starts."""
        preferences = Wanted("09:00", str(FIXED.timing.zone), weekdays=False)
        life = Life(preferences, START, kept=walls(preferences.zone).date(START))
        return Subscriber(self._year.parts.people, FIXED.channel, "", FIXED.id, [life])

    def _new(self, n: int, when: datetime, view: str = "") -> Subscriber:
        zone, turn = list(TIMES)[n % len(TIMES)], n // len(TIMES)
        preferences = Wanted(TIMES[zone][turn % 2], zone, weekdays=n % 7 < 5, view=view or VIEWS[n % len(VIEWS)])
        made = Subscriber(self._year.parts.people, f"C{n:04}", f"U{n:04}")
        self._year.people(when, lambda: made.begin(preferences, self._year.now()))
        return made

    def _plan(self, who: Subscriber, n: int) -> None:
        """What somebody does on some day, and some weeks later.

        Nobody changes both time and zone: together they may put the digest of that date more than a day ago.
        """
        at, zone = self._random.choice(["00:00", "09:00", "23:59"]), self._random.choice(list(TIMES))
        plans: list[tuple[Callable[[datetime], None], ...]] = [
            (who.pause, who.resume),
            (lambda now: who.change(now, zone=zone), lambda now: who.change(now, at=at)),
            (lambda now: who.change(now, at=at), lambda now: who.change(now, zone=zone)),
            (who.pause, who.leave),
        ]
        when = self._some_day()
        for act in plans[n % len(plans)]:
            self._when_calm(who, when, act)
            when += self._random.uniform(3, 40) * DAY

    def _when_calm(self, who: Subscriber, when: datetime, act: Callable[[datetime], None]) -> None:
        """Nobody changes what is being posted in that very hour, and nobody can while nothing runs."""

        def try_action() -> None:
            now = self._year.now()
            if who.is_calm(now) and not AWAY - 3 * HOUR < now < BACK + 3 * HOUR:
                act(now)
            else:
                self._year.people(now + HOUR, try_action)

        self._year.people(when, try_action)

    def _some_day(self) -> datetime:
        return START + self._random.uniform(5, 310) * DAY
