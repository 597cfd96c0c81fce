"""Intent of messages to the bot: a command, a word that mutes or unmutes it, or a question."""

from __future__ import annotations

import re
from collections.abc import Callable

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import UsageError
from bot.domain.subscriptions.request import ID_PATTERN, SubscriptionVerb
from bot.features.questions.rules import Question, is_remark
from bot.features.questions.service import ATTENTION, Attention, enqueue_question
from bot.jobs.asker_jobs import post_public_notice, send_greeting
from bot.render.conversations.greetings import Greeting
from handlers.commands.registry import CommandRegistry
from handlers.intake import RequestIntake

_TextHandler = Callable[[RequestIntake, SlackRequest, str], str]


_GREETING_WORDS = frozenset(
    f"{word}{rest}" for word in ("hello", "hi", "hey", "good morning", "good afternoon") for rest in ("", " there")
)
_HELP_WORD = "help"
_MAX_QUESTION_LENGTH = 4_000
# the bot answers every reply in a thread, or only mentions
_ATTENTION_WORDS = {"quiet": False, "be quiet": False, "wake": True, "wake up": True}
OPTION_NAMES = ("repo", "path", "author", "not-author", "label", "only", "top", "tz")
# an option with its value, or at the end, where the value was forgotten
_OPTION_PATTERN = re.compile(rf"\b(?:{'|'.join(OPTION_NAMES)}):(?=\S|\s*$)")
# the values after these words of a subscription, as in "at noon"
_VALUE_PATTERN = re.compile(r"\b(?:at|tz|repo)\s+\S+", re.I)
# words of commands only: dates, times, spans, addresses; a long number is more likely a pull request
_COMMAND_WORD_PATTERN = re.compile(
    r"(?!#?\d{4,}$)\S*[\d/:]\S*|at|tz|repo|me|mine|weekdays|daily|all|private|today|yesterday|score|am|pm", re.I
)


def accept_message(
    intake: RequestIntake,
    commands: CommandRegistry,
    asker: SlackRequest,
    text: str,
    ts: str,
    *,
    is_named: bool,
) -> None:
    """Enqueue the work for a message. ``ts`` is Slack's time of the message.

    A text that can be a command is one. Any other is a question, unless only a command can be meant.

    Raises:
        UsageError: the text is a command with a mistake, or too long.
        StoreUnavailable: the work was not enqueued.
    """
    if is_remark(text) and text:
        return
    if reason := _find_greeting(text):
        if is_named or reason is Greeting.HELP:
            send_greeting.send_to(intake.jobs, asker, reason, intake.examples)
    elif (word := text.lower().strip(" .!")) in _ATTENTION_WORDS:
        _change_attention(intake, asker, is_on=_ATTENTION_WORDS[word])
    elif not _try_command(intake, commands, asker, text):
        if len(text) > _MAX_QUESTION_LENGTH:
            raise UsageError(f"That question is too long: use up to {_MAX_QUESTION_LENGTH:,} characters.")
        enqueue_question(intake.tables, intake.jobs, Question(asker, text, ts))


def _find_greeting(text: str) -> Greeting | None:
    """Return the kind of greeting that a text asks for, None if it asks for none."""
    text_words = text.lower().strip(" ?!.,")
    if text_words == _HELP_WORD:
        return Greeting.HELP
    return Greeting.HELLO if not text or text_words in _GREETING_WORDS else None


def _try_command(intake: RequestIntake, commands: CommandRegistry, asker: SlackRequest, text: str) -> bool:
    """Return whether the text was a command, whose work is enqueued now.

    Raises UsageError for one with a mistake.
    """
    command, words = _find_command(commands, text)
    if command is None:
        return False
    try:
        command(intake, asker, words)
    except UsageError:
        if _must_be_command(commands, asker, text, words):
            raise
        return False
    return True


def _find_command(commands: CommandRegistry, text: str) -> tuple[_TextHandler | None, str]:
    """Return the command that a text may be, None if it can't be one, and the words after it."""
    if bare := commands.find_by_text(text):
        return bare.accept_text, text
    name, words = _split_first_word(text)
    verb, rest = _split_first_word(words)
    command = commands.find_by_word(name)
    if command and verb in command.verbs:
        name, words = verb, rest
    if "?" in words:
        return None, words
    if handle_verb := commands.verbs.get(name):
        # an id may happen to be a word, and a word an id: "test added"
        is_word = words.isalpha() and ID_PATTERN.fullmatch(words.lower())
        return (None if is_word else handle_verb), words
    return (command.accept_text if command else None), words


def _split_first_word(text: str) -> tuple[str, str]:
    """Return the first word in lower case, and the rest."""
    first, *rest = text.split(maxsplit=1) or [""]
    return first.lower(), "".join(rest)


def _is_bare_command(commands: CommandRegistry, text: str, words: str) -> bool:
    """Return whether the text, or the rest after its first word, is a command without its word.

    Such a text is, for example, a list of pull requests.
    """
    command = commands.find_by_word(_split_first_word(text)[0])
    return bool(commands.find_by_text(text) or (command and command.is_bare_form(words)))


def _must_be_command(commands: CommandRegistry, asker: SlackRequest, text: str, words: str) -> bool:
    """Return whether a command with a mistake can't be meant as a question.

    In a thread people talk, so only an option makes it a command. At top level words that only commands have do
    too.
    """
    if _OPTION_PATTERN.search(words) or _is_bare_command(commands, text, words):
        return True
    is_subscription = SubscriptionVerb.SUBSCRIBE in text.lower().split()[:2]
    rest = _VALUE_PATTERN.sub(" ", words) if is_subscription else words
    return not asker.existing_thread and all(map(_COMMAND_WORD_PATTERN.fullmatch, rest.split()))


def _change_attention(intake: RequestIntake, asker: SlackRequest, *, is_on: bool) -> None:
    """Mute or unmute the bot in a thread. Raises UsageError in direct messages."""
    if asker.is_direct:
        raise UsageError("In direct messages I always answer, so quiet and wake have no effect here.")
    intake.tables.put(ATTENTION, Attention(is_on), asker.channel, asker.thread)
    sentence = (
        "I answer every reply in this thread again. To silence me, mention me with the word quiet."
        if is_on
        else "I'm quiet in this thread now. Mention me, and I answer that one message. Mention me with the word "
        "wake, and I answer every reply again."
    )
    post_public_notice.send_to(intake.jobs, asker, sentence)
