from localslack.state.workspace import Json

from bot.features.profiles.service import PinnedMerge, ProfileEntry
from impact.profile.models import Profile, Use, UseKind
from impact.python.models import CallShape
from impact.repository import Repository
from tests.emulators.github.store import changed_file, sha
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.helpers.apps import make_app
from tests.helpers.world import as_read
from tests.scenarios import Bot, labels

RUN, STOP = b"def run(a):\n    return a\n", b"\n\ndef stop():\n    return 1\n"
STOPPED = "engine.core.stop"


def removal(bot: Bot, repository: str) -> int:
    number = bot.pull(repository, merged_at=bot.noon(1), files=(changed_file("engine/core.py"),))
    before, after = (FixedTree({"engine/core.py": Entry(text)}) for text in (RUN + STOP, RUN))
    merge = TreeCommit(sha(f"merge {number}"), after, TreeCommit(sha(f"before {number}"), before))
    bot.world.github.add_commit(repository, merge)
    return number


def profile(bot: Bot, repository: str, name: str, pin: PinnedMerge | None = None) -> None:
    call = Use(UseKind.CALL, STOPPED, "plugin/worker.py", 7, "stop()", (STOPPED,), call=CallShape())
    entry = ProfileEntry(name, Repository.parse(repository), ("engine",), uses=1, files=1, pin=pin)
    scanned = Profile(name, ("engine",), "octo/plugin", "c0ffee", bot.noon(2), (call,), {}, 1)
    make_app(bot.store).profiles.put(entry, scanned)


def ask(bot: Bot, text: str) -> Json:
    """The answer that is posted in a channel of its own."""
    channel = bot.channel()
    ack = bot.person().send_command("/prdigest", text, channel).ack
    assert (ack.status, ack.text) == (200, ""), ack
    (message,) = bot.list_posts(channel)
    return message


def test_what_merges_change_for_others_is_listed_once_read(bot: Bot) -> None:
    repository = bot.repository()
    number = removal(bot, repository)
    message = ask(bot, f"contract repo:{repository}")
    text = as_read(message)
    assert "1 contract change" in text
    assert f"#{number}" in text
    assert "core.stop" in text
    assert "removed" in text
    assert len(labels(message)) == 2
    asked, _ = bot.calls()
    ask(bot, f"contract 2d repo:{repository}")
    # the lists of two days; the merge itself is kept
    assert bot.calls()[0] - asked <= 4


def change_files(bot: Bot, repository: str, before: dict[str, bytes], after: dict[str, bytes]) -> None:
    number = bot.pull(repository, merged_at=bot.noon(1), files=tuple(map(changed_file, before)))
    old, new = (FixedTree({path: Entry(text) for path, text in files.items()}) for files in (before, after))
    merge = TreeCommit(sha(f"merge {number}"), new, TreeCommit(sha(f"before {number}"), old))
    bot.world.github.add_commit(repository, merge)


def test_a_path_chooses_rows_and_not_whole_merges(bot: Bot) -> None:
    repository = bot.repository()
    before = dict.fromkeys(("engine/core.py", "engine/other.py"), RUN + STOP)
    change_files(bot, repository, before, dict.fromkeys(before, RUN))
    text = as_read(ask(bot, f"contract repo:{repository} path:engine/core.py"))
    assert "1 contract change" in text
    assert "core.stop" in text
    assert "other.stop" not in text
    assert "2 contract changes" in as_read(ask(bot, f"contract repo:{repository}"))


def test_rows_without_room_are_in_a_file(bot: Bot) -> None:
    repository = bot.repository()
    more = "".join(f"\n\ndef part{number}():\n    return {number}\n" for number in range(400)).encode()
    change_files(bot, repository, {"engine/core.py": RUN + more}, {"engine/core.py": RUN})
    message = ask(bot, f"contract repo:{repository}")
    assert "more rows in the file" in as_read(message)
    (file,) = [each for each in bot.world.slack.files if each["thread_ts"] == message["ts"]]
    assert all(f"`engine.core.part{number}`" in file["content"].decode() for number in range(400))


def test_an_unknown_profile_is_said_to_the_asker(bot: Bot) -> None:
    person, channel = bot.person(), bot.channel()
    person.send_command("/prdigest", "touches profile:nobody", channel)
    (notice,) = bot.list_whispers(person)
    assert "profile" in notice["text"]
    assert bot.list_posts(channel) == []


def test_the_upstream_of_a_profile_must_be_allowed(bot: Bot) -> None:
    profile(bot, "octo/secret", "hidden")
    person, channel = bot.person(), bot.channel()
    person.send_command("/prdigest", "touches profile:hidden", channel)
    (notice,) = bot.list_whispers(person)
    assert "not set up for octo/secret" in notice["text"]
