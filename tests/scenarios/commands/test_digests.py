import pytest

from tests.helpers.world import as_read
from tests.scenarios import RISKY, Bot, both_transports, labels
from tests.scenarios.subscriptions.regularly import type_command


@both_transports
def test_a_day_is_posted_with_its_thread_and_its_file(bot: Bot) -> None:
    repository, channel, ada = bot.repository(), bot.channel(), bot.person()
    number, day = bot.pull(repository, merged_at=bot.noon(3)), bot.noon(3)
    ack = ada.send_command("/prdigest", f"{day.date()} repo:{repository}", channel).ack
    title = f"{day:%A} {day.day} {day:%B %Y}"
    assert (ack.status, ack.text) == (200, "")
    (lead,) = bot.list_posts(channel)
    assert lead["text"].startswith(f"{repository.removeprefix('octo/')} · {title}. I couldn't read 1 of 1")
    assert f"#{number}" in str(bot.list_thread_posts(channel, lead["ts"]))
    assert [file["thread_ts"] for file in bot.world.slack.files if channel in file["channels"]] == [lead["ts"]]
    assert not bot.list_whispers(ada)


def test_without_a_word_it_is_yesterdays(bot: Bot) -> None:
    bot.pull(merged_at=bot.noon(1))
    channel, day = bot.channel(), bot.noon(1)
    bot.person().send_command("/prdigest", "", channel)
    (lead,) = bot.list_posts(channel)
    # the day may have been listed for another test, before this merge
    heading = lead["text"].partition(".")[0].split(" · ")
    assert heading[:2] == ["engine", f"{day:%A} {day.day} {day:%B %Y}"]


def test_who_asks_for_a_digest_that_is_there_is_told_once_where(bot: Bot) -> None:
    repository, channel, ada, ben = bot.repository(), bot.channel(), bot.person(), bot.person()
    bot.pull(repository, merged_at=bot.noon(3))
    asked = ("/prdigest", f"{bot.noon(3).date()} repo:{repository}", channel)
    ada.send_command(*asked)
    (lead,) = bot.list_posts(channel)
    ben.send_command(*asked)
    (shown,) = bot.list_whispers(ben)
    address = f"https://emulated.slack.com/archives/{channel}/p{lead['ts'].replace('.', '')}"
    assert shown["text"] == f"That digest is already here: {address}"
    assert bot.list_posts(channel) == [lead]
    assert not bot.list_whispers(ada)


def test_a_day_of_another_zone_is_another_digest_and_says_so(bot: Bot) -> None:
    repository, channel, ada = bot.repository(), bot.channel(), bot.person()
    bot.pull(repository, merged_at=bot.noon(3))
    day = bot.noon(3)
    title = f"{day:%A} {day.day} {day:%B %Y}"
    # an offset that no whole hour has: at no time of the day it is the channel's own
    ada.send_command("/prdigest", f"{day.date()} repo:{repository} tz:Asia/Kathmandu", channel)
    bot.list_posts(channel)
    ada.send_command("/prdigest", f"{day.date()} repo:{repository}", channel)
    assert [message["text"].partition(".")[0].split(" · ")[1] for message in bot.list_posts(channel)] == [
        f"{title} (Asia/Kathmandu)",
        title,
    ]
    assert not bot.list_whispers(ada)


def test_without_a_zone_days_are_those_of_the_channels_own_digests(http_bot: Bot) -> None:
    bot, channel, ada = http_bot, http_bot.channel(), http_bot.person()
    type_command(bot, ada, f"subscribe {bot.repository()} at 06:00 tz Pacific/Kiritimati", channel)
    day = bot.noon(3)
    ada.send_command("/prdigest", str(day.date()), channel)
    title = f"{day:%A} {day.day} {day:%B %Y}"
    (lead,) = bot.list_posts(channel)
    # there readers expect it
    assert lead["text"].split(" · ")[1] == title


@pytest.mark.parametrize(
    ("days", "count"), [("{5}..{3}", 3), ("today", 1), ("2d", 2)], ids=["range", "today", "last days"]
)
def test_days_that_are_several_or_not_over_are_one_overview(days: str, count: int, bot: Bot) -> None:
    repository, channel = bot.repository(), bot.channel()
    for ago in range(6):
        bot.pull(repository, merged_at=bot.noon(ago))
    named = days.format(*(str(bot.noon(ago).date()) for ago in range(6)))
    ack = bot.person().send_command("/prdigest", f"{named} repo:{repository}", channel).ack
    assert (ack.status, ack.text) == (200, "")
    (message,) = bot.list_posts(channel)
    assert f"{count} merged" in message["text"]
    assert as_read(message).count("· 1 merged: A day of small changes.") == count
    assert not bot.list_thread_posts(channel, message["ts"])


def test_an_overview_has_the_menu_of_what_is_risky(bot: Bot) -> None:
    repository, channel = bot.repository(), bot.channel()
    bot.pull(repository, merged_at=bot.noon(3), **RISKY)
    bot.person().send_command(
        "/prdigest", f"{bot.noon(4).date()}..{bot.noon(3).date()} repo:{repository}", channel
    )
    (message,) = bot.list_posts(channel)
    assert labels(message) == ["Details of …", "Ask about this"]


def test_a_part_of_a_day_is_a_digest_of_its_own(bot: Bot) -> None:
    repository, channel, ada = bot.repository(), bot.channel(), bot.person()
    kernel = bot.pull(repository, merged_at=bot.noon(3), **RISKY)
    other = bot.pull(repository, merged_at=bot.noon(3))
    asked = f"{bot.noon(3).date()} repo:{repository}"
    for view in ("", "path:csrc"):
        ada.send_command("/prdigest", f"{asked} {view}", channel)
        bot.settle()
    whole, part = bot.list_posts(channel)
    assert "1 of 2" in as_read(part)
    replies = [
        "\n".join(as_read(reply) for reply in bot.list_thread_posts(channel, lead["ts"]) if "blocks" in reply)
        for lead in (whole, part)
    ]
    shown = [[f"#{number} " in text for number in (kernel, other)] for text in replies]
    assert shown == [[True, True], [True, False]]
    ada.send_command("/prdigest", f"{asked} path:csrc private", channel)
    (overview,) = bot.list_whispers(ada)
    assert "1 of 2" in as_read(overview)


@pytest.mark.parametrize("days", ["{3}", "{3}..{2}", "today"], ids=["day", "range", "today"])
def test_a_private_overview_is_for_the_asker_alone(days: str, bot: Bot) -> None:
    repository, channel, ada = bot.repository(), bot.channel(), bot.person()
    bot.pull(repository, merged_at=bot.noon(3))
    named = days.format(*(str(bot.noon(ago).date()) for ago in range(4)))
    ada.send_command("/prdigest", f"{named} private repo:{repository}", channel)
    (shown,) = bot.list_whispers(ada)
    assert "Day by day" in as_read(shown)
    assert labels(shown)[-1] == "Share in channel"
    assert not bot.list_posts(channel)


def test_where_the_bot_is_no_member_the_asker_is_told_to_invite_it(bot: Bot) -> None:
    repository, channel, ada = bot.repository(), bot.channel(member=False), bot.person()
    bot.pull(repository, merged_at=bot.noon(3))
    ada.send_command("/prdigest", f"{bot.noon(3).date()} repo:{repository}", channel)
    (shown,) = bot.list_whispers(ada)
    assert shown["text"] == f"The bot is not in channel {channel}: invite it there with /invite @prdigest."


MISTAKES = {
    "help": "*/prdigest*: the digest of a day in this channel",
    "help subscribe": "*/prdigest subscribe*: a digest here every day",
    "contract help": "*/prdigest contract*: what merges changed",
    "contract soon": "Usage: /prdigest contract [DAYS]",
    "2999-01-01": "2999-01-01 is in the future: choose a day up to ",
    "15d": "15 days are too many at once: ask for up to 14.",
    "color:x": "I don't understand color: here, use path:… [not-]author:… label:… only:… repo:… tz:…",
    "lst": "I don't know 'lst'. Did you mean /prdigest list?",
    "unsubscrbe all": "I don't know 'unsubscrbe'. Did you mean /prdigest unsubscribe?",
    "yesterdy": "I don't know 'yesterdy'. Did you mean /prdigest yesterday?",
    "foo": "I don't recognize the date 'foo': write today,",
    "path:<!channel> 31 Feb": "I don't recognize the date '31 Feb'",
    "repo:other/secret": "I'm not set up for other/secret: ask about octo/engine,",
}


@pytest.mark.parametrize(("text", "sentence"), MISTAKES.items(), ids=MISTAKES)
def test_what_can_not_be_digested_is_told_to_the_asker_alone(text: str, sentence: str, bot: Bot) -> None:
    channel, before = bot.channel(), bot.calls()
    assert sentence in bot.person().send_command("/prdigest", text, channel).ack.text
    assert bot.calls() == before
    assert not bot.list_posts(channel)
