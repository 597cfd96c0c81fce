"""Posting that breaks off anywhere, and is run again: the channel holds one digest, whole and in order."""

from contextlib import suppress
from dataclasses import replace
from itertools import product

import pytest
from localslack.loopback import HangUp
from localslack.server.local_slack import UPLOAD
from redis import Redis

from bot.errors import SlackCallRefused, SlackUnavailable
from tests.emulators.slack.server import SlackEmulator
from tests.features.digest.posting import (
    COMPLETE,
    SPEC,
    Build,
    Crash,
    Fragile,
    Fuse,
    make_rendering,
    messenger_of,
    poster_of,
    publish,
    standing,
)
from tests.helpers.doubles import Sleeps
from tests.helpers.records import Digests, digest_store

# the calls of a whole run: to Slack over HTTP, and to the ports of the publisher
CALLS = [
    *("auth.test", "conversations.history", "chat.postMessage", "chat.getPermalink"),
    *["chat.postMessage"] * 3,
    *("files.getUploadURLExternal", UPLOAD, "files.completeUploadExternal"),
]
STEPS = [
    *("fetch_team", "load_each", "load", "find_posts", "claim", "save"),
    *("post_message", "save", "fetch_permalink", "save"),
    *("post_message", "post_message", "post_message"),
    *("attach_file", "save"),
]


@pytest.fixture
def records(store: Redis) -> Digests:
    return digest_store(store)


def test_the_lists_are_those_of_a_whole_run(slack: SlackEmulator, records: Digests) -> None:
    fuse = Fuse()
    publish(Fragile(messenger_of(slack), fuse), Fragile(records, fuse), Build())
    assert [method for method, _ in slack.calls] == CALLS
    assert fuse.calls == STEPS


@pytest.mark.parametrize(("step", "with_effect"), list(product(range(1, len(STEPS) + 1), (False, True))))
def test_a_process_that_dies_at_any_step_is_finished_by_the_next(
    slack: SlackEmulator, records: Digests, step: int, with_effect: bool
) -> None:
    fuse = Fuse(step, with_effect)
    build = Build()
    with pytest.raises(Crash):
        publish(Fragile(messenger_of(slack), fuse), Fragile(records, fuse), build)
    assert fuse.burnt
    publish(messenger_of(slack), records, build)
    # what was recorded is what is finished; it is built again only where none of it had been posted
    claimed, planned, posted = (STEPS.index(name) + 1 for name in ("claim", "save", "post_message"))
    unposted = step in (claimed, planned) or (step, with_effect) == (posted, False)
    assert build.count == (2 if unposted else 1)
    assert standing(slack) == replace(COMPLETE, leads=[f"Engine {build.count}"])


@pytest.mark.parametrize(("call", "with_effect"), list(product(range(1, len(CALLS) + 1), (False, True))))
def test_a_network_that_goes_away_at_any_call_leaves_a_digest_that_is_finished_later(
    slack: SlackEmulator, records: Digests, call: int, with_effect: bool
) -> None:
    fuse = Fuse(call, with_effect, HangUp, for_good=True)
    slack.before, slack.after = fuse.before, fuse.after
    build = Build()
    with pytest.raises(SlackUnavailable):
        publish(messenger_of(slack), records, build)
    slack.before = slack.after = None
    publish(messenger_of(slack), records, build)
    # a lead that was never posted is built again, from the cache
    count = 2 if (call, with_effect) == (CALLS.index("chat.postMessage") + 1, False) else 1
    assert (standing(slack), build.count) == (replace(COMPLETE, leads=[f"Engine {count}"]), count)


@pytest.mark.parametrize(("call", "with_effect"), list(product(range(1, len(CALLS) + 1), (False, True))))
def test_one_lost_answer_does_not_double_or_lose_anything(
    slack: SlackEmulator, records: Digests, call: int, with_effect: bool
) -> None:
    fuse = Fuse(call, with_effect, HangUp)
    slack.before, slack.after = fuse.before, fuse.after
    build = Build()
    with suppress(SlackUnavailable):
        publish(messenger_of(slack), records, build)
    publish(messenger_of(slack), records, build)
    assert (standing(slack), build.count) == (COMPLETE, 1)


WRITING = ["chat.postMessage", "files.getUploadURLExternal", "files.completeUploadExternal"]


@pytest.mark.parametrize("after_effect", [False, True])
@pytest.mark.parametrize("method", WRITING)
def test_a_server_error_on_a_writing_call_is_mended_in_the_same_run(
    slack: SlackEmulator, records: Digests, method: str, after_effect: bool
) -> None:
    slack.fail_next(method, status=503, after_effect=after_effect)
    sleeps = Sleeps()
    poster_of(messenger_of(slack), records, sleeps).post(SPEC, Build())
    assert (standing(slack), list(sleeps)) == (COMPLETE, [1.0])


@pytest.mark.parametrize("after_effect", [False, True])
def test_a_server_error_on_the_upload_is_mended_in_the_same_run(
    slack: SlackEmulator, records: Digests, after_effect: bool
) -> None:
    slack.fail_next(UPLOAD, status=503, after_effect=after_effect)
    publish(messenger_of(slack), records, Build())
    assert standing(slack) == COMPLETE


def test_a_server_that_stays_away_is_tried_three_times_with_growing_pauses(
    slack: SlackEmulator, records: Digests
) -> None:
    slack.fail_next("chat.postMessage", status=503, times=99)
    sleeps = Sleeps()
    with pytest.raises(SlackUnavailable):
        poster_of(messenger_of(slack), records, sleeps).post(SPEC, Build())
    assert (len(slack.list_calls_to("chat.postMessage")), list(sleeps)) == (3, [1.0, 2.0])


def test_a_second_try_posts_the_text_of_the_first(slack: SlackEmulator, records: Digests) -> None:
    build = Build(make_rendering("Before"), make_rendering("After", ("another part",)))
    slack.fail_next("chat.getPermalink", status=503)
    with pytest.raises(SlackUnavailable):
        publish(messenger_of(slack), records, build)
    publish(messenger_of(slack), records, build)
    assert (standing(slack).leads, standing(slack).parts) == (["Before"], list(COMPLETE.parts))


def test_what_was_planned_and_never_posted_is_built_anew(slack: SlackEmulator, records: Digests) -> None:
    build = Build(make_rendering("Facts alone"), make_rendering("With a model"))
    slack.fail_next("chat.postMessage", error="restricted_action")
    with pytest.raises(SlackCallRefused):
        publish(messenger_of(slack), records, build)
    publish(messenger_of(slack), records, build)
    assert standing(slack).leads == ["With a model"]


@pytest.mark.parametrize("step", range(6, len(STEPS) + 1))
def test_records_that_were_lost_after_the_lead_do_not_repeat_it(
    slack: SlackEmulator, records: Digests, store: Redis, step: int
) -> None:
    fuse = Fuse(step, with_effect=True)
    with pytest.raises(Crash):
        publish(Fragile(messenger_of(slack), fuse), Fragile(records, fuse), Build())
    store.flushall()
    publish(messenger_of(slack), records, Build())
    assert standing(slack) == COMPLETE


def test_records_that_were_lost_long_after_the_lead_and_a_try_that_broke_off_do_not_repeat_it(
    slack: SlackEmulator, records: Digests, store: Redis
) -> None:
    publish(messenger_of(slack), records, Build())
    store.flushall()
    slack.fail_next("conversations.history", status=503)
    with pytest.raises(SlackUnavailable):
        publish(messenger_of(slack), records, Build())
    publish(messenger_of(slack), records, Build())
    assert standing(slack) == COMPLETE
