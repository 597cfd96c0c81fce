"""Links that people post: a small card below them where previews are on, and silence everywhere else."""

from dataclasses import dataclass
from datetime import timedelta

import pytest
from localslack.state.workspace import Json
from localslack.users.person import Person
from localslack.users.sender import Delivery

from bot.platform.jobs import QueueName
from tests.emulators.github.store import changed_file, pull, sha
from tests.helpers.checks import eventually
from tests.helpers.world import as_read
from tests.scenarios import REPO, Bot, both_transports
from tests.scenarios.commands.test_contract import profile, removal

DOMAIN = "github.com"


def link(number: int, repository: str = REPO) -> str:
    return f"https://{DOMAIN}/{repository}/pull/{number}"


def card(attachment: Json) -> str:
    return as_read({"text": "", "blocks": attachment["blocks"]})


@dataclass
class Room:
    """A conversation with somebody in it, in which previews are on."""

    bot: Bot
    ada: Person
    channel: str

    def post(self, text: str, thread: str | None = None) -> str:
        """The timestamp of a message that is posted, once nothing is left to do."""
        delivery = self.ada.send_message(text, self.channel, thread)
        self.work_off()
        return str(delivery.payload["event"]["ts"])

    def work_off(self) -> None:
        """Until nothing waits but what is to be done later: the second look, which comes after seconds."""
        eventually(lambda: not any(self.bot.store.hlen(f"dramatiq:{lane}.msgs") for lane in QueueName))

    def cards(self, ts: str) -> list[Json]:
        message = self.bot.world.slack.get_message(self.channel, ts)
        return [each for each in message.get("attachments", ()) if each["app_id"] == "A0LOCAL"]

    def share(self, ts: str) -> Delivery:
        delivery = self.ada.share_links(self.channel, ts)
        assert delivery
        self.work_off()
        return delivery


@pytest.fixture
def room(bot: Bot) -> Room:
    return open_room(bot)


def open_room(bot: Bot, text: str = "previews on", **fields: str) -> Room:
    slack = bot.world.slack
    slack.grant_scopes("links:read", "links:write")
    slack.watch_domains({DOMAIN})
    room = Room(bot, bot.person(), bot.channel())
    ack = room.ada.send_command("/prdigest", text, room.channel).ack
    assert (ack.status, ack.text) == (200, "")
    bot.settle()
    return room


@both_transports
def test_a_link_gets_one_card_however_often_it_comes(bot: Bot) -> None:
    room = open_room(bot)
    assert "get a preview here" in as_read(bot.list_posts(room.channel)[0])
    number = bot.pull(title="Count *once* <!channel>", merged_at=bot.noon(1))
    _, asked = bot.calls()
    ts = room.post(f"look at {link(number)}/files#diff")
    (shown,) = room.cards(ts)
    assert shown["app_unfurl_url"] == f"{link(number)}/files#diff"
    card_text = card(shown)
    assert f"{REPO}#{number} Count *once* <!channel>" in card_text
    assert "merged" in card_text
    assert "risk" in card_text
    # no model is asked
    assert bot.calls()[1] == asked
    # the event comes again: the same one, and one with another id
    before = len(bot.world.slack.list_calls_to("chat.unfurl"))
    again = room.share(ts)
    room.ada.redeliver(again)
    # and somebody else posts the same link, written in another way
    other = room.post(f"again {link(number)}?x=1")
    assert room.cards(other) == []
    assert len(room.cards(ts)) == 1
    assert len(bot.world.slack.list_calls_to("chat.unfurl")) == before


def test_a_summarised_pull_request_is_shown_by_its_headline_and_what_became_of_it(room: Room) -> None:
    bot, repository = room.bot, room.bot.repository()
    number = removal(bot, repository)
    merged = bot.noon(1)
    title = f'Revert "Change {number}" (#{number})'
    by = bot.pull(
        repository,
        title=title,
        body=f"Reverts {repository}#{number}",
        merged_at=merged + timedelta(minutes=90),
        files=(changed_file("engine/core.py"),),
    )
    profile(bot, repository, f"cards-{number}")
    room.ada.send_command("/prdigest", f"subscribe {repository} profile:cards-{number}", room.channel)
    room.ada.send_command("/prsummary", f"{repository}#{number}", room.channel)
    room.ada.send_command("/prdigest", f"{merged:%Y-%m-%d} repo:{repository}", room.channel)
    asked = bot.calls()
    ts = room.post(link(number, repository))
    card_text = card(room.cards(ts)[0])
    assert f"reverted after 1.5 h by #{by}" in card_text
    assert f"breaks us (cards-{number})" in card_text
    # nothing is fetched that is known, and no model is asked
    assert bot.calls()[1] == asked[1]


def test_a_comparison_counts_its_merges(room: Room) -> None:
    bot, repository = room.bot, room.bot.repository()
    numbers = [bot.pull(repository, merged_at=bot.noon(day), title=f"Part {day}") for day in (4, 3, 2)]
    first, last = (sha(f"merge {number}")[:12] for number in (numbers[0], numbers[-1]))
    ts = room.post(f"https://{DOMAIN}/{repository}/compare/{first}...{last}")
    card_text = card(room.cards(ts)[0])
    assert f"{first}…{last}" in card_text
    assert "I couldn't read 2 of 2 summaries (nobody has asked for them yet), so there may be more." in card_text
    backwards = room.post(f"https://{DOMAIN}/{repository}/compare/{last}..{first}")
    assert room.cards(backwards) == []


def test_a_message_gets_at_most_five_cards_also_in_a_thread(room: Room) -> None:
    numbers = [room.bot.pull() for _ in range(7)]
    root = room.post("well")
    ts = room.post(" ".join([*map(link, numbers), link(numbers[0])]), root)
    assert len(room.cards(ts)) == 5


HOSTILE = {
    "another host": "https://github.com.evil.test/octo/engine/pull/{0}",
    "a user": "https://github.com@evil.test/octo/engine/pull/{0}",
    "a user before the host": "https://evil@github.com/octo/engine/pull/{0}",
    "a port": "https://github.com:8443/octo/engine/pull/{0}",
    "an encoded slash": "https://github.com/octo%2Fengine/pull/{0}",
    "an encoded number": "https://github.com/octo/engine/pull/%31",
    "dots": "https://github.com/octo/engine/../engine/pull/{0}",
    "a subdomain": "https://gist.github.com/octo/engine/pull/{0}",
    "another repository": "https://github.com/octo/secret/pull/{0}",
    "an enormous link": "https://github.com/octo/engine/pull/{0}?" + "a" * 3_000,
    "a branch": "https://github.com/octo/engine/compare/main...topic",
}


def test_other_links_get_none(room: Room) -> None:
    number = room.bot.pull()
    before = len(room.bot.world.slack.list_calls_to("chat.unfurl"))
    for address in HOSTILE.values():
        room.post(address.format(number))
    typed = room.ada.type_links(link(number))
    assert typed
    assert typed.ack.status == 200
    room.bot.settle()
    assert len(room.bot.world.slack.list_calls_to("chat.unfurl")) == before


def test_they_are_off_by_default_and_turned_off_again(room: Room) -> None:
    quiet = Room(room.bot, room.bot.person(), room.bot.channel())
    number = room.bot.pull()
    assert quiet.cards(quiet.post(link(number))) == []
    quiet.ada.send_command("/prdigest", "previews", quiet.channel)
    assert "Links get no previews here." in as_read(room.bot.list_whispers(quiet.ada)[-1])
    room.ada.send_command("/prdigest", "previews off", room.channel)
    assert "no previews here any more" in as_read(room.bot.list_posts(room.channel)[-1])
    assert room.cards(room.post(link(number))) == []
    wrong = room.ada.send_command("/prdigest", "previews sometimes", room.channel)
    assert "Usage: /prdigest previews [on | off]" in wrong.ack.text


def test_a_subscription_turns_them_on_and_strangers_do_not(bot: Bot) -> None:
    room = open_room(bot, f"subscribe {REPO} previews")
    assert "Links to pull requests get previews there." in as_read(bot.list_whispers(room.ada)[0])
    assert room.cards(room.post(link(bot.pull())))
    private = bot.channel(private=True, people={room.ada.user})
    sent = room.ada.send_command("/prdigest", "previews", private)
    forged = {**sent.payload, "text": "previews on", "user_id": bot.person().user, "trigger_id": "another"}
    bot.wire.send(sent.kind, forged)
    assert "join it first" in str([shown["text"] for shown in bot.list_whispers(room.ada)])
    assert bot.list_posts(private) == []


def test_another_app_that_shows_a_card_silences_this_one_for_weeks(room: Room) -> None:
    bot, slack = room.bot, room.bot.world.slack
    number = bot.pull()
    ts = slack.add_message(room.channel, link(number), user=room.ada.user)
    slack.unfurl_as_another_app(room.channel, ts, link(number))
    room.share(ts)
    assert room.cards(ts) == []
    assert room.cards(room.post(link(bot.pull()))) == []
    lifetime = bot.store.ttl(f"unfurled:{room.channel}")
    assert isinstance(lifetime, int)
    assert lifetime > timedelta(days=27).total_seconds()


def test_another_app_that_is_slower_is_seen_some_seconds_later(room: Room) -> None:
    bot, slack = room.bot, room.bot.world.slack
    number = bot.pull()
    other = slack.add_message(room.channel, "https://tracker.example/1", user=room.ada.user)
    slack.unfurl_as_another_app(room.channel, other, "https://tracker.example/1")

    def follow(method: str, arguments: Json) -> None:
        if method == "chat.unfurl" and arguments["channel"] == room.channel:
            slack.unfurl_as_another_app(room.channel, arguments["ts"], link(number))

    slack.after = follow
    try:
        ts = room.post(link(number))
    finally:
        slack.after = None
    assert len(room.cards(ts)) == 1
    bot.settle()
    assert room.cards(room.post(link(bot.pull()))) == []


def test_it_is_silent_where_it_may_not_look(bot: Bot) -> None:
    room = open_room(bot)
    bot.world.slack.remove_bot(room.channel)
    assert room.cards(room.post(link(bot.pull()))) == []


def test_a_card_that_slack_refuses_at_first_is_shown(room: Room) -> None:
    slack, number = room.bot.world.slack, room.bot.pull()
    slack.fail_next("chat.unfurl", error="cannot_unfurl_url")
    assert len(room.cards(room.post(link(number)))) == 1
    slack.fail_next("chat.unfurl", status=503)
    ts = room.post(link(room.bot.pull()))
    room.bot.settle()
    assert len(room.cards(ts)) == 1
    slack.fail_next("chat.unfurl", error="cannot_find_message")
    assert room.cards(room.post(link(room.bot.pull()))) == []


def test_a_pull_request_that_is_unknown_gets_none_and_may_get_one_later(room: Room) -> None:
    number = room.bot.unused_number()
    assert room.cards(room.post(link(number))) == []
    room.bot.world.github.add(REPO, pull(number, title="Now it is there"))
    assert "Now it is there" in card(room.cards(room.post(link(number)))[0])
