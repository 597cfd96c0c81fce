"""Tells of digests that are late, failed, skipped or incomplete: once each, to whoever has to know.

It speaks from the clock, so that a worker that is not running is told of as well. Troubles of the same moment go
into one message, for a service that is away troubles every channel at once; how each ended is edited into it.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256

from pydantic import TypeAdapter

from bot.domain.errors import InProgress, SlackRefused, SlackUnavailable
from bot.domain.troubles import Kind, Trouble
from bot.ports import Agenda, Cache, Messenger, PostRecords
from bot.ports.kept import read_back
from bot.render.troubles import troubles_post

log = logging.getLogger(__name__)

_TELL, _SETTLE = "tell:", "settle:"
# what is wrong at the same time is told together
_GATHER = timedelta(seconds=30)
# a place that refused the message may have been mended by then
_LATER = timedelta(hours=1)
_REMEMBERED = timedelta(days=30)
_SKEW = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class _Told:
    """A trouble and the message that tells of it; empty while nobody was told."""

    trouble: Trouble
    message: str = ""


_TOLD = TypeAdapter(_Told)


class Watchdog:
    """Keeps troubles and tells of them. ``admin`` is the channel that is told; empty: the subscriber is."""

    def __init__(
        self, agenda: Agenda, cache: Cache, records: PostRecords, messenger: Messenger, admin: str
    ) -> None:
        self._agenda = agenda
        self._cache = cache
        self._records = records
        self._messenger = messenger
        self._admin = admin

    def owns(self, name: str) -> bool:
        """Whether that is something on the agenda for :meth:`speak`."""
        return name.startswith((_TELL, _SETTLE))

    def note(self, trouble: Trouble) -> None:
        """Something is wrong. Noting it again changes nothing. Raises StoreUnavailable."""
        found = self._load(trouble.id)
        if found is None:
            self._cache.add(_key(trouble.id), _TOLD.dump_json(_Told(trouble)).decode(), _REMEMBERED)
        if found is None or not (found.message or found.trouble.settled):
            self._agenda.add(_TELL + trouble.id, trouble.at + _GATHER)

    def settle(self, key: str, kind: Kind, how: str, now: datetime) -> None:
        """It is right again, if it was wrong; ``how`` says since when. Raises StoreUnavailable."""
        name = f"{key}#{kind}"
        found = self._load(name)
        if found is None or found.trouble.settled:
            return
        self._keep(replace(found, trouble=replace(found.trouble, settled=how)))
        self._agenda.drop(_TELL + name)
        if found.message:
            self._agenda.put(_SETTLE + name, now)

    def speak(self, now: datetime) -> None:
        """Tell of all that nobody was told of. What Slack does not take now is told later.

        Raises:
            StoreUnavailable: the next tick tells of it.
        """
        if not self._waiting(now):
            return
        with suppress(InProgress), self._records.exclusive("watchdog"):
            names = self._waiting(now)
            try:
                self._tell([name.removeprefix(_TELL) for name in names if name.startswith(_TELL)], now)
                self._edit([name.removeprefix(_SETTLE) for name in names if name.startswith(_SETTLE)])
            except SlackUnavailable as error:
                log.warning("troubles are told later: %s", error)

    def _waiting(self, now: datetime) -> list[str]:
        return [name for name, _ in self._agenda.due(now) if self.owns(name)]

    def _tell(self, names: Sequence[str], now: datetime) -> None:
        groups: dict[tuple[str, ...], list[Trouble]] = defaultdict(list)
        for name in names:
            found = self._load(name)
            if found is None or found.message or found.trouble.settled:
                self._agenda.drop(_TELL + name)
            else:
                log.error("%s: %s", found.trouble.title, found.trouble.reason)
                groups[self._places(found.trouble)].append(found.trouble)
        for places, troubles in groups.items():
            message = self._posted(places, troubles, now)
            for trouble in troubles:
                if message:
                    self._keep(_Told(trouble, message))
                    self._agenda.drop(_TELL + trouble.id)
                else:
                    self._agenda.put(_TELL + trouble.id, now + _LATER)

    def _places(self, trouble: Trouble) -> tuple[str, ...]:
        """Where to tell of it: the first that takes it. Who subscribed is named by their user id."""
        return tuple(dict.fromkeys(place for place in (self._admin, trouble.to, trouble.channel) if place))

    def _posted(self, places: tuple[str, ...], troubles: Sequence[Trouble], now: datetime) -> str:
        """The key of the message; empty where no place takes it."""
        for place in places:
            try:
                return self._post(place, troubles, now)
            except SlackRefused as error:
                log.warning("nobody is told in %s: %s", place, error)
        return ""

    def _post(self, place: str, troubles: Sequence[Trouble], now: datetime) -> str:
        names = [trouble.id for trouble in troubles]
        key = "report:" + sha256(json.dumps([place, *names]).encode()).hexdigest()[:16]
        channel = self._messenger.direct(place) if place.startswith(("U", "W")) else place
        record = self._records.load(key)
        found = None
        if "begun" in record:
            since = datetime.fromisoformat(record["begun"]) - _SKEW
            found = self._messenger.find_posts(channel, since).get(key)
        self._records.save(key, begun=record.get("begun", now.isoformat()))
        ts = found or self._messenger.post(channel, troubles_post(troubles).payload(), key)
        self._records.save(key, channel=channel, ts=ts, names=json.dumps(names))
        return key

    def _edit(self, names: Sequence[str]) -> None:
        messages = dict.fromkeys(found.message for name in names if (found := self._load(name)))
        for message in messages:
            record = self._records.load(message)
            members = tuple(self._known(json.loads(record.get("names", "[]"))))
            if members:
                try:
                    self._messenger.edit(
                        record["channel"], record["ts"], troubles_post(members).payload(), message
                    )
                except SlackRefused as error:
                    log.info("how it ended is not told: %s", error)
        for name in names:
            self._agenda.drop(_SETTLE + name)

    def _known(self, names: Sequence[str]) -> Iterator[Trouble]:
        return (found.trouble for name in names if (found := self._load(name)))

    def _load(self, name: str) -> _Told | None:
        return read_back(_TOLD, self._cache.get(_key(name)))

    def _keep(self, told: _Told) -> None:
        self._cache.put(_key(told.trouble.id), _TOLD.dump_json(told).decode(), _REMEMBERED)


def _key(name: str) -> str:
    return f"trouble:{name}"
