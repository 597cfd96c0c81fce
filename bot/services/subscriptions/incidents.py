"""Tells of digests that are late, failed, skipped or incomplete: once each, to whoever has to know.

It speaks from the clock, so that a worker that is not running is told of as well. Incidents of the same moment go
into one message, for a service that is away troubles every channel at once; how each ended is edited into it.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256

from pydantic import TypeAdapter

from bot.domain.errors import PostingInProgress, SlackCallRefused, SlackUnavailable
from bot.domain.keyspace.keys import INCIDENT, INCIDENT_REPORT_LINK, INCIDENT_REPORT_RECORD
from bot.domain.operations.incident import Incident, IncidentKind
from bot.domain.subscriptions.due_items import IncidentReport, ReportUpdate
from bot.ports import Cache, DueQueue, Messenger, RecordStore
from bot.ports.cached_json import load_or_none
from bot.ports.slack import CLOCK_SKEW
from bot.render.subscriptions.incidents import render_incidents
from bot.services.subscriptions.incident_report import PostedIncidentReport

log = logging.getLogger(__name__)

# what is wrong at the same time is told together
_GATHERING_TIME = timedelta(seconds=30)
# a place that refused the message may have been mended by then
_RETRY_DELAY = timedelta(hours=1)
# the record of what a speaker is about to post
_PENDING_REPORT_KEY = INCIDENT_REPORT_RECORD.build_key("begun")
_INCIDENT_ADAPTER = TypeAdapter(Incident)


class IncidentReporter:
    """Keeps incidents and tells of them. ``admin`` is the channel that is told; empty: the subscriber is.

    ``is_posted`` says whether all of the digest of a key stands.
    """

    def __init__(
        self,
        agenda: DueQueue,
        cache: Cache,
        reports: RecordStore[PostedIncidentReport],
        is_posted: Callable[[str], bool],
        messenger: Messenger,
        admin: str,
    ) -> None:
        self._agenda = agenda
        self._cache = cache
        self._reports = reports
        self._is_posted = is_posted
        self._messenger = messenger
        self._admin = admin

    def report(self, incident: Incident) -> None:
        """Something is wrong. Reporting it again changes nothing. Raises StoreUnavailable."""
        if not any(self._list_recipients(incident)):
            return
        found = self._load_incident(incident.id)
        if found is None:
            self._cache.add(
                _build_incident_key(incident.id), _INCIDENT_ADAPTER.dump_json(incident).decode(), INCIDENT.lifetime
            )
        if not (found and found.settled) and not self._get_report_key(incident.id):
            self._agenda.add(IncidentReport(incident.id), incident.at + _GATHERING_TIME)

    def resolve(self, key: str, kind: IncidentKind, how: str, now: datetime) -> None:
        """It is right again, if it was wrong; ``how`` says since when. Raises StoreUnavailable."""
        name = f"{key}#{kind}"
        found = self._load_incident(name)
        if found is None:
            return
        if not found.settled:
            self._save_incident(replace(found, settled=how))
        self._agenda.drop(IncidentReport(name))
        # after it is kept, as whoever tells looks at it after: one of the two sees the other
        if self._get_report_key(name):
            self._agenda.put(ReportUpdate(name), now)

    def abandon(self, key: str, kind: IncidentKind, now: datetime) -> None:
        """There will be no more tries to mend it, if it was wrong. Raises StoreUnavailable."""
        name = f"{key}#{kind}"
        found = self._load_incident(name)
        if found and found.retry and not found.settled:
            self._save_incident(replace(found, retry=None))
            if self._get_report_key(name):
                self._agenda.put(ReportUpdate(name), now)

    def notify(self, now: datetime) -> None:
        """Tell of all that nobody was told of. What Slack does not take now is told later.

        Raises:
            StoreUnavailable: the next tick tells of it.
        """
        if not self._list_due_items(now):
            return
        with suppress(PostingInProgress), self._reports.hold_lock("watchdog"):
            items = self._list_due_items(now)
            try:
                self._report_incidents([item.incident for item in items if isinstance(item, IncidentReport)], now)
                self._edit_reports([item.incident for item in items if isinstance(item, ReportUpdate)])
            except SlackUnavailable as error:
                log.warning("troubles are told later: %s", error)

    def _list_due_items(self, now: datetime) -> list[IncidentReport | ReportUpdate]:
        return [item for item, _ in self._agenda.list_due(now) if isinstance(item, IncidentReport | ReportUpdate)]

    def _report_incidents(self, names: Sequence[str], now: datetime) -> None:
        # what an earlier try began may be posted: it is finished as it was, or it would be told again with others
        begun = self._reports.load(_PENDING_REPORT_KEY).incidents
        self._report_in_turn(0, tuple(self._load_incidents(begun)), now)
        self._report_in_turn(0, tuple(self._iterate_unreported(name for name in names if name not in begun)), now)

    def _iterate_unreported(self, names: Iterable[str]) -> Iterator[Incident]:
        for name in names:
            incident = self._load_incident(name)
            if incident is None or self._get_report_key(name) or self._is_over(incident):
                self._agenda.drop(IncidentReport(name))
            else:
                log.error("%s: %s", incident.title, incident.reason)
                yield incident

    def _is_over(self, incident: Incident) -> bool:
        """It may have ended in the moment before it was noted."""
        return bool(incident.settled) or (incident.kind is IncidentKind.MISSING and self._is_posted(incident.key))

    def _report_in_turn(self, turn: int, incidents: Sequence[Incident], now: datetime) -> None:
        """Each in its place of that turn, those of one place together; where it is refused, in the next."""
        groups: dict[str, list[Incident]] = defaultdict(list)
        for incident in incidents:
            groups["".join(self._list_recipients(incident)[turn : turn + 1])].append(incident)
        for place, group in groups.items():
            if not place:
                for incident in group:
                    self._agenda.put(IncidentReport(incident.id), now + _RETRY_DELAY)
            elif not self._try_recipient(place, group, now):
                self._report_in_turn(turn + 1, group, now)

    def _list_recipients(self, incident: Incident) -> tuple[str, ...]:
        """Where to tell of it: the first that takes it. Who subscribed is named by their user id."""
        if incident.kind is IncidentKind.LOST:
            return (self._admin,)
        return tuple(dict.fromkeys(place for place in (self._admin, incident.to, incident.channel) if place))

    def _try_recipient(self, place: str, incidents: Sequence[Incident], now: datetime) -> bool:
        """Whether the place took it."""
        names = tuple(incident.id for incident in incidents)
        key = INCIDENT_REPORT_RECORD.build_key(sha256(json.dumps([place, *names]).encode()).hexdigest()[:16])
        # what is about to be posted is recorded, until it was posted or refused
        none, begun = PostedIncidentReport(), PostedIncidentReport(incidents=names)
        self._reports.save(_PENDING_REPORT_KEY, none, begun)
        try:
            self._post_report(key, place, incidents, now)
        except SlackCallRefused as error:
            log.warning("nobody is told in %s: %s", place, error)
            key = ""
        for name in names if key else ():
            self._cache.put(_build_report_link_key(name), key, INCIDENT_REPORT_LINK.lifetime)
            self._agenda.drop(IncidentReport(name))
            if (known := self._load_incident(name)) and known.settled:
                self._agenda.put(ReportUpdate(name), now)
        self._reports.save(_PENDING_REPORT_KEY, begun, none)
        return bool(key)

    def _post_report(self, key: str, place: str, incidents: Sequence[Incident], now: datetime) -> None:
        report = self._reports.load(key)
        if report.message:
            return
        channel = self._messenger.open_direct_messages(place) if place.startswith(("U", "W")) else place
        message = ""
        if report.begun_at:
            message = self._messenger.find_posts(channel, report.begun_at - CLOCK_SKEW).get(key, "")
        else:
            report = self._reports.save(key, report, report.begin_posting(now))
        message = message or self._messenger.post_message(
            channel, render_incidents(incidents).build_payload(), key
        )
        self._reports.save(key, report, report.complete(channel, message, incidents))

    def _edit_reports(self, names: Sequence[str]) -> None:
        for key in dict.fromkeys(map(self._get_report_key, names)):
            report = self._reports.load(key)
            members = tuple(self._load_incidents(report.incidents))
            if members:
                try:
                    self._messenger.edit_message(
                        report.channel, report.message, render_incidents(members).build_payload(), key
                    )
                except SlackCallRefused as error:
                    log.info("how it ended is not told: %s", error)
        for name in names:
            self._agenda.drop(ReportUpdate(name))

    def _load_incidents(self, names: Iterable[str]) -> Iterator[Incident]:
        return (incident for name in names if (incident := self._load_incident(name)))

    def _save_incident(self, incident: Incident) -> None:
        self._cache.put(
            _build_incident_key(incident.id), _INCIDENT_ADAPTER.dump_json(incident).decode(), INCIDENT.lifetime
        )

    def _load_incident(self, name: str) -> Incident | None:
        return load_or_none(_INCIDENT_ADAPTER, self._cache.get(_build_incident_key(name)))

    def _get_report_key(self, name: str) -> str:
        """The key of the message that tells of it; empty while nobody was told."""
        return self._cache.get(_build_report_link_key(name)) or ""


def _build_incident_key(name: str) -> str:
    return INCIDENT.build_key(name)


def _build_report_link_key(name: str) -> str:
    return INCIDENT_REPORT_LINK.build_key(name)
