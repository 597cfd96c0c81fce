from contextlib import suppress
from dataclasses import replace

import pytest
from localslack.loopback import HangUp
from redis import Redis

from bot.errors import PostingInProgress, SlackUnavailable, StoreUnavailable
from bot.features.digest.posts import amend_digest
from bot.platform.store.due_queue import CHECK_INTERVAL, DueQueue, OutcomeCheck
from tests.emulators.slack.server import SlackEmulator
from tests.features.digest.posted_worlds import AGAIN, BEHIND, REVERT, Desk, end_lines
from tests.features.digest.posting import Crash, Fuse
from tests.features.subscriptions.scheduled import DUE, KEY
from tests.helpers.builders import DAY, REPOSITORY
from tests.helpers.records import memory_digests

TOLD = ["#2 Faster attention, reverted after 22.0 h by #9. It was listed above among the riskiest."]
UNDONE = f"{BEHIND}, which was itself reverted"
# the calls to every port: three days are asked for, for the one that was looked at last may not have been over
LOOKING = [
    *(
        "list_members",
        "list_members",
        "get",
        *["list_merged", "record_merges"] * 3,
        "put",
        "list_fields",
        "read_merges",
        "load_each",
        "send",
    )
]
# a lead, a message of the thread, and a reply
AMENDING = [
    "load",
    "read_merges",
    "load",
    "edit_message",
    "find_posts",
    "edit_message",
    "find_posts",
    "post_message",
    "save",
]
# of what stands no more nothing is replied
AMENDING_AGAIN = ["load", "read_merges", "load", "edit_message", "find_posts", "edit_message", "save"]
# the same to Slack, over HTTP
CALLS = [
    *("chat.update", "conversations.replies", "auth.test", "chat.update", "conversations.replies"),
    "chat.postMessage",
]
# in the index of digests, as the day of the last look, on the agenda
BEGINNING = ["add_member", "get", "put", "add"]


@pytest.fixture
def desk(slack: SlackEmulator, store: Redis) -> Desk:
    """A digest that was posted; since then one of its pull requests was reverted, and nobody has looked."""
    made = Desk(slack, store)
    made.post()
    made.merge(REVERT)
    return made


def other(desk: Desk, fuse: Fuse | None = None) -> Desk:
    """Another process on the same day."""
    return replace(desk, fuse=fuse or Fuse())


def expect_amendment(desk: Desk) -> tuple[dict[str, list[str]], list[str]]:
    """How the digest reads after a revert was told."""
    return end_lines(desk.digest, BEHIND), TOLD


def standing(desk: Desk) -> tuple[dict[str, list[str]], list[str]]:
    return desk.digest, desk.told


# --- processes that die


def test_the_lists_of_steps_are_those_of_whole_runs(desk: Desk) -> None:
    looking, amending, again = Fuse(), Fuse(), Fuse()
    other(desk, looking).look()
    before = len(desk.slack.calls)
    other(desk, amending).amend()
    assert [method for method, _ in desk.slack.calls[before:]] == CALLS
    desk.merge(AGAIN)
    desk.look()
    other(desk, again).amend()
    assert (looking.calls, amending.calls, again.calls) == (LOOKING, AMENDING, AMENDING_AGAIN)
    assert [each.key for each in desk.amends.of(amend_digest)] == [KEY, KEY]


@pytest.mark.parametrize("step", range(1, len(LOOKING) + 1))
def test_a_look_that_dies_after_any_step_is_made_by_the_next(desk: Desk, step: int) -> None:
    expected = expect_amendment(desk)
    with pytest.raises(Crash):
        other(desk, Fuse(step, with_effect=True)).look()
    other(desk).look()
    assert {each.key for each in desk.amends.of(amend_digest)} == {KEY}
    for each in desk.amends.of(amend_digest):
        amend_digest.run(other(desk).app, each.key, each.looked_at)
    assert standing(desk) == expected
    other(desk).look()
    assert len(desk.amends) == 1 + (step == len(LOOKING)), "nothing is left to tell"


@pytest.mark.parametrize("step", range(1, len(AMENDING) + 1))
def test_an_amendment_that_dies_after_any_step_is_finished_by_the_next(desk: Desk, step: int) -> None:
    expected = expect_amendment(desk)
    desk.look()
    with pytest.raises(Crash):
        other(desk, Fuse(step, with_effect=True)).amend()
    for _ in range(2):
        other(desk).amend()
    assert standing(desk) == expected


@pytest.mark.parametrize("step", range(1, len(AMENDING) + 1))
def test_one_that_dies_is_followed_by_one_that_knows_more(desk: Desk, step: int) -> None:
    before = desk.digest
    desk.look()
    with pytest.raises(Crash):
        other(desk, Fuse(step, with_effect=True)).amend()
    desk.merge(AGAIN)
    desk.look()
    other(desk).amend()
    # what stands no more when it would be replied is not
    assert standing(desk) == (end_lines(before, UNDONE), TOLD if step > AMENDING.index("post_message") else [])


@pytest.mark.parametrize("step", range(1, len(AMENDING_AGAIN) + 1))
def test_a_second_amendment_that_dies_after_any_step_is_finished_by_the_next(desk: Desk, step: int) -> None:
    before = desk.digest
    for merged in ((), (AGAIN,)):
        desk.merge(REVERT, *merged)
        desk.look()
        fuse = Fuse(step if merged else 0, with_effect=True)
        with suppress(Crash):
            other(desk, fuse).amend()
        assert fuse.burnt is bool(merged)
    other(desk).amend()
    assert standing(desk) == (end_lines(before, UNDONE), TOLD)


@pytest.mark.parametrize("step", range(1, len(BEGINNING) + 1))
def test_a_worker_that_dies_before_a_digest_is_watched_is_followed_by_one_that_watches_it(
    slack: SlackEmulator, store: Redis, step: int
) -> None:
    unbroken = Desk(slack, store)

    class LateFuse(Fuse):
        """Counts from the first of these calls on."""

        def before(self, name: str, arguments: object = None) -> None:
            if name == BEGINNING[0]:
                self.calls.clear()
                self.at = step
            super().before(name, arguments)

    with pytest.raises(Crash):
        Desk(slack, store, fuse=LateFuse(with_effect=True)).post()
    unbroken.post()
    assert unbroken.app.list_digest_keys(REPOSITORY, DAY.end, DAY.end) == (KEY,)
    assert DueQueue(store).get_time(OutcomeCheck(REPOSITORY)) == DUE + CHECK_INTERVAL
    expected = expect_amendment(unbroken)
    unbroken.merge(REVERT)
    unbroken.look()
    unbroken.amend()
    assert standing(unbroken) == expected


# --- a store or a network that goes away, and two at a time


@pytest.mark.parametrize("step", [n for n, name in enumerate(LOOKING, 1) if name != "list_merged"])
def test_a_look_without_the_store_is_made_again(desk: Desk, step: int) -> None:
    expected = expect_amendment(desk)
    with pytest.raises(StoreUnavailable):
        other(desk, Fuse(step, error=StoreUnavailable)).look()
    assert desk.amends == []
    other(desk).look()
    other(desk).amend()
    assert standing(desk) == expected


@pytest.mark.parametrize(
    "step", [n for n, name in enumerate(AMENDING_AGAIN, 1) if name in ("load", "read_merges", "save")]
)
def test_without_the_store_nothing_is_taken_out_of_a_digest(desk: Desk, step: int) -> None:
    before = desk.digest
    desk.look()
    desk.amend()
    desk.merge(AGAIN)
    desk.look()
    with pytest.raises(StoreUnavailable):
        other(desk, Fuse(step, error=StoreUnavailable)).amend()
    assert desk.digest == end_lines(before, UNDONE if step > AMENDING_AGAIN.index("edit_message") else BEHIND)
    other(desk).amend()
    assert standing(desk) == (end_lines(before, UNDONE), TOLD)


@pytest.mark.parametrize("for_good", [False, True], ids=["once", "for-good"])
@pytest.mark.parametrize("call", range(1, len(CALLS) + 1))
def test_a_lost_answer_doubles_and_loses_nothing(desk: Desk, call: int, for_good: bool) -> None:
    expected = expect_amendment(desk)
    desk.look()
    fuse = Fuse(call, with_effect=True, error=HangUp, for_good=for_good)
    desk.slack.before, desk.slack.after = fuse.before, fuse.after
    with suppress(SlackUnavailable):
        other(desk).amend()
    assert fuse.burnt
    desk.slack.before = desk.slack.after = None
    other(desk).amend()
    assert standing(desk) == expected


def test_one_at_a_time(desk: Desk) -> None:
    desk.look()
    desk.records.hold_lock = memory_digests(busy=True).hold_lock
    before = standing(desk)
    with pytest.raises(PostingInProgress):
        desk.amend()
    assert standing(desk) == before
    other(desk).amend()
    assert desk.told == TOLD
