"""Who asks for the same thing in the same channel within an hour: a link to the answer, and a button."""

import pytest
from localslack.state.workspace import Json

from tests.emulators.github.store import changed_file, pull
from tests.helpers.world import as_read
from tests.scenarios import RISKY, Bot, both_transports, labels
from tests.scenarios.subscriptions.regularly import direct

LEAD = "This channel got the same answer within the last hour: "


def address(channel: str, message: Json) -> str:
    return f"/archives/{channel}/p{message['ts'].replace('.', '')}"


@pytest.mark.parametrize(
    ("command", "text", "again"),
    [
        ("/prsummary", "{repository}#{number}", "https://github.com/{repository}/pull/{number}/files"),
        ("/prrisks", "{day} repo:{repository}", "repo:{repository} {day}..{day}"),
        ("/prdigest", "{day}..{next} repo:{repository}", "repo:{repository} {day}..{next}"),
        ("/prrisks", "score {day} repo:{repository}", "score repo:{repository} {day}"),
    ],
    ids=["summary", "risks", "overview", "score"],
)
@both_transports
def test_the_second_who_asks_gets_a_link_and_a_button_that_posts_once(
    command: str, text: str, again: str, bot: Bot
) -> None:
    repository, channel, ada, bob = bot.repository(), bot.channel(), bot.person(), bot.person()
    number = bot.pull(repository, merged_at=bot.noon(3))
    days = {"day": bot.noon(3).date(), "next": bot.noon(2).date()}
    ada.send_command(command, text.format(repository=repository, number=number, **days), channel)
    (first,) = bot.list_posts(channel)
    bob.send_command(command, again.format(repository=repository, number=number, **days), channel)
    (shown,) = bot.list_whispers(bob)
    assert shown["text"].startswith(LEAD)
    assert shown["text"].endswith(address(channel, first))
    assert labels(shown) == ["Post it again"]
    assert bot.list_posts(channel) == [first]
    (button,) = shown["blocks"][-1]["elements"]
    for _ in range(2):
        bob.press(shown, button["action_id"])
    _, second = bot.list_posts(channel)
    assert as_read(second).partition("\n")[0] == as_read(first).partition("\n")[0]
    # the next one is sent to the newest of them
    ada.send_command(command, text.format(repository=repository, number=number, **days), channel)
    (told,) = bot.list_whispers(ada)
    assert told["text"].endswith(address(channel, second))


def test_a_digest_that_is_there_is_linked_and_can_be_posted_again_as_one_message(bot: Bot) -> None:
    repository, channel, ada = bot.repository(), bot.channel(), bot.person()
    number = bot.pull(repository, merged_at=bot.noon(3), **RISKY)
    asked = f"{bot.noon(3).date()} repo:{repository}"
    ada.send_command("/prdigest", asked, channel)
    (lead,) = bot.list_posts(channel)
    ada.send_command("/prdigest", asked, channel)
    (shown,) = bot.list_whispers(ada)
    assert (shown["text"].endswith(address(channel, lead)), labels(shown)) == (True, ["Post it again"])
    for _ in range(2):
        ada.press(shown, "share_digest_again")
    _, overview = bot.list_posts(channel)
    assert f"#{number}" in as_read(overview)
    assert labels(overview) == ["Details of …", "Ask about this"]


def test_mentions_and_commands_are_the_same_request(bot: Bot) -> None:
    number, channel, ada, bob = bot.pull(), bot.channel(), bot.person(), bot.person()
    thread = ada.mention(str(number), channel).payload["event"]["ts"]
    (reply,) = bot.list_thread_posts(channel, thread)
    bob.send_command("/prsummary", f"#{number}", channel)
    (shown,) = bot.list_whispers(bob)
    assert address(channel, reply) in shown["text"]
    bob.mention(f"summary {number}", channel)
    assert [told["text"] for told in bot.list_whispers(bob)] == [shown["text"]] * 2
    bob.press(shown, "share_summary_again")
    (posted,) = bot.list_posts(channel)
    assert posted["text"] == reply["text"]


def test_in_direct_messages_the_line_is_an_ordinary_message(bot: Bot) -> None:
    number, ada = bot.pull(), bot.person()
    channel = direct(ada)
    for _ in range(2):
        ada.send_message(str(number), channel)
        bot.settle()
    (line,) = bot.list_posts(channel)
    assert line["text"].startswith(LEAD)
    ada.press(line, "share_summary_again", channel=channel)
    assert [message["text"] for message in bot.list_posts(channel)][1:] == [f"#{number} Change {number}"]


def test_an_answer_that_would_be_another_one_now_is_posted(bot: Bot) -> None:
    """A merge of today, and a commit of a pull request that is open."""
    repository, channel, ada = bot.repository(), bot.channel(), bot.person()
    bot.pull(repository, merged_at=bot.noon(0), **RISKY)
    ada.send_command("/prrisks", f"today repo:{repository}", channel)
    bot.settle()
    later = bot.pull(repository, merged_at=bot.noon(0), **RISKY)
    ada.send_command("/prrisks", f"today repo:{repository}", channel)
    _, list_now = bot.list_posts(channel)
    assert f"#{later} " in as_read(list_now)
    number = bot.unused_number()
    bot.world.github.add(repository, pull(number, state="OPEN"))
    ada.send_command("/prsummary", f"{repository}#{number}", channel)
    bot.settle()
    more = changed_file("src/more.py", additions=40)
    files = (changed_file(f"src/part_{number}.py"), more)
    bot.world.github.add(repository, pull(number, state="OPEN", head_sha="c0ffee", files=files))
    ada.send_command("/prsummary", f"{repository}#{number}", channel)
    *_, before, now = bot.list_posts(channel)
    assert ("more.py" in as_read(before), "more.py" in as_read(now)) == (False, True)
    assert not bot.list_whispers(ada)


def test_of_several_pull_requests_those_that_are_new_are_posted(bot: Bot) -> None:
    one, two, channel, ada = bot.pull(), bot.pull(), bot.channel(), bot.person()
    ada.send_command("/prsummary", str(one), channel)
    bot.settle()
    ada.send_command("/prsummary", f"{two} {one}", channel)
    assert [message["text"].partition(" ")[0] for message in bot.list_posts(channel)] == [f"#{one}", f"#{two}"]
    (shown,) = bot.list_whispers(ada)
    assert f"#{one} Change {one}" in as_read(shown)
