"""What the tests of questions have in common: threads to ask in, what Claude says there, and what came of it."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from localslack.state.identity import BOT_USER
from localslack.state.workspace import Json
from localslack.users.person import Delivery

from tests.emulators.claude.request import contents
from tests.emulators.claude.server import Step, Text, default_answer
from tests.emulators.github.store import changed_file
from tests.helpers.checks import eventually
from tests.scenarios import REPO, RISKY, Bot, claude_that

PATCH = "@@ -1,2 +1,3 @@\n import os\n-timeout = 10\n+timeout = 30\n+retries = 5\n"
# seconds that a test waits for another part of itself
PATIENCE = 20.0
# what Slack shows of it takes more than one call
LONG = " ".join(f"Sentence {number} of the answer says a little more." for number in range(1, 25))


def answer(text: str, **fields: Any) -> Text:
    return Text(f"<answer>{text}</answer>", **fields)


def is_question(body: dict[str, Any]) -> bool:
    return bool(body.get("tools"))


def prompt_of(body: dict[str, Any]) -> str:
    blocks = chain.from_iterable(contents(turn["content"]) for turn in body["messages"])
    return "\n".join(str(block.get("text") or block.get("content") or "") for block in blocks)


def question_of(body: dict[str, Any]) -> str:
    """What the model is asked now, after all that was said before."""
    return prompt_of(body).rpartition("<question id=")[2].partition("\n")[2].rpartition("\n</question")[0]


@dataclass
class Asked:
    bodies: list[dict[str, Any]] = field(default_factory=list)

    @property
    def prompts(self) -> list[str]:
        return [prompt_of(body) for body in self.bodies]

    @property
    def questions(self) -> list[str]:
        return [question_of(body) for body in self.bodies]


@contextmanager
def answering(bot: Bot, *steps: Step) -> Iterator[Asked]:
    """Claude takes these steps in threads, the last of them again and again; all else it answers as always."""
    asked, lock = Asked(), threading.Lock()

    def respond(body: dict[str, Any]) -> Step:
        if not is_question(body):
            return default_answer(body)
        with lock:
            asked.bodies.append(body)
            return steps[min(len(asked.bodies), len(steps)) - 1]

    with claude_that(bot, respond):
        yield asked


@contextmanager
def hold_answers(bot: Bot, then: Callable[[dict[str, Any]], Step]) -> Iterator[tuple[Asked, threading.Event]]:
    """Claude answers no question until the event is set."""
    asked, gate = Asked(), threading.Event()

    def respond(body: dict[str, Any]) -> Step:
        if not is_question(body):
            return default_answer(body)
        asked.bodies.append(body)
        gate.wait(PATIENCE)
        return then(body)

    with claude_that(bot, respond):
        try:
            yield asked, gate
        finally:
            gate.set()


@dataclass(frozen=True)
class Thread:
    """A thread of the bot's; ``known`` stands in the record that its questions are answered from."""

    bot: Bot
    channel: str
    ts: str
    known: str
    number: int = 0
    repository: str = REPO

    def replies(self) -> list[Json]:
        return self.bot.list_thread_posts(self.channel, self.ts)

    def answers(self) -> list[Json]:
        """The bot's replies that are answers to questions, once nothing is left to do."""
        return [message for message in self.replies() if _key(message).endswith(":question")]

    def growing(self) -> Json:
        slack = self.bot.world.slack

        def find_growing() -> list[Json]:
            replies = slack.list_replies(self.channel, self.ts)
            return [m for m in replies if m.get("streaming_state") == "in_progress"]

        return dict(eventually(find_growing, PATIENCE)[0])

    def seen_live(self) -> set[str]:
        """All mentions and links that were ever live in the bot's replies."""
        slack = self.bot.world.slack
        return set().union(*(slack.collect_live_parts(self.channel, each["ts"]) for each in self.replies()))


def _key(message: Json) -> str:
    return str(((message.get("metadata") or {}).get("event_payload") or {}).get("key", ""))


def summary(bot: Bot, **fields: Any) -> Thread:
    number = bot.pull(**{"files": (changed_file("engine/retry.py", patch=PATCH),), **fields})
    channel = bot.channel()
    bot.person().send_command("/prsummary", str(number), channel)
    return Thread(bot, channel, _only(bot, channel), f"#{number} ", number)


def risks(bot: Bot) -> Thread:
    repository, channel = bot.repository(), bot.channel()
    number = bot.pull(repository, merged_at=bot.noon(1), **RISKY)
    bot.person().send_command("/prrisks", f"7d repo:{repository}", channel)
    return Thread(bot, channel, _only(bot, channel), f"#{number} {RISKY['title']}", number)


def overview(bot: Bot, count: int = 1) -> Thread:
    """Several days, one of them with that many pull requests; ``number`` is the last of them."""
    repository, channel = bot.repository(), bot.channel()
    number = [bot.pull(repository, merged_at=bot.noon(1)) for _ in range(count)][-1]
    bot.person().send_command("/prdigest", f"2d repo:{repository}", channel)
    return Thread(bot, channel, _only(bot, channel), f"#{number} Change {number}", number, repository)


def digest(bot: Bot) -> Thread:
    repository, channel, day = bot.repository(), bot.channel(), bot.noon(3)
    number = bot.pull(repository, merged_at=day)
    bot.person().send_command("/prdigest", f"{day.date()} repo:{repository}", channel)
    return Thread(bot, channel, _only(bot, channel), f"#{number} Change {number}", number)


def colleagues(bot: Bot) -> Thread:
    """A thread that somebody else began."""
    channel = bot.channel()
    return Thread(bot, channel, bot.world.slack.add_message(channel, "lead"), f"{bot.noon(1).date()}")


def begin_thread(bot: Bot, delivery: Delivery) -> Thread:
    event = delivery.payload["event"]
    return Thread(bot, event["channel"], event["ts"], f"octo/engine, {bot.noon(1).date()}")


def _only(bot: Bot, channel: str) -> str:
    (message,) = bot.list_posts(channel)
    return str(message["ts"])


def text_of(message: Json) -> str:
    """The Markdown of an answer."""
    return str(next(block["text"] for block in message["blocks"] if block["type"] == "markdown"))


def small_print(message: Json) -> str:
    return json.dumps([block for block in message["blocks"] if block["type"] == "context"], ensure_ascii=False)


def mention_bot(text: str) -> str:
    """The same with the bot's name before it, as a message has it."""
    return f"<@{BOT_USER}> {text}"
