"""What Slack does not say about people and channels is refused, in a sentence."""

from dataclasses import replace

import pytest
from redis import Redis

from bot.errors import SlackUnavailable, UsageError
from bot.features.subscriptions.rules import Subscription
from bot.features.subscriptions.service import answer_command
from tests.emulators.slack.server import SlackEmulator
from tests.features.subscriptions.subscribers import OPEN, PRIVATE, Team, ask, parse_command
from tests.helpers.checks import is_one_sentence

EVE = "U0EVE"
UNKNOWN = "I can't see who is in that channel: invite me with /invite, or ask the bot's admin."


@pytest.fixture
def team(slack: SlackEmulator, store: Redis) -> Team:
    return Team(slack, store)


def catch_refusal(team: Team, made: Subscription, user: str = EVE) -> str:
    with pytest.raises(UsageError) as caught:
        team.run("pause", made.id, "", user)
    assert is_one_sentence(str(caught.value))
    return str(caught.value)


@pytest.mark.parametrize("code", ["missing_scope", "fetch_members_failed", "channel_not_found"])
def test_where_it_is_not_known_who_is_in_it_nobody_changes_anything(team: Team, code: str) -> None:
    made = team.subscribe(channel=OPEN)
    for _ in range(2):
        team.slack.fail_next("conversations.members", error=code)
    assert catch_refusal(team, made, "U0ADA") == UNKNOWN
    team.slack.fail_next("conversations.members", error=code)
    with pytest.raises(UsageError, match="I can't see who is in that channel"):
        team.subscribe("only:risky", channel=OPEN)
    assert list(team.kept.list_all()) == [made]


def test_who_is_not_known_is_no_more_than_a_guest(team: Team) -> None:
    made = team.subscribe(channel=OPEN)
    team.slack.add_channel(OPEN, "open", people=("U0ADA",))
    team.slack.set_person(EVE, admin=True)
    team.slack.fail_next("users.info", error="user_not_found")
    assert "no subscription here" in catch_refusal(team, made)
    team.slack.fail_next("users.info", error="user_not_found")
    assert made not in team.list_visible(EVE)
    assert team.run("pause", made.id, "", EVE)


def test_where_somebody_is_is_not_known_they_see_nothing_that_is_closed(team: Team) -> None:
    made = team.subscribe(channel=PRIVATE)
    assert made in team.list_visible("U0ADA")
    team.slack.fail_next("users.conversations", error="missing_scope")
    assert made not in team.list_visible("U0ADA")


def test_slack_that_is_away_is_asked_again_later(team: Team) -> None:
    made = team.subscribe(channel=OPEN)
    team.slack.fail_next("conversations.members", error="fatal_error")
    with pytest.raises(SlackUnavailable):
        team.run("pause", made.id, "", "U0ADA")
    assert team.kept.get(made.id) == made


def test_a_channel_is_told_once_however_often_the_job_runs(team: Team) -> None:
    team.subscribe(channel=OPEN)
    for _ in range(3):
        answer_command(team.open_app(), ask(OPEN), parse_command("pause", "all"))
    assert [message["text"] for message in team.slack.list_messages(OPEN)] == [
        "The digest of octo/engine was paused."
    ]


def test_a_channel_that_takes_no_post_is_changed_all_the_same(team: Team) -> None:
    made = team.subscribe(channel=OPEN)
    team.slack.remove_bot(OPEN)
    team.run("pause", "all", OPEN)
    assert team.kept.get(made.id) == replace(made, is_paused=True)


def test_what_changes_nothing_is_not_told(team: Team) -> None:
    team.subscribe(channel=OPEN)
    for _ in range(2):
        team.run("pause", "all", OPEN)
    assert len(team.slack.list_messages(OPEN)) == 1
