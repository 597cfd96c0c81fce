"""What people are told of their regular digests, and the preview that nobody else sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from localslack.rules.messages import check_message
from redis import Redis

from bot.errors import RepositoryNotFound, SlackUnavailable, UsageError
from bot.features.digest.rules import DigestSpec
from bot.features.digest.service import compose_messages
from bot.features.digest.view import RenderedDigest
from bot.features.subscriptions.rules import ID_PATTERN, SubscriptionRequest
from bot.features.subscriptions.service import answer_command, change_subscription, show_preview
from bot.platform.pulls.models import Account, PullRequest
from bot.platform.slack.answers import Answer
from bot.platform.slack.blocks import Post, write_id
from bot.platform.slack.replies import ReplySender
from bot.platform.slack.requests import SlackRequest
from impact.repository import Repository
from tests.emulators.slack.server import SlackEmulator
from tests.features.digest.posting import HOME, MemoryMessenger
from tests.features.subscriptions.subscribers import (
    ANGELES,
    FIXED,
    OWN,
    PRIVATE,
    REPOSITORIES,
    TOKYO,
    Team,
    ask,
    at,
    parse_command,
    read,
)
from tests.helpers.apps import make_digest_app
from tests.helpers.builders import REPOSITORY, changed_file, pull
from tests.helpers.checks import is_one_sentence
from tests.helpers.doubles import KnownPulls, MemoryWhispers, Summaries
from tests.helpers.records import memory_answers

CORE = (changed_file("engine/core.py", 500, 500),)
PULLS = KnownPulls(
    (
        pull(1, files=CORE, title="Rewrite the core", merged_at=at(1, 12)),
        pull(2, title="Bump a pin", author=Account("renovate[bot]", is_bot=True), merged_at=at(1, 13)),
        pull(3, title="Too late", merged_at=at(2, 8)),
        pull(4, title="Over there", repository=Repository("Acme", "web.app"), merged_at=at(1, 14)),
    )
)


def compose(pulls: KnownPulls = PULLS) -> Callable[[DigestSpec, Sequence[str]], RenderedDigest]:
    parts = {"name_repository": lambda named: named.name, "get_channel_zone": lambda channel: ANGELES}
    return partial(compose_messages, make_digest_app(pulls, workers=2, model=Summaries(), **parts))


@pytest.fixture
def team(slack: SlackEmulator, store: Redis) -> Team:
    return Team(slack, store)


def run_command(team: Team, verb: str, text: str = "", channel: str = HOME, user: str = "U0ADA") -> Post:
    """What the asker gets, which nobody else gets."""
    answer = team.run(verb, text, channel, user)
    assert answer.public == answer.private
    assert check_message(answer.private.build_payload()) is None
    return answer.private


def buttons(post: Post) -> list[tuple[str, str]]:
    rows = [block["elements"] for block in post.build_payload()["blocks"] if block["type"] == "actions"]
    return [(each["text"]["text"], each["value"]) for row in rows for each in row]


def test_who_subscribes_reads_what_comes_and_when(team: Team) -> None:
    reply = run_command(team, "subscribe", "at 17:00 tz Europe/Berlin weekdays path:engine")
    (made,) = team.kept.list_all()
    assert reply.text == "Subscribed to octo/engine"
    assert read(reply) == (
        "Subscribed: octo/engine, from Monday to Friday at 17:00 (Europe/Berlin), path:engine, in #C0DIGEST. "
        "Next: 2026-03-03 16:00 UTC."
    )
    assert buttons(reply) == [(name, write_id(made.id)) for name in ("Preview", "Change", "Pause", "Unsubscribe")]


def test_a_change_says_the_same_of_what_it_is_now(team: Team) -> None:
    run_command(team, "subscribe", "at 17:00")
    assert "octo/engine, every day at 18:00 (America/Los_Angeles), in" in read(
        run_command(team, "subscribe", "at 18:00")
    )


def test_who_is_followed_reads_that(team: Team) -> None:
    team.slack.set_person("U0ADA", tz="Asia/Tokyo")
    line = "at 09:00 (Asia/Tokyo, as your Slack is set), in your direct messages with me."
    assert line in read(run_command(team, "subscribe", "me"))


def test_a_list_has_a_line_and_buttons_for_each(team: Team) -> None:
    team.subscribe("acme/web.app")
    second = team.subscribe("only:risky at 17:00")
    run_command(team, "pause", second.id)
    reply = run_command(team, "list")
    assert reply.text == "2 digests come here"
    assert read(reply).split("\n\n") == [
        "2 digests come here",
        "1. Acme/web.app, every day at 09:00 (America/Los_Angeles) · Next: 2026-03-03 17:00 UTC",
        "2. octo/engine, every day at 17:00 (America/Los_Angeles), only:risky · paused",
    ]
    names = ["Preview", "Change", "Pause", "Unsubscribe", "Preview", "Change", "Resume", "Unsubscribe"]
    assert [name for name, _ in buttons(reply)] == [*names, "New subscription"]


def test_the_number_in_the_list_selects_one(team: Team) -> None:
    team.subscribe("acme/web.app")
    team.subscribe("only:risky at 17:00")
    assert run_command(team, "pause", "2").text == "Paused: octo/engine"
    assert run_command(team, "unsubscribe", "1").text == "Unsubscribed: Acme/web.app"
    assert "only:risky · paused" in read(run_command(team, "list"))
    with pytest.raises(UsageError, match="There is no such subscription here"):
        team.run("resume", "2")


def test_a_snooze_says_when_the_next_one_comes_and_the_channel_reads_of_it(team: Team) -> None:
    team.subscribe()
    reply = run_command(team, "snooze", "until 9 March")
    assert reply.text == "Snoozed: octo/engine"
    assert read(reply).split("\n\n") == [
        "Snoozed. /prdigest resume ends that sooner. For the days in between: /prdigest since DAY.",
        "octo/engine, every day at 09:00 (America/Los_Angeles) · Next: 2026-03-09 16:00 UTC",
    ]
    assert run_command(team, "resume").text == "Resumed: octo/engine"
    run_command(team, "resume")
    told = [message["text"] for message in team.slack.list_messages(HOME)]
    assert told == ["The digest of octo/engine was snoozed.", "The digest of octo/engine was resumed."]


def test_several_are_not_snoozed_by_chance(team: Team) -> None:
    team.many(2)
    with pytest.raises(UsageError, match="write the number of one in /prdigest list, or all"):
        team.run("snooze", "until monday")


def test_the_one_of_the_settings_has_no_buttons(team: Team) -> None:
    reply = run_command(team, "list", channel=FIXED.channel)
    assert "· set by the bot's admin · Next: " in read(reply)
    assert buttons(reply) == [("New subscription", "2|new")]


def test_an_empty_list_says_how_to_begin(team: Team) -> None:
    reply = run_command(team, "list")
    assert read(reply).startswith("There are no subscriptions here: create one with /prdigest subscribe.")
    assert buttons(reply) == [("New subscription", "2|new")]


def test_what_was_done_is_said_with_what_may_come_next(team: Team) -> None:
    team.subscribe()
    assert run_command(team, "pause").text == "Paused: octo/engine"
    reply = run_command(team, "resume")
    assert reply.text == "Resumed: octo/engine"
    assert "· Next: 2026-03-03 17:00 UTC" in read(reply)
    assert [name for name, _ in buttons(reply)] == ["Preview", "Change", "Pause", "Unsubscribe"]
    gone = run_command(team, "unsubscribe")
    assert gone.text == "Unsubscribed: octo/engine"
    assert read(gone).endswith("Posted digests stay.")


@pytest.mark.slow
def test_all_of_a_full_channel_fit_a_message(team: Team) -> None:
    team.many(20)
    for verb in ("list", "pause", "resume", "unsubscribe"):
        run_command(team, verb, "" if verb == "list" else "all")


@pytest.mark.parametrize("verb", ["subscribe", "pause", "resume", "unsubscribe"])
def test_what_can_not_be_done_is_one_sentence(team: Team, verb: str) -> None:
    with pytest.raises(UsageError) as caught:
        team.run(verb, "nonsense")
    assert is_one_sentence(str(caught.value))


@pytest.mark.slow
def test_the_form_names_its_channel_and_what_it_replaces(team: Team) -> None:
    old = team.subscribe()
    sent = replace(parse_command("subscribe", "only:risky"), channel=PRIVATE, replaces=old.id)
    answer_command(team.open_app(), ask(), sent)
    (made,) = team.kept.list_all()
    assert (made.channel, str(made.view)) == (PRIVATE, "only:risky")


@dataclass
class DeafOnce(MemoryWhispers):
    """Somebody whom Slack does not reach the first time."""

    def send(self, slack_request: SlackRequest, post: Post) -> None:
        super().send(slack_request, post)
        if len(self.sent_posts) == 1:
            raise SlackUnavailable("Slack did not accept the answer: try again in a few minutes.")


@pytest.mark.parametrize("verb", ["subscribe", "pause", "resume", "unsubscribe"])
def test_a_job_that_is_run_again_because_nobody_was_told_says_the_same(team: Team, verb: str) -> None:
    team.subscribe()
    deaf = DeafOnce()
    replies = ReplySender(MemoryMessenger(), deaf, memory_answers(), lambda: team.now)
    asker, app = ask(), team.open_app()
    app.__dict__["replies"] = replies

    def job() -> None:
        change_subscription.run(app, asker, parse_command(verb))

    with pytest.raises(SlackUnavailable):
        job()
    job()
    job()
    first, second = [read(post) for _, post in deaf.sent_posts]
    assert first == second


def all_buttons(post: Post) -> list[tuple[str, str]]:
    rows = [block["elements"] for block in post.blocks if block["type"] == "actions"]
    return [(each["action_id"], each["value"]) for row in rows for each in row]


def test_which_of_several_is_meant_is_asked_with_buttons_for_those_that_can_be_changed(team: Team) -> None:
    own = [team.subscribe(text, FIXED.channel) for text in ("path:a", "path:b")]
    for verb, action in (("pause", "pause"), ("resume", "resume"), ("unsubscribe", "remove")):
        reply = run_command(team, verb, channel=FIXED.channel)
        assert reply.text == "Which one?"
        assert set(all_buttons(reply)) == {(f"subscription_{action}", f"2|{each.id}") for each in own}
    assert len(team.kept.list_all()) == 2
    run_command(team, "unsubscribe", own[0].id, FIXED.channel)
    # what is left besides the one of the settings is meant
    assert run_command(team, "pause", channel=FIXED.channel).text == "Paused: octo/engine"


def test_who_subscribes_what_the_settings_post_is_told_what_can_be_done(team: Team) -> None:
    with pytest.raises(UsageError) as caught:
        run_command(team, "subscribe", str(FIXED.repository), channel=FIXED.channel)
    assert str(caught.value) == (
        "This channel already gets octo/engine, every day at 09:00 (America/Los_Angeles), "
        "set by the bot's admin: add a filter, or write me for your own."
    )
    assert is_one_sentence(str(caught.value))


# --- the preview


def preview(team: Team, text: str = "", channel: str = HOME, user: str = "U0ADA") -> str:
    is_id = bool(ID_PATTERN.fullmatch(text))
    wish = SubscriptionRequest.parse(text, REPOSITORIES) if text and not is_id else None
    post = open_preview(team, text if is_id else "", wish, channel, user)
    assert check_message(post.build_payload()) is None
    assert not team.records.kept
    return read(post)


def open_preview(
    team: Team,
    name: str = "",
    wish: SubscriptionRequest | None = None,
    channel: str = HOME,
    user: str = "U0ADA",
    pulls: KnownPulls = PULLS,
) -> Post:
    """What the asker gets; errors come as they are."""
    answers: list[Answer] = []

    class Listener:
        def give_answer(
            self, asker: Any, part: str, audience: Any, make: Callable[[], Answer], started: str
        ) -> None:
            answers.append(make())

    app = team.open_app(compose_digest=lambda spec, notes, **_: compose(pulls)(spec, notes))
    app.__dict__["replies"] = Listener()
    show_preview.run(app, ask(channel, user), name, wish)
    return answers[0].private


NOTE = "Preview, visible only to you. Nothing was posted."


def test_a_preview_is_yesterday_as_it_would_be_posted(team: Team) -> None:
    shown = preview(team)
    assert (NOTE in shown, "2 merged." in shown) == (True, True)
    assert team.slack.list_messages(HOME) == []
    assert not team.kept.list_all()


SHOWN = {
    "": "2 merged.",
    "not-author:bots": "1 of 2 merged",
    "path:engine/core.py only:risky": "1 of 2 merged",
    "path:docs": "0 of 2 shown: path:docs",
    "acme/web.app": "1 merged.",
    "at 17:00 weekdays": "2 merged.",
    "weekly": "23 February \u2013 1 March 2026",
}


@pytest.mark.slow
@pytest.mark.parametrize(("text", "expected"), SHOWN.items(), ids=map(repr, SHOWN))
def test_it_holds_what_the_subscription_would_show(team: Team, text: str, expected: str) -> None:
    assert expected in preview(team, text)
    made = team.subscribe(text)
    assert expected in preview(team, made.id)
    assert expected in preview(team)


def test_its_day_is_that_of_the_zone(team: Team) -> None:
    team.now = at(1, 20)
    team.slack.set_person("U0ADA", tz="Asia/Tokyo")
    assert team.now.astimezone(TOKYO).day == 2
    assert "Saturday 28 February 2026" in preview(team)
    assert "Sunday 1 March 2026" in preview(team, "tz mine")
    assert "Sunday 1 March 2026" in preview(team, "tz Asia/Tokyo")
    assert "Sunday 1 March 2026" in preview(team, channel=OWN)


def test_of_several_one_has_to_be_named(team: Team) -> None:
    made = [team.subscribe(text) for text in ("", "only:risky")]
    post = open_preview(team)
    assert read(post).startswith("Which one?")
    assert {value for _, value in all_buttons(post)} == {f"2|{each.id}" for each in made}


@pytest.mark.parametrize("where", [HOME, OWN, ""], ids=["channel", "direct", "home"])
def test_what_others_may_not_know_is_not_previewed(team: Team, where: str) -> None:
    made = [team.subscribe("me"), team.subscribe(channel=PRIVATE)]
    for each in made:
        assert NOTE in preview(team, each.id, where)
        with pytest.raises(UsageError, match="here"):
            preview(team, each.id, HOME, "U0BEN")


@pytest.mark.parametrize("text", ["nonsense", "other/secret", "all", "deadbeef"])
def test_what_names_nothing_is_one_sentence(team: Team, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        preview(team, text)
    assert is_one_sentence(str(caught.value))


def test_a_day_that_can_not_be_had_is_an_error(team: Team) -> None:
    pulls = KnownPulls(failing={"day 2026-03-01": RepositoryNotFound("GitHub knows no octo/engine.")})
    with pytest.raises(RepositoryNotFound):
        open_preview(team, pulls=pulls)


def many(count: int) -> tuple[PullRequest, ...]:
    return tuple(pull(n, files=CORE, merged_at=at(1, 12) + timedelta(minutes=n)) for n in range(1, count + 1))


@pytest.mark.slow
def test_a_preview_of_a_busy_day_fits_a_message(team: Team) -> None:
    post = open_preview(team, pulls=KnownPulls(many(60)))
    assert check_message(post.build_payload()) is None
    assert REPOSITORY.name in post.text
