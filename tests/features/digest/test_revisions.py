import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from localslack.loopback import HangUp
from localslack.server.local_slack import UPLOAD
from redis import Redis

from bot.errors import PostingInProgress, SlackCallRefused, SlackUnavailable
from bot.features.digest.posts import PostingResult
from bot.features.digest.view import RenderedDigest, render_digest
from bot.features.merges.review import BugReview, ReviewCoverage
from bot.features.merges.risk import Risk
from bot.platform.slack.client import make_slack_client
from tests.emulators.slack.server import SCOPES, SlackEmulator
from tests.features.digest.posting import (
    HOME,
    PARTS,
    SPEC,
    Build,
    Crash,
    Fragile,
    Fuse,
    MemoryMessenger,
    Standing,
    make_rendering,
    messenger_of,
    post,
    poster_of,
    publish,
    standing,
)
from tests.features.subscriptions.scheduled import KEY, key_of
from tests.helpers.builders import digest, entry, finding
from tests.helpers.records import Digests, digest_store, memory_digests

REPORT = "Engine-2026-02-28.md"
CORRECTED = "Engine-2026-02-28-corrected.md"
MOVED = "This text is now part of the messages above."
BEFORE = make_rendering("Before")
AFTER = make_rendering("After", ("One", "Two", "Three", "Four"))
REVISED = Standing(["After"], ["One", "Two", "Three", "Four"], [REPORT, CORRECTED])


@pytest.fixture
def records(store: Redis) -> Digests:
    return digest_store(store)


@pytest.fixture
def posted_digest(slack: SlackEmulator, records: Digests) -> SlackEmulator:
    """A Slack in which the digest stands as it was before."""
    publish(messenger_of(slack), records, Build(BEFORE))
    return slack


def revise(
    slack: SlackEmulator, records: Any, made: RenderedDigest = AFTER, fuse: Fuse | None = None
) -> PostingResult:
    messenger: Any = messenger_of(slack)
    ends = (messenger, records) if fuse is None else (Fragile(messenger, fuse), Fragile(records, fuse))
    return poster_of(*ends).revise(SPEC, lambda: made)


def writes(slack: SlackEmulator) -> list[str]:
    reading = {"auth.test", "conversations.history", "conversations.replies", "chat.getPermalink"}
    return [method for method, _ in slack.calls if method not in reading]


def test_every_message_is_edited_and_the_corrected_report_is_beside_the_first(
    posted_digest: SlackEmulator, records: Digests
) -> None:
    before = len(posted_digest.calls)
    posting_result = revise(posted_digest, records)
    assert standing(posted_digest) == REVISED
    assert [file["title"] for file in posted_digest.files] == ["Full report", "Full report, corrected"]
    assert (posting_result.was_posted, posting_result.record.gaps, posting_result.record.merged_count) == (
        True,
        (),
        0,
    )
    assert [method for method, _ in posted_digest.calls[before:]].count("chat.postMessage") == 1, "the fourth part"


def test_what_the_messages_carry_stays(posted_digest: SlackEmulator, records: Digests) -> None:
    def list_metadata() -> list[Any]:
        [lead] = posted_digest.list_messages(HOME)
        parts = [reply for reply in posted_digest.list_replies(HOME, lead["ts"]) if not reply.get("files")]
        return [message["metadata"] for message in (lead, *parts)]

    before = list_metadata()
    revise(posted_digest, records)
    assert list_metadata()[: len(before)] == before
    assert [metadata["event_payload"]["key"] for metadata in list_metadata()] == [
        KEY,
        *(f"{KEY}#{n}" for n in range(1, 5)),
    ]


def test_it_is_found_by_its_key_though_the_records_are_lost(
    posted_digest: SlackEmulator, records: Digests, store: Redis
) -> None:
    revise(posted_digest, records)
    store.flushall()
    publish(messenger_of(posted_digest), records, Build())
    assert standing(posted_digest).leads == ["After"]


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        pytest.param(("One", "Two", "Three"), ("One", "Two", "Three"), id="as-many"),
        pytest.param(("One",), ("One", MOVED, MOVED), id="fewer"),
        pytest.param((), (MOVED, MOVED, MOVED), id="none"),
        pytest.param(tuple("abcdefgh"), tuple("abcdefgh"), id="more"),
    ],
)
def test_a_thread_of_another_length_is_filled_or_voided(
    posted_digest: SlackEmulator, records: Digests, parts: tuple[str, ...], shown: tuple[str, ...]
) -> None:
    revise(posted_digest, records, make_rendering("After", parts))
    assert standing(posted_digest).parts == list(shown)


def test_a_thread_that_was_voided_is_filled_again(posted_digest: SlackEmulator, records: Digests) -> None:
    revise(posted_digest, records, make_rendering("After", ("One",)))
    revise(posted_digest, records, make_rendering("Later", ("A", "B", "C")))
    assert standing(posted_digest) == Standing(
        ["Later"], ["A", "B", "C"], [REPORT, CORRECTED, "Engine-2026-02-28-corrected-2.md"]
    )


def test_a_day_that_was_empty_gets_its_thread_and_its_report(slack: SlackEmulator, records: Digests) -> None:
    publish(messenger_of(slack), records, Build(make_rendering("Nothing", (), report=False)))
    revise(slack, records)
    assert standing(slack) == replace(REVISED, files=[CORRECTED])


def test_what_people_wrote_in_the_thread_stays(posted_digest: SlackEmulator, records: Digests) -> None:
    [lead] = posted_digest.list_messages(HOME)
    posted_digest.add_message(HOME, "What is part 2 about?", thread_ts=lead["ts"])
    revise(posted_digest, records, make_rendering("After", ("One",)))
    assert standing(posted_digest).parts == ["One", MOVED, MOVED, "What is part 2 about?"]


# --- nothing to do


def test_what_reads_the_same_is_not_touched(posted_digest: SlackEmulator, records: Digests) -> None:
    before = writes(posted_digest)
    for _ in range(3):
        revise(posted_digest, records, BEFORE)
    assert writes(posted_digest) == before


def test_what_only_cost_something_else_is_not_touched(slack: SlackEmulator, records: Digests) -> None:
    first = replace(BEFORE, lead=post("Engine, 3 merged, $0.02"))
    publish(messenger_of(slack), records, Build(first))
    before = writes(slack)
    revise(slack, records, replace(BEFORE, lead=post("Engine, 3 merged, from cache")))
    assert (writes(slack), standing(slack).leads) == (before, ["Engine, 3 merged, $0.02"])


def test_a_digest_whose_reviews_have_changed_is_edited_once(slack: SlackEmulator, records: Digests) -> None:
    entries = [replace(entry(number), risk=Risk(13, ("adds 400 lines",))) for number in (2, 1)]
    coverage = ReviewCoverage(2, 0, "the store did not answer")
    first = render_digest(digest(*entries, review_coverage=coverage))
    publish(messenger_of(slack), records, Build(first))
    before = writes(slack)
    reviewed = [replace(each, review=BugReview((finding(),) if each.number == 1 else ())) for each in entries]
    later = render_digest(digest(*reviewed, review_coverage=ReviewCoverage(2, 2, "", 0.04)))
    revise(slack, records, later)
    edits = writes(slack)[len(before) :]
    assert edits == ["chat.update", "chat.update"]
    [message] = slack.list_messages(HOME)
    assert "Fails when a request has no tokens" in str(message["blocks"])
    # from the cache, at no cost
    revise(slack, records, render_digest(digest(*reviewed, review_coverage=ReviewCoverage(2, 2))))
    assert writes(slack) == [*before, *edits]
    ratings = records.load(KEY).ratings
    assert ratings is not None
    assert [(each.is_listed, each.verdict) for each in ratings.rated] == [(True, None)] * 2


def test_a_report_that_is_as_it_was_is_not_corrected(posted_digest: SlackEmulator, records: Digests) -> None:
    revise(posted_digest, records, replace(AFTER, attachment=BEFORE.attachment))
    assert standing(posted_digest) == replace(REVISED, files=[REPORT])
    revise(posted_digest, records, LATER)
    revise(posted_digest, records, BEFORE)
    assert standing(posted_digest).files == [REPORT, CORRECTED, "Engine-2026-02-28-corrected-2.md"]


def test_gaps_that_are_others_now_are_known_though_it_reads_the_same(
    posted_digest: SlackEmulator, records: Digests
) -> None:
    posting_result = revise(posted_digest, records, replace(BEFORE, gaps=("no overview",), merged=4))
    assert (posting_result.record.gaps, posting_result.record.merged_count) == (("no overview",), 4)
    assert publish(messenger_of(posted_digest), records, Build()).record.gaps == ("no overview",)


# --- what breaks off

STEPS = [
    *(
        "fetch_team",
        "load_each",
        "load",
        "save",
        "edit_message",
        "find_posts",
        "edit_message",
        "edit_message",
        "edit_message",
        "post_message",
    ),
    *("has_attachment", "attach_file", "save"),
]


def test_the_list_of_steps_is_that_of_a_whole_revision(posted_digest: SlackEmulator, records: Digests) -> None:
    fuse = Fuse()
    revise(posted_digest, records, AFTER, fuse)
    assert fuse.calls == STEPS


LATER = make_rendering("Later", ("One", "Two", "Three", "Four"))


@pytest.mark.parametrize(
    ("step", "again"),
    [
        *(pytest.param(step, AFTER, id=f"{step}-to-the-same") for step in range(4, len(STEPS) + 1)),
        *(pytest.param(step, LATER, id=f"{step}-to-something-else") for step in (5, 10, 12, 13)),
        *(pytest.param(step, BEFORE, id=f"{step}-back-to-what-it-was") for step in (4, 5, 9, 12, 13)),
    ],
)
@pytest.mark.slow
def test_a_process_that_dies_after_any_step_is_finished_by_the_next(
    posted_digest: SlackEmulator, records: Digests, step: int, again: RenderedDigest
) -> None:
    with pytest.raises(Crash):
        revise(posted_digest, records, AFTER, Fuse(step, with_effect=True))
    revise(posted_digest, records, again)
    end_state = standing(posted_digest)
    void = [MOVED] * (len(end_state.parts) - len(again.thread))
    assert (end_state.leads, end_state.parts) == (
        [again.lead.text],
        [*(part.text for part in again.thread), *void],
    )
    # a correction that was attached stays; one that was not is not needed by what is as it was
    attached, ended = STEPS.index("attach_file") + 1, len(STEPS)
    corrections = (step >= attached or again is not BEFORE) + (step >= ended and again is not AFTER)
    assert end_state.files == [REPORT, CORRECTED, "Engine-2026-02-28-corrected-2.md"][: 1 + corrections]


CALLS = [
    *("auth.test", "chat.update", "conversations.replies", "chat.update", "chat.update", "chat.update"),
    *("chat.postMessage", "conversations.replies", "files.getUploadURLExternal", UPLOAD),
    "files.completeUploadExternal",
]


def test_the_list_of_calls_is_that_of_a_whole_revision(posted_digest: SlackEmulator, records: Digests) -> None:
    before = len(posted_digest.calls)
    revise(posted_digest, records)
    assert [method for method, _ in posted_digest.calls[before:]] == CALLS


@pytest.mark.parametrize("for_good", [False, True], ids=["once", "for-good"])
@pytest.mark.parametrize("call", range(1, len(CALLS) + 1))
@pytest.mark.slow
def test_a_lost_answer_doubles_and_loses_nothing(
    posted_digest: SlackEmulator, records: Digests, call: int, for_good: bool
) -> None:
    fuse = Fuse(call, with_effect=True, error=HangUp, for_good=for_good)
    posted_digest.before, posted_digest.after = fuse.before, fuse.after
    with suppress(SlackUnavailable):
        revise(posted_digest, records)
    assert fuse.burnt
    posted_digest.before = posted_digest.after = None
    revise(posted_digest, records)
    assert standing(posted_digest) == REVISED


@pytest.mark.slow
@pytest.mark.parametrize("method", ["chat.update", "chat.postMessage", "files.completeUploadExternal"])
@pytest.mark.parametrize("after_effect", [False, True])
def test_a_server_error_is_mended_by_the_next_try(
    posted_digest: SlackEmulator, records: Digests, method: str, after_effect: bool
) -> None:
    posted_digest.fail_next(method, status=503, after_effect=after_effect)
    with suppress(SlackUnavailable):
        revise(posted_digest, records)
    revise(posted_digest, records)
    assert standing(posted_digest) == REVISED


# --- what is no longer exists


@pytest.mark.parametrize(
    ("closed", "opened"), [("archive_channel", "unarchive_channel"), ("remove_bot", "invite_bot")]
)
def test_a_channel_that_is_closed_is_left_alone_until_it_is_open(
    posted_digest: SlackEmulator, records: Digests, closed: str, opened: str
) -> None:
    before = standing(posted_digest)
    getattr(posted_digest, closed)(HOME)
    for _ in range(2):
        with pytest.raises(SlackCallRefused):
            revise(posted_digest, records)
    assert standing(posted_digest) == before
    getattr(posted_digest, opened)(HOME)
    revise(posted_digest, records)
    assert standing(posted_digest) == REVISED


def delete(slack: SlackEmulator, ts: str) -> None:
    make_slack_client(slack.token, slack.url).chat_delete(channel=HOME, ts=ts)


def test_a_digest_that_was_deleted_stays_deleted(posted_digest: SlackEmulator, records: Digests) -> None:
    [lead] = posted_digest.list_messages(HOME)
    delete(posted_digest, lead["ts"])
    before = len(posted_digest.list_calls_to("chat.postMessage"))
    with pytest.raises(SlackCallRefused):
        revise(posted_digest, records)
    assert publish(messenger_of(posted_digest), records, Build()).was_posted
    assert len(posted_digest.list_calls_to("chat.postMessage")) == before


def test_a_part_that_was_deleted_is_there_again(posted_digest: SlackEmulator, records: Digests) -> None:
    [lead] = posted_digest.list_messages(HOME)
    gone = posted_digest.list_replies(HOME, lead["ts"])[1]
    assert key_of(gone) == f"{KEY}#2"
    delete(posted_digest, gone["ts"])
    revise(posted_digest, records)
    assert sorted(standing(posted_digest).parts) == sorted(REVISED.parts)


def test_without_leave_to_write_files_the_messages_are_edited(records: Digests) -> None:
    with SlackEmulator(scopes=SCOPES - {"files:write"}) as slack:
        publish(messenger_of(slack), records, Build(BEFORE))
        revise(slack, records)
        assert standing(slack) == replace(REVISED, files=[])


# --- two at once


def test_what_another_process_revises_is_left_to_it() -> None:
    messenger, records = MemoryMessenger(), memory_digests()
    publish(messenger, records, Build(BEFORE))
    records.busy = True
    with pytest.raises(PostingInProgress):
        poster_of(messenger, records).revise(SPEC, lambda: AFTER)
    assert [text for *_, text in messenger.messages] == ["Before", *PARTS]


def test_revisions_that_come_at_once_are_one(posted_digest: SlackEmulator, records: Digests) -> None:
    posted_digest.latency = 0.01
    start = threading.Barrier(3)

    def run(_: int) -> PostingResult:
        start.wait()
        return revise(posted_digest, records)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(run, range(3)))
    assert standing(posted_digest) == REVISED
    assert len(posted_digest.list_calls_to("chat.update")) == 4
