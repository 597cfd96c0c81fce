"""Questions in threads: answered there, once, with what was checked."""

from __future__ import annotations

from typing import Any

from tests.emulators.claude import Text, default_answer
from tests.emulators.github_store import changed_file
from tests.emulators.slack_store import Json
from tests.scenarios import Bot, claude_that

PATCH = "@@ -1,2 +1,3 @@\n import os\n-timeout = 10\n+timeout = 30\n+retries = 5\n"


def is_question(body: dict[str, Any]) -> bool:
    return bool(body.get("tools"))


def says(text: str) -> Any:
    """Claude answers questions with this, and all else as always."""
    return lambda body: Text(text) if is_question(body) else default_answer(body)


def summarised(bot: Bot, **fields: Any) -> tuple[int, str, Json]:
    """A pull request whose summary somebody asked for: its number, the channel, the message."""
    number = bot.pull(files=(changed_file("engine/retry.py", patch=PATCH),), **fields)
    channel = bot.channel()
    bot.person().slash("/prsummary", str(number), channel)
    (message,) = bot.posted(channel)
    return number, channel, message


def test_a_reply_below_a_summary_is_answered_with_a_link_to_the_line(bot: Bot) -> None:
    number, channel, message = summarised(bot)
    cite = f'<cite pr="{number}" path="engine/retry.py">timeout = 30</cite>'
    answer = f"<answer>Yes: it waits longer.{cite} See #{number}.</answer>"
    with claude_that(bot, says(answer)):
        bot.person().message("Does it change a default?", channel, message["ts"])
        (reply,) = bot.replied(channel, message["ts"])
    assert "retry.py:2" in reply["text"]
