"""What was recorded of incidents before records had a version goes on as it would have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest
from redis import Redis

from bot.adapters.redis.due_queue import RedisDueQueue
from bot.domain.errors import StoreUnavailable
from bot.domain.operations.incident import IncidentKind
from bot.domain.subscriptions.due_items import IncidentReport
from bot.platform.store.connection import RedisCache
from bot.render.subscriptions.incidents import render_incidents
from bot.services.subscriptions.incident_report import ReportState
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.records import plant_hash, report_store
from tests.services.digest.posting import messenger_of
from tests.services.subscriptions.scheduled import ADMIN, DUE, MINUTE, Desk, list_message_lines, reports, trouble

DIGEST = "digest:T0TEAM:C0000:octo/engine:2026-02-28"
NAME = f"{DIGEST}#missing"
# of the channel and the names in it
REPORT = "report:368e8d18a392fcbd"
INCIDENT = {
    "key": DIGEST,
    "kind": "missing",
    "title": "octo/engine, part 0",
    "reason": "GitHub is away: try again in a few minutes.",
    "at": "2026-03-01T17:00:00Z",
    "retry": "2026-03-01T17:05:00Z",
    "channel": "C0000",
    "to": "",
    "settled": "",
}
MONTH = timedelta(days=30)


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with SlackEmulator(now=DUE.timestamp) as emulator:
        emulator.add_channel(ADMIN, "admins")
        emulator.add_channel("C0000", "engine")
        yield emulator


@pytest.fixture
def desk(slack: SlackEmulator, store: Redis) -> Desk:
    """An incident that the version before kept."""
    RedisCache(store).put(f"trouble:{NAME}", json.dumps(INCIDENT, separators=(",", ":")), MONTH)
    return Desk(slack, store, admin=ADMIN)


def test_how_one_that_was_told_ended_is_edited_into_its_message(desk: Desk, store: Redis) -> None:
    ts = messenger_of(desk.slack).post_message(ADMIN, render_incidents([trouble()]).build_payload(), REPORT)
    plant_hash(store, REPORT, begun=DUE.isoformat(), channel=ADMIN, ts=ts, names=json.dumps([NAME]))
    plant_hash(store, "report:begun", names="[]")
    RedisCache(store).put(f"told:{NAME}", REPORT, MONTH)
    assert report_store(store).load(REPORT).state is ReportState.POSTED
    desk.watchdog.resolve(DIGEST, IncidentKind.MISSING, "posted after all", DUE + MINUTE)
    desk.watchdog.notify(DUE + 2 * MINUTE)
    [message] = reports(desk.slack, ADMIN)
    assert list_message_lines(message)[1:] == ["✓ octo/engine, part 0 for C0000: posted after all."]


def test_one_of_a_later_version_is_not_taken_for_none(desk: Desk, store: Redis) -> None:
    agenda = RedisDueQueue(store)
    agenda.put(IncidentReport(NAME), DUE)
    RedisCache(store).put(f"trouble:{NAME}", json.dumps({"version": 2}), MONTH)
    with pytest.raises(StoreUnavailable):
        desk.watchdog.notify(DUE + MINUTE)
    assert agenda.get_time(IncidentReport(NAME)) == DUE


@pytest.mark.parametrize("is_posted", [True, False], ids=["posted", "not-posted"])
def test_one_that_was_begun_is_told_once(desk: Desk, store: Redis, is_posted: bool) -> None:
    plant_hash(store, "report:begun", names=json.dumps([NAME]))
    plant_hash(store, REPORT, begun=DUE.isoformat())
    assert report_store(store).load(REPORT).state is ReportState.BEGUN
    RedisDueQueue(store).put(IncidentReport(NAME), DUE)
    if is_posted:
        messenger_of(desk.slack).post_message(ADMIN, render_incidents([trouble()]).build_payload(), REPORT)
    for minutes in range(3):
        desk.watchdog.notify(DUE + minutes * MINUTE)
    assert len(reports(desk.slack, ADMIN)) == 1
    assert report_store(store).load(REPORT).state is ReportState.POSTED
