"""What people write to the bot in messages: commands, a word to silence it, or a question."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict

from bot.domain.errors import UsageError
from bot.domain.options import PRIVATE
from bot.domain.talk import Question, is_remark
from bot.domain.visits import Visit
from handlers import prdigest, prrisks, prsummary, regular
from handlers.desk import Accept, Desk

USAGE = (
    "Ask me in your own words, here or in any thread of mine: which of these touch ROCm? does #35617 change a "
    "default? Or write my name and a number for a summary (35617), risks 7d for what may hurt, risks score for "
    "how good such lists were, digest 7d for an overview; add private to keep those to yourself. subscribe at "
    "09:00 makes a digest come every day. quiet silences me in a thread, wake wakes me."
)
_QUIET = (
    "I am quiet in this thread now. Mention me and I answer that one message; mention me with the word wake and I "
    "answer every reply again."
)
_AWAKE = "I answer every reply in this thread again; mention me with the word quiet to silence me."
_ALONE = "Here we are alone, so I always answer: no need to silence or wake me."

_GREETINGS = ("help", "hello", "hello there", "hi", "hey")
_LONGEST = 4_000
_MOST_WORDS = 3
_REFERENCE = re.compile(r"(?:[\w.-]+/[\w.-]+)?#?\d{1,9}|https?://\S+/pull/\d+\S*")
_OPTION = re.compile(r"\b(?:repo|path|author|not-author|label|only|top|tz):\S")
_KINDS: dict[str, Accept] = {
    "summary": prsummary.accept,
    "prsummary": prsummary.accept,
    "risks": prrisks.accept,
    "prrisks": prrisks.accept,
    "digest": prdigest.accept,
    "prdigest": prdigest.accept,
}


def accept(desk: Desk, visit: Visit, text: str, ts: str) -> None:
    """Put what somebody wrote on its queue. ``ts`` is Slack's time of the message.

    Raises UsageError, StoreUnavailable.
    """
    if is_remark(text) and text:
        return
    name, *rest = text.split(maxsplit=1) or [""]
    words = "".join(rest)
    if not text or text.lower().strip(" ?!.") in _GREETINGS:
        raise UsageError(USAGE)
    if turn := _TURNS.get(text.lower().strip(" .!")):
        turn(desk, visit)
    elif regular.is_spoken(name, words):
        regular.accept(desk, visit, name, words)
    elif command := _command(name, words, text):
        command(desk, visit, words if name.lower() in _KINDS else text)
    else:
        _ask(desk, visit, text, ts)


def _command(name: str, words: str, text: str) -> Accept | None:
    """The command that this is; a sentence that only begins like one is a question."""
    named = [word for word in re.split(r"[\s,]+", text) if word and word.lower() != PRIVATE]
    if named and all(map(_REFERENCE.fullmatch, named)):
        return prsummary.accept
    is_sentence = "?" in words or (len(words.split()) > _MOST_WORDS and not _OPTION.search(words))
    return None if is_sentence else _KINDS.get(name.lower())


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
