"""Credentials in whatever people write reach nobody: no model, no reader in Slack, no reader of the log."""

from collections.abc import Iterator

import pytest

from tests.emulators.claude.server import Failure, ToolUse
from tests.emulators.github.store import changed_file
from tests.hostile.tables.credentials import CREDENTIALS
from tests.scenarios import Bot, claude_that
from tests.scenarios.conftest import Bots, guard_bot
from tests.scenarios.conversations.asking import Thread, answer, answering, summary, text_of

pytestmark = pytest.mark.slow

TEXTS = [text for text, _ in CREDENTIALS.values()]
# of all of them, in a message that is not too long
QUESTIONS = ["\n".join(TEXTS[at::3]) for at in range(3)]
DIFF = "\n".join(
    ["@@ -1 +1,900 @@ canary-of-the-diff", " import os", *(f"+{line}" for line in "\n".join(TEXTS).split("\n"))]
)
# a single one of each kind in the name of a file
FILES = [text for text in TEXTS if "/" not in text and "\n" not in text][:30]


@pytest.fixture
def talkative(bots: Bots, layout: str) -> Iterator[Bot]:
    yield from guard_bot(bots.bot(layout, "talkative", PRDIGEST_LOG_LEVEL="DEBUG"))


def leaky(bot: Bot) -> Thread:
    files = (changed_file("a.env", patch=DIFF), *(changed_file(f"conf/{each}.env", patch=None) for each in FILES))
    body = "canary-of-the-body\n" + "\n".join(TEXTS)
    return summary(bot, title=f"Fix canary-of-the-title {TEXTS[0]} {TEXTS[9]}", body=body, files=files)


def leaks(bot: Bot) -> list[str]:
    """The forms of which anybody outside got to see one: the model, or who reads Slack or the log."""
    outside = f"{bot.world.claude.requests} {bot.world.slack.calls} {bot.log()}"
    outside = outside.replace("\\\\n", "\n").replace("\\n", "\n").replace("\\\\", "\\")
    return [name for name, (_, hidden) in CREDENTIALS.items() if hidden in outside]


def test_no_credential_of_a_pull_request_reaches_anybody(talkative: Bot) -> None:
    thread = leaky(talkative)
    with answering(talkative, ToolUse("read_diff", {"number": thread.number}), answer("It does.")) as asked:
        talkative.person().send_message("Does it?", thread.channel, thread.ts)
        assert len(thread.answers()) == 1
    assert "[redacted]" in asked.prompts[1]
    assert leaks(talkative) == []


def test_no_credential_of_a_pull_request_is_shown_where_the_model_is_away(talkative: Bot) -> None:
    with claude_that(talkative, lambda _: Failure(529, "overloaded_error", "busy", retry_after=0)):
        leaky(talkative)
    assert leaks(talkative) == []


@pytest.mark.parametrize("text", QUESTIONS, ids=["first", "second", "third"])
def test_no_credential_of_a_question_or_its_answer_reaches_anybody(text: str, talkative: Bot) -> None:
    thread = summary(talkative)
    with answering(talkative, answer(f"You wrote {text} there."), answer("Again.")):
        talkative.person().send_message(f"canary-of-the-question {text} Does it?", thread.channel, thread.ts)
        talkative.person().send_message("And now?", thread.channel, thread.ts)
        first, _ = thread.answers()
    assert "You wrote" in text_of(first)
    assert "there." in text_of(first)
    assert leaks(talkative) == []


def test_no_credential_of_a_command_is_repeated(talkative: Bot) -> None:
    for text in TEXTS[:20]:
        talkative.person().send_command("/prsummary", text, talkative.channel())
    assert leaks(talkative) == []


def test_the_log_of_all_details_holds_no_prompt_and_no_message(talkative: Bot) -> None:
    thread = leaky(talkative)
    with answering(talkative, answer("canary-of-the-answer")):
        talkative.person().send_message("canary-of-the-question Does it?", thread.channel, thread.ts)
        assert len(thread.answers()) == 1
    log = talkative.log()
    for canary in ("title", "body", "diff", "question", "answer"):
        assert f"canary-of-the-{canary}" not in log
    assert "<pull_request" not in log
    assert not [line for line in log.splitlines() if len(line) > 4_000]
