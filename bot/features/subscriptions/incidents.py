"""Reports of digests that are late, failed, skipped or incomplete: one for each, to operators or subscribers.

They are sent by the clock, so that a missing worker is reported too. Incidents of the same moment share one
message, because an unavailable service affects every channel at once. The end of each is edited into it.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256

from bot.app import App
from bot.errors import SlackCallRefused, SlackUnavailable
from bot.features.posting import post_once
from bot.features.subscriptions.view import make_channel
from bot.platform.slack.blocks import (
    Element,
    Post,
    escape_mrkdwn,
    make_block,
    make_bullets,
    make_instant,
    make_section,
    make_text,
)
from bot.platform.store.due_queue import IncidentReport, ReportUpdate
from bot.platform.store.tables import Table
from bot.text import format_count
from impact.text.strings import collapse_lines, truncate_text

log = logging.getLogger(__name__)

# incidents of the same moment are reported together
_GATHERING_TIME = timedelta(seconds=30)
# a channel that refused the message may have been fixed by then
_RETRY_DELAY = timedelta(hours=1)
_MAX_LINES, _MAX_REASON_LENGTH = 10, 300


class IncidentKind(StrEnum):
    """The kind of an incident. A digest has at most one incident of each kind."""

    MISSING = "missing"  # it is late, or all attempts failed so far
    SKIPPED = "skipped"  # it is so late that it will not be posted
    INCOMPLETE = "incomplete"  # something is missing in it, or unexpectedly nothing was merged
    LOST = "lost"  # a job, not a digest: ``key`` is that of the job; only operators are notified


_KIND_WORDS = {
    IncidentKind.MISSING: "is not posted yet",
    IncidentKind.SKIPPED: "will not be posted",
    IncidentKind.INCOMPLETE: "was posted incomplete",
    IncidentKind.LOST: "failed for good",
}


@dataclass(frozen=True, slots=True)
class Incident:
    """A problem with the digest of a key, which ``title`` names for people.

    ``reason`` is a sentence without its full stop. ``retry`` is the time of the next attempt, None if there is
    none. ``to`` is the user who subscribed, empty if there is none. ``channel`` is the channel of the digest or
    of the request. ``settled`` says how the incident ended and is empty while it lasts.
    """

    key: str
    kind: IncidentKind
    title: str
    reason: str
    at: datetime
    retry: datetime | None
    channel: str
    to: str = ""
    settled: str = ""

    @property
    def id(self) -> str:
        return f"{self.key}#{self.kind}"


@dataclass(frozen=True, slots=True)
class PostedReport:
    """A message about incidents, which a later attempt finishes, and edits their ends into.

    ``message`` is its timestamp, empty until it is posted, ``incidents`` are their ids. Of the one that is about
    to be posted, these alone are recorded under the name ``begun``.
    """

    channel: str = ""
    message: str = ""
    incidents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportLink:
    report: str


INCIDENTS = Table("trouble:{incident}", Incident, "what is wrong", days=30)
REPORT_LINKS = Table("told:{incident}", ReportLink, "the report that tells of it", days=30)
REPORTS = Table("report:{fingerprint}", PostedReport, "a message to operators", days=30)
_BEGUN = "begun"


# --- what happens to incidents. All may raise StoreUnavailable


def report_incident(app: App, incident: Incident) -> None:
    if not _list_recipients(app, incident):
        return
    app.tables.add(INCIDENTS, incident, incident.id)
    stored = app.tables.get(INCIDENTS, incident.id)
    if not (stored and stored.settled) and not _find_report(app, incident.id):
        app.due_queue.add(IncidentReport(incident.id), incident.at + _GATHERING_TIME)


def resolve_incident(app: App, key: str, kind: IncidentKind, how: str) -> None:
    """Record the end of an incident, if there is one; ``how`` says how it ended."""
    name = f"{key}#{kind}"
    incident = app.tables.get(INCIDENTS, name)
    if incident is None:
        return
    if not incident.settled:
        app.tables.put(INCIDENTS, replace(incident, settled=how), name)
    app.due_queue.drop(IncidentReport(name))
    # after it is saved: a reporter first saves its link, then reads the incident: one of both sees the other
    if _find_report(app, name):
        app.due_queue.put(ReportUpdate(name), app.now())


def abandon_incident(app: App, key: str, kind: IncidentKind) -> None:
    name = f"{key}#{kind}"
    incident = app.tables.get(INCIDENTS, name)
    if incident and incident.retry and not incident.settled:
        app.tables.put(INCIDENTS, replace(incident, retry=None), name)
        if _find_report(app, name):
            app.due_queue.put(ReportUpdate(name), app.now())


def notify_people(app: App) -> None:
    """Report all incidents that are not reported yet. What Slack does not accept now is reported later."""
    if not _list_due_items(app):
        return
    with app.tables.hold_lease(REPORTS, _BEGUN):
        items = _list_due_items(app)
        try:
            _report_new(app, [item.name for item in items if isinstance(item, IncidentReport)])
            _edit_reports(app, [item.name for item in items if isinstance(item, ReportUpdate)])
        except SlackUnavailable as error:
            log.warning("troubles are told later: %s", error)


def _list_due_items(app: App) -> list[IncidentReport | ReportUpdate]:
    due = app.due_queue.list_due(app.now())
    return [item for item, _ in due if isinstance(item, IncidentReport | ReportUpdate)]


# --- the messages


def _report_new(app: App, names: Sequence[str]) -> None:
    # the report of an earlier attempt may be posted: it is finished unchanged, or its incidents would be
    # reported again with others
    begun = app.tables.get(REPORTS, _BEGUN) or PostedReport()
    _report_in_turn(app, 0, _load_incidents(app, begun.incidents))
    new = []
    for name in (name for name in names if name not in begun.incidents):
        incident = app.tables.get(INCIDENTS, name)
        is_over = bool(incident is None or _find_report(app, name) or incident.settled)
        if incident and not is_over and incident.kind is IncidentKind.MISSING:
            # it may be posted, and just about to be recorded as that
            is_over = app.digest_records.store.load(incident.key).is_posted
        if incident is None or is_over:
            app.due_queue.drop(IncidentReport(name))
        else:
            log.error("%s: %s", incident.title, incident.reason)
            new.append(incident)
    _report_in_turn(app, 0, new)


def _report_in_turn(app: App, rank: int, incidents: Sequence[Incident]) -> None:
    """Report incidents to their recipients of that rank, grouped by recipient; if one refuses, to the next."""
    groups: dict[str, list[Incident]] = defaultdict(list)
    for incident in incidents:
        groups["".join(_list_recipients(app, incident)[rank : rank + 1])].append(incident)
    for recipient, group in groups.items():
        if not recipient:
            for incident in group:
                app.due_queue.put(IncidentReport(incident.id), app.now() + _RETRY_DELAY)
        elif not _try_recipient(app, recipient, group):
            _report_in_turn(app, rank + 1, group)


def _list_recipients(app: App, incident: Incident) -> list[str]:
    """Return where to report an incident: the first that accepts it. A subscriber is a user id."""
    admin = app.settings.prdigest_admin_channel or ""
    wider = () if incident.kind is IncidentKind.LOST else (incident.to, incident.channel)
    return [recipient for recipient in dict.fromkeys((admin, *wider)) if recipient]


def _try_recipient(app: App, recipient: str, incidents: Sequence[Incident]) -> bool:
    """Return whether the recipient accepted the report, which is recorded as begun until it is known."""
    names = tuple(incident.id for incident in incidents)
    report = sha256(json.dumps([recipient, *names]).encode()).hexdigest()[:16]
    app.tables.put(REPORTS, PostedReport(incidents=names), _BEGUN)
    is_accepted = True
    try:
        _post_report(app, report, recipient, incidents)
    except SlackCallRefused as error:
        log.warning("nobody is told in %s: %s", recipient, error)
        is_accepted = False
    for name in names if is_accepted else ():
        app.tables.put(REPORT_LINKS, ReportLink(report), name)
        app.due_queue.drop(IncidentReport(name))
        if (stored := app.tables.get(INCIDENTS, name)) and stored.settled:
            app.due_queue.put(ReportUpdate(name), app.now())
    app.tables.put(REPORTS, PostedReport(), _BEGUN)
    return is_accepted


def _post_report(app: App, name: str, recipient: str, incidents: Sequence[Incident]) -> None:
    is_person, key = recipient.startswith(("U", "W")), REPORTS.family.build_key(name)
    channel = app.messenger.open_direct_messages(recipient) if is_person else recipient
    message = post_once(app, channel, key, render_incidents(incidents))
    ids = tuple(incident.id for incident in incidents)
    app.tables.put(REPORTS, PostedReport(channel, message, ids), name)


def _edit_reports(app: App, names: Sequence[str]) -> None:
    for name in dict.fromkeys(_find_report(app, each) for each in names):
        report = app.tables.get(REPORTS, name)
        if report and (incidents := _load_incidents(app, report.incidents)):
            post, key = render_incidents(incidents).build_payload(), REPORTS.family.build_key(name)
            try:
                app.messenger.edit_message(report.channel, report.message, post, key)
            except SlackCallRefused as error:
                log.info("how it ended is not told: %s", error)
    for each in names:
        app.due_queue.drop(ReportUpdate(each))


def _load_incidents(app: App, names: Sequence[str]) -> list[Incident]:
    return [each for each in app.tables.get_each(INCIDENTS, [(name,) for name in names]) if each]


def _find_report(app: App, incident: str) -> str:
    link = app.tables.get(REPORT_LINKS, incident)
    return link.report if link else ""


# --- how they look


def render_incidents(incidents: Sequence[Incident]) -> Post:
    jobs = sum(incident.kind is IncidentKind.LOST for incident in incidents)
    counts = [
        format_count(count, word) for count, word in ((len(incidents) - jobs, "post"), (jobs, "job")) if count
    ]
    title = f"{' and '.join(counts)} {'needs' if len(incidents) == 1 else 'need'} attention"
    items = [_render_line(incident) for incident in incidents[:_MAX_LINES]]
    if len(incidents) > _MAX_LINES:
        items.append([make_text(f"and {len(incidents) - _MAX_LINES} more: prdigest doctor lists them")])
    summary = ". ".join([title, *(f"{each.title}: {_KIND_WORDS[each.kind]}" for each in incidents[:3])])
    blocks = make_block(make_section([make_text(title, bold=True)]), make_bullets(items))
    return Post(escape_mrkdwn(truncate_text(collapse_lines(summary), 800)), (blocks,))


def _render_line(incident: Incident) -> list[Element]:
    name = [make_text(truncate_text(collapse_lines(incident.title), 200), bold=True)]
    if incident.channel:
        name += [make_text(" for "), make_channel(incident.channel)]
    if incident.settled:
        settled = truncate_text(collapse_lines(incident.settled), _MAX_REASON_LENGTH)
        return [make_text("✓ "), *name, make_text(f": {settled}.")]
    reason = truncate_text(collapse_lines(incident.reason).rstrip("."), _MAX_REASON_LENGTH)
    elements = [*name, make_text(f" {_KIND_WORDS[incident.kind]}: {reason}. ")]
    if incident.retry:
        return [*elements, make_instant(incident.retry, "Next try "), make_text(".")]
    return elements + [make_text("I won't try again.")] * (incident.kind is IncidentKind.INCOMPLETE)
