"""The bot of today on what version 6336eb6 left in its store and in Slack: everything in it keeps working.

What is in the dump, and how it was made, is in ``tests/data/store-6336eb6/README.md``. The tests share one bot and
may run in any order; the clock only goes forward.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any, cast

import pytest
from redis import Redis

from bot.adapters.embedded.server import start_embedded_url
from bot.adapters.redis.server.connection import connect_server
from tests.helpers.data.sample_team import SampleTeam, start_bot
from tests.helpers.processes.command import prdigest
from tests.upgrade.left_behind import EXPORT, read_export, read_last_moment, restore_slack

LEAD, SUMMARY = "vLLM · Saturday 28 February 2026", "#35617 "
YOU, ADA = "U0YOU", "U0ADA"
TEAMS, RISKY = "eccfd4cf", "5d2cea88"


def read(message: dict[str, Any]) -> str:
    """Return all that a message shows."""
    return str(message["text"]) + json.dumps(message.get("blocks") or [], ensure_ascii=False)


def leads(team: SampleTeam, channel: str) -> list[str]:
    """Return the timestamps of the digests in a channel: what is shared there has another key."""
    return [message["ts"] for message in team.list_posts(channel) if key_of(message).startswith("digest:")]


def key_of(message: dict[str, Any]) -> str:
    return str(message["metadata"]["event_payload"]["key"])


def votes(team: SampleTeam) -> list[dict[str, Any]]:
    return [json.loads(unpack(vote)) for vote in cast("list[bytes]", team.store.hvals("votes"))]


def unpack(value: bytes) -> str:
    return (zlib.decompress(value[1:]) if value.startswith(b"z") else value[1:]).decode()


# --- digests


@pytest.mark.parametrize("channel", ["C0DIGEST", "C0MENDED", "C0GAPS", "C0DUE"])
def test_no_digest_is_posted_a_second_time(channel: str, team: SampleTeam) -> None:
    team.tick()
    team.do(team.person(YOU).send_command("/prdigest", "2026-02-28"))
    assert len(leads(team, channel)) == 1


def test_who_asks_for_the_digest_again_is_led_to_it(team: SampleTeam) -> None:
    team.do(team.person(ADA).send_command("/prdigest", "2026-02-28"))
    (lead,) = leads(team, "C0DIGEST")
    assert any(f"p{lead.replace('.', '')}" in read(shown) for shown in team.list_whispers(ADA))


def test_what_was_posted_incomplete_is_completed_in_its_place(team: SampleTeam) -> None:
    team.hands.go_to(10, 10)
    team.tick()
    (gaps,) = team.list_posts("C0GAPS")
    assert "edited" in gaps
    assert not team.store.zscore("agenda", "mend:digest:T0TEAM:C0GAPS:vllm-project/vllm:2026-02-28:b610340f")


def test_what_failed_and_was_not_reported_is_reported_once(team: SampleTeam) -> None:
    team.tick()
    reports = [read(message) for message in team.list_posts("C0OPS") if "C0NEXT" in read(message)]
    assert len(reports) == 1
    assert "Channel C0NEXT is archived" in reports[0]


def test_how_a_reported_failure_ended_is_written_into_its_report(team: SampleTeam) -> None:
    team.tick()
    (report,) = [read(message) for message in team.list_posts("C0OPS") if "C0MENDED" in read(message)]
    assert "posted after all" in report


def test_the_watch_for_reverts_goes_on(team: SampleTeam) -> None:
    team.hands.go_to(15, 10)
    team.tick()
    planned = team.store.zscore("agenda", "watch:vllm-project/vllm")
    assert planned
    assert planned > team.hands.now().timestamp()


# --- jobs that waited


def test_jobs_that_waited_are_done(team: SampleTeam) -> None:
    assert team.find("C0TEAM", "#35441 ")
    assert any(m["channel"] == "C0TEAM" and m["text"].startswith("Risky changes") for m in team.list_whispers(YOU))
    assert any(m["channel"] == "C0OPS" and m["text"].startswith("Subscribed") for m in team.list_whispers(YOU))


def test_the_vote_that_waited_and_those_before_are_counted(team: SampleTeam) -> None:
    counted = {(vote["user"], vote["verdict"], vote["question"]) for vote in votes(team)}
    assert counted >= {
        (YOU, "good", "what does it change?"),
        (ADA, "bad", "what does it change?"),
        (ADA, "good", "and who wrote them?"),
    }


# --- threads


def test_the_question_that_waited_is_answered_from_what_was_said_before_it(team: SampleTeam) -> None:
    (lead,) = leads(team, "C0DIGEST")
    answers = [message["text"] for message in team.replies("C0DIGEST", lead)]
    # of the day's 18, the last answer was about #34931
    assert any(answer.startswith("**The largest of the 1 pull request**") for answer in answers)


def test_a_digests_thread_answers(team: SampleTeam) -> None:
    (lead,) = leads(team, "C0DIGEST")
    team.do(team.person(YOU).send_message("who wrote #35600?", "C0DIGEST", thread_ts=lead))
    assert "DarkLight1337" in team.replies("C0DIGEST", lead)[-1]["text"]


def test_a_muted_thread_answers_mentions_alone(team: SampleTeam) -> None:
    summary, ada = team.find("C0DIGEST", SUMMARY)["ts"], team.person(ADA)
    before = len(team.replies("C0DIGEST", summary))
    team.do(ada.send_message("and what does it risk?", "C0DIGEST", thread_ts=summary))
    assert len(team.replies("C0DIGEST", summary)) == before
    team.do(ada.mention("who wrote it?", "C0DIGEST", thread_ts=summary))
    assert "lailoo" in team.replies("C0DIGEST", summary)[-1]["text"]


def test_direct_messages_go_on(team: SampleTeam) -> None:
    asked = team.person(YOU).send_message("who wrote #35617?", "D0YOU")
    team.do(asked)
    (answer,) = team.replies("D0YOU", asked.payload["event"]["ts"])
    assert "lailoo" in answer["text"]


# --- buttons


@pytest.mark.parametrize(
    ("beginning", "action", "number"), [(SUMMARY, "details", 35617), (LEAD, "details_of", 35441)]
)
def test_an_old_details_button_opens_its_window(
    beginning: str, action: str, number: int, team: SampleTeam
) -> None:
    value = f"vllm-project/vllm#{number}"
    team.do(team.person(YOU).press(team.find("C0DIGEST", beginning), action, value=value, channel="C0DIGEST"))
    window = team.slack.get_modal(YOU)
    assert window
    assert f"#{number}" in window["title"]["text"]
    assert "What changed and why" in json.dumps(window)


@pytest.mark.parametrize(
    ("user", "action", "beginning"),
    [
        (YOU, "share_summary", "#35621 "),
        (ADA, "share_risks", "Risky changes"),
        (ADA, "share_digest", "vLLM · Saturday 28 February 2026"),
    ],
)
def test_an_old_share_button_shows_everybody(user: str, action: str, beginning: str, team: SampleTeam) -> None:
    (private,) = [shown for shown in team.list_whispers(user) if f'"{action}"' in json.dumps(shown.get("blocks"))]
    before = len(team.list_posts("C0DIGEST"))
    team.do(team.person(user).press(private, action))
    shared = team.list_posts("C0DIGEST")[before:]
    assert [message["text"].startswith(beginning) for message in shared] == [True]


def test_an_old_answer_takes_a_vote(team: SampleTeam) -> None:
    (lead,) = leads(team, "C0DIGEST")
    answer = next(m for m in team.replies("C0DIGEST", lead) if "to do with" in m["text"])
    team.do(team.person(YOU).press(answer, "answer_vote", value="bad", channel="C0DIGEST"))
    (vote,) = [vote for vote in votes(team) if vote["question"] == "which of these touch ROCm?"]
    assert (vote["verdict"], vote["user"]) == ("bad", YOU)
    assert "34931" in vote["answer"]


def test_old_subscription_buttons_work(team: SampleTeam) -> None:
    you = team.person(YOU)
    # the first is the one of that day; other tests of this team may have asked for the list again
    listed = next(shown for shown in team.list_whispers(YOU) if shown["text"] == "1 digest comes here")
    team.do(you.press(listed, "subscription_pause", value=TEAMS, channel="C0TEAM"))
    assert team.list_whispers(YOU)[-1]["text"].startswith("Paused")
    team.do(you.send_command("/prdigest", f"resume {TEAMS}", channel="C0TEAM"))
    team.do(you.press(listed, "subscription_preview", value=TEAMS, channel="C0TEAM"))
    assert any("Preview, visible only to you" in read(shown) for shown in team.list_whispers(YOU))
    team.do(you.press(listed, "subscription_change", value=TEAMS, channel="C0TEAM"))
    form = team.slack.get_modal(YOU)
    assert form
    assert "weekdays" in json.dumps(form)


def test_an_old_button_removes_a_subscription(team: SampleTeam) -> None:
    you = team.person(YOU)
    (mine,) = [
        shown
        for shown in team.list_whispers(YOU)
        if shown["channel"] == "C0NEXT" and "Subscribed" in shown["text"]
    ]
    team.do(you.press(mine, "subscription_remove", value="a634a6a6", channel="C0NEXT"))
    assert team.list_whispers(YOU)[-1]["text"].startswith("Unsubscribed")
    assert not team.store.hexists("subscriptions", "a634a6a6")


# --- subscriptions, scores


def test_subscriptions_are_listed_paused_and_resumed(team: SampleTeam) -> None:
    you = team.person(YOU)
    texts = []
    for words in ("list", f"resume {RISKY}", "list", "pause"):
        team.do(you.send_command("/prdigest", words, channel="C0RISKY"))
        texts.append(read(team.list_whispers(YOU)[-1]))
    assert "paused" in texts[0]
    assert texts[1].startswith("Resumed")
    assert "paused" not in texts[2]
    assert texts[3].startswith("Paused")


def test_somebodys_own_digest_is_still_theirs(team: SampleTeam) -> None:
    team.do(team.person(ADA).open_home())
    home = team.slack.get_home(ADA)
    assert home
    assert "Europe/Berlin" in json.dumps(home)


def test_the_score_reads_the_ratings_of_old_digests(team: SampleTeam) -> None:
    team.do(team.person(YOU).send_command("/prrisks", "score"))
    scores = [message for message in team.list_posts("C0DIGEST") if message["text"].startswith("How good was")]
    assert len(scores) == 2
    assert "Listed: 3 of 18 merged pull requests, in 1 digest." in read(scores[-1])


# --- export and import


def test_the_old_export_is_imported_and_exported_as_it_was(store: Redis, store_url: str, tmp_path: Path) -> None:
    done = prdigest("import", str(EXPORT), settings={"REDIS_URL": store_url}, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    written = prdigest("export", settings={"REDIS_URL": store_url}, folder=tmp_path).stdout
    assert [json.loads(line) for line in written.splitlines()][1:-1] == read_export()


def test_a_bot_on_an_imported_store_posts_no_digest_again(tmp_path: Path) -> None:
    url = start_embedded_url(tmp_path / "store")
    with connect_server(url) as keeper:
        keeper.ping()
        done = prdigest("import", str(EXPORT), settings={"REDIS_URL": url}, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        with start_bot(url, tmp_path, read_last_moment(), lambda slack, _: restore_slack(slack)) as team:
            team.tick()
            assert [len(leads(team, channel)) for channel in ("C0DIGEST", "C0MENDED", "C0GAPS", "C0DUE")] == [
                1
            ] * 4
            team.do(team.person(YOU).send_command("/prdigest", "list", channel="C0TEAM"))
            assert TEAMS in read(team.list_whispers(YOU)[-1])
