import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from localslack.loopback import HangUp
from localslack.rules.live_text import find_links, find_mentions
from redis import Redis

from bot.errors import StoreUnavailable
from bot.features.subscriptions.incidents import INCIDENTS, Incident, IncidentKind, resolve_incident
from bot.platform.slack.messenger import SlackMessenger
from bot.platform.store.due_queue import IncidentReport
from tests.emulators.slack.server import SCOPES, SlackEmulator
from tests.features.digest.hostile_days import TOKENS
from tests.features.digest.posting import Crash, Fuse
from tests.features.subscriptions.scheduled import (
    ADMIN,
    DUE,
    MINUTE,
    Desk,
    Wall,
    key_of,
    list_message_lines,
    reports,
    trouble,
)
from tests.helpers.records import plant

SOON = DUE + MINUTE
TOLD = "1 post needs attention"
LINE = "octo/engine, part 0 for C0000 is not posted yet: "


@pytest.fixture
def wall() -> Wall:
    return Wall()


@pytest.fixture
def slack(wall: Wall) -> Iterator[SlackEmulator]:
    with SlackEmulator(now=wall.seconds) as emulator:
        emulator.add_channel(ADMIN, "admins")
        emulator.add_channel("C0000", "engine")
        yield emulator


@pytest.fixture
def desk(slack: SlackEmulator, store: Redis, wall: Wall) -> Desk:
    return Desk(slack, store, wall, admin=ADMIN)


def of(desk: Desk, **fields: Any) -> Desk:
    """Another process that does the same."""
    return replace(desk, **fields)


def only(slack: SlackEmulator, channel: str = ADMIN) -> list[str]:
    [message] = reports(slack, channel)
    return list_message_lines(message)


# --- once


def test_a_trouble_is_told_with_its_reason_and_the_next_try(desk: Desk) -> None:
    desk.report(trouble())
    desk.notify(SOON)
    assert only(desk.slack) == [
        TOLD,
        f"{LINE}GitHub is away: try again in a few minutes. Next try 2026-03-01 17:05 UTC.",
    ]
    assert find_mentions(reports(desk.slack, ADMIN)[0]) == ["<#C0000>"]


def test_what_happens_within_half_a_minute_is_told_together(desk: Desk) -> None:
    desk.report(trouble(1))
    desk.notify(DUE + timedelta(seconds=29))
    assert reports(desk.slack, ADMIN) == []
    desk.report(trouble(2, at=DUE + timedelta(seconds=20)))
    desk.notify(SOON)
    assert only(desk.slack)[0] == "2 posts need attention"


def test_a_trouble_is_told_once_however_often_it_is_noted(desk: Desk) -> None:
    for at in range(120):
        desk.report(trouble(at=DUE + at * MINUTE, reason=f"Reason {at}"))
        of(desk).notify(DUE + (at + 1) * MINUTE)
    assert "Reason 0" in only(desk.slack)[1]
    assert desk.slack.list_calls_to("chat.update") == []


def test_a_trouble_that_a_later_version_noted_is_left_to_it(desk: Desk, store: Redis) -> None:
    item = IncidentReport(trouble().id)
    desk.agenda.put(item, DUE)
    store.set(INCIDENTS.family.build_key(trouble().id), 'p{"version": 2}')
    with pytest.raises(StoreUnavailable):
        desk.notify(SOON)
    assert desk.agenda.get_time(item) == DUE


def test_kinds_of_trouble_of_a_digest_are_told_each(desk: Desk) -> None:
    for kind in (IncidentKind.MISSING, IncidentKind.SKIPPED, IncidentKind.INCOMPLETE):
        desk.report(trouble(kind=kind, retry=None))
    desk.notify(SOON)
    kinds = [line.partition(": ")[0].removeprefix("octo/engine, part 0 for C0000 ") for line in only(desk.slack)]
    assert kinds[0] == "3 posts need attention"
    assert sorted(kinds[1:]) == ["is not posted yet", "was posted incomplete", "will not be posted"]


def test_a_lost_job_is_told_to_operators_alone(desk: Desk) -> None:
    desk.report(trouble(kind=IncidentKind.LOST, retry=None))
    desk.report(trouble(1, kind=IncidentKind.LOST, channel="", retry=None))
    desk.report(trouble(2))
    desk.notify(SOON)
    report_lines = only(desk.slack)
    assert report_lines[0] == "1 post and 2 jobs need attention"
    assert "failed for good" in report_lines[2]


def test_clocks_that_come_at_once_tell_it_once(desk: Desk) -> None:
    desk.slack.latency = 0.02
    start = threading.Barrier(5)

    def run(own: Desk) -> None:
        start.wait()
        for number in range(3):
            own.report(trouble(number))
        start.wait()
        own.notify(SOON)

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(run, [of(desk) for _ in range(5)]))
    assert len(only(desk.slack)) == 4


# --- to whom

REFUSALS: dict[str, dict[str, Any]] = {"archived": {"archived": True}, "left": {"member": False}, "unknown": {}}


@pytest.mark.parametrize(
    ("admin", "to", "is_told"),
    [
        pytest.param(ADMIN, "U0ADA", ADMIN, id="admins-first"),
        pytest.param("", "U0ADA", "D0ADA", id="else-the-subscriber"),
        pytest.param("", "", "C0000", id="else-the-channel"),
        pytest.param("U0BOSS", "", "D0BOSS", id="an-admin-is-a-person"),
        pytest.param("C0archived", "U0ADA", "D0ADA", id="archived"),
        pytest.param("C0left", "U0ADA", "D0ADA", id="left"),
        pytest.param("C0unknown", "", "C0000", id="unknown"),
    ],
)
def test_the_first_place_that_takes_it_is_told(desk: Desk, admin: str, to: str, is_told: str) -> None:
    for name, fields in REFUSALS.items():
        if fields:
            desk.slack.add_channel(f"C0{name}", name, **fields)
    of(desk, admin=admin).report(trouble(to=to))
    of(desk, admin=admin).notify(SOON)
    places = [name for name in desk.slack.workspace.channels if reports(desk.slack, name)]
    assert places == [is_told]


@pytest.mark.parametrize("scopes", [SCOPES, SCOPES - {"im:write"}], ids=["user-is-gone", "no-right-to-open"])
def test_a_subscriber_who_can_not_be_written_to_leaves_it_to_the_channel(
    store: Redis, wall: Wall, scopes: frozenset[str]
) -> None:
    with SlackEmulator(scopes=scopes, now=wall.seconds) as slack:
        slack.add_channel("C0000", "engine")
        slack.fail_next("conversations.open", error="user_not_found" if scopes == SCOPES else "missing_scope")
        desk = Desk(slack, store, wall)
        desk.report(trouble(to="U0GONE"))
        desk.notify(SOON)
        assert only(slack, "C0000")[0] == TOLD


def test_what_nobody_takes_is_tried_again_an_hour_later(desk: Desk) -> None:
    own = of(desk, admin="C0NOWHERE")
    own.report(trouble(1))
    for minutes in range(1, 61):
        own.notify(DUE + minutes * MINUTE)
    tries = len(desk.slack.list_calls_to("chat.postMessage"))
    assert tries == 2, "of the admins' channel and of the digest's own"
    desk.slack.add_channel("C0001", "engine-1")
    for minutes in (61, 62, 200):
        own.report(trouble(1))
        own.notify(DUE + minutes * MINUTE)
    assert only(desk.slack, "C0001")[0] == TOLD


# --- many at once


@pytest.mark.slow
def test_a_hundred_at_once_are_one_message_whatever_channels_they_are_of(desk: Desk) -> None:
    for number in range(100):
        desk.report(trouble(number, to=f"U0USER{number % 7}"))
    desk.notify(SOON)
    title, *lines = only(desk.slack)
    assert title == "100 posts need attention"
    assert [line.partition(" for ")[0] for line in lines[:10]] == [f"octo/engine, part {n}" for n in range(10)]
    assert lines[10:] == ["and 90 more: prdigest doctor lists them"]
    desk.notify(SOON + MINUTE)
    assert len(desk.slack.list_calls_to("chat.postMessage")) == 1


def test_each_subscriber_is_told_of_their_own_in_one_message(desk: Desk) -> None:
    own = of(desk, admin="")
    for number in range(6):
        own.report(trouble(number, to="U0ADA" if number % 2 else "U0BOB"))
    own.notify(SOON)
    told = {place: [line[18:19] for line in only(desk.slack, place)[1:]] for place in ("D0ADA", "D0BOB")}
    assert told == {"D0ADA": ["1", "3", "5"], "D0BOB": ["0", "2", "4"]}


def test_those_whom_the_admins_do_not_take_are_told_each_in_their_place(desk: Desk) -> None:
    own = of(desk, admin="C0NOWHERE")
    for number, to in enumerate(["U0ADA", "U0BOB", "U0ADA"]):
        own.report(trouble(number, to=to))
    own.notify(SOON)
    assert [len(only(desk.slack, place)) - 1 for place in ("D0ADA", "D0BOB")] == [2, 1]


# --- how it ended


def settle(desk: Desk, number: int, how: str = "posted after all") -> None:
    resolve_incident(desk.app, trouble(number).key, IncidentKind.MISSING, how)


def test_how_each_ended_is_edited_into_the_message(desk: Desk) -> None:
    for number in range(3):
        desk.report(trouble(number, reason="Away"))
    desk.notify(SOON)
    before = reports(desk.slack, ADMIN)[0]
    lines = [f"octo/engine, part {n} for C000{n} is not posted yet: Away. Next try 2026-03-01 17:05 UTC."
             for n in range(3)]  # fmt: skip
    ended = [f"✓ octo/engine, part {n} for C000{n}: posted after all." for n in range(3)]
    for number, expected in ((1, [lines[0], ended[1], lines[2]]), (0, [*ended[:2], lines[2]]), (2, ended)):
        settle(desk, number)
        for _ in range(2):
            desk.notify(SOON + MINUTE)
        assert only(desk.slack)[1:] == expected
    assert len(desk.slack.list_calls_to("chat.update")) == 3
    assert key_of(reports(desk.slack, ADMIN)[0]) == key_of(before)


@pytest.mark.slow
def test_ends_of_the_same_moment_are_one_edit(desk: Desk) -> None:
    for number in range(40):
        desk.report(trouble(number))
    desk.notify(SOON)
    for number in range(40):
        settle(desk, number)
    desk.notify(SOON + MINUTE)
    assert len(desk.slack.list_calls_to("chat.update")) == 1


def test_what_ended_before_anybody_was_told_is_not_told(desk: Desk) -> None:
    desk.report(trouble())
    settle(desk, 0)
    desk.report(trouble())
    desk.notify(SOON)
    assert reports(desk.slack, ADMIN) == []


def test_what_was_never_noted_does_not_end(desk: Desk) -> None:
    settle(desk, 0)
    desk.notify(SOON)
    assert (reports(desk.slack, ADMIN), desk.slack.list_calls_to("chat.update")) == ([], [])


def test_an_end_is_told_once_and_is_the_end(desk: Desk) -> None:
    desk.report(trouble())
    desk.notify(SOON)
    settle(desk, 0, "the first")
    settle(desk, 0, "the second")
    desk.notify(SOON + MINUTE)
    desk.report(trouble(at=SOON + 2 * MINUTE))
    desk.notify(SOON + 5 * MINUTE)
    assert only(desk.slack)[1] == "✓ octo/engine, part 0 for C0000: the first."


@pytest.mark.parametrize("error", ["message_not_found", "cant_update_message", "is_archived"])
def test_a_message_that_is_gone_is_edited_no_more(desk: Desk, error: str) -> None:
    desk.report(trouble())
    desk.notify(SOON)
    desk.slack.fail_next("chat.update", error=error)
    settle(desk, 0)
    for minutes in range(1, 5):
        desk.notify(SOON + minutes * MINUTE)
    assert (len(desk.slack.list_calls_to("chat.update")), len(reports(desk.slack, ADMIN))) == (1, 1)


class Meanwhile:
    """A messenger that lets something else happen while it posts."""

    def __init__(self, behind: SlackMessenger, happens: Any) -> None:
        self._behind = behind
        self._happens = happens

    def __getattr__(self, name: str) -> Any:
        return getattr(self._behind, name)

    def post_message(self, *arguments: Any, **more: Any) -> str:
        self._happens()
        return self._behind.post_message(*arguments, **more)


def test_what_ends_while_it_is_told_is_edited(desk: Desk) -> None:
    own = of(desk, messenger_as=lambda messenger: Meanwhile(messenger, lambda: settle(desk, 0)))
    own.report(trouble())
    own.notify(SOON)
    own.notify(SOON + MINUTE)
    assert only(desk.slack)[1] == "✓ octo/engine, part 0 for C0000: posted after all."


def test_what_was_noted_as_it_ended_is_not_told(desk: Desk) -> None:
    """The clock had read the record, then the worker was done, then the clock noted what it had read."""
    settle(desk, 0)
    plant(desk.records, trouble().key, posted_at=DUE)
    desk.report(trouble())
    desk.report(trouble(kind=IncidentKind.INCOMPLETE))
    for minutes in range(5):
        desk.notify(SOON + minutes * MINUTE)
    assert [line[:45] for line in only(desk.slack)] == [TOLD, "octo/engine, part 0 for C0000 was posted inco"]


# --- what goes wrong meanwhile


@pytest.mark.parametrize("after_effect", [False, True])
@pytest.mark.parametrize("method", ["conversations.open", "chat.postMessage"])
def test_what_slack_does_not_answer_is_told_once_by_the_next_tick(
    desk: Desk, method: str, after_effect: bool
) -> None:
    own = of(desk, admin="U0BOSS")
    own.report(trouble())
    desk.slack.fail_next(method, status=503, after_effect=after_effect)
    for minutes in range(3):
        of(own).notify(SOON + minutes * MINUTE)
    assert only(desk.slack, "D0BOSS")[0] == TOLD


def test_an_edit_that_slack_does_not_answer_is_made_by_the_next_tick(desk: Desk) -> None:
    desk.report(trouble())
    desk.notify(SOON)
    desk.slack.fail_next("chat.update", status=503)
    settle(desk, 0)
    desk.notify(SOON + MINUTE)
    desk.notify(SOON + 2 * MINUTE)
    assert only(desk.slack)[1].startswith("✓")


def two_told(desk: Desk, at: int = 0) -> None:
    for number in range(2):
        desk.report(trouble(number, at=DUE + at * MINUTE))
    desk.notify(SOON + at * MINUTE)
    settle(desk, 0)
    desk.notify(SOON + (at + 1) * MINUTE)


def steps_of(desk: Desk) -> int:
    fuse = Fuse()
    two_told(of(desk, fuse=fuse))
    return len(fuse.calls)


STEPS = 44


def test_the_number_of_steps_is_that_of_a_whole_run(desk: Desk) -> None:
    assert steps_of(desk) == STEPS


@pytest.mark.slow
@pytest.mark.parametrize("step", range(1, STEPS + 1))
def test_a_clock_that_dies_after_any_step_tells_nothing_twice(desk: Desk, step: int) -> None:
    fuse = Fuse(step, with_effect=True)
    with pytest.raises(Crash):
        two_told(of(desk, fuse=fuse))
    # what else goes wrong until the next tick must not make it another message
    desk.report(trouble(2, at=DUE))
    two_told(desk, at=2)
    desk.notify(SOON + 5 * MINUTE)
    told = [line for message in reports(desk.slack, ADMIN) for line in list_message_lines(message)[1:]]
    names = sorted(line.removeprefix("✓ ").partition(" for ")[0] for line in told)
    expected = [f"octo/engine, part {number}" for number in range(3)]
    assert [name for name in names if name in expected[1:]] == expected[1:]
    ended = [line for line in told if line.startswith("✓")]
    assert [line.partition(" for ")[0] for line in ended] in (["✓ octo/engine, part 0"], [])
    assert bool(ended) is (expected[0] in names), "it ended before it was told, or its end is told"


@pytest.mark.parametrize("step", range(1, 4))
def test_slack_that_goes_away_in_the_middle_of_many_messages_gets_each_once(desk: Desk, step: int) -> None:
    own = of(desk, admin="")
    people = [f"U0P{number}" for number in range(3)]
    for number, to in enumerate(people):
        own.report(trouble(number, to=to))
    made = {"count": 0}

    def hook(method: str, _arguments: object) -> None:
        made["count"] += method == "chat.postMessage"
        if made["count"] == step:
            raise HangUp

    desk.slack.after = hook
    own.notify(SOON)
    desk.slack.after = None
    own.notify(SOON + MINUTE)
    assert [len(reports(desk.slack, f"D{to[1:]}")) for to in people] == [1, 1, 1]


# --- texts of others


@pytest.mark.slow
def test_no_text_of_others_comes_alive(desk: Desk) -> None:
    for number, token in enumerate(TOKENS):
        hostile = replace(trouble(number), title=f"octo/engine {token} x", reason=f"GitHub said {token} x")
        desk.report(replace(hostile, at=DUE + number // 10 * MINUTE))
    for minutes in range(1, len(TOKENS) // 10 + 2):
        desk.notify(DUE + minutes * MINUTE)
    messages = reports(desk.slack, ADMIN)
    assert sum(len(list_message_lines(message)) - 1 for message in messages) == len(TOKENS)
    for message in messages:
        assert all(mention.startswith("<#C0") for mention in find_mentions(message))
        assert find_links(message) == []


def test_the_longest_texts_are_taken(desk: Desk) -> None:
    for number in range(12):
        desk.report(_longest(trouble(number)))
    desk.notify(SOON)
    assert len(only(desk.slack)) == 12


def _longest(incident: Incident) -> Incident:
    return replace(incident, title="W" * 4_000, reason="😀 " * 4_000)
