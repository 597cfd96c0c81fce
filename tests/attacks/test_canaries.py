import json
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.platform.store.connection import connect_server
from bot.platform.store.embedded.server import start_embedded_url
from tests.emulators.claude.server import Failure, Step, ToolUse, default_answer
from tests.emulators.github.faults import FailureKind
from tests.emulators.github.store import IssueRecord, RemarkRecord, changed_file
from tests.helpers.checks import closed_port
from tests.helpers.processes.command import prdigest
from tests.helpers.world import Tokens
from tests.scenarios import SECRET, Bot, claude_that, old_button
from tests.scenarios.conftest import Bots
from tests.scenarios.conversations.asking import answer, is_question

pytestmark = pytest.mark.slow

# no forms of credentials that the bot knows and takes out: these must not get that far
TOKENS = Tokens("canary-of-github-7c31", "canary-of-the-model-7c32", "xoxb-canary-of-slack-7c33")
STORE = "canary-of-the-store-7c34"
SECRETS = {
    "GITHUB_TOKEN": TOKENS.github,
    "ANTHROPIC_API_KEY": TOKENS.claude,
    "SLACK_BOT_TOKEN": TOKENS.slack,
    "SLACK_SIGNING_SECRET": SECRET,
    "REDIS_URL": STORE,
}
TEXTS = {part: f"canary-of-the-{part}-7d00" for part in ("title", "body", "diff", "label", "comment", "issue")}
# the keys in which docs/privacy.md says that the words of a pull request are, beside those that live for a week
_MERGES = {"history", "merged", "entry"}
KEPT = {
    "title": {*_MERGES, "answered", "digest", "thread"},
    "body": _MERGES,
    "label": _MERGES,
    "diff": {"files"},
    "comment": {"answered"},
    "issue": {*_MERGES, "answered"},
}
_WEEK = 7 * 86_400
FAULTS: tuple[FailureKind, ...] = ("401", "404", "500", "502", "hang_up", "secondary", "timeout-502-html")


@dataclass
class Day:
    """What is left of the day, as text, by where it is."""

    bot: Bot
    places: dict[str, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Day]:
    folder = tmp_path_factory.mktemp("canaries")
    plain = start_embedded_url(folder / "store")
    with connect_server(plain) as keeper:
        keeper.config_set("requirepass", STORE)
        url = plain.replace("unix://", f"unix://:{STORE}@")
        bots = Bots(folder, url, "tests.helpers.processes.quick_posts", TOKENS)
        try:
            bot = bots.bot("http", PRDIGEST_LOG_LEVEL="DEBUG")
            live_through(bot)
            yield look_back(bot, folder)
        finally:
            bots.close()
            with connect_server(url) as again:
                again.config_set("requirepass", "")


def live_through(bot: Bot) -> None:
    """Everything that people ask for, once where all is well and once for each way in which a service fails."""
    ada, channel, repository = bot.person(), bot.channel(), bot.repository()
    number = add_private(bot, repository)
    for fault in ("", *FAULTS):
        if fault:
            bot.world.github.fail_next(fault, 3)  # type: ignore[arg-type]
        ask_for_all(bot, repository, number, channel)
    for error in ("invalid_auth", "internal_error", "ratelimited"):
        bot.world.slack.fail_next("chat.postMessage", error=error)
        ada.send_command("/prsummary", f"{repository}#{number}", channel)
        bot.settle()
    for status, kind in ((401, "authentication_error"), (400, "invalid_request_error"), (529, "overloaded_error")):
        refused = Failure(status, kind, f"the key {TOKENS.claude} in x-api-key is refused", retry_after=0)
        with claude_that(bot, lambda _, refused=refused: refused):  # type: ignore[misc]
            ask_for_all(bot, repository, add_private(bot, repository), channel)


def add_private(bot: Bot, repository: str) -> int:
    return bot.pull(
        repository,
        title=f"Speed up {TEXTS['title']}",
        body=f"Because of {TEXTS['body']}.",
        labels=(TEXTS["label"],),
        closes=(IssueRecord(7, TEXTS["issue"]),),
        comments=(RemarkRecord(1, TEXTS["comment"]),),
        files=(changed_file("engine/a.py", patch=f"@@ -1 +1,2 @@\n import os\n+x = '{TEXTS['diff']}'"),),
        merged_at=bot.noon(1),
    )


def ask_for_all(bot: Bot, repository: str, number: int, channel: str) -> None:
    ada = bot.person()
    ada.send_command("/prsummary", f"{repository}#{number}", channel)
    ada.send_command("/prrisks", f"3d repo:{repository} private", channel)
    ada.send_command("/prdigest", f"{bot.noon(1).date()} repo:{repository}", channel)
    ada.press(old_button("details", f"2|{repository}#{number}"), "details", channel=channel)
    bot.settle()
    leads = [each for each in bot.world.slack.list_messages(channel) if "bot_id" in each]
    if leads:
        with claude_that(bot, _read_then_answer(number)):
            ada.send_message("What was said about it?", channel, leads[-1]["ts"])
            bot.settle()


def _read_then_answer(number: int) -> Any:
    asked = 0

    def respond(body: dict[str, Any]) -> Step:
        nonlocal asked
        if not is_question(body):
            return default_answer(body)
        asked += 1
        return ToolUse("read_discussion", {"number": number}) if asked == 1 else answer("Nothing.")

    return respond


def look_back(bot: Bot, folder: Path) -> Day:
    world = bot.world
    settings = {**world.settings, "PORT": str(closed_port())}
    leftovers = Day(bot)
    for name, changed in {
        "doctor": {},
        "doctor without GitHub": {"GITHUB_API_URL": f"http://127.0.0.1:{closed_port()}"},
        "doctor without a store": {"REDIS_URL": f"redis://:{STORE}@127.0.0.1:{closed_port()}/0"},
        "doctor with a password in a wrong place": {"PRDIGEST_REPO": STORE, "PRDIGEST_TIMEZONE": TOKENS.github},
    }.items():
        done = prdigest("doctor", settings={**settings, **changed}, folder=folder)
        leftovers.places[name] = done.stdout + done.stderr
    leftovers.places["log"] = bot.log()
    leftovers.places["Slack"] = json.dumps([world.slack.calls, world.slack.ephemerals], default=str)
    leftovers.places["files in Slack"] = str([file["content"] for file in world.slack.files])
    leftovers.places["prompts"] = json.dumps(world.claude.requests)
    leftovers.places["GitHub"] = str([(call.path, call.query, call.body) for call in world.github.calls])
    leftovers.values = {name.decode(): _read_value(bot, name) for name in bot.store.scan_iter("*")}
    leftovers.places["store"] = json.dumps(leftovers.values)
    return leftovers


def _read_value(bot: Bot, name: bytes) -> str:
    """A value of any type as text, unpacked where it is packed."""
    store, kind = bot.store, bot.store.type(name)
    read: dict[Any, Any] = {
        b"string": lambda: [store.get(name)],
        b"hash": lambda: [part for pair in store.hgetall(name).items() for part in pair],
        b"set": lambda: list(store.smembers(name)),
        b"zset": lambda: store.zrange(name, 0, -1),
        b"list": lambda: store.lrange(name, 0, -1),
        # it expired since it was listed
        b"none": list,
        b"stream": lambda: [repr(store.xrange(name)).encode()],
    }
    return " ".join(_unpack(part) for part in read[kind]())


def _unpack(data: bytes) -> str:
    for begin in (1, 0):
        with suppress(zlib.error):
            return zlib.decompress(data[begin:]).decode()
    return data.decode(errors="replace")


@pytest.mark.parametrize("name", SECRETS)
def test_no_secret_of_the_settings_is_anywhere(name: str, day: Day) -> None:
    # the bot's own words for the secret are none of it: a doctor names the setting
    assert [place for place, text in day.places.items() if SECRETS[name] in text] == []


@pytest.mark.parametrize("part", TEXTS)
def test_the_words_of_a_pull_request_are_where_the_page_says(part: str, day: Day) -> None:
    keys = {key for key, value in day.values.items() if TEXTS[part] in value}
    families = {re.split(r"[:{]", key)[0] for key in keys if not 0 < int(day.bot.store.ttl(key)) <= _WEEK}
    assert families <= KEPT[part], families
    assert TEXTS[part] not in day.places["log"]
    assert not [place for place, text in day.places.items() if place.startswith("doctor") and TEXTS[part] in text]


def test_the_day_was_one(day: Day) -> None:
    """The canaries were sung: each service was asked with its secret, and each text was read."""
    assert all(part in day.places["prompts"] for part in TEXTS.values())
    assert len(day.bot.world.claude.requests) > 10
    assert "entry" in {key.split(":")[0] for key in day.values}
    assert TEXTS["diff"] in day.places["store"]
