import json
import re
import threading
import time
from collections.abc import Callable
from typing import Any, cast

import pytest
from localslack.users.person import Delivery, Person

from bot.platform.slack.requests import SlackRequest
from bot.platform.store.connection import unpack_value
from tests.emulators.claude.server import Step, ToolUse
from tests.emulators.github.store import IssueRecord, RemarkRecord, changed_file, sha
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.helpers.checks import eventually
from tests.scenarios import Bot, both_transports, claude_that
from tests.scenarios.conversations.asking import (
    LONG,
    PATCH,
    PATIENCE,
    Thread,
    answer,
    answering,
    begin_thread,
    colleagues,
    digest,
    hold_answers,
    mention_bot,
    overview,
    question_of,
    risks,
    small_print,
    summary,
    text_of,
)
from tests.scenarios.subscriptions.regularly import direct

# where it answers


@pytest.mark.parametrize("begin", [summary, risks, overview, digest])
def test_below_what_the_bot_posted_everybody_is_answered_from_its_record(
    begin: Callable[[Bot], Thread], bot: Bot
) -> None:
    thread = begin(bot)
    with answering(bot, answer("Yes."), answer("No.")) as asked:
        bot.person().send_message("Does it change a default?", thread.channel, thread.ts)
        bot.settle()
        bot.person().mention("And does it touch CUDA?", thread.channel, thread.ts)
        assert [text_of(message) for message in thread.answers()] == ["Yes.", "No."]
    assert [thread.known in prompt for prompt in asked.prompts] == [True, True]
    assert "Does it change a default?" in asked.prompts[0]
    assert "And does it touch CUDA?" in asked.prompts[1]


def test_the_subject_of_a_thread_about_one_pull_request_is_its_diff(bot: Bot) -> None:
    thread = summary(bot)
    with answering(bot, answer("Yes.")) as asked:
        bot.person().send_message("Does it change a default?", thread.channel, thread.ts)
        assert len(thread.answers()) == 1
    assert "+timeout = 30" in asked.prompts[0]


def test_the_lines_of_the_log_about_a_question_have_its_reference(bot: Bot) -> None:
    thread = summary(bot)
    with answering(bot, answer("Yes."), answer("No.")):
        asked = [
            bot.person().send_message("Does it change a default?", thread.channel, thread.ts),
            bot.person(user="U0GRACE").mention("And does it touch CUDA?", thread.channel, thread.ts),
        ]
        assert len(thread.answers()) == 2
    for delivery in asked:
        key = f"mention:{thread.channel}:{delivery.payload['event']['ts']}"
        reference = SlackRequest(key, "", thread.channel, "").reference
        assert re.search(rf"\[{reference}\]: model call: \S+ for usual, ok ", bot.log())


@both_transports
def test_who_begins_a_thread_with_a_question_goes_on_without_the_bots_name(bot: Bot) -> None:
    ada, channel = bot.person(), bot.channel()
    with answering(bot, answer("Nothing."), answer("Nobody.")) as asked:
        thread = begin_thread(bot, ada.mention("What merged?", channel))
        assert len(thread.answers()) == 1
        bot.person().send_message("Who wrote it?", channel, thread.ts)
        assert [text_of(message) for message in thread.answers()] == ["Nothing.", "Nobody."]
    assert not bot.list_posts(channel)
    assert [thread.known in prompt for prompt in asked.prompts] == [True, True]


def test_in_a_colleagues_thread_only_who_names_the_bot_is_answered(bot: Bot) -> None:
    thread, ada = colleagues(bot), bot.person()
    with answering(bot, answer("Nothing.")) as asked:
        ada.mention("What merged?", thread.channel, thread.ts)
        assert len(thread.answers()) == 1
        ada.send_message("Who wrote it?", thread.channel, thread.ts)
        assert len(thread.answers()) == 1
    assert thread.known in asked.prompts[0]
    assert not bot.list_whispers(ada)


def test_direct_messages_are_answered_in_their_threads(bot: Bot) -> None:
    ada = bot.person()
    with answering(bot, answer("Nothing."), answer("Nobody."), answer("Nowhere.")) as asked:
        thread = begin_thread(bot, ada.send_message("What merged?", f"D{ada.user[1:]}"))
        assert [text_of(message) for message in thread.answers()] == ["Nothing."]
        ada.send_message("Who wrote it?", thread.channel, thread.ts)
        assert [text_of(message) for message in thread.answers()] == ["Nothing.", "Nobody."]
        other = begin_thread(bot, ada.send_message(mention_bot("Where?"), thread.channel))
        assert [text_of(message) for message in other.answers()] == ["Nowhere."]
    assert asked.questions == ["What merged?", "Who wrote it?", "Where?"]
    assert [thread.known in prompt for prompt in asked.prompts] == [True] * 3
    assert "What merged?" not in asked.prompts[2]
    assert not bot.list_posts(thread.channel)


# once


def as_mention(person: Person, message: Delivery) -> Delivery:
    """The ``app_mention`` that Slack sends for a message which names the bot: another event of the same ts."""
    event = {key: value for key, value in message.payload["event"].items() if key != "channel_type"}
    payload = {
        **message.payload,
        "event_id": person.slack.make_id("Ev"),
        "event": {**event, "type": "app_mention"},
    }
    return Delivery("events_api", payload, person.transport.send("events_api", payload))


@pytest.mark.parametrize("is_first", [True, False], ids=["mention first", "message first"])
def test_both_events_of_a_mention_delivered_twice_give_one_answer(is_first: bool, bot: Bot) -> None:
    thread, ada = summary(bot), bot.person()
    with answering(bot, answer("Yes.")) as asked:
        if is_first:
            mention = ada.mention("Does it?", thread.channel, thread.ts)
            events = [mention, ada.send_twin(mention)]
        else:
            message = ada.send_message(mention_bot("Does it?"), thread.channel, thread.ts)
            events = [message, as_mention(ada, message)]
        again = [ada.redeliver(event) for event in events]
        assert len(thread.replies()) == 1
        again += [ada.redeliver(event) for event in events]
        assert len(thread.replies()) == 1
    assert {event.ack.status for event in again} == {200}
    assert len(asked.bodies) == 1
    assert not bot.list_whispers(ada)


def test_a_question_that_is_delivered_again_while_it_is_answered_has_one_answer(bot: Bot) -> None:
    thread, ada = summary(bot), bot.person()
    with hold_answers(bot, lambda _: answer("Yes.")) as (asked, gate):
        first = ada.send_message("Does it?", thread.channel, thread.ts)
        assert [ada.redeliver(first).ack.status for _ in range(2)] == [200, 200]
        gate.set()
        assert len(thread.replies()) == 1
        ada.redeliver(first)
        assert len(thread.replies()) == 1
    assert len(asked.bodies) == 1


def test_several_who_ask_in_a_thread_at_once_are_answered_in_turn(bot: Bot) -> None:
    thread = summary(bot)
    words = ["First?", "Second?", "Third?"]
    with hold_answers(bot, lambda body: answer(f"To {question_of(body)}")) as (asked, gate):
        for word in words:
            bot.person().send_message(word, thread.channel, thread.ts)
        gate.set()
        assert [text_of(message) for message in thread.answers()] == [f"To {word}" for word in words]
    assert asked.questions == words
    assert ["To First?" in prompt for prompt in asked.prompts] == [False, True, True]


def test_threads_are_answered_at_the_same_time(http_bot: Bot) -> None:
    threads = [colleagues(http_bot) for _ in range(3)]
    meeting = threading.Barrier(len(threads))

    def meet(_: dict[str, Any]) -> Step:
        meeting.wait(PATIENCE)
        return answer("Yes.")

    with claude_that(http_bot, meet):
        for thread in threads:
            http_bot.person().mention("Does it?", thread.channel, thread.ts)
        assert [len(thread.answers()) for thread in threads] == [1, 1, 1]


# who speaks to others

ASIDES = [
    "thanks!",
    "Great, thank you :tada:",
    "👍 :rocket:",
    "<@U0COLLEAGUE> what do you think?",
    "ok. makes sense",
]


def test_thanks_and_words_to_colleagues_are_left_alone(bot: Bot) -> None:
    thread, ada, before = summary(bot), bot.person(), bot.calls()
    for aside in ASIDES:
        ada.send_message(aside, thread.channel, thread.ts)
        assert not thread.replies(), aside
    ada.mention("thanks!", thread.channel, thread.ts)
    assert not thread.replies()
    assert not bot.list_whispers(ada)
    assert bot.calls() == before


def test_thanks_with_a_question_are_a_question(http_bot: Bot) -> None:
    thread = summary(http_bot)
    with answering(http_bot, answer("Yes.")):
        http_bot.person().send_message("Thanks! And does it touch ROCm?", thread.channel, thread.ts)
        assert len(thread.answers()) == 1


@pytest.mark.parametrize("subtype", ["file_share", "thread_broadcast"])
def test_a_question_with_a_file_or_shown_in_the_channel_too_is_a_question(subtype: str, http_bot: Bot) -> None:
    thread = summary(http_bot)
    with answering(http_bot, answer("Yes.")):
        http_bot.person().send_message("Does it?", thread.channel, thread.ts, subtype=subtype)
        assert len(thread.answers()) == 1


def test_what_nobody_wrote_just_now_is_no_question(bot: Bot) -> None:
    thread, ada = summary(bot), bot.person()
    with answering(bot, answer("Yes.")):
        asked = ada.send_message("Does it?", thread.channel, thread.ts).payload["event"]["ts"]
        assert len(thread.answers()) == 1
    before = bot.calls()
    events = [
        ada.edit(asked, "Does it really?", thread.channel),
        ada.send_message("Does it?", thread.channel, thread.ts, bot_id="B0OTHER"),
        ada.send_message("Does it?", thread.channel, thread.ts, bot_id="B0OTHER", subtype="bot_message"),
        ada.send_message("", thread.channel, subtype="channel_join", user=ada.user),
        ada.send_message("", thread.channel, subtype="message_deleted", hidden=True, deleted_ts=asked),
    ]
    assert {event.ack.status for event in events} == {200}
    assert len(thread.answers()) == 1
    assert not bot.list_whispers(ada)
    assert bot.calls() == before


# quiet and wake


@pytest.mark.parametrize("is_named", [True, False], ids=["mentioned", "reply"])
def test_a_thread_that_was_silenced_answers_only_who_names_the_bot_until_it_is_woken(
    is_named: bool, bot: Bot
) -> None:
    thread, ada = summary(bot), bot.person()
    (ada.mention if is_named else ada.send_message)("quiet", thread.channel, thread.ts)
    (reply,) = thread.replies()
    assert "Mention me with the word wake" in reply["text"]
    with answering(bot, answer("Yes.")) as asked:
        ada.send_message("Does it?", thread.channel, thread.ts)
        assert not thread.answers()
        ada.mention("Does it?", thread.channel, thread.ts)
        assert len(thread.answers()) == 1
        ada.send_message("And now?", thread.channel, thread.ts)
        assert len(thread.answers()) == 1
        ada.mention("wake", thread.channel, thread.ts)
        assert "I answer every reply in this thread again" in thread.replies()[-1]["text"]
        ada.send_message("And now, please?", thread.channel, thread.ts)
        assert len(thread.answers()) == 2
    assert asked.questions == ["Does it?", "And now, please?"]
    assert not bot.list_whispers(ada)


def test_a_thread_that_begins_with_the_word_quiet_is_quiet(http_bot: Bot) -> None:
    ada = http_bot.person()
    thread = begin_thread(http_bot, ada.mention("quiet", http_bot.channel()))
    assert len(thread.replies()) == 1
    with answering(http_bot, answer("Yes.")):
        ada.send_message("Does it?", thread.channel, thread.ts)
        assert len(thread.replies()) == 1


# how it is shown


def test_an_answer_streams_below_a_status_and_ends_with_its_small_print(http_bot: Bot) -> None:
    thread, slack = summary(http_bot), http_bot.world.slack
    before = len(slack.calls)
    with answering(http_bot, answer(LONG, pace=0.06)):
        http_bot.person().send_message("Does it?", thread.channel, thread.ts)
        early = thread.growing()
        assert LONG.startswith(early["text"])
        (reply,) = thread.answers()
    assert text_of(reply) == LONG
    assert [block["type"] for block in reply["blocks"]] == ["markdown", "context", "context_actions"]
    assert f"Sources: the diff of #{thread.number}." in small_print(reply)
    statuses = [each["status"] for each in slack.statuses if each["thread_ts"] == thread.ts]
    assert statuses[0] == "is reading the pull requests…"
    assert not slack.get_status(thread.channel, thread.ts)
    assert not slack.is_streaming(thread.channel, reply["ts"])
    methods = [method for method, _ in slack.calls[before:] if method.startswith("chat.")]
    assert methods[0] == "chat.startStream"
    assert methods[-1] == "chat.stopStream"
    assert set(methods[1:-1]) == {"chat.appendStream"}
    assert len(methods) >= 4


def test_where_slack_does_not_stream_the_answer_is_posted_and_edited(http_bot: Bot) -> None:
    thread, slack = summary(http_bot), http_bot.world.slack
    slack.fail_next("chat.startStream", error="missing_scope")
    with answering(http_bot, answer(LONG, pace=0.01)):
        http_bot.person().send_message("Does it?", thread.channel, thread.ts)
        (reply,) = thread.answers()
    assert text_of(reply) == LONG
    assert [block["type"] for block in reply["blocks"]] == ["markdown", "context", "context_actions"]
    assert "edited" in reply


# what it rests on


def test_only_quotes_that_hold_and_numbers_that_exist_are_linked(http_bot: Bot) -> None:
    other = changed_file("engine/other.py", patch="@@ -1 +1 @@\n-a = 1\n+something_else = True\n")
    thread = summary(http_bot, files=(changed_file("engine/retry.py", patch=PATCH), other))
    strange = "octo/unknown-to-the-bot"
    hidden = http_bot.pull(strange, files=(changed_file("engine/retry.py", patch=PATCH),))
    missing = http_bot.unused_number()
    own = thread.number

    def cite(pr: object, path: str, quote: str) -> str:
        return f'<cite pr="{pr}" path="{path}">{quote}</cite>'

    sentences = [
        f"Holds.{cite(own, 'engine/retry.py', 'timeout = 30')}",
        f"Gone.{cite(own, 'engine/retry.py', 'timeout = 10')}",
        f"Elsewhere.{cite(own, 'engine/retry.py', 'something_else = True')}",
        f"Invented.{cite(own, 'engine/retry.py', 'timeout = 3000')}",
        f"Foreign.{cite(f'{strange}#{hidden}', 'engine/retry.py', 'timeout = 30')}",
        f"See #{own} and #{missing}.",
    ]
    with answering(http_bot, answer("\n".join(sentences))):
        http_bot.person().send_message("Does it?", thread.channel, thread.ts)
        (reply,) = thread.answers()
    address = f"https://github.com/octo/engine/pull/{own}"
    lines = text_of(reply).splitlines()
    assert lines[0].startswith("Holds. [retry.py:2](https://github.com/octo/engine/blob/")
    assert f"/{sha(f'merge {own}')}/engine/retry.py#L2" in lines[0]
    assert lines[1].startswith("Gone. [retry.py:2 (removed)](https://github.com/octo/engine/")
    assert lines[2:5] == ["Elsewhere.", "Invented.", "Foreign."]
    assert lines[5] == f"See [#{own}]({address}) and #{missing}."
    assert "3 quotes were not found in the code and not linked." in small_print(reply)


def test_a_line_of_the_file_that_a_tool_read_is_linked_at_the_merge_commit(http_bot: Bot) -> None:
    thread = summary(http_bot, files=(changed_file("engine/retry.py", patch=PATCH),))
    number, commit = thread.number, sha(f"merge {thread.number}")
    text = "import os\n" + "\n" * 20 + "def give_up(worker):\n    worker.kill(hard=True)\n"
    tree = FixedTree({"engine/workers.py": Entry(text.encode())})
    http_bot.world.github.add_commit("octo/engine", TreeCommit(commit, tree))

    def cite(quote: str) -> str:
        return f'<cite pr="{number}" path="engine/workers.py" line="23" side="unchanged">{quote}</cite>'

    read = ToolUse("read_file", {"number": number, "path": "engine/workers.py", "around": "give_up"})
    final_answer = answer(f"It kills.{cite('worker.kill(hard=True)')}\nIt waits.{cite('worker.wait(long=True)')}")
    with answering(http_bot, read, final_answer) as asked:
        http_bot.person().send_message("What does it do to workers?", thread.channel, thread.ts)
        (reply,) = thread.answers()
    address = f"https://github.com/octo/engine/blob/{commit}/engine/workers.py#L23"
    assert text_of(reply) == f"It kills. [workers.py:23 (unchanged)]({address})\nIt waits."
    assert "22:  def give_up(worker):" in asked.prompts[1]
    assert "1:  import os" not in asked.prompts[1], "only what is around the name is shown"
    assert "parts of engine/workers.py after" in small_print(reply)
    assert "1 quote was not found in the code and not linked." in small_print(reply)


def test_what_somebody_wrote_is_linked_to_their_comment_and_proves_no_code(http_bot: Bot) -> None:
    decision = "We keep `old_default` until 0.9. <!channel> @here"
    comment = RemarkRecord(31, decision, "carol_", association="MEMBER")
    thread = summary(
        http_bot, comments=(comment,), closes=(IssueRecord(12, "It hangs", body="With two workers."),)
    )

    def cite(place: str, quote: str) -> str:
        return f'<cite pr="{thread.number}" path="{place}">{quote}</cite>'

    read = ToolUse("read_discussion", {"number": thread.number})
    final_answer = answer(
        f"Carol, a member, keeps `old_default`.{cite('#issuecomment-31', 'keep `old_default` until 0.9')}\n"
        f"Workers hang.{cite('#issue-12', 'With two workers')}\n"
        f"It goes.{cite('#issuecomment-31', 'We drop it today')}"
    )
    with answering(http_bot, read, final_answer) as asked:
        http_bot.person().send_message("What was decided?", thread.channel, thread.ts)
        (reply,) = thread.answers()
    assert "[#issuecomment-31] carol_ (member)" in asked.prompts[1]
    lines = text_of(reply).splitlines()
    page = f"https://github.com/octo/engine/pull/{thread.number}#issuecomment-31"
    assert lines[0].startswith("Carol, a member, keeps `old_default`. [carol")
    assert lines[0].endswith(f" in a comment]({page})")
    assert lines[1] == "Workers hang. [reporter in issue 12](https://github.com/octo/engine/issues/12)"
    assert lines[2] == "It goes."
    print_ = small_print(reply)
    assert f"the discussion of #{thread.number}" in print_
    assert "Not verified against the code." in print_
    assert "1 quote was" in print_
    statuses = [each["status"] for each in http_bot.world.slack.statuses if each["thread_ts"] == thread.ts]
    assert statuses == ["is reading the pull requests…"]


def test_what_tools_read_and_what_nobody_could_see_is_in_the_small_print(http_bot: Bot) -> None:
    thread = overview(http_bot)
    repository = thread.repository
    files = (
        changed_file("engine/retry.py", patch=PATCH),
        changed_file("engine/huge.py", patch=None, additions=9_000, changes=9_000),
        changed_file("engine/logo.png", patch=None, status="added"),
        changed_file("engine/long.py", patch="@@ -0,0 +1,3000 @@\n" + "+a_line_of_code = True\n" * 3_000),
    )
    number = http_bot.pull(repository, files=files)
    tool = ToolUse("read_diff", {"number": number})
    cite = f'<cite pr="{number}" path="engine/retry.py">retries = 5</cite>'
    with answering(http_bot, tool, answer(f"It retries.{cite}")) as asked:
        http_bot.person().send_message(f"Does #{number} retry?", thread.channel, thread.ts)
        (reply,) = thread.answers()
    assert "+retries = 5" in asked.prompts[1]
    assert f"[retry.py:3](https://github.com/{repository}/blob/" in text_of(reply)
    print_ = small_print(reply)
    assert f"the diff of #{number}" in print_
    assert f"engine/huge.py of #{number} (too large, GitHub sends no diff)" in print_
    assert f"engine/logo.png of #{number} (binary or empty)" in print_
    assert f"parts of engine/long.py of #{number} (truncated)" in print_
    statuses = [each["status"] for each in http_bot.world.slack.statuses if each["thread_ts"] == thread.ts]
    assert statuses == ["is reading the pull requests…"]


# what it remembers


def test_a_question_may_refer_to_the_ones_before(http_bot: Bot) -> None:
    thread, ada = overview(http_bot), http_bot.person()
    with answering(http_bot, answer("Two of them: the retries, the timeouts.")) as asked:
        ada.send_message("Which are risky?", thread.channel, thread.ts)
        http_bot.settle()
        ada.send_message("and the second one?", thread.channel, thread.ts)
        assert len(thread.answers()) == 2
    before = asked.prompts[1].partition("and the second one?")[0]
    assert "Which are risky?" in before
    assert "Two of them: the retries, the timeouts." in before


def test_what_is_posted_in_the_thread_while_an_answer_is_written_is_remembered(http_bot: Bot) -> None:
    thread, ada, other = overview(http_bot), http_bot.person(), http_bot.pull()
    with hold_answers(http_bot, lambda _: answer("Yes.")) as (asked, gate):
        ada.send_message("Does it?", thread.channel, thread.ts)
        eventually(lambda: asked.bodies)
        ada.mention(str(other), thread.channel, thread.ts)
        slack = http_bot.world.slack
        eventually(lambda: f"#{other} Change" in str(slack.list_replies(thread.channel, thread.ts)))
        time.sleep(0.3)  # it is remembered after it is posted
        gate.set()
        http_bot.settle()
        ada.send_message("And that one?", thread.channel, thread.ts)
        assert len(thread.answers()) == 2
    assert asked.prompts[1].count("Does it?") == 1
    assert f"#{other} Change {other}" in asked.prompts[1]


def test_a_memory_that_the_store_lost_is_read_back_from_slack_once(http_bot: Bot) -> None:
    thread, ada, slack = overview(http_bot), http_bot.person(), http_bot.world.slack
    with answering(http_bot, answer("Two of them."), answer("The first."), answer("Both.")) as asked:
        ada.send_message("Which are risky?", thread.channel, thread.ts)
        http_bot.settle()
        assert http_bot.store.delete(f"thread:{thread.channel}:{thread.ts}") == 1
        before = len(slack.list_calls_to("conversations.replies"))
        for text in ("and the second one?", "and the third?"):
            ada.send_message(text, thread.channel, thread.ts)
            http_bot.settle()
        assert len(slack.list_calls_to("conversations.replies")) == before + 1
    assert thread.known in asked.prompts[1]
    for prompt in asked.prompts[1:]:
        assert prompt.count("Which are risky?") == 1
        assert prompt.count("Two of them.") == 1
    assert asked.prompts[2].count("and the second one?") == 1


# what it costs


@pytest.mark.parametrize("has_tools", [False, True], ids=["record alone", "a round of tools"])
def test_the_second_question_reads_most_of_its_prompt_from_the_cache(has_tools: bool, http_bot: Bot) -> None:
    thread, claude = overview(http_bot, 30), http_bot.world.claude
    tool = ToolUse("read_diff", {"number": thread.number})
    steps: list[Step] = [tool, answer("Two of them.")] if has_tools else [answer("Two of them.")]
    with answering(http_bot, *steps, *steps):
        http_bot.person().send_message("Which are risky?", thread.channel, thread.ts)
        http_bot.settle()
        before = len(claude.usages)
        http_bot.person().send_message("and the second one?", thread.channel, thread.ts)
        assert len(thread.answers()) == 2
    used = claude.usages[before:]
    assert len(used) == len(steps)
    read = sum(usage["cache_read_input_tokens"] for usage in used)
    fresh = sum(usage["input_tokens"] + usage["cache_creation_input_tokens"] for usage in used)
    assert read / (read + fresh) >= 0.8, (read, fresh)


# what people think of it


@both_transports
def test_a_vote_is_kept_with_the_question_and_what_its_answer_was_made_of(bot: Bot) -> None:
    thread, ada = summary(bot), bot.person()
    tool = ToolUse("read_diff", {"number": thread.number})
    with answering(bot, tool, answer("Yes.")):
        ada.send_message("Does it?", thread.channel, thread.ts)
        (reply,) = thread.answers()
    ada.press(reply, "answer_vote", value="2|good", channel=thread.channel)
    assert [vote["verdict"] for vote in votes(bot, ada)] == ["good"]
    ada.press(reply, "answer_vote", value="2|bad", channel=thread.channel)
    (vote,) = votes(bot, ada)
    assert (vote["verdict"], vote["question"], vote["answer"]) == ("bad", "Does it?", "Yes.")
    assert (vote["repository"], vote["numbers"]) == ("octo/engine", [thread.number])
    assert [each["tool"] for each in vote["exchanges"]] == ["read_diff"]
    assert "+timeout = 30" in vote["exchanges"][0]["result"]
    assert ["Thanks, saved" in shown["text"] for shown in bot.list_whispers(ada)] == [True, True]


def test_a_vote_counts_as_soon_as_its_buttons_are_there(bot: Bot) -> None:
    thread, ada, slack = summary(bot), bot.person(), bot.world.slack

    def press(method: str, arguments: dict[str, Any]) -> None:
        if method == "chat.stopStream" and arguments["channel"] == thread.channel:
            slack.after = None
            reply = slack.get_message(thread.channel, arguments["ts"])
            ada.press(reply, "answer_vote", value="2|good", channel=thread.channel)
            eventually(lambda: [shown for shown in slack.ephemerals if shown["user"] == ada.user])

    slack.after = press
    with answering(bot, answer(LONG)):
        ada.send_message("Does it?", thread.channel, thread.ts)
        thread.answers()
    assert ["Thanks, saved" in shown["text"] for shown in bot.list_whispers(ada)] == [True]


def votes(bot: Bot, person: Person) -> list[dict[str, Any]]:
    bot.settle()
    all_votes = (json.loads(unpack_value(vote)) for vote in cast("list[bytes]", bot.store.hvals("votes")))
    return [vote for vote in all_votes if vote["user"] == person.user]


# words of its own


def test_what_a_word_of_its_messages_means_is_told_without_the_model_everywhere(bot: Bot) -> None:
    ada, home = bot.person(), summary(bot)
    with answering(bot, answer("A buffer on disk.")) as asked:
        ada.send_message("what does second reading mean?", home.channel, home.ts)
        (in_thread,) = home.answers()
        mentioned = begin_thread(bot, ada.mention("what is a profile?", bot.channel()))
        private = begin_thread(bot, ada.send_message("What's a stopping point?", direct(ada)))
        told = [text_of(post) for post in (in_thread, *mentioned.answers(), *private.answers())]
        assert [each.partition(":")[0] for each in told] == ["**AI bug review**", "**profile**", "**step**"]
        assert "From my glossary, without a model." in small_print(in_thread)
        assert asked.bodies == []
        # a name of the code is the model's
        ada.send_message("what does swap_space mean?", home.channel, home.ts)
        assert [text_of(post) for post in home.answers()][-1] == "A buffer on disk."
    assert asked.questions == ["what does swap_space mean?"]
    # it knows what was said before
    assert "larger model reads merges of product code again" in asked.prompts[0]


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("help second reading", "*AI bug review*: The larger model reads"),
        ("help lease", "*lease*: a right, held by one process"),
        ("help secnd reading", "I don't know 'secnd reading'. Did you mean /prdigest help second reading?"),
        ("help swap_space", "I don't know 'swap_space'. See /prdigest help."),
    ],
)
def test_help_on_a_term_shows_its_entry(text: str, reply: str, bot: Bot) -> None:
    assert str(bot.person().send_command("/prdigest", text, bot.channel()).ack.text).startswith(reply)
