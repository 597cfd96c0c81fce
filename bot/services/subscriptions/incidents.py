"""Reports of digests that are late, failed, skipped or incomplete: one for each, to operators or subscribers.

They are sent by the clock, so that a missing worker is reported too. Incidents of the same moment share one
message, because an unavailable service affects every channel at once. The end of each is edited into it.
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

from bot.domain.errors import PostingInProgress, SlackCallRefused, SlackUnavailable
from bot.domain.keyspace.keys import INCIDENT, INCIDENT_REPORT_LINK, INCIDENT_REPORT_RECORD
from bot.domain.keyspace.names import INCIDENTS_LEASE
from bot.domain.operations.incident import Incident, IncidentKind
from bot.domain.subscriptions.due_items import IncidentReport, ReportUpdate
from bot.platform.slack.messages import CLOCK_SKEW
from bot.platform.slack.messenger import SlackMessenger
from bot.ports import Cache, DueQueue, RecordStore
from bot.ports.codecs.versioned_json import VersionedJson
from bot.render.subscriptions.incidents import render_incidents
from bot.services.subscriptions.incident_report import PostedIncidentReport

log = logging.getLogger(__name__)

# incidents of the same moment are reported together
_GATHERING_TIME = timedelta(seconds=30)
# a channel that refused the message may have been fixed by then
_RETRY_DELAY = timedelta(hours=1)
# the record of the report that is about to be posted
_PENDING_REPORT_KEY = INCIDENT_REPORT_RECORD.build_key("begun")
_INCIDENT_JSON = VersionedJson(Incident, 1)


class IncidentReporter:
    """Store of incidents, and sender of their reports. ``admin`` is the channel for them; empty: the subscriber.

    ``is_posted`` returns whether the digest of a key is posted completely.
    """

    def __init__(
        self,
        due_queue: DueQueue,
        cache: Cache,
        reports: RecordStore[PostedIncidentReport],
        is_posted: Callable[[str], bool],
        messenger: SlackMessenger,
        admin: str,
    ) -> None:
        self._due_queue = due_queue
        self._cache = cache
        self._reports = reports
        self._is_posted = is_posted
        self._messenger = messenger
        self._admin = admin

    def report(self, incident: Incident) -> None:
        """Record an incident. A repeated call changes nothing. Raises StoreUnavailable."""
        if not any(self._list_recipients(incident)):
            return
        existing = self._load_incident(incident.id)
        if existing is None:
            self._cache.add(
                _build_incident_key(incident.id), _INCIDENT_JSON.dump_text(incident), INCIDENT.lifetime
            )
        if not (existing and existing.settled) and not self._get_report_key(incident.id):
            self._due_queue.add(IncidentReport(incident.id), incident.at + _GATHERING_TIME)

    def resolve(self, key: str, kind: IncidentKind, how: str, now: datetime) -> None:
        """Record the end of an incident, if there is one; ``how`` says how it ended. Raises StoreUnavailable."""
        name = f"{key}#{kind}"
        incident = self._load_incident(name)
        if incident is None:
            return
        if not incident.settled:
            self._save_incident(replace(incident, settled=how))
        self._due_queue.drop(IncidentReport(name))
        # after it is saved: a reporter first saves its link, then reads the incident: one of both sees the other
        if self._get_report_key(name):
            self._due_queue.put(ReportUpdate(name), now)

    def abandon(self, key: str, kind: IncidentKind, now: datetime) -> None:
        """Record that no more repairs are attempted, if there is an incident. Raises StoreUnavailable."""
        name = f"{key}#{kind}"
        incident = self._load_incident(name)
        if incident and incident.retry and not incident.settled:
            self._save_incident(replace(incident, retry=None))
            if self._get_report_key(name):
                self._due_queue.put(ReportUpdate(name), now)

    def notify(self, now: datetime) -> None:
        """Report all incidents that are not reported yet. What Slack does not accept now is reported later.

        Raises:
            StoreUnavailable: the next tick reports them.
        """
        if not self._list_due_items(now):
            return
        with suppress(PostingInProgress), self._reports.hold_lock(INCIDENTS_LEASE):
            items = self._list_due_items(now)
            try:
                self._report_incidents([item.incident for item in items if isinstance(item, IncidentReport)], now)
                self._edit_reports([item.incident for item in items if isinstance(item, ReportUpdate)])
            except SlackUnavailable as error:
                log.warning("troubles are told later: %s", error)

    def _list_due_items(self, now: datetime) -> list[IncidentReport | ReportUpdate]:
        return [
            item for item, _ in self._due_queue.list_due(now) if isinstance(item, IncidentReport | ReportUpdate)
        ]

    def _report_incidents(self, names: Sequence[str], now: datetime) -> None:
        # the report of an earlier attempt may be posted: it is finished unchanged, or its incidents would be
        # reported again with others
        pending = self._reports.load(_PENDING_REPORT_KEY).incidents
        self._report_in_turn(0, tuple(self._load_incidents(pending)), now)
        self._report_in_turn(
            0, tuple(self._iterate_unreported(name for name in names if name not in pending)), now
        )

    def _iterate_unreported(self, names: Iterable[str]) -> Iterator[Incident]:
        for name in names:
            incident = self._load_incident(name)
            if incident is None or self._get_report_key(name) or self._is_over(incident):
                self._due_queue.drop(IncidentReport(name))
            else:
                log.error("%s: %s", incident.title, incident.reason)
                yield incident

    def _is_over(self, incident: Incident) -> bool:
        """Return whether an incident has ended, possibly just before its end was recorded."""
        return bool(incident.settled) or (incident.kind is IncidentKind.MISSING and self._is_posted(incident.key))

    def _report_in_turn(self, rank: int, incidents: Sequence[Incident], now: datetime) -> None:
        """Report incidents to their recipients of that rank, grouped by recipient; if one refuses, to the next."""
        groups: dict[str, list[Incident]] = defaultdict(list)
        for incident in incidents:
            groups["".join(self._list_recipients(incident)[rank : rank + 1])].append(incident)
        for recipient, group in groups.items():
            if not recipient:
                for incident in group:
                    self._due_queue.put(IncidentReport(incident.id), now + _RETRY_DELAY)
            elif not self._try_recipient(recipient, group, now):
                self._report_in_turn(rank + 1, group, now)

    def _list_recipients(self, incident: Incident) -> tuple[str, ...]:
        """Return where to report an incident: the first that accepts it. A subscriber is a user id."""
        if incident.kind is IncidentKind.LOST:
            return (self._admin,)
        return tuple(
            dict.fromkeys(recipient for recipient in (self._admin, incident.to, incident.channel) if recipient)
        )

    def _try_recipient(self, recipient: str, incidents: Sequence[Incident], now: datetime) -> bool:
        """Return whether the recipient accepted the report."""
        names = tuple(incident.id for incident in incidents)
        key = INCIDENT_REPORT_RECORD.build_key(sha256(json.dumps([recipient, *names]).encode()).hexdigest()[:16])
        # the report is recorded as pending until it is posted or refused
        empty, pending = PostedIncidentReport(), PostedIncidentReport(incidents=names)
        self._reports.save(_PENDING_REPORT_KEY, empty, pending)
        try:
            self._post_report(key, recipient, incidents, now)
        except SlackCallRefused as error:
            log.warning("nobody is told in %s: %s", recipient, error)
            key = ""
        for name in names if key else ():
            self._cache.put(_build_report_link_key(name), key, INCIDENT_REPORT_LINK.lifetime)
            self._due_queue.drop(IncidentReport(name))
            if (stored := self._load_incident(name)) and stored.settled:
                self._due_queue.put(ReportUpdate(name), now)
        self._reports.save(_PENDING_REPORT_KEY, pending, empty)
        return bool(key)

    def _post_report(self, key: str, recipient: str, incidents: Sequence[Incident], now: datetime) -> None:
        report = self._reports.load(key)
        if report.message:
            return
        channel = (
            self._messenger.open_direct_messages(recipient) if recipient.startswith(("U", "W")) else recipient
        )
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
            self._due_queue.drop(ReportUpdate(name))

    def _load_incidents(self, names: Iterable[str]) -> Iterator[Incident]:
        return (incident for name in names if (incident := self._load_incident(name)))

    def _save_incident(self, incident: Incident) -> None:
        self._cache.put(_build_incident_key(incident.id), _INCIDENT_JSON.dump_text(incident), INCIDENT.lifetime)

    def _load_incident(self, name: str) -> Incident | None:
        return _INCIDENT_JSON.load_or_none(self._cache.get(_build_incident_key(name)))

    def _get_report_key(self, name: str) -> str:
        """Return the key of the report about an incident; empty if it is not reported yet."""
        return self._cache.get(_build_report_link_key(name)) or ""


def _build_incident_key(name: str) -> str:
    return INCIDENT.build_key(name)


def _build_report_link_key(name: str) -> str:
    return INCIDENT_REPORT_LINK.build_key(name)
