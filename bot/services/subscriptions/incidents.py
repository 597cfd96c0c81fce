"""Tells of digests that are late, failed, skipped or incomplete: once each, to whoever has to know.

It speaks from the clock, so that a worker that is not running is told of as well. Troubles of the same moment go
into one message, for a service that is away troubles every channel at once; how each ended is edited into it.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256

from pydantic import TypeAdapter

from bot.domain.errors import InProgress, SlackRefused, SlackUnavailable
from bot.domain.keyspace.keys import REPORT, TOLD, TROUBLE
from bot.domain.operations.incident import Kind, Trouble
from bot.domain.subscriptions.due_items import IncidentReport, ReportUpdate
from bot.ports import Agenda, Cache, Messenger, PostRecords
from bot.ports.cached_json import read_back
from bot.ports.slack import SKEW
from bot.render.subscriptions.incidents import troubles_post

log = logging.getLogger(__name__)

# what is wrong at the same time is told together
_GATHER = timedelta(seconds=30)
# a place that refused the message may have been mended by then
_LATER = timedelta(hours=1)
# the record of what a speaker is about to post
_BEGUN = REPORT.key("begun")
_TROUBLE = TypeAdapter(Trouble)


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

    def note(self, trouble: Trouble) -> None:
        """Something is wrong. Noting it again changes nothing. Raises StoreUnavailable."""
        if not any(self._places(trouble)):
            return
        found = self._load(trouble.id)
        if found is None:
            self._cache.add(_key(trouble.id), _TROUBLE.dump_json(trouble).decode(), TROUBLE.lifetime)
        if not (found and found.settled) and not self._message(trouble.id):
            self._agenda.add(IncidentReport(trouble.id), trouble.at + _GATHER)

    def settle(self, key: str, kind: Kind, how: str, now: datetime) -> None:
        """It is right again, if it was wrong; ``how`` says since when. Raises StoreUnavailable."""
        name = f"{key}#{kind}"
        found = self._load(name)
        if found is None:
            return
        if not found.settled:
            self._keep(replace(found, settled=how))
        self._agenda.drop(IncidentReport(name))
        # after it is kept, as whoever tells looks at it after: one of the two sees the other
        if self._message(name):
            self._agenda.put(ReportUpdate(name), now)

    def give_up(self, key: str, kind: Kind, now: datetime) -> None:
        """There will be no more tries to mend it, if it was wrong. Raises StoreUnavailable."""
        name = f"{key}#{kind}"
        found = self._load(name)
        if found and found.retry and not found.settled:
            self._keep(replace(found, retry=None))
            if self._message(name):
                self._agenda.put(ReportUpdate(name), now)

    def speak(self, now: datetime) -> None:
        """Tell of all that nobody was told of. What Slack does not take now is told later.

        Raises:
            StoreUnavailable: the next tick tells of it.
        """
        if not self._waiting(now):
            return
        with suppress(InProgress), self._records.exclusive("watchdog"):
            items = self._waiting(now)
            try:
                self._tell([item.incident for item in items if isinstance(item, IncidentReport)], now)
                self._edit([item.incident for item in items if isinstance(item, ReportUpdate)])
            except SlackUnavailable as error:
                log.warning("troubles are told later: %s", error)

    def _waiting(self, now: datetime) -> list[IncidentReport | ReportUpdate]:
        return [item for item, _ in self._agenda.due(now) if isinstance(item, IncidentReport | ReportUpdate)]

    def _tell(self, names: Sequence[str], now: datetime) -> None:
        # what an earlier try began may be posted: it is finished as it was, or it would be told again with others
        begun = json.loads(self._records.load(_BEGUN).get("names", "[]"))
        self._tell_in(0, tuple(self._known(begun)), now)
        self._tell_in(0, tuple(self._untold(name for name in names if name not in begun)), now)

    def _untold(self, names: Iterable[str]) -> Iterator[Trouble]:
        for name in names:
            trouble = self._load(name)
            if trouble is None or self._message(name) or self._is_over(trouble):
                self._agenda.drop(IncidentReport(name))
            else:
                log.error("%s: %s", trouble.title, trouble.reason)
                yield trouble

    def _is_over(self, trouble: Trouble) -> bool:
        """It may have ended in the moment before it was noted."""
        is_there = trouble.kind is Kind.MISSING and "done" in self._records.load(trouble.key)
        return bool(trouble.settled) or is_there

    def _tell_in(self, turn: int, troubles: Sequence[Trouble], now: datetime) -> None:
        """Each in its place of that turn, those of one place together; where it is refused, in the next."""
        groups: dict[str, list[Trouble]] = defaultdict(list)
        for trouble in troubles:
            groups["".join(self._places(trouble)[turn : turn + 1])].append(trouble)
        for place, group in groups.items():
            if not place:
                for trouble in group:
                    self._agenda.put(IncidentReport(trouble.id), now + _LATER)
            elif not self._told_in(place, group, now):
                self._tell_in(turn + 1, group, now)

    def _places(self, trouble: Trouble) -> tuple[str, ...]:
        """Where to tell of it: the first that takes it. Who subscribed is named by their user id."""
        if trouble.kind is Kind.LOST:
            return (self._admin,)
        return tuple(dict.fromkeys(place for place in (self._admin, trouble.to, trouble.channel) if place))

    def _told_in(self, place: str, troubles: Sequence[Trouble], now: datetime) -> bool:
        """Whether the place took it."""
        names = [trouble.id for trouble in troubles]
        self._records.save(_BEGUN, names=json.dumps(names))
        try:
            message = self._post(place, troubles, now)
        except SlackRefused as error:
            log.warning("nobody is told in %s: %s", place, error)
            message = ""
        for name in names if message else ():
            self._cache.put(_told(name), message, TOLD.lifetime)
            self._agenda.drop(IncidentReport(name))
            if (found := self._load(name)) and found.settled:
                self._agenda.put(ReportUpdate(name), now)
        self._records.save(_BEGUN, names="[]")
        return bool(message)

    def _post(self, place: str, troubles: Sequence[Trouble], now: datetime) -> str:
        """The key of the message."""
        names = [trouble.id for trouble in troubles]
        key = REPORT.key(sha256(json.dumps([place, *names]).encode()).hexdigest()[:16])
        record = self._records.load(key)
        if "ts" in record:
            return key
        channel = self._messenger.direct(place) if place.startswith(("U", "W")) else place
        found = None
        if "begun" in record:
            since = datetime.fromisoformat(record["begun"]) - SKEW
            found = self._messenger.find_posts(channel, since).get(key)
        self._records.save(key, begun=record.get("begun", now.isoformat()))
        ts = found or self._messenger.post(channel, troubles_post(troubles).payload(), key)
        self._records.save(key, channel=channel, ts=ts, names=json.dumps(names))
        return key

    def _edit(self, names: Sequence[str]) -> None:
        for message in dict.fromkeys(map(self._message, names)):
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
            self._agenda.drop(ReportUpdate(name))

    def _known(self, names: Iterable[str]) -> Iterator[Trouble]:
        return (trouble for name in names if (trouble := self._load(name)))

    def _keep(self, trouble: Trouble) -> None:
        self._cache.put(_key(trouble.id), _TROUBLE.dump_json(trouble).decode(), TROUBLE.lifetime)

    def _load(self, name: str) -> Trouble | None:
        return read_back(_TROUBLE, self._cache.get(_key(name)))

    def _message(self, name: str) -> str:
        """The key of the message that tells of it; empty while nobody was told."""
        return self._cache.get(_told(name)) or ""


def _key(name: str) -> str:
    return TROUBLE.key(name)


def _told(name: str) -> str:
    return TOLD.key(name)
