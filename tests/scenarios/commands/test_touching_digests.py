"""Digests that are checked against a team's code: what touches comes first, and what people say about it stays."""

import re

from localslack.state.workspace import Json
from localslack.users.person import Person

from tests.helpers.world import as_read
from tests.scenarios import REPO, Bot
from tests.scenarios.commands.test_contract import profile, removal
from tests.scenarios.conversations.asking import answer, answering, question_of
from tests.scenarios.subscriptions.regularly import subscriptions, type_command

SEEN = "plugin/worker.py:7 breaks: core.stop is gone (core.py:5)."
# the file of the other merge, which no commit has
UNREAD = re.compile(r"I couldn't read 1 of (\d) changed files \(GitHub has no commit .{,70}\), so (.*)\.")


def digest(bot: Bot, ada: Person, text: str, channel: str) -> list[Json]:
    ack = ada.send_command("/prdigest", text, channel).ack
    assert (ack.status, ack.text) == (200, ""), ack
    (lead,) = bot.list_posts(channel)
    return [lead, *replies(bot, channel, lead)]


def read_gaps(sentence: str) -> tuple[str, ...]:
    match = UNREAD.fullmatch(sentence)
    return match.groups() if match else ()


def replies(bot: Bot, channel: str, lead: Json) -> list[Json]:
    """The messages of a thread, without the report."""
    return [reply for reply in bot.list_thread_posts(channel, lead["ts"]) if "blocks" in reply]


def test_a_digest_with_a_profile_begins_with_what_touches_and_remembers_what_is_said(bot: Bot) -> None:
    repository, channel, ada, ben = bot.repository(), bot.channel(), bot.person(), bot.person()
    number, other = removal(bot, repository), bot.pull(repository, merged_at=bot.noon(1))
    profile(bot, repository, f"team-{number}")
    lead, hits, rest = digest(bot, ada, f"repo:{repository} profile:Team-{number}", channel)[:3]
    first, unread, section = as_read(lead).split("\n\n")[:3]
    assert read_gaps(unread) == ("2", "there may be more. 2 merged")
    assert "merged" not in first
    assert section == f"Touches team-{number} (1 of 2 merges)\n  • #{number} {SEEN}"
    assert f"#{number} breaks us" in as_read(hits)
    assert "stop()" in as_read(hits)
    assert f"#{other}" not in as_read(hits)
    assert f"#{number} core.stop removed" in as_read(rest)

    row = f"hit-{number}"
    pressed = ada.press(hits, "hit_ours", block_id=row)
    bot.settle()
    ada.redeliver(pressed)
    assert [shown["text"] for shown in bot.list_whispers(ada)] == [
        "Noted: ours to do. Digests and lists show it in a moment."
    ]
    lead, hits, *_ = [*bot.list_posts(channel), *replies(bot, channel, lead)]
    assert f"{SEEN} — ours to do" in as_read(lead)
    assert as_read(hits).count(f"@{ada.user} said: ours to do, ") == 1

    ben.press(hits, "hit_done", block_id=row)
    lead, hits, *_ = [*bot.list_posts(channel), *replies(bot, channel, lead)]
    assert f"{SEEN} — done" in as_read(lead)
    assert f"@{ben.user} said: done, " in as_read(hits)
    assert f"@{ada.user}" not in as_read(hits)
    # another digest of the same merge knows it from the start
    elsewhere = bot.channel()
    lead, hits, *_ = digest(bot, ada, f"repo:{repository} profile:team-{number} only:touching", elsewhere)
    assert f"{SEEN} — done" in as_read(lead)
    assert f"@{ben.user} said: done, " in as_read(hits)
    score = f"touches score profile:team-{number}"
    ada.send_command("/prdigest", score, elsewhere)
    assert "1 warning (0 ours to do, 1 done, 0 not us, 0 open)" in as_read(bot.list_posts(elsewhere)[-1])


def test_where_do_we_use_it_may_be_asked_wherever_a_profile_is_meant(bot: Bot) -> None:
    repository, listing, ada = bot.repository(), bot.channel(), bot.person()
    number = removal(bot, repository)
    profile(bot, repository, f"team-{number}")
    ada.send_command("/prdigest", f"touches 2d profile:team-{number}", listing)
    (shown,) = bot.list_posts(listing)
    with answering(bot, answer("In worker.py.")) as asked:
        ada.send_message("where in our code is it?", listing, shown["ts"])
        # a mention is about what the channel subscribed to, of the first repository
        profile(bot, REPO, f"own-{number}")
        ada.send_command("/prdigest", f"subscribe at 09:00 profile:own-{number}", listing)
        bot.settle()
        ada.mention("where do we use it?", listing)
        ada.mention("where does somebody use it?", bot.channel())
        bot.settle()
    assert {question_of(body): "find_profile_uses" in str(body["tools"]) for body in asked.bodies} == {
        "where in our code is it?": True,
        "where do we use it?": True,
        "where does somebody use it?": False,
    }


def test_the_hits_of_a_list_have_the_same_buttons_as_those_of_a_digest(bot: Bot) -> None:
    repository, channel, ada, ben = bot.repository(), bot.channel(), bot.person(), bot.person()
    number = removal(bot, repository)
    profile(bot, repository, f"team-{number}")
    lead, *_ = digest(bot, ada, f"repo:{repository} profile:team-{number}", channel)
    listing, words = bot.channel(), f"touches 2d profile:team-{number}"
    ada.send_command("/prdigest", words, listing)
    (shown,) = bot.list_posts(listing)
    assert "said:" not in as_read(shown)
    row, about = f"hit-{number}", shown["metadata"]
    ada.press(shown, "hit_ours", block_id=row)
    (shown,) = bot.list_posts(listing)
    assert as_read(shown).count(f"@{ada.user} said: ours to do, ") == 1
    ben.press(shown, "hit_done", block_id=row)
    (shown,) = bot.list_posts(listing)
    assert f"@{ada.user}" not in as_read(shown)
    assert as_read(shown).count(f"@{ben.user} said: done, ") == 1
    assert shown["metadata"] == about
    assert f"{SEEN} — done" in as_read(bot.list_posts(channel)[0])
    # the other way round, and for the asker alone
    ada.press(replies(bot, channel, lead)[0], "hit_not_us", block_id=row)
    bot.settle()
    ada.send_command("/prdigest", f"{words} private", bot.channel())
    hidden = bot.list_whispers(ada)[-1]
    assert f"@{ada.user} said: not us, " in as_read(hidden)
    ada.press(hidden, "hit_ours", block_id=row)
    bot.settle()
    assert f"{SEEN} — ours to do" in as_read(bot.list_posts(channel)[0])


def test_only_what_touches_is_posted_and_one_line_where_nothing_does(bot: Bot) -> None:
    repository, ada = bot.repository(), bot.person()
    number, other = removal(bot, repository), bot.pull(repository, merged_at=bot.noon(1))
    quiet = bot.pull(repository, merged_at=bot.noon(2))
    profile(bot, repository, f"team-{number}")
    words = f"repo:{repository} profile:team-{number} only:touching"
    _, asked = bot.calls()
    lead, *thread = digest(bot, ada, words, bot.channel())
    whole = "\n".join(map(as_read, (lead, *thread)))
    assert "1 of 2 merged" in whole
    assert f"#{number} {SEEN}" in whole
    assert f"#{other}" not in whole
    # one summary, its review and the overview: what nobody sees is not read
    assert bot.calls()[1] - asked <= 3
    before = bot.noon(2).date()
    (lead,) = digest(bot, ada, f"{before} {words}", bot.channel())
    title, *lines = as_read(lead).split("\n\n")
    assert "merged" not in title
    assert read_gaps(lines[0]) == ("1", "I can't tell")
    alone = "the rules judged alone: this bot keeps no mirror of the repositories"
    assert lines[1:] == [f"shown: only:touching profile:team-{number} · {alone}"]
    assert f"#{quiet}" not in as_read(lead)


def test_a_list_of_risks_is_about_what_touches(bot: Bot) -> None:
    repository, channel, ada = bot.repository(), bot.channel(), bot.person()
    number, other = removal(bot, repository), bot.pull(repository, merged_at=bot.noon(1))
    profile(bot, repository, f"team-{number}")
    ada.send_command("/prrisks", f"repo:{repository} profile:team-{number} top:5", channel)
    (message,) = bot.list_posts(channel)
    text = as_read(message)
    assert "1 of 2 merged" in text
    assert f"Touches team-{number} (1 of 2 merges)\n  • #{number} {SEEN}" in text
    assert f"#{other}" not in text


def test_a_profile_that_is_not_there_is_one_sentence_to_the_asker(bot: Bot) -> None:
    channel, ada = bot.channel(), bot.person()
    profile(bot, bot.repository(), "elsewhere")
    unknown = "There is no profile 'nobody': use "
    for text, sentence in {
        "subscribe profile:nobody": unknown,
        "subscribe profile:nobody only:touching": unknown,
        "subscribe profile:elsewhere": "The profile elsewhere is about octo/part-",
        "profile:nobody": unknown,
    }.items():
        assert type_command(bot, ada, text, channel)["text"].startswith(sentence), text
    assert "add profile:NAME." in ada.send_command("/prdigest", "subscribe only:touching", channel).ack.text
    assert (subscriptions(bot, channel), bot.list_posts(channel)) == ([], [])
