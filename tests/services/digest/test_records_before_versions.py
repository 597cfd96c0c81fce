"""What was recorded of digests before records had a version goes on as it would have.

``records_before_versions.json`` holds hashes as the version before wrote them: of a digest that is complete,
amended, half posted, with gaps, of several days, and asked for by a command.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from redis import Redis

from bot.adapters.redis.due_queue import RedisDueQueue
from bot.adapters.redis.records.history import RedisHistoryStore
from bot.adapters.redis.records.posted_digests import RedisPostedDigestIndex
from bot.domain.errors import StoreUnavailable
from bot.domain.subscriptions.due_items import DigestRepair, NextDigest, OutcomeCheck
from bot.domain.subscriptions.models import DigestSpec
from bot.domain.time.date_range import Span
from bot.platform.store.connection import RedisCache
from bot.render.digest.post import RenderedDigest, render_digest
from bot.services.digest.posted_digest import DigestState
from bot.services.digest.posting_plan import PostingPlan
from bot.services.history.outcome_checks import CHECK_INTERVAL
from bot.services.risk.track_record import TrackRecordScorer, TrackRecordStores
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.builders import DAY, REPOSITORY, digest, entry, failed, summary
from tests.helpers.records import digest_store, plant_hash, read_hash
from tests.services.digest.posting import HOME, SPEC, Build, messenger_of, poster_of, standing
from tests.services.history import posted_worlds
from tests.services.history.posted_worlds import AGAIN, BEHIND, REVERT, SHOWN, end_lines
from tests.services.subscriptions import scheduled
from tests.services.subscriptions.scheduled import DAILY, DUE, KEY, MINUTE

HASHES: dict[str, dict[str, str]] = json.loads(
    Path(__file__).with_name("records_before_versions.json").read_text()
)
EVE = DAY.date - timedelta(days=1)
DAYS = replace(SPEC, span=Span(EVE, DAY.date, DAY.zone))
STANDING = ("complete", "amended", "gaps", "command", "days")
GAP = "facts alone of #2 (the model is busy)"


def spec_of(name: str) -> DigestSpec:
    return DAYS if name == "days" else SPEC


def plant_digest(slack: SlackEmulator, store: Redis, name: str) -> tuple[str, list[str]]:
    """The record, and its messages in the channel as they were posted; its key and their timestamps."""
    fields, key = HASHES[name], spec_of(name).build_key("T0TEAM")
    plan = json.loads(fields.get("posted") or fields["plan"])
    messenger = messenger_of(slack)
    lead = messenger.post_message(HOME, plan["lead"], key)
    # of the half one there is no part yet
    parts = plan["thread"] if fields.get("done") else []
    stamps = [messenger.post_message(HOME, part, f"{key}#{place}", lead) for place, part in enumerate(parts, 1)]
    plant_hash(store, key, **{**fields, "lead": lead})
    return key, [lead, *stamps]


def writes(slack: SlackEmulator) -> list[str]:
    changing = ("chat.postMessage", "chat.update", "files.completeUploadExternal")
    return [method for method, _ in slack.calls if method in changing]


def render_shown(*, busy: bool = False) -> RenderedDigest:
    entries = [entry(**fields) for fields in SHOWN]
    if busy:
        entries[1] = replace(entries[1], summary=summary(fallback=failed("the model is busy")))
    return render_digest(digest(*entries))


@pytest.mark.parametrize("name", STANDING)
def test_a_digest_that_stands_is_not_posted_again(slack: SlackEmulator, store: Redis, name: str) -> None:
    plant_digest(slack, store, name)
    before, build = writes(slack), Build()
    posting_result = poster_of(messenger_of(slack), digest_store(store)).post(spec_of(name), build)
    assert (posting_result.was_posted, posting_result.permalink, build.count) == (True, HASHES[name]["address"], 0)
    assert writes(slack) == before
    assert posting_result.gaps == (
        ("facts alone of #2 (the model is busy)",) if name in ("gaps", "command") else ()
    )
    assert posting_result.merged_count == (4 if name == "days" else 3)


@pytest.mark.parametrize(
    ("name", "state"),
    [
        *((name, DigestState.POSTED) for name in STANDING if name != "amended"),
        ("amended", DigestState.AMENDED),
        ("half", DigestState.LEAD_POSTED),
    ],
)
def test_its_state_is_read(store: Redis, name: str, state: DigestState) -> None:
    plant_hash(store, KEY, **HASHES[name])
    record = digest_store(store).load(KEY)
    assert (record.version, record.state) == (0, state)
    # the half one died before it was noted which digest it is
    assert record.spec == (None if name == "half" else spec_of(name))
    assert record.payer == ("U0ADA" if name == "command" else "")


def test_one_that_began_and_recorded_no_plan_is_planned(store: Redis) -> None:
    plant_hash(store, KEY, begun="2026-03-01T17:00:00+00:00")
    assert digest_store(store).load(KEY).state is DigestState.PLANNED


def test_one_that_broke_off_is_finished_as_it_was_recorded(slack: SlackEmulator, store: Redis) -> None:
    key, [lead] = plant_digest(slack, store, "half")
    build = Build()
    posting_result = poster_of(messenger_of(slack), digest_store(store)).post(SPEC, build)
    assert (posting_result.was_posted, build.count) == (False, 0)
    plan = PostingPlan.load(HASHES["half"]["plan"])
    assert standing(slack).parts == [part["text"] for part in plan.thread]
    assert plan.attachment
    assert (standing(slack).files, len(standing(slack).leads)) == ([plan.attachment.name], 1)
    record = digest_store(store).load(key)
    assert (record.state, record.lead, record.merged_count) == (DigestState.POSTED, lead, 3)
    again = poster_of(messenger_of(slack), digest_store(store)).post(SPEC, build)
    assert again.was_posted


# --- mending


def make_repairer(slack: SlackEmulator, store: Redis, *made: RenderedDigest) -> scheduled.Desk:
    """A worker that repairs it, as often as something was made."""
    desk = scheduled.Desk(slack, store, kitchen=scheduled.Kitchen(*made))
    desk.agenda.put(DigestRepair(KEY), DUE)
    return desk


@pytest.mark.parametrize("name", ["gaps", "command"])
def test_one_with_gaps_is_edited_once_when_it_is_complete(slack: SlackEmulator, store: Redis, name: str) -> None:
    plant_digest(slack, store, name)
    desk = make_repairer(slack, store, render_shown())
    before = len(writes(slack))
    desk.delivery.repair_incomplete(KEY)
    edits = writes(slack)[before:]
    assert edits[:2] == ["chat.update", "chat.update"]
    record = digest_store(store).load(KEY)
    assert (record.gaps, record.version, desk.get_due_time(DigestRepair(KEY))) == ((), 1, None)
    desk.delivery.repair_incomplete(KEY)
    assert writes(slack)[before:] == edits, "nothing more"


def test_one_whose_gaps_are_as_they_were_is_not_edited(slack: SlackEmulator, store: Redis) -> None:
    """The version before knew it by its rendering, of which this version supports nothing."""
    plant_digest(slack, store, "gaps")
    posted = PostingPlan.load(HASHES["gaps"]["posted"])
    as_before = replace(render_shown(busy=True), gaps=posted.gaps)
    desk = make_repairer(slack, store, as_before, as_before, render_shown())
    before = writes(slack)
    for _ in range(2):
        desk.delivery.repair_incomplete(KEY)
        assert writes(slack) == before
        assert digest_store(store).load(KEY).fingerprint == as_before.fingerprint
    desk.delivery.repair_incomplete(KEY)
    assert len(writes(slack)) > len(before)


def test_one_whose_revision_broke_off_is_edited(slack: SlackEmulator, store: Redis) -> None:
    plant_digest(slack, store, "complete")
    plant_hash(store, KEY, shown="")
    before = len(writes(slack))
    make_repairer(slack, store, render_shown()).delivery.repair_incomplete(KEY)
    assert writes(slack)[before:][:2] == ["chat.update", "chat.update"]


# --- what became of it


@pytest.fixture
def watched_desk(slack: SlackEmulator, store: Redis) -> posted_worlds.Desk:
    """Everything that was merged, and the index of digests and the agenda, as the version before left them."""
    desk = posted_worlds.Desk(slack, store)
    RedisHistoryStore(store).record_merges([entry(**fields).pull for fields in SHOWN])
    RedisPostedDigestIndex(store).add(REPOSITORY, DAY.end, KEY)
    RedisDueQueue(store).put(OutcomeCheck(REPOSITORY), DUE + CHECK_INTERVAL)
    return desk


def test_a_revert_is_told(watched_desk: posted_worlds.Desk, slack: SlackEmulator, store: Redis) -> None:
    plant_digest(slack, store, "complete")
    before = watched_desk.digest
    watched_desk.merge(REVERT)
    watched_desk.look()
    # the queue of the version before holds jobs without the time of the look
    watched_desk.aftermath.amend_digest(KEY, DUE)
    assert watched_desk.digest == end_lines(before, BEHIND)
    assert len(watched_desk.told) == 1
    assert digest_store(store).load(KEY).state is DigestState.AMENDED
    watched_desk.amends.clear()
    watched_desk.look()
    assert not watched_desk.amends


def test_a_revert_of_what_was_told_is_told(
    watched_desk: posted_worlds.Desk, slack: SlackEmulator, store: Redis
) -> None:
    plant_digest(slack, store, "amended")
    before = watched_desk.digest
    watched_desk.merge(REVERT)
    watched_desk.look()
    assert not watched_desk.amends, "it was told by the version before"
    watched_desk.merge(AGAIN)
    watched_desk.look()
    watched_desk.aftermath.amend_digest(KEY, DUE)
    assert watched_desk.digest == end_lines(before, f"{BEHIND}, which was itself reverted")


# --- those who read it


def test_its_ratings_are_scored(watched_desk: posted_worlds.Desk, store: Redis) -> None:
    plant_hash(store, KEY, **HASHES["complete"])
    kept = TrackRecordStores(RedisPostedDigestIndex(store), watched_desk.digests, RedisHistoryStore(store))
    score = TrackRecordScorer(lambda: kept, RedisCache(store), watched_desk.wall).score_lists(
        REPOSITORY, SPEC.span
    )
    assert (score.digests, score.unrated) == (1, 0)


@pytest.mark.parametrize("name", ["complete", "amended", "gaps", "command"])
def test_the_clock_leaves_one_that_stands_alone(slack: SlackEmulator, store: Redis, name: str) -> None:
    plant_hash(store, KEY, **HASHES[name])
    desk = scheduled.Desk(slack, store)
    desk.subscribe()
    digests, _ = desk.tick()
    assert not digests
    assert desk.get_due_time(NextDigest(DAILY.id)) == DAILY.timing.find_next_after(DUE)
    # what a command left incomplete is repaired at the cost of the bot
    assert (desk.get_due_time(DigestRepair(KEY)) is not None) == (name == "command")
    assert desk.record.payer == ""


@pytest.mark.parametrize(
    ("fields", "is_sent"),
    [
        ({"error": "GitHub is away", "tries": "3", "retry": (DUE + 5 * MINUTE).isoformat(), "person": ""}, False),
        ({"error": "GitHub is away", "tries": "3", "retry": DUE.isoformat(), "person": "1"}, True),
        ({"error": "The list is gone", "hopeless": "1"}, False),
    ],
)
def test_one_that_failed_is_tried_when_it_is_time(
    slack: SlackEmulator, store: Redis, fields: dict[str, str], is_sent: bool
) -> None:
    plant_hash(store, KEY, **fields)
    desk = scheduled.Desk(slack, store)
    desk.subscribe()
    digests, _ = desk.tick()
    assert bool(digests) is is_sent
    is_skipped = desk.get_due_time(NextDigest(DAILY.id)) != DUE
    assert is_skipped is ("hopeless" in fields)


def test_the_first_after_days_that_were_skipped_says_so(slack: SlackEmulator, store: Redis) -> None:
    plant_hash(store, KEY, skipped="2026-02-23..2026-02-26", mends="2")
    desk = scheduled.Desk(slack, store)
    desk.subscribe()
    desk.deliver()
    [(_, [note])] = desk.kitchen.built
    assert "23 – 26 February 2026" in note  # noqa: RUF001 (a dash)


# --- versions


def test_what_is_written_has_a_version_and_keeps_what_it_does_not_change(store: Redis) -> None:
    plant_hash(store, KEY, **HASHES["gaps"], unknown="of another version")
    records = digest_store(store)
    record = records.load(KEY)
    records.save(KEY, record, record.count_repair())
    assert read_hash(store, KEY) == {
        **HASHES["gaps"],
        "unknown": "of another version",
        "mends": "1",
        "version": "1",
    }
    assert records.save(KEY, record, record) == record


def test_a_record_of_a_newer_version_is_left_alone(store: Redis) -> None:
    plant_hash(store, KEY, version="2", lead="1.1")
    with pytest.raises(StoreUnavailable, match="newer version"):
        digest_store(store).load(KEY)


def test_a_field_that_can_not_be_read_keeps_nothing_else_from_being_posted(
    slack: SlackEmulator, store: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    plant_hash(store, KEY, retry="soon", tries="many", gaps="{", done="yes", error="GitHub is away")
    desk = scheduled.Desk(slack, store)
    other = replace(DAILY, channel="C0OTHER")
    for subscription in (DAILY, other):
        desk.subscribe(subscription)
    digests, _ = desk.tick()
    assert {each.name for each in digests} == {DAILY.id, other.id}
    assert digest_store(store).load(KEY).error == "GitHub is away"
    assert "the field retry of a record can't be read" in caplog.text
