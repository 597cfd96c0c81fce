"""What goes wrong while a question is answered: with the stream, with Claude, with GitHub."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.emulators.claude.server import Cut, Failure, MidStreamError, Refusal, Stall, Step, ToolUse
from tests.emulators.github.faults import FailureKind
from tests.scenarios import Bot, failing_github
from tests.scenarios.conftest import Bots, guard_bot
from tests.scenarios.conversations.asking import (
    LONG,
    Thread,
    answer,
    answering,
    digest,
    overview,
    small_print,
    summary,
    text_of,
)

HALF = len(LONG) // 2
DOWN = Failure(529, "overloaded_error", "Overloaded sk-ant-test", retry_after=0)


def make_stall(seconds: float) -> Stall:
    """Half of the answer, then nothing for some seconds, then the rest."""
    return Stall(f"<answer>{LONG[:HALF]}", seconds, f"{LONG[HALF:]}</answer>")


def the_answer(thread: Thread) -> str:
    """The one answer in the thread, which is complete: nothing streams, and its small print is there."""
    (reply,) = thread.answers()
    assert thread.replies() == [reply]
    assert not thread.bot.world.slack.is_streaming(thread.channel, reply["ts"])
    kinds = [block["type"] for block in reply["blocks"] if block["type"] != "task_card"]
    assert kinds == ["markdown", "context", "context_actions"]
    return text_of(reply)


# the stream


def test_a_stream_that_slack_ends_is_finished_by_an_edit(http_bot: Bot) -> None:
    thread, slack = summary(http_bot), http_bot.world.slack
    with answering(http_bot, make_stall(0.6)):
        http_bot.person().send_message("Does it?", thread.channel, thread.ts)
        slack.end_stream(thread.channel, thread.growing()["ts"])
        assert the_answer(thread) == LONG


def test_who_presses_stop_keeps_what_there_is_and_is_told(http_bot: Bot) -> None:
    thread, slack = summary(http_bot), http_bot.world.slack
    with answering(http_bot, answer(f"{LONG} {LONG} {LONG}", pace=0.03)):
        http_bot.person().send_message("Does it?", thread.channel, thread.ts)
        slack.stop_stream(thread.channel, thread.growing()["ts"])
        answer_text = the_answer(thread)
    assert answer_text
    assert f"{LONG} {LONG}".startswith(answer_text)
    assert "Stopped, as you asked." in small_print(thread.answers()[0])


FAULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "start is limited": ("chat.startStream", {"status": 429, "retry_after": 1}),
    "start fails": ("chat.startStream", {"status": 500}),
    "start is not confirmed": ("chat.startStream", {"status": 500, "after_effect": True}),
    "stop is not confirmed": ("chat.stopStream", {"status": 500, "after_effect": True}),
    "stop is cut off": ("chat.stopStream", {"hang_up": True}),
    "no status": ("assistant.threads.setStatus", {"error": "missing_scope"}),
    "no history": ("conversations.replies", {"error": "missing_scope"}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_call_to_slack_that_fails_costs_no_word_and_doubles_none(fault: str, http_bot: Bot) -> None:
    thread, (method, how) = summary(http_bot), FAULTS[fault]
    http_bot.world.slack.fail_next(method, **how)
    with answering(http_bot, answer(LONG)):
        http_bot.person().send_message("Does it?", thread.channel, thread.ts)
        assert the_answer(thread) == LONG


@pytest.mark.parametrize("how", [{"status": 429, "retry_after": 1}, {"hang_up": True, "after_effect": True}])
def test_a_piece_that_slack_does_not_confirm_comes_once(how: dict[str, Any], http_bot: Bot) -> None:
    thread, slack = summary(http_bot), http_bot.world.slack
    slack.fail_next("chat.appendStream", **how)
    with answering(http_bot, answer(LONG, pace=0.03)):
        http_bot.person().send_message("Does it?", thread.channel, thread.ts)
        assert the_answer(thread) == LONG
    assert slack.list_calls_to("chat.appendStream")


# Claude


@pytest.mark.parametrize(
    "broken",
    [MidStreamError(f"<answer>{LONG[:HALF]}"), Cut(f"<answer>{LONG[:HALF]}"), MidStreamError("")],
    ids=["error", "cut", "before a word"],
)
def test_an_answer_that_breaks_off_once_is_complete_and_not_doubled(broken: Step, http_bot: Bot) -> None:
    thread = summary(http_bot)
    with answering(http_bot, broken, answer(LONG)) as asked:
        http_bot.person().send_message("Does it?", thread.channel, thread.ts)
        assert the_answer(thread) == LONG
    assert len(asked.bodies) == 2


def test_an_answer_that_breaks_off_for_good_is_kept_as_far_as_it_came(http_bot: Bot) -> None:
    thread = summary(http_bot)
    with answering(http_bot, MidStreamError(f"<answer>{LONG[:HALF]}")) as asked:
        http_bot.person().send_message("Does it?", thread.channel, thread.ts)
        answer_text = the_answer(thread)
    assert LONG.startswith(answer_text)
    assert len(answer_text) > HALF - 30
    assert (
        "The answer is incomplete (the model stopped before the end of its answer). This is what I have so far."
        in small_print(thread.answers()[0])
    )
    assert len(asked.bodies) == 3


@pytest.mark.parametrize("step", [DOWN, Refusal()], ids=["down", "declined"])
def test_without_claude_a_plain_search_answers_and_says_so(step: Step, http_bot: Bot) -> None:
    thread = summary(http_bot, title="Count the frobnications")
    with answering(http_bot, step):
        http_bot.person().send_message("What happens to frobnications?", thread.channel, thread.ts)
        (reply,) = thread.replies()
    text = text_of(reply)
    assert text.startswith("**Without the model.** It gave no answer: ")
    assert f"[#{thread.number}](https://github.com/octo/engine/pull/{thread.number}) Count the frobn" in text
    assert "sk-ant" not in str(reply)


@pytest.fixture
def keyless(bots: Bots) -> Iterator[Bot]:
    yield from guard_bot(bots.bot("http", "keyless", ANTHROPIC_API_KEY=""))
    bots.end("keyless")


def test_without_a_key_a_plain_search_answers_and_says_so(keyless: Bot) -> None:
    thread = summary(keyless, title="Count the frobnications")
    keyless.person().send_message("What happens to frobnications?", thread.channel, thread.ts)
    (reply,) = thread.replies()
    assert text_of(reply).startswith("**Without the model.** No model is set up. Text search")
    assert f"[#{thread.number}]" in text_of(reply)
    # what words of its messages mean needs no model
    keyless.person().send_message("was heißt second reading?", thread.channel, thread.ts)
    assert "**AI bug review**: The larger model" in text_of(thread.replies()[-1])
    assert not keyless.world.claude.requests


# GitHub


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("502", "GitHub is not responding: try again in a few minutes. ["),
        ("401", "GitHub does not let me read that: ask the bot's admin to check the GitHub token. ["),
    ],
    ids=["down", "token refused"],
)
def test_a_question_that_github_fails_is_told_to_the_asker_and_can_be_asked_again(
    fault: FailureKind, sentence: str, http_bot: Bot
) -> None:
    thread, ada = overview(http_bot), http_bot.person()
    with answering(http_bot, answer("Yes.")) as asked:
        with failing_github(http_bot, fault):
            ada.send_message("Does it?", thread.channel, thread.ts)
            (shown,) = http_bot.list_whispers(ada)
        assert shown["text"].startswith(sentence)
        assert shown["thread_ts"] == thread.ts
        assert not thread.replies()
        assert not asked.bodies
        ada.send_message("Does it now?", thread.channel, thread.ts)
        assert the_answer(thread) == "Yes."
    assert "Does it?" not in asked.prompts[0]


def test_what_was_read_before_is_answered_without_github(http_bot: Bot) -> None:
    thread, ada = digest(http_bot), http_bot.person()
    with answering(http_bot, answer("Yes.")) as asked:
        ada.send_message("Does it?", thread.channel, thread.ts)
        assert len(thread.answers()) == 1
        with failing_github(http_bot, "502"):
            ada.send_message("Does it now?", thread.channel, thread.ts)
            assert len(thread.answers()) == 2
    assert thread.known in asked.prompts[1]


def test_a_question_without_an_answer_leaves_no_status_behind(http_bot: Bot) -> None:
    thread, ada, slack = overview(http_bot), http_bot.person(), http_bot.world.slack
    with failing_github(http_bot, "401"):
        ada.send_message("Does it?", thread.channel, thread.ts)
        assert len(http_bot.list_whispers(ada)) == 1
    assert not slack.get_status(thread.channel, thread.ts)


@pytest.mark.parametrize("blank", ["", "\n\n"])
def test_a_model_that_says_nothing_before_it_reads_answers_all_the_same(http_bot: Bot, blank: str) -> None:
    thread = summary(http_bot)
    tools = [ToolUse("read_diff", {"number": thread.number}, text=blank)] * 2
    with answering(http_bot, *tools, answer("It does."), answer("It still does.")):
        for place, expected_text in enumerate(("It does.", "It still does.")):
            http_bot.person().send_message("Does it?", thread.channel, thread.ts)
            assert text_of(thread.answers()[place]) == expected_text


def test_a_tool_that_github_fails_is_told_to_the_model(http_bot: Bot) -> None:
    thread = overview(http_bot)
    missing = http_bot.unused_number()
    with answering(http_bot, ToolUse("read_diff", {"number": missing}), answer("I can't see it.")) as asked:
        http_bot.person().send_message(f"And #{missing}?", thread.channel, thread.ts)
        assert the_answer(thread) == "I can't see it."
    result = asked.bodies[1]["messages"][-1]["content"][0]
    assert result["is_error"]
    assert f"no pull request #{missing}" in result["content"]
