"""What people write to the bot in messages: commands, a word to silence it, or a question."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.conversations.thread import Question, is_remark
from bot.domain.errors import UsageError
from bot.domain.subscriptions.request import ID_PATTERN
from bot.render.conversations import sentences
from bot.render.conversations.greetings import Greeting
from bot.services.jobs.job_types import ANSWER_QUESTIONS, POST_PUBLIC_NOTICE, SEND_GREETING
from bot.services.jobs.payloads import GreetingPayload, NoticePayload, ThreadPayload
from bot.services.subscriptions.subscription_commands import SUBSCRIBE
from handlers.commands.registry import CommandRegistry
from handlers.intake import RequestIntake

_TextHandler = Callable[[RequestIntake, SlackRequest, str], str]


_GREETING_WORDS = frozenset(
    f"{word}{rest}" for word in ("hello", "hi", "hey", "good morning", "good afternoon") for rest in ("", " there")
)
_HELP_WORD = "help"
_MAX_QUESTION_LENGTH = 4_000
OPTION_NAMES = ("repo", "path", "author", "not-author", "label", "only", "top", "tz")
# with its value, or at the end, where the value was forgotten
_OPTION_PATTERN = re.compile(rf"\b(?:{'|'.join(OPTION_NAMES)}):(?=\S|\s*$)")
# what stands behind these words of a subscription, as in "at noon"
_VALUE_PATTERN = re.compile(r"\b(?:at|tz|repo)\s+\S+", re.I)
# what stands in commands alone: dates, times, spans, addresses; a long number is more likely a pull request
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
    """Put what somebody wrote on its queue. ``ts`` is Slack's time of the message.

    What reads as a command is one; what does not is a question, unless nothing but a command can be meant.

    Raises UsageError, StoreUnavailable.
    """
    if is_remark(text) and text:
        return
    if why := _find_greeting(text):
        if is_named or why is Greeting.HELP:
            intake.jobs.send(SEND_GREETING, GreetingPayload(asker, why))
    elif turn := _MUTING_HANDLERS.get(text.lower().strip(" .!")):
        turn(intake, asker)
    elif not _try_command(intake, commands, asker, text):
        _enqueue_question(intake, asker, text, ts)


def _find_greeting(text: str) -> Greeting | None:
    words = text.lower().strip(" ?!.,")
    if words == _HELP_WORD:
        return Greeting.HELP
    return Greeting.HELLO if not text or words in _GREETING_WORDS else None


def _try_command(intake: RequestIntake, commands: CommandRegistry, asker: SlackRequest, text: str) -> bool:
    """Whether the text was a command, whose work is on a queue now. Raises UsageError for one with a mistake."""
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
    """Return the command that a text may be, and the words after it."""
    if alone := commands.find_by_text(text):
        return alone.accept_text, text
    name, words = _split_first_word(text)
    verb, rest = _split_first_word(words)
    named = commands.find_by_word(name)
    if named and verb in named.verbs:
        name, words = verb, rest
    if "?" in words:
        return None, words
    if accept_verb := commands.verbs.get(name):
        # an id may be a word by chance, and a word an id: "test added"
        is_word = words.isalpha() and ID_PATTERN.fullmatch(words.lower())
        return (None if is_word else accept_verb), words
    return (named.accept_text if named else None), words


def _split_first_word(text: str) -> tuple[str, str]:
    """The first word, in small letters, and the others."""
    first, *rest = text.split(maxsplit=1) or [""]
    return first.lower(), "".join(rest)


def _is_bare_command(commands: CommandRegistry, text: str, words: str) -> bool:
    """Whether a text would be a command without its first word, perhaps after it, such as pull requests."""
    named = commands.find_by_word(_split_first_word(text)[0])
    return bool(commands.find_by_text(text) or (named and named.is_bare_form(words)))


def _must_be_command(commands: CommandRegistry, asker: SlackRequest, text: str, words: str) -> bool:
    """Whether a command with a mistake can't be meant as a question.

    In a thread people talk, so that only an option makes it one; at top level words that stand in commands alone
    do too.
    """
    if _OPTION_PATTERN.search(words) or _is_bare_command(commands, text, words):
        return True
    is_wish = SUBSCRIBE in text.lower().split()[:2]
    rest = _VALUE_PATTERN.sub(" ", words) if is_wish else words
    return not asker.existing_thread and all(map(_COMMAND_WORD_PATTERN.fullmatch, rest.split()))


def _enqueue_question(intake: RequestIntake, asker: SlackRequest, text: str, ts: str) -> None:
    if len(text) > _MAX_QUESTION_LENGTH:
        raise UsageError(sentences.format_long_question(_MAX_QUESTION_LENGTH))
    place = f"{asker.channel}:{asker.thread}"
    intake.question_queue.add_question(place, Question(asker, text, ts))
    intake.jobs.send(ANSWER_QUESTIONS, ThreadPayload(place))


def _mute_thread(intake: RequestIntake, asker: SlackRequest) -> None:
    if asker.is_direct:
        raise UsageError(sentences.NEVER_MUTED_HERE)
    intake.thread_muting.mute(asker.channel, asker.thread)
    intake.jobs.send(POST_PUBLIC_NOTICE, NoticePayload(asker, sentences.MUTED))


def _unmute_thread(intake: RequestIntake, asker: SlackRequest) -> None:
    if asker.is_direct:
        raise UsageError(sentences.NEVER_MUTED_HERE)
    intake.thread_muting.unmute(asker.channel, asker.thread)
    intake.jobs.send(POST_PUBLIC_NOTICE, NoticePayload(asker, sentences.UNMUTED))


_MUTING_HANDLERS: Mapping[str, Callable[[RequestIntake, SlackRequest], None]] = {
    "quiet": _mute_thread,
    "be quiet": _mute_thread,
    "wake": _unmute_thread,
    "wake up": _unmute_thread,
}
