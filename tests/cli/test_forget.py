"""``prdigest forget`` while a bot runs: nothing of a person or channel stays in the store, all of others does."""

import io
import json
import zlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import pytest
from redis import Redis

from bot.platform.store.forgotten_ids import FORGOTTEN_USER
from tests.cli.conftest import Call
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.data.sample_team import ZONE, SampleTeam, start_bot

pytestmark = pytest.mark.slow

YOU, ADA, CHANNEL = "U0YOU", "U0ADA", "C0DIGEST"
# the bot writes them all the time, or they expire within seconds
VOLATILE = ("dramatiq:__", "lease:", "rate:", "clock:", "ready", "held:")
# what she asked, and what somebody else asked in a thread without her
HERS, NOT_HERS = "who wrote #35600?", "and what does it change?"


def open_channels(slack: SlackEmulator, _: Redis) -> None:
    slack.declare_agent()
    for name in ("TEAM", "OPS"):
        slack.add_channel(f"C0{name}", name.lower())
    slack.set_person(YOU, name="You", tz=ZONE.key)
    slack.set_person(ADA, name="Ada", tz="Europe/Berlin")


@pytest.fixture
def team(store: Redis, store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SampleTeam]:
    monkeypatch.setenv("no_proxy", "*")
    with start_bot(store_url, tmp_path, datetime(2026, 3, 1, 9, 0, 5, tzinfo=ZONE), open_channels) as sample_team:
        use(sample_team)
        yield sample_team


def use(team: SampleTeam) -> None:
    """Have both people ask, vote, subscribe and open App Home."""
    team.tick()
    team.do(team.person(YOU).send_command("/prrisks", "2026-02-28", channel=CHANNEL))
    team.do(team.person(YOU).send_command("/prdigest", "subscribe at 10:00", channel="C0TEAM"))
    team.do(team.person(YOU).send_command("/prdigest", "subscribe at 10:00 path:csrc/", channel="C0OPS"))
    lead = team.find(CHANNEL, "vLLM · Saturday")["ts"]
    risks = team.find(CHANNEL, "Risky")["ts"]
    for user, asked, place in ((ADA, HERS, lead), (YOU, NOT_HERS, risks)):
        person = team.person(user)
        team.do(person.mention(asked, CHANNEL, thread_ts=place))
        answer = team.replies(CHANNEL, place)[-1]
        team.do(person.press(answer, "answer_vote", value="2|good", channel=CHANNEL))
        team.do(person.send_command("/prdigest", "subscribe me at 07:00"))
        team.do(person.send_message(f"is {user} fine?", person_channel(user)))
    # who names somebody else, in a question or as the one who subscribed a channel
    team.do(team.person(YOU).mention(f"does <@{ADA}> know #35617?", CHANNEL, thread_ts=risks))
    team.do(team.person(ADA).send_command("/prdigest", "subscribe at 06:30 tz mine", channel="C0OPS"))


def person_channel(user: str) -> str:
    return user.replace("U", "D", 1)


def read_all(store: Redis) -> dict[str, str]:
    readers: dict[bytes, Any] = {
        b"string": lambda key: unpack(cast("bytes", store.get(key))),
        b"hash": lambda key: sorted((unpack(k), unpack(v)) for k, v in cast("Any", store.hgetall(key)).items()),
        b"list": lambda key: [unpack(item) for item in cast("Any", store.lrange(key, 0, -1))],
        b"zset": lambda key: [(unpack(m), s) for m, s in cast("Any", store.zrange(key, 0, -1, withscores=True))],
        b"set": lambda key: sorted(map(unpack, cast("Any", store.smembers(key)))),
    }
    contents = {}
    for key in store.scan_iter():
        name = cast("bytes", key).decode()
        if not name.startswith(VOLATILE):
            contents[name] = str(readers[cast("bytes", store.type(key))](key))
    return contents


def unpack(data: bytes) -> str:
    return (zlib.decompress(data[1:]) if data[:1] == b"z" else data).decode(errors="replace")


def settings(team: SampleTeam, store_url: str, **more: str) -> dict[str, str]:
    slack = {"SLACK_API_URL": team.slack.url, "SLACK_BOT_TOKEN": "xoxb-test"}
    return {"REDIS_URL": store_url, **slack, **more}


def subscriptions(store: Redis) -> list[dict[str, Any]]:
    return [json.loads(unpack(value)[1:]) for value in cast("list[bytes]", store.hvals("subscriptions"))]


def test_nothing_of_a_person_is_left_and_all_of_others_is(
    team: SampleTeam, store: Redis, store_url: str, call_command: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_all(store)
    of_ada = (ADA, person_channel(ADA))
    kinds = {key.partition(":")[0] for key, text in before.items() if any(i in key + text for i in of_ada)}
    assert kinds >= {"subscriptions", "votes", "thread", "answered", "asked", "answer"}
    for answer in ("n\n", ""):
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        done = call_command("forget", "--user", ADA, settings={"REDIS_URL": store_url})
        assert (done.returncode, "Nothing was deleted" in done.stdout + done.stderr) == (0 if answer else 2, True)
        # nobody asked Slack who wrote in them
        assert ("Not read in Slack: 2 threads." in done.stdout) == bool(answer), done.stdout
    assert read_all(store) == before
    # the memory of a thread is what tells of its session
    team.slack.fail_next("agents.sessions.setStatus", status=503)
    done = call_command("forget", "--user", ADA, "--yes", settings=settings(team, store_url))
    assert (done.returncode, "try again" in done.stderr, read_all(store)) == (1, True, before)
    done = call_command("forget", "--user", ADA, "--yes", settings=settings(team, store_url))
    assert (done.returncode, "Deleted." in done.stdout) == (0, True), done.stderr
    after = read_all(store)

    assert [key for key, text in after.items() if any(each in key + text for each in of_ada)] == []
    # nor what she said where her name is not stored
    assert HERS in str(before)
    assert HERS not in str(after)
    # nor in the sessions that Slack keeps
    sessions = {place: (each.status, each.title) for place, each in team.slack.workspace.agents.sessions.items()}
    ended = [channel for (channel, _), state in sessions.items() if state == ("closed", "Forgotten")]
    assert sorted(ended) == [CHANNEL, person_channel(ADA)]
    assert {status for status, title in sessions.values() if title != "Forgotten"} == {"active"}
    # of others
    assert NOT_HERS in str(after)
    assert f":{YOU}'" in after["votes"]
    by = {(each["channel"], each["by"]) for each in subscriptions(store)}
    assert {("C0OPS", FORGOTTEN_USER), ("C0OPS", YOU), (person_channel(YOU), YOU)} <= by
    # the digest that came to her alone
    assert before["agenda"].count("(") == after["agenda"].count("(") + 1
    touched = [key for key, text in before.items() if after.get(key) != text]
    assert [key for key in touched if not is_expected(key, before[key], of_ada)] == []
    # the channel that she subscribed still gets its digest
    team.hands.go_to(6, 35, days=1)
    team.tick()
    assert any(m["text"].startswith("vLLM") for m in team.list_posts("C0OPS"))
    again = call_command("forget", "--user", ADA, settings=settings(team, store_url))
    assert (again.returncode, again.stdout.splitlines()[0]) == (
        0,
        "Nothing is stored about U0ADA and the direct messages D0ADA.",
    )


def is_expected(key: str, text: str, ids: tuple[str, ...]) -> bool:
    """Return whether a key of before may differ: it named her, or is of a thread in which she wrote."""
    return any(each in key + text for each in ids) or key.startswith(
        ("agenda", "thread:", "answered:", "answer:", "asked:")
    )


def test_a_channel_goes_with_all_that_was_said_there(
    team: SampleTeam, store: Redis, store_url: str, call_command: Call
) -> None:
    before = read_all(store)
    told = settings(team, store_url, PRDIGEST_CHANNEL=CHANNEL)
    done = call_command("forget", "--channel", CHANNEL, "--yes", settings=told)
    assert done.returncode == 0, done.stderr
    assert "Your settings name this channel" in done.stdout
    after = read_all(store)
    assert [key for key, text in after.items() if CHANNEL in key + text] == []
    assert {key for key, text in before.items() if CHANNEL not in key + text} <= {
        key for key, text in after.items() if before.get(key) == text
    }
    assert {each["channel"] for each in subscriptions(store)} >= {"C0TEAM", "C0OPS", person_channel(YOU)}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Name whom to forget"),
        (("--user", "U0ADA", "--channel", "C0OPS"), "Name whom to forget"),
        (("--user", "@ada"), "--user takes the id of a person"),
        (("--user", "C0OPS"), "--user takes the id of a person"),
        (("--channel", "#ops"), "--channel takes the id of a channel"),
    ],
)
def test_an_id_of_the_wrong_form_is_refused(
    arguments: tuple[str, ...], sentence: str, store_url: str, call_command: Call
) -> None:
    done = call_command("forget", *arguments, settings={"REDIS_URL": store_url})
    assert (done.returncode, done.stderr.startswith(sentence)) == (2, True)
