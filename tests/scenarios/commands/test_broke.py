from tests.emulators.github.store import changed_file, sha
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.helpers.world import as_read
from tests.scenarios import Bot

OLD, NEW = b"def run(a, size=None):\n    return a\n", b"def run(a):\n    return a\n"
ERROR = '```Traceback (most recent call last):\n  File "/srv/plugin.py", line 3, in go\n    run(1, size=2)\n{}```'
EXPLAINED = "TypeError: run() got an unexpected keyword argument \u2018size\u2019"


def merge(bot: Bot, repository: str) -> int:
    number = bot.pull(repository, merged_at=bot.noon(1), files=(changed_file("engine/core.py"),))
    before, after = (FixedTree({"engine/core.py": Entry(text)}) for text in (OLD, NEW))
    commit = TreeCommit(sha(f"merge {number}"), after, TreeCommit(sha(f"before {number}"), before))
    bot.world.github.add_commit(repository, commit)
    return number


def ask(bot: Bot, text: str) -> str:
    """What is posted in a channel of its own."""
    channel = bot.channel()
    ack = bot.person().send_command("/prdigest", text, channel).ack
    assert (ack.status, ack.text) == (200, ""), ack
    (message,) = bot.list_posts(channel)
    return as_read(message)


def test_the_merge_that_explains_a_pasted_error_is_named_with_its_line(bot: Bot) -> None:
    repository = bot.repository()
    number = merge(bot, repository)
    text = ask(bot, f"broke {ERROR.format(EXPLAINED)} since 2d repo:{repository}")
    assert f"#{number}" in text
    assert "removes the argument size of run" in text
    assert "engine/core.py:1" in text


def test_an_error_that_no_merge_explains_is_said_to_have_none(bot: Bot) -> None:
    repository = bot.repository()
    merge(bot, repository)
    text = ask(bot, f"broke KeyError: 'other_name' since 2d repo:{repository}")
    assert "None of 1 merge" in text


def test_without_a_start_the_asker_hears_what_is_missing(bot: Bot) -> None:
    person, channel = bot.person(), bot.channel()
    ack = person.send_command("/prdigest", "broke KeyError: 'x'", channel).ack
    assert "Since when?" in ack.text
    assert bot.list_posts(channel) == []
