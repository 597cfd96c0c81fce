from __future__ import annotations

import datetime as dt

from localslack.users.person import Person

from bot.features.merges.requests import DigestView
from bot.features.subscriptions.rules import Subscription, Timing
from bot.platform.pulls.paths import Filters
from bot.platform.slack.blocks import write_id
from bot.platform.slack.client import make_slack_client
from impact.repository import Repository
from tests.helpers.records import digest_store, plant
from tests.helpers.subscriptions import StoredSubscriptions
from tests.helpers.world import as_read
from tests.scenarios import REPO, Bot, both_transports
from tests.scenarios.subscriptions.regularly import (
    direct,
    form_of,
    home,
    is_planned,
    subscriptions,
    type_command,
    value,
)

SIX = dt.time(6)


def open_home(bot: Bot, person: Person) -> str:
    assert person.open_home().ack.status == 200
    return home(bot, person)


def press(bot: Bot, person: Person, action: str, name: str | None = None) -> str:
    """Press a button there; the first line that they read then."""
    view = bot.world.slack.get_home(person.user)
    assert view
    value = write_id(name) if name else None
    assert person.press_in(view, action, value=value).ack.status == 200
    return home(bot, person).partition("\n")[0]


@both_transports
def test_a_subscription_is_made_changed_paused_and_removed_there(bot: Bot) -> None:
    channel, ada = bot.channel(), bot.person()
    page = open_home(bot, ada)
    for title in ("Recent digests", "Subscriptions", "Status", "Schedule: running"):
        assert title in page
    press(bot, ada, "subscription_new")
    view = form_of(bot, ada)
    assert ada.submit(view, at="06:00").errors == {"channel": "Choose a channel, or send the digest to yourself."}
    assert ada.submit(view, channel=channel, filter="label:rocm").errors == {}
    assert home(bot, ada).startswith("Subscribed to octo/engine\n")
    (made,) = subscriptions(bot, channel)
    assert f"#{channel}: octo/engine, every day at 06:00 ({bot.zone}), label:rocm" in home(bot, ada)
    assert press(bot, ada, "subscription_pause", made.id) == "Paused: octo/engine"
    assert "label:rocm · paused" in home(bot, ada)
    assert press(bot, ada, "subscription_resume", made.id) == "Resumed: octo/engine"
    assert is_planned(bot, made)
    press(bot, ada, "subscription_change", made.id)
    view = form_of(bot, ada)
    assert (value(view, "channel"), value(view, "filter")) == (channel, "label:rocm")
    ada.submit(view, where="me", filter=None)
    assert home(bot, ada).startswith("Changed: octo/engine\n")
    (own,) = subscriptions(bot, direct(ada))
    assert subscriptions(bot, channel) == []
    assert press(bot, ada, "subscription_remove", own.id) == "Unsubscribed: octo/engine"
    assert own.id not in home(bot, ada)
    assert (bot.list_whispers(ada), bot.list_posts(direct(ada))) == ([], [])
    # what is somebody's own is nobody else's business
    told = [message["text"].split()[-1] for message in bot.list_posts(channel)]
    assert told == ["paused.", "resumed.", "removed."]


def test_what_can_not_be_done_any_more_is_said_there(http_bot: Bot) -> None:
    channel, ada = http_bot.channel(), http_bot.person()
    type_command(http_bot, ada, "subscribe at 06:00", channel)
    (made,) = subscriptions(http_bot, channel)
    open_home(http_bot, ada)
    type_command(http_bot, ada, "unsubscribe", channel)
    refusal = "There is no subscription here: create one with /prdigest subscribe."
    assert press(http_bot, ada, "subscription_pause", made.id) == refusal
    press(http_bot, ada, "subscription_new")
    http_bot.world.slack.remove_bot(channel)
    ada.submit(form_of(http_bot, ada), channel=channel, at="06:00")
    assert home(http_bot, ada).startswith("I'm not in that channel: invite me with /invite,")
    assert subscriptions(http_bot, channel) == []


def test_a_preview_comes_by_direct_message_to_the_asker_alone(http_bot: Bot) -> None:
    repository, channel, ada = http_bot.repository(), http_bot.channel(), http_bot.person()
    http_bot.pull(repository, merged_at=http_bot.noon(1))
    type_command(http_bot, ada, f"subscribe {repository} at 06:00", channel)
    (made,) = subscriptions(http_bot, channel)
    open_home(http_bot, ada)
    note = press(http_bot, ada, "subscription_preview", made.id)
    assert note == "I'm sending you the preview as a direct message."
    texts = [as_read(message) for message in http_bot.list_posts(direct(ada))]
    assert any("Preview, visible only to you. Nothing was posted." in text for text in texts)
    assert http_bot.list_posts(channel) == []


def test_a_digest_that_was_posted_is_there_in_short_with_its_link(http_bot: Bot) -> None:
    channel, ada = http_bot.channel(), http_bot.person()
    type_command(http_bot, ada, "subscribe only:risky at 00:00", channel)
    (made,) = subscriptions(http_bot, channel)
    due = made.timing.find_last_before(dt.datetime.now(dt.UTC))
    address = f"https://emulated.slack.com/archives/{channel}/p1"
    text = "engine · &lt;!here&gt; 7 of 9 merged. All is calm."
    key = made.build_digest_spec(due).build_key("T0TEAM")
    plant(digest_store(http_bot.store), key, posted_at=due, text=text, permalink=address)
    assert "engine · <!here> 7 of 9 merged. All is calm. Open it" in open_home(http_bot, ada)
    assert address in str(http_bot.world.slack.get_home(ada.user))


def test_of_very_many_ones_own_are_there(http_bot: Bot) -> None:
    channel, ada = http_bot.channel(), http_bot.person()
    kept = StoredSubscriptions(http_bot.store)
    repository, timing = Repository.parse(REPO), Timing(SIX, http_bot.zone)
    views = [DigestView(Filters(labels=(f"label {number}",))) for number in range(60)]
    made = [Subscription(channel, repository, timing, view, by="U0BEN", is_open=True) for view in views]
    for each in made:
        kept.put(each)
    try:
        type_command(http_bot, ada, "subscribe me at 06:00", channel)
        (own,) = subscriptions(http_bot, direct(ada))
        page = open_home(http_bot, ada)
        assert "Sent to you: octo/engine" in page
        assert "more: /prdigest list shows a channel's subscriptions" in page
        assert press(http_bot, ada, "subscription_remove", own.id) == "Unsubscribed: octo/engine"
    finally:
        for each in made:
            kept.remove(each.id)


def test_who_opens_the_messages_finds_nothing_new_in_app_home(http_bot: Bot) -> None:
    ada = http_bot.person()
    assert ada.open_home("messages").ack.status == 200
    assert (home(http_bot, ada), http_bot.list_whispers(ada)) == ("", [])


def test_people_of_another_workspace_find_nothing(http_bot: Bot) -> None:
    stranger = http_bot.person(team="T0OTHER")
    http_bot.world.slack.set_person(stranger.user, team="T0OTHER")
    assert open_home(http_bot, stranger) == ""


def test_people_of_another_workspace_change_nothing_there(http_bot: Bot) -> None:
    channel, ada, stranger = http_bot.channel(), http_bot.person(), http_bot.person(team="T0OTHER")
    type_command(http_bot, ada, "subscribe at 06:00", channel)
    (made,) = subscriptions(http_bot, channel)
    open_home(http_bot, ada)
    view = http_bot.world.slack.get_home(ada.user)
    assert view
    # the same page in front of somebody else
    make_slack_client(http_bot.world.slack.token, http_bot.world.slack.url).views_publish(
        user_id=stranger.user, view={"type": "home", "blocks": view["blocks"]}
    )
    press(http_bot, stranger, "subscription_remove", made.id)
    assert subscriptions(http_bot, channel) == [made]


def test_a_home_that_is_opened_twice_or_switched_off_is_published_once(http_bot: Bot) -> None:
    ada, ben, slack = http_bot.person(), http_bot.person(), http_bot.world.slack

    def count_publications(person: Person) -> int:
        http_bot.settle()
        return len([call for call in slack.list_calls_to("views.publish") if call["user_id"] == person.user])

    assert ada.redeliver(ada.open_home()).ack.status == 200
    assert count_publications(ada) == 1
    ada.open_home()
    assert count_publications(ada) == 2
    slack.enable_home(enabled=False)
    try:
        ben.open_home()
        assert count_publications(ben) == 1
    finally:
        slack.enable_home()
