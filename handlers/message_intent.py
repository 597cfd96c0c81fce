"""What people write to the bot in messages: commands, a word to silence it, or a question."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from functools import partial

from bot.domain.conversations.slack_request import Visit
from bot.domain.conversations.thread import Question, is_remark
from bot.domain.errors import UsageError
from bot.domain.pull_requests.query_options import PRIVATE
from bot.domain.subscriptions.request import ID
from bot.render.conversations.greetings import Greeting
from bot.services.subscriptions.subscription_commands import SUBSCRIBE
from handlers.commands import digest, risks, subscriptions, summary
from handlers.intake import Accept, Desk

_QUIET = (
    "I am quiet in this thread now. Mention me and I answer that one message; mention me with the word wake and I "
    "answer every reply again."
)
_AWAKE = "I answer every reply in this thread again; mention me with the word quiet to silence me."
_ALONE = "Here we are alone, so I always answer: no need to silence or wake me."

_HELLOS = frozenset(
    f"{word}{rest}" for word in ("hello", "hi", "hey", "good morning", "good afternoon") for rest in ("", " there")
)
_HELP = "help"
_LONGEST = 4_000
_REFERENCE = re.compile(r"(?:[\w.-]+/[\w.-]+)?#?\d{1,9}|https?://\S+/pull/\d+\S*")
OPTIONS = ("repo", "path", "author", "not-author", "label", "only", "top", "tz")
# with its value, or at the end, where the value was forgotten
_OPTION = re.compile(rf"\b(?:{'|'.join(OPTIONS)}):(?=\S|\s*$)")
# what stands behind these words of a subscription, as in "at noon"
_VALUE = re.compile(r"\b(?:at|tz|repo)\s+\S+", re.I)
_KINDS: dict[str, Accept] = {
    "summary": summary.accept,
    "prsummary": summary.accept,
    "risks": risks.accept,
    "prrisks": risks.accept,
    "digest": digest.accept,
    "prdigest": digest.accept,
}
# what stands in commands alone: dates, times, spans, addresses; a long number is more likely a pull request
_OF_COMMANDS = re.compile(
    r"(?!#?\d{4,}$)\S*[\d/:]\S*|at|tz|repo|me|mine|weekdays|daily|all|private|today|yesterday|score|am|pm", re.I
)


def accept(desk: Desk, visit: Visit, text: str, ts: str, *, is_named: bool) -> None:
    """Put what somebody wrote on its queue. ``ts`` is Slack's time of the message.

    What reads as a command is one; what does not is a question, unless nothing but a command can be meant.

    Raises UsageError, StoreUnavailable.
    """
    if is_remark(text) and text:
        return
    if why := _greeting(text):
        if is_named or why is Greeting.HELP:
            desk.queues.greet.send(asdict(visit), str(why))
    elif turn := _TURNS.get(text.lower().strip(" .!")):
        turn(desk, visit)
    elif not _is_done(desk, visit, text):
        _ask(desk, visit, text, ts)


def names_pulls_alone(text: str) -> bool:
    """Whether a text is nothing but pull requests, such as ``#35617, 35618 private``."""
    named = [word for word in re.split(r"[\s,]+", text) if word and word.lower() != PRIVATE]
    return bool(named) and all(map(_REFERENCE.fullmatch, named))


def _greeting(text: str) -> Greeting | None:
    said = text.lower().strip(" ?!.,")
    if said == _HELP:
        return Greeting.HELP
    return Greeting.HELLO if not text or said in _HELLOS else None


def _is_done(desk: Desk, visit: Visit, text: str) -> bool:
    """Whether the text was a command, whose work is on a queue now. Raises UsageError for one with a mistake."""
    command, words = _command(text)
    if command is None:
        return False
    try:
        command(desk, visit, words)
    except UsageError:
        if _is_unmistakable(visit, text, words):
            raise
        return False
    return True


def _command(text: str) -> tuple[Callable[[Desk, Visit, str], str] | None, str]:
    """The command that a text may be, and the words after it."""
    if names_pulls_alone(text):
        return summary.accept, text
    name, words = _split(text)
    verb, rest = _split(words)
    if _KINDS.get(name) is digest.accept and subscriptions.is_verb(verb):
        name, words = verb, rest
    if "?" in words:
        return None, words
    if subscriptions.is_verb(name):
        # an id may be a word by chance, and a word an id: "test added"
        is_word = words.isalpha() and ID.fullmatch(words.lower())
        return (None if is_word else partial(_speak, name)), words
    return _KINDS.get(name), words


def _speak(verb: str, desk: Desk, visit: Visit, words: str) -> str:
    return subscriptions.accept(desk, visit, verb, words)


def _split(text: str) -> tuple[str, str]:
    """The first word, in small letters, and the others."""
    first, *rest = text.split(maxsplit=1) or [""]
    return first.lower(), "".join(rest)


def _names_pulls(text: str, words: str) -> bool:
    """Whether pull requests are named, perhaps after the word summary."""
    is_summary = _KINDS.get(_split(text)[0]) is summary.accept
    return names_pulls_alone(words if is_summary else text)


def _is_unmistakable(visit: Visit, text: str, words: str) -> bool:
    """Whether a command with a mistake can't be meant as a question.

    In a thread people talk, so that only an option makes it one; at top level words that stand in commands alone
    do too.
    """
    if _OPTION.search(words) or _names_pulls(text, words):
        return True
    is_wish = SUBSCRIBE in text.lower().split()[:2]
    rest = _VALUE.sub(" ", words) if is_wish else words
    return not visit.existing_thread and all(map(_OF_COMMANDS.fullmatch, rest.split()))


def _ask(desk: Desk, visit: Visit, text: str, ts: str) -> None:
    if len(text) > _LONGEST:
        raise UsageError(f"That is too long for a question: use up to {_LONGEST:,} characters.")
    place = f"{visit.channel}:{visit.thread}"
    desk.line.join(place, Question(visit, text, ts))
    desk.queues.questions.send(place)


def _quiet(desk: Desk, visit: Visit) -> None:
    if visit.is_direct:
        raise UsageError(_ALONE)
    desk.attention.quiet(visit.channel, visit.thread)
    desk.queues.say.send(asdict(visit), _QUIET)


def _wake(desk: Desk, visit: Visit) -> None:
    if visit.is_direct:
        raise UsageError(_ALONE)
    desk.attention.wake(visit.channel, visit.thread)
    desk.queues.say.send(asdict(visit), _AWAKE)


_TURNS: dict[str, Callable[[Desk, Visit], None]] = {
    "quiet": _quiet,
    "be quiet": _quiet,
    "wake": _wake,
    "wake up": _wake,
}
