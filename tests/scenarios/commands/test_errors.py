"""When GitHub or Claude fail: a sentence with a reference that the log has too, and nothing of the inside."""

import re
from typing import Any

import pytest

from tests.emulators.claude.server import Failure
from tests.emulators.github.server import FailureKind
from tests.helpers.world import as_read
from tests.scenarios import Bot, claude_that, failing_github, old_button

DOWN = "GitHub is not responding: try again in a few minutes."
REFUSED = "GitHub does not let me read that: ask the bot's admin to check the GitHub token."


def secrets(bot: Bot) -> tuple[str, ...]:
    there = bot.world
    tokens = (there.github.token, there.claude.api_key, "xoxb-test", "xapp-test", "signing-secret")
    return (*tokens, there.github.url, "127.0.0.1", "Traceback", "GITHUB_", "SLACK_", "ANTHROPIC_", "REDIS_")


def reference_in(text: str, bot: Bot, sentence: str) -> str:
    """The reference at the end of what a person reads, which says nothing of the inside."""
    match = re.fullmatch(re.escape(sentence) + r" \[([0-9a-f]{6})\]", text)
    assert match, text
    assert not any(secret in text for secret in secrets(bot))
    return match[1]


@pytest.mark.parametrize(("fault", "sentence"), [("502", DOWN), ("401", REFUSED)], ids=["down", "token refused"])
def test_a_command_that_github_fails_is_a_sentence_with_a_reference(
    fault: FailureKind, sentence: str, bot: Bot
) -> None:
    number, channel, ada = bot.pull(), bot.channel(), bot.person()
    with failing_github(bot, fault):
        ada.send_command("/prsummary", str(number), channel)
    (shown,) = bot.list_whispers(ada)
    assert f"[{reference_in(shown['text'], bot, sentence)}]" in bot.log()
    assert not bot.list_posts(channel)
    ada.send_command("/prsummary", str(number), channel)
    assert len(bot.list_posts(channel)) == 1


def test_each_request_has_a_reference_of_its_own(bot: Bot) -> None:
    channel, ada = bot.channel(), bot.person()
    with failing_github(bot, "401"):
        for _ in range(2):
            ada.send_command("/prsummary", str(bot.pull()), channel)
    first, second = (reference_in(shown["text"], bot, REFUSED) for shown in bot.list_whispers(ada))
    assert first != second


@pytest.mark.parametrize(("command", "text"), [("/prrisks", ""), ("/prdigest", ""), ("/prdigest", "2d")])
def test_days_that_github_does_not_give_are_a_sentence_with_a_reference(command: str, text: str, bot: Bot) -> None:
    channel, ada, repository = bot.channel(), bot.person(), bot.repository()
    with failing_github(bot, "401"):
        ada.send_command(command, f"{text} repo:{repository}", channel)
    (shown,) = bot.list_whispers(ada)
    assert f"[{reference_in(shown['text'], bot, REFUSED)}]" in bot.log()
    assert not bot.list_posts(channel)


@pytest.mark.parametrize("is_in_thread", [True, False], ids=["in a thread", "at top level"])
def test_a_mention_that_github_fails_is_told_to_the_asker_where_they_see_it(is_in_thread: bool, bot: Bot) -> None:
    channel, ada = bot.channel(), bot.person()
    thread = bot.world.slack.add_message(channel, "lead") if is_in_thread else None
    with failing_github(bot, "401"):
        ada.mention(str(bot.pull()), channel, thread)
    (shown,) = bot.list_whispers(ada)
    assert f"[{reference_in(shown['text'], bot, REFUSED)}]" in bot.log()
    assert shown["thread_ts"] == thread


def test_details_that_github_fails_are_a_sentence_in_the_window(bot: Bot) -> None:
    number, ada = bot.pull(), bot.person()
    with failing_github(bot, "401"):
        ada.press(old_button("details", f"2|octo/engine#{number}"), "details", channel=bot.channel())
    (view,) = bot.windows(f"#{number}")
    (sentence,) = re.findall(r"'text': \"(GitHub [^\"]*)\"", str(view["blocks"]))
    assert f"[{reference_in(sentence, bot, REFUSED)}]" in bot.log()


def test_a_repository_that_github_does_not_know_is_a_sentence(bot: Bot) -> None:
    repository, channel, ada = bot.repository(), bot.channel(), bot.person()
    ada.send_command("/prsummary", f"{repository}#1", channel)
    (shown,) = bot.list_whispers(ada)
    sentence = f"GitHub has no repository {repository}, or the token may not read it: check its name in the "
    reference_in(shown["text"], bot, f"{sentence}settings, and give the token access.")


def fail_overloaded(_: dict[str, Any]) -> Failure:
    return Failure(529, "overloaded_error", "Overloaded sk-ant-test", retry_after=0)


def fail_authentication(_: dict[str, Any]) -> Failure:
    return Failure(401, "authentication_error", "invalid x-api-key sk-ant-test")


@pytest.mark.parametrize(
    "failure", [pytest.param(fail_overloaded, id="down"), pytest.param(fail_authentication, id="key refused")]
)
def test_without_the_model_the_summary_is_of_facts_and_says_so(failure: Any, bot: Bot) -> None:
    number, channel, ada = bot.pull(), bot.channel(), bot.person()
    with claude_that(bot, failure):
        ada.send_command("/prsummary", str(number), channel)
        (message,) = bot.list_posts(channel)
    assert "facts only" in as_read(message)
    assert not any(secret in as_read(message) for secret in secrets(bot))


def test_a_summary_of_facts_is_made_again_when_the_model_is_back(bot: Bot) -> None:
    number, channel, ada = bot.pull(), bot.channel(), bot.person()
    with claude_that(bot, fail_authentication):
        ada.send_command("/prsummary", str(number), channel)
    ada.send_command("/prsummary", str(number), channel)
    first, second = (as_read(message) for message in bot.list_posts(channel))
    assert "facts only" in first
    assert "facts only" not in second


def test_a_post_that_slack_does_not_confirm_is_there_once(http_bot: Bot) -> None:
    number, channel, ada = http_bot.pull(), http_bot.channel(), http_bot.person()
    http_bot.world.slack.fail_next("chat.postMessage", status=500, after_effect=True)
    ada.send_command("/prsummary", str(number), channel)
    (message,) = http_bot.list_posts(channel)
    assert message["text"] == f"#{number} Change {number}"
    assert not http_bot.list_whispers(ada)
