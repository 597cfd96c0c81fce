"""Posting a digest once, on a Slack in memory and on the loopback with a real store."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from redis import Redis

from bot.dates import Span
from bot.errors import PostingInProgress, SlackCallRefused, StoreUnavailable, UsageError
from bot.features.digest.lead import build_lead
from bot.features.digest.posts import PLANS, PostedDigest, PostingResult, dump_ratings
from bot.features.digest.rules import collect_ratings
from bot.features.digest.view import RenderedDigest, render_digest
from bot.features.merges.requests import DigestView
from bot.features.merges.review import BugReview, FindingStatus, ReviewVerdict
from bot.features.merges.risk import Risk
from bot.platform.pulls.paths import Filters
from bot.platform.slack.messenger import SlackMessenger
from bot.platform.store.records import RecordStore
from impact.repository import Repository
from tests.emulators.slack.server import SCOPES, SlackEmulator
from tests.features.digest.posting import (
    COMPLETE,
    HOME,
    MORNING,
    PARTS,
    SPEC,
    Build,
    MemoryMessenger,
    Standing,
    make_rendering,
    messenger_of,
    poster_of,
    publish,
    standing,
)
from tests.helpers.builders import DAY, digest, entry, finding
from tests.helpers.records import Digests, digest_store, memory_digests

Ends = tuple[SlackMessenger, RecordStore[PostedDigest]]


@pytest.fixture
def ends() -> Ends:
    return MemoryMessenger(), memory_digests()


@pytest.fixture
def records(store: Redis) -> Digests:
    return digest_store(store)


def test_a_digest_is_posted_in_order(slack: SlackEmulator, records: Digests) -> None:
    published = publish(messenger_of(slack), records, Build())
    assert standing(slack) == COMPLETE
    (lead,) = slack.list_messages(HOME)
    address = f"https://emulated.slack.com/archives/{HOME}/p{lead['ts'].replace('.', '')}"
    assert (published.record.permalink, published.was_posted, published.notes) == (address, False, ())
    assert (published.record.gaps, published.record.merged_count) == ((), 0)


def test_the_report_comes_last_and_into_the_thread() -> None:
    messenger = MemoryMessenger()
    publish(messenger, memory_digests(), Build())
    key = f"digest:T0TEAM:{HOME}:octo/engine:2026-02-28@-0800"
    assert messenger.messages == [
        (HOME, None, key, "Engine 1"),
        *((HOME, "1.0", f"{key}#{place}", part) for place, part in enumerate(PARTS, 1)),
    ]
    assert messenger.files == [f"{HOME} 1.0 Engine-2026-02-28.md"]


def test_a_second_run_posts_nothing_and_does_not_build(ends: Ends) -> None:
    build = Build()
    first = publish(*ends, build)
    second = publish(*ends, build)
    assert (first.was_posted, second.was_posted, second.record.permalink) == (False, True, first.record.permalink)
    assert build.count == 1


def test_a_second_run_leaves_the_channel_as_it_is(slack: SlackEmulator, records: Digests) -> None:
    for _ in range(3):
        publish(messenger_of(slack), records, Build())
    assert standing(slack) == COMPLETE


def test_a_day_without_merges_is_one_message(slack: SlackEmulator, records: Digests) -> None:
    empty = Build(*(make_rendering("Nothing", (), report=False) for _ in range(2)))
    assert not publish(messenger_of(slack), records, empty).was_posted
    assert publish(messenger_of(slack), records, empty).was_posted
    assert (standing(slack), empty.count) == (Standing(["Nothing"], [], []), 1)


def test_days_repositories_and_channels_are_digests_of_their_own(ends: Ends) -> None:
    build, subject = Build(), poster_of(*ends)
    eve = DAY.date - timedelta(days=1)
    bots = DigestView(Filters(not_authors=("bots",)))
    for spec in (
        SPEC,
        replace(SPEC, channel="C0OTHER"),
        replace(SPEC, span=Span(eve, eve, DAY.zone)),
        replace(SPEC, span=Span(eve, DAY.date, DAY.zone)),
        replace(SPEC, repository=Repository("octo", "other")),
        replace(SPEC, view=bots),
    ):
        assert not subject.post(spec, build).was_posted
    assert subject.post(SPEC, build).was_posted


def test_a_day_that_is_not_over_is_not_posted() -> None:
    messenger, build = MemoryMessenger(), Build()
    early = poster_of(messenger, memory_digests(), now=DAY.end - timedelta(seconds=1))
    with pytest.raises(UsageError, match="2026-02-28 is not over"):
        early.post(SPEC, build)
    assert (messenger.messages, build.count) == ([], 0)


def test_a_day_that_has_just_ended_is_posted() -> None:
    messenger = MemoryMessenger()
    assert DAY.end < MORNING
    on_time = poster_of(messenger, memory_digests(), now=DAY.end)
    assert on_time.post(SPEC, Build()).record.permalink == f"https://slack.test/{HOME}/1.0"


def test_a_digest_that_can_not_be_built_posts_nothing_and_can_be_tried_again(ends: Ends) -> None:
    def fail() -> RenderedDigest:
        raise KeyError("no list today")

    with pytest.raises(KeyError):
        publish(*ends, fail)
    assert not publish(*ends, Build()).was_posted


# --- two at once


def test_a_digest_that_another_process_posts_is_left_to_it() -> None:
    messenger, build = MemoryMessenger(), Build()
    with pytest.raises(PostingInProgress):
        publish(messenger, memory_digests(busy=True), build)
    assert (messenger.messages, build.count) == ([], 0)


def test_publishers_that_come_at_once_post_one_digest(slack: SlackEmulator, records: Digests) -> None:
    slack.latency = 0.02
    start = threading.Barrier(3)
    builds = [Build() for _ in range(3)]

    def run(build: Build) -> PostingResult:
        start.wait()
        return publish(messenger_of(slack), records, build)

    with ThreadPoolExecutor(3) as pool:
        posting_results = list(pool.map(run, builds))
    assert standing(slack) == COMPLETE
    assert sorted(each.was_posted for each in posting_results) == [False, True, True]
    assert (len({each.record.permalink for each in posting_results}), sum(build.count for build in builds)) == (
        1,
        1,
    )


def test_a_digest_that_another_process_posted_meanwhile_is_not_posted_again() -> None:
    messenger, records = MemoryMessenger(), memory_digests()

    def slowly() -> RenderedDigest:
        publish(messenger, records, Build())
        return make_rendering("Engine 2")

    with pytest.raises(PostingInProgress):
        publish(messenger, records, slowly)
    assert publish(messenger, records, Build()).was_posted
    assert [text for *_, text in messenger.messages] == ["Engine 1", *PARTS]


# --- refusals


@pytest.mark.parametrize(
    ("channel", "code", "hint"),
    [
        ("C0OUT", "not_in_channel", "/invite"),
        ("C0OLD", "is_archived", "archived"),
        ("C0NO", "channel_not_found", "id"),
    ],
)
def test_a_channel_that_can_not_be_posted_to_is_told_in_a_sentence(
    slack: SlackEmulator, records: Digests, channel: str, code: str, hint: str
) -> None:
    slack.add_channel("C0OUT", "out", member=False)
    slack.add_channel("C0OLD", "old", archived=True)
    with pytest.raises(SlackCallRefused, match=channel) as caught:
        poster_of(messenger_of(slack), records).post(replace(SPEC, channel=channel), Build())
    assert (caught.value.code, hint in str(caught.value)) == (code, True)


def test_a_bot_that_is_invited_later_posts_what_was_built(slack: SlackEmulator, records: Digests) -> None:
    slack.workspace.channels[HOME].member = False
    build = Build()
    with pytest.raises(SlackCallRefused):
        publish(messenger_of(slack), records, build)
    slack.workspace.channels[HOME].member = True
    assert not publish(messenger_of(slack), records, build).was_posted
    assert (standing(slack), build.count) == (COMPLETE, 1)


def test_without_leave_to_write_files_the_digest_is_complete_with_a_note(records: Digests) -> None:
    with SlackEmulator(scopes=SCOPES - {"files:write"}) as slack:
        published = publish(messenger_of(slack), records, Build())
        again = publish(messenger_of(slack), records, Build())
        assert standing(slack) == Standing(COMPLETE.leads, COMPLETE.parts, [])
    (note,) = published.notes
    assert "files:write" in note
    assert (again.was_posted, again.notes) == (True, ())


UNREAD = SCOPES - {"channels:history", "groups:history", "im:history"}


def test_without_leave_to_read_a_first_try_posts(records: Digests) -> None:
    with SlackEmulator(scopes=UNREAD) as slack:
        publish(messenger_of(slack), records, Build())
        assert standing(slack).parts == list(PARTS)


def test_without_leave_to_read_a_try_that_broke_off_is_not_repeated_blindly(records: Digests) -> None:
    with SlackEmulator(scopes=UNREAD) as slack:
        slack.fail_next("chat.postMessage", hang_up=True, after_effect=True)
        for _ in range(2):
            with pytest.raises(SlackCallRefused, match="channels:history"):
                publish(messenger_of(slack), records, Build())
        assert standing(slack).leads == ["Engine 1"]


# --- what is kept of it


def test_a_plan_is_read_as_it_was_recorded_and_one_of_a_later_version_is_not_posted() -> None:
    reviews = {3: BugReview((finding(),)), 2: BugReview((finding(status=FindingStatus.POSSIBLE),)), 1: BugReview()}
    entries = [
        replace(entry(number), risk=Risk(points, ()), review=reviews.get(number))
        for number, points in ((3, 5.0), (2, 20.0), (1, 14.0), (4, 1.0))
    ]
    made = render_digest(digest(*entries))
    kept = PLANS.dump_text(made)
    assert (json.loads(kept)["version"], PostedDigest(plan_json=kept).plan) == (1, made)
    with pytest.raises(StoreUnavailable):
        PostedDigest(plan_json=kept.replace('"version":1', '"version":2', 1)).plan  # noqa: B018 (it is parsed)
    ratings_json = dump_ratings(made.ratings)
    ratings = PostedDigest(ratings_json=ratings_json).ratings
    assert ratings == made.ratings == collect_ratings(digest(*entries), build_lead(digest(*entries))[1])
    assert ratings is not None
    verdicts = {each.number: each.verdict for each in ratings.rated}
    assert verdicts == {3: ReviewVerdict.CONFIRMED, 2: ReviewVerdict.POSSIBLE, 1: ReviewVerdict.NOTHING, 4: None}
    assert {each.number for each in ratings.rated if each.is_listed_by_rules} == {1, 2}
    unknown = ratings_json.replace('"verdict":null', '"verdict":"certain"')
    assert PostedDigest(ratings_json=unknown).ratings is None
