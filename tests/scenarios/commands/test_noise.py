"""What people mute for themselves, "Less like …" below a lead, and what was of use, over both transports."""

import pytest

from tests.helpers.world import as_read
from tests.scenarios import RISKY, Bot, both_transports, labels, old_button
from tests.scenarios.subscriptions.regularly import direct, home, last, type_command

STAYS = "What breaks callers or touches your code, security fixes and reverts always stay."


@both_transports
def test_what_somebody_mutes_is_folded_where_they_read_alone_and_stays_in_the_channel(bot: Bot) -> None:
    repository, channel, ada = bot.repository(), bot.channel(), bot.person()
    number = bot.pull(repository, merged_at=bot.noon(1), **RISKY)
    shown = as_read(type_command(bot, ada, f"mute {repository} until 2w", channel))
    assert shown.startswith("Muted for you until ")
    assert f"repo:{repository}" in shown
    assert STAYS in shown
    assert "Posts in a channel stay as they are" in shown
    ada.send_command("/prrisks", f"repo:{repository} private", channel)
    alone = last(bot, ada)
    assert f"#{number}" not in as_read(alone)
    (row,) = [block for block in alone["blocks"] if "muted: show" in str(block)]
    assert row["elements"][0]["text"]["text"] == "1 muted: show"
    ada.press(alone, "muted", channel=channel)
    assert f"#{number} {RISKY['title']}" in as_read(last(bot, ada))
    ada.send_command("/prrisks", f"repo:{repository}", channel)
    (posted,) = bot.list_posts(channel)
    assert f"#{number}" in as_read(posted)
    assert "muted" not in str(posted["blocks"])
    # in direct messages nobody else reads
    there = direct(ada)
    ada.send_command("/prdigest", f"{bot.noon(1).date()} repo:{repository}", there)
    bot.settle()
    (lead,) = [each for each in bot.list_posts(there) if f"muted for you: #{number}" in as_read(each)]
    assert labels(lead) == ["1 muted: show", "Ask about this"]
    assert f"repo:{repository}" in as_read(type_command(bot, ada, "list", channel))
    ada.open_home()
    assert "Muted for you" in home(bot, ada)
    assert as_read(type_command(bot, ada, "unmute all", channel)) == "Ended: 1 muted."
    assert as_read(type_command(bot, ada, "mute", channel)) == "You mute nothing."


@both_transports
def test_lines_that_three_people_want_less_of_stand_in_the_thread(bot: Bot) -> None:
    repository, channel = bot.repository(), bot.channel()
    for days in (1, 2):
        for _ in range(2):
            bot.pull(repository, merged_at=bot.noon(days), **RISKY)
    people, newcomer = [bot.person() for _ in range(3)], bot.person()
    command = f"{bot.noon(2).date()} repo:{repository}"
    people[0].send_command("/prdigest", command, channel)
    (first,) = bot.list_posts(channel)
    assert labels(first) == ["Details of …", "Less like …", "Ask about this"]
    (menu,) = [each for each in first["blocks"][-1]["elements"] if each["action_id"] == "less_like"]
    value = menu["options"][0]["value"]
    for person in people:
        pressed = person.press(first, "less_like", value=value)
        person.redeliver(pressed)
        bot.settle()
        assert as_read(last(bot, person)).startswith("Noted, less like this: Kernels and attention (risky, ")
    people[0].send_command("/prdigest", f"{bot.noon(1).date()} repo:{repository}", channel)
    second = bot.list_posts(channel)[-1]
    assert "and 1 more, in the thread: #" in as_read(second)
    # what askers did is not counted for them: of the two that are left, each could be recognized
    assert "less like this" not in as_read(type_command(bot, people[0], "usefulness", channel))
    shown = as_read(type_command(bot, newcomer, "usefulness", channel))
    assert "Kernels and attention: " in shown
    assert "less like this fewer than 10 times" in shown
    assert "Less wanted here, so that it stands in the thread" in shown
    assert not any(person.user in shown for person in people)
    # another channel has readers of its own
    elsewhere = bot.channel()
    people[0].send_command("/prdigest", f"{bot.noon(1).date()} repo:{repository}", elsewhere)
    (other,) = bot.list_posts(elsewhere)
    assert "and 1 more, in the thread" not in as_read(other)


@pytest.mark.parametrize(
    "words", ["mute path:a", "mute until monday", "unmute", "mute other/place", "usefulness now"]
)
def test_a_mistake_is_told_at_once(bot: Bot, words: str) -> None:
    ack = bot.person().send_command("/prdigest", words, bot.channel()).ack
    assert ack.text
    assert "defect" not in ack.text


@pytest.mark.parametrize(
    ("action", "value"),
    [("muted", "2|octo/engine|x|y|1"), ("less_like", "2|a|must_act|b|c"), ("less_like", "2|" + "x|" * 500)],
)
def test_a_forged_click_is_refused(bot: Bot, action: str, value: str) -> None:
    ada, channel = bot.person(), bot.channel()
    ada.press(old_button(action, value), action, channel=channel)
    assert "That button no longer works" in as_read(last(bot, ada))


@both_transports
def test_many_risks_are_a_table_for_everybody_and_for_who_asks_alone(bot: Bot) -> None:
    repository, channel, ada = bot.repository(), bot.channel(), bot.person()
    numbers = [bot.pull(repository, merged_at=bot.noon(1), **RISKY) for _ in range(5)]
    ada.send_command("/prrisks", f"repo:{repository} top:5", channel)
    (posted,) = bot.list_posts(channel)
    ada.send_command("/prrisks", f"repo:{repository} top:5 private", channel)
    for message in (posted, last(bot, ada)):
        (table,) = [block for block in message["blocks"] if block["type"] == "data_table"]
        assert len(table["rows"]) == 6
        assert all(f"/pull/{number}" in str(table) for number in numbers)
        assert "Details of …" in labels(message)
