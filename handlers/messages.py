"""Messages to the bot: mentions, replies in its threads, direct messages; it ignores all others. First contact.

A mention arrives twice, as ``app_mention`` and as ``message``. The latter is ignored except in group direct
messages, where it has been seen to come alone. A message is answered once, however often it arrives. What it asks
for is a command, a greeting, a word that mutes or unmutes the bot, or a question.
"""

from __future__ import annotations

import re
from typing import Any

from slack_bolt import App as Bolt
from slack_bolt import BoltContext

from bot.app import App
from bot.errors import UsageError
from bot.features.glossary import explain_term
from bot.features.home import suggest_prompts
from bot.features.questions.rules import Question, is_for_others, is_remark
from bot.features.questions.service import ATTENTION, Attention, enqueue_question, is_listening, stop_answers
from bot.features.questions.view import VOTE, record_vote
from bot.features.subscriptions.rules import ID_PATTERN, SubscriptionVerb
from bot.jobs.queues import explain_asking, post_public_notice, send_greeting, send_help
from bot.platform.slack import blocks
from bot.platform.slack.app_manifest import STOP_EVENT
from bot.platform.slack.blocks import UNKNOWN_BUTTON, read_verdict
from bot.platform.slack.directory import WELCOMES
from bot.platform.slack.notices import Greeting
from bot.platform.slack.requests import MENTION, SlackRequest, restore_user_text
from bot.redaction import redact_text
from handlers import declaration
from handlers.declaration import HELP_WORD, Command, Commands, Payload, find_help, list_examples, read_help_topic
from handlers.intake import handle_event, on_click

# subtypes of messages that people write; others are edits, joins and messages of bots
_WRITTEN_SUBTYPES = (None, "file_share", "thread_broadcast")
_GREETING_WORDS = frozenset(
    f"{word}{rest}" for word in ("hello", "hi", "hey", "good morning", "good afternoon") for rest in ("", " there")
)
# the bot answers every reply in a thread, or only mentions
_ATTENTION_WORDS = {"quiet": False, "be quiet": False, "wake": True, "wake up": True}
_MUTED = (
    "I'm quiet in this thread now. Mention me, and I answer that one message. Mention me with the word wake, "
    "and I answer every reply again."
)
_UNMUTED = "I answer every reply in this thread again. To silence me, mention me with the word quiet."
_MAX_QUESTION_LENGTH = 4_000  # characters
OPTION_NAMES = ("repo", "path", "author", "not-author", "label", "only", "top", "tz")
# an option with its value, or at the end, where the value was forgotten
_OPTION_PATTERN = re.compile(rf"\b(?:{'|'.join(OPTION_NAMES)}):(?=\S|\s*$)")
# the values after these words of a subscription, as in "at noon"
_VALUE_PATTERN = re.compile(r"\b(?:at|tz|repo)\s+\S+", re.I)
# words of commands only: dates, times, spans, addresses; a long number is more likely a pull request
_COMMAND_WORD_PATTERN = re.compile(
    r"(?!#?\d{4,}$)\S*[\d/:]\S*|at|tz|repo|me|mine|weekdays|daily|weekly|until|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|all|private|today|yesterday|score|am|pm",
    re.I,
)


def register_message_listeners(bolt: Bolt, app: App, commands: Commands) -> None:
    @bolt.event("app_mention")
    def handle_mention(event: dict[str, Any], context: BoltContext) -> None:
        if _is_written(event):
            _handle_message(app, commands, event, str(context.bot_user_id or ""))

    # an event without a listener is a 404 for Slack, which sends it again and in the end stops sending events
    @bolt.event("message")
    def handle_message(event: dict[str, Any], context: BoltContext) -> None:
        bot = str(context.bot_user_id or "")
        if _is_written(event) and _is_for_bot(app, event, bot):
            _handle_message(app, commands, event, bot)

    def greet(asker: SlackRequest, why: Greeting) -> None:
        examples = list_examples(commands)
        handle_event(app, asker, lambda: send_greeting.send_to(app.jobs, asker, why, examples), is_named=False)

    # Slack reports the joins of everybody
    @bolt.event("member_joined_channel")
    def handle_newcomer(event: dict[str, Any], context: BoltContext) -> None:
        if event["user"] == context.bot_user_id and event.get("inviter"):
            greet(declaration.parse_inviter(event), Greeting.INVITED)

    # not counted: who asks too much must be able to stop it
    @bolt.event(STOP_EVENT)
    def handle_stop(event: dict[str, Any]) -> None:
        asker = declaration.parse_stop(event)
        if asker.thread and not app.access_control.explain_early(asker):
            stop_answers(app.tables, asker.channel, asker.thread, str(event["event_ts"]))

    @bolt.event("app_home_opened", matchers=[lambda event: event.get("tab") == "messages"])
    def handle_opening(event: dict[str, Any]) -> None:
        asker = declaration.parse_newcomer(event)
        if app.tables.get(WELCOMES, asker.user) is None:
            greet(asker, Greeting.HELLO)
        if app.messenger.is_agent and not app.access_control.explain_early(asker):
            suggest_prompts.send_to(app.jobs, asker)


def _is_written(event: dict[str, Any]) -> bool:
    """Return whether a person wrote the message. Other bots are not answered: two of them would never end."""
    return event.get("subtype") in _WRITTEN_SUBTYPES and bool(event.get("user")) and not event.get("bot_id")


def _is_for_bot(app: App, event: dict[str, Any], bot: str) -> bool:
    """Return whether a message without a mention may be for the bot. Raises StoreUnavailable."""
    text, thread = str(event.get("text") or ""), str(event.get("thread_ts") or "")
    if event.get("channel_type") == "im":
        return True
    if _has_mention(text, bot):
        return event.get("channel_type") == "mpim"
    if not thread or is_remark(text) or is_for_others(text, bot):
        return False
    is_own = event.get("parent_user_id") == bot
    return is_listening(app.tables, str(event["channel"]), thread, is_own=is_own)


def _has_mention(text: str, bot: str) -> bool:
    return any(mention["user"] == bot for mention in MENTION.finditer(text))


def _handle_message(app: App, commands: Commands, event: dict[str, Any], bot: str) -> None:
    asker, written = declaration.parse_message(event), str(event.get("text") or "")
    is_direct = event.get("channel_type") == "im"
    is_mention = event["type"] == "app_mention" or (not is_direct and _has_mention(written, bot))
    is_named = is_mention or is_direct

    def accept() -> None:
        if is_mention and not event.get("thread_ts"):
            # a person who asks at top level may continue in the thread without naming the bot
            app.tables.put(ATTENTION, Attention(is_on=True), asker.channel, asker.thread)
        text = redact_text(restore_user_text(written))
        accept_message(app, commands, asker, text, str(event["ts"]), is_named=is_named)

    handle_event(app, asker, accept, is_named=is_named)


def accept_message(
    app: App, commands: Commands, asker: SlackRequest, text: str, ts: str, *, is_named: bool
) -> None:
    """Enqueue the work for a message of Slack's time ``ts``: a command if it can be one, else a question.

    Raises UsageError for a command with a mistake or too long a text, StoreUnavailable if nothing was
    enqueued.
    """
    if is_remark(text) and text:
        return
    plain = text.lower().strip(" ?!.,")
    if plain == HELP_WORD:
        send_greeting.send_to(app.jobs, asker, Greeting.HELP, list_examples(commands))
    elif not text or plain in _GREETING_WORDS:
        if is_named:
            send_greeting.send_to(app.jobs, asker, Greeting.HELLO, list_examples(commands))
    elif (topic := read_help_topic(plain)) and (answer := find_help(commands, topic) or explain_term(topic)):
        send_help.send_to(app.jobs, asker, answer)
    elif (is_on := _ATTENTION_WORDS.get(text.lower().strip(" .!"))) is not None:
        if asker.is_direct:
            raise UsageError("In direct messages I always answer, so quiet and wake have no effect here.")
        app.tables.put(ATTENTION, Attention(is_on), asker.channel, asker.thread)
        post_public_notice.send_to(app.jobs, asker, _UNMUTED if is_on else _MUTED)
    elif not _try_command(app, commands, asker, text):
        if len(text) > _MAX_QUESTION_LENGTH:
            raise UsageError(f"That question is too long: use up to {_MAX_QUESTION_LENGTH:,} characters.")
        enqueue_question(app.tables, app.jobs, Question(asker, text, ts))


# --- commands in messages


def _try_command(app: App, commands: Commands, asker: SlackRequest, text: str) -> bool:
    """Return whether it was a command, which is enqueued now. Raises UsageError for a mistake in one."""
    command, typed, words = _find_typed_command(commands, text)
    if command is None:
        return False
    try:
        command.accept_text(app, asker, typed)
    except UsageError:
        if _must_be_command(commands, asker, text, words):
            raise
        return False
    return True


def _find_typed_command(commands: Commands, text: str) -> tuple[Command | None, str, str]:
    """Return the command that a text may be, None if it can't be; what is typed after it, and after its verb."""
    if bare := _find_bare_command(commands, text):
        return bare, text, text
    name, words = _split_first_word(text)
    command = _find_command(commands, name)
    verb, rest = _split_first_word(words)
    if command and verb in command.verbs:
        name, words = verb, rest
    if "?" in words:
        return None, "", words
    for each in commands:
        if name in each.verbs:
            # an id may happen to be a word, and a word an id: "test added"
            is_word = words.isalpha() and ID_PATTERN.fullmatch(words.lower())
            return (None if is_word else each), f"{name} {words}", words
    return command, words, words


def _find_bare_command(commands: Commands, text: str) -> Command | None:
    return next((command for command in commands if command.is_bare_form(text)), None)


def _find_command(commands: Commands, word: str) -> Command | None:
    return next((command for command in commands if word in command.trigger_words), None)


def _split_first_word(text: str) -> tuple[str, str]:
    first, *rest = text.split(maxsplit=1) or [""]
    return first.lower(), "".join(rest)


def _must_be_command(commands: Commands, asker: SlackRequest, text: str, words: str) -> bool:
    """Return whether a command with a mistake can't be meant as a question."""
    # in a thread people talk, so only an option makes it a command, or what is one without its word, such as a
    # list of pull requests. At top level words that only commands have do too.
    command = _find_command(commands, _split_first_word(text)[0])
    is_bare = _find_bare_command(commands, text) or (command and command.is_bare_form(words))
    if is_bare or _OPTION_PATTERN.search(words):
        return True
    is_subscription = SubscriptionVerb.SUBSCRIBE in text.lower().split()[:2]
    rest = _VALUE_PATTERN.sub(" ", words) if is_subscription else words
    return not asker.existing_thread and all(map(_COMMAND_WORD_PATTERN.fullmatch, rest.split()))


# --- buttons below answers


@on_click(blocks.ASK)
def _enqueue_ask_hint(app: App, asker: SlackRequest, _: Payload) -> None:
    explain_asking.send_to(app.jobs, asker)


@on_click(VOTE)
def _enqueue_vote(app: App, asker: SlackRequest, click: Payload) -> None:
    verdict = read_verdict(declaration.read_value(click))
    if not asker.message:
        raise UsageError(UNKNOWN_BUTTON)
    record_vote.send_to(app.jobs, asker, asker.message, verdict)
