"""The messages of people and the bot in a thread."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.text.redaction import redact_text
from bot.domain.text.strings import collapse_lines, truncate_text

MENTION = re.compile(r"<@(?P<user>[A-Z0-9]+)(?:\|[^<>]*)?>")
_GROUP_MENTION = re.compile(r"<!(?:subteam\^[A-Z0-9]+|here|channel|everyone)(?:\|[^<>]*)?>")
_EMOJI = re.compile(r":[\w+'-]+:(?::skin-tone-\d:)?|[\d#*]\ufe0f?\u20e3|\u2139|[:;=]-?[DPdp)(]|<3")
_ACKNOWLEDGEMENT = (
    r"(?:thank(?:s| you)?(?: (?:so|very) much| a (?:lot|bunch)| again)?|many thanks|thx|ty|cheers"
    r"|danke|merci|gracias"
    r"|ok(?:ay)?|k|great|nice|cool|perfect|awesome|excellent|amazing|wow|super|good (?:bot|job|catch|to know)"
    r"|got it|makes sense|noted|understood|will do|on it|done|lgtm|\+1|same|agreed?|yes|yep|yeah|no|nope|sure"
    r"|lol|(?:ha){2,9}|hm+|interesting|i see|helpful|very helpful|that helps)"
)
_THANKS_WORD = (
    r"(?:thank(?:s| you)?(?: (?:so|very) much| a (?:lot|bunch)| again)?|many thanks|thx|ty|cheers"
    r"|good (?:bot|job|catch)|great|nice|cool)"
)
# "thanks, all" is an acknowledgement, "no, all" is not
_THANKS_TO_GROUP = rf"{_THANKS_WORD}[ ,;]+(?:prdigest|bot|all|everyone|team|man|folks|guys)"
_ACKNOWLEDGEMENTS = re.compile(
    rf"{_ACKNOWLEDGEMENT}(?:[ ,;]+{_ACKNOWLEDGEMENT})*|(?:{_ACKNOWLEDGEMENT}[ ,;]+)*{_THANKS_TO_GROUP}", re.I
)
_SENTENCE_BREAK = re.compile(r"[.!\n…()]+|[^\w\s'+,;]{1,4}")
_MAX_REMARK_LENGTH = 80
# characters of a thread's memory: some twenty questions with their answers
MAX_MEMORY_LENGTH = 40_000
_TRIMMED_MEMORY_LENGTH = 25_000
_MAX_OLD_QUESTION_LENGTH, _MAX_OLD_ANSWER_LENGTH = 300, 500


def is_remark(text: str) -> bool:
    """Return whether a reply needs no answer: thanks, an acknowledgement, emoji alone, or nothing at all."""
    words = html.unescape(_EMOJI.sub(" ", html.unescape(MENTION.sub(" ", text))))
    if any(sign in words for sign in "?？؟"):  # noqa: RUF001 (also as it is typed in Chinese and Arabic)
        return False
    if not any(unicodedata.category(char)[0] in "LN" for char in words):
        return True
    parts = (part.strip(" -~,;") for part in _SENTENCE_BREAK.split(words))
    return len(words) <= _MAX_REMARK_LENGTH and all(_ACKNOWLEDGEMENTS.fullmatch(part) for part in parts if part)


def is_for_others(text: str, bot: str) -> bool:
    """Return whether a reply is for colleagues: it begins with a mention, and does not mention the bot."""
    first_mention = MENTION.match(text.lstrip()) or _GROUP_MENTION.match(text.lstrip())
    return bool(first_mention) and bot not in [match["user"] for match in MENTION.finditer(text)]


@dataclass(frozen=True, slots=True)
class RememberedMessage:
    """A message of a thread. ``is_short``: only its beginning is kept."""

    by: Literal["person", "bot"]
    text: str
    is_short: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A question in a thread. ``ts`` is Slack's timestamp, by which questions are ordered."""

    visit: SlackRequest
    text: str
    ts: str


@dataclass(frozen=True, slots=True)
class ThreadMemory:
    """The memory of a thread: its subject, and its messages, oldest first.

    ``answered`` is the key of the last question, so that one whose answer is finished twice is added once.
    """

    about: str
    messages: tuple[RememberedMessage, ...] = ()
    answered: str = ""

    def add_answer(self, question: Question, answer: str) -> ThreadMemory:
        """Return the memory with one more question and its answer."""
        if question.visit.key == self.answered:
            return self
        memory = self.add_messages(RememberedMessage("person", question.text), RememberedMessage("bot", answer))
        return replace(memory, answered=question.visit.key)

    def add_messages(self, *new_messages: RememberedMessage) -> ThreadMemory:
        """Return the memory with more messages. If it is too long, shorten the older half, then drop the oldest.

        It is shortened by a lot at once, because an unchanged beginning is what the model's prompt cache can
        use. Text that looks like a credential, typed by mistake, is redacted.
        """
        messages = (*self.messages, *(replace(each, text=redact_text(each.text)) for each in new_messages))
        if _count_characters(messages) > MAX_MEMORY_LENGTH:
            half = len(messages) // 2
            messages = (*(_shorten_message(each) for each in messages[:half]), *messages[half:])
        if _count_characters(messages) > MAX_MEMORY_LENGTH:
            while len(messages) > 2 and _count_characters(messages) > _TRIMMED_MEMORY_LENGTH:
                messages = messages[2:]
        return replace(self, messages=messages)


def _count_characters(messages: Iterable[RememberedMessage]) -> int:
    return sum(len(each.text) for each in messages)


def _shorten_message(message: RememberedMessage) -> RememberedMessage:
    limit = _MAX_OLD_QUESTION_LENGTH if message.by == "person" else _MAX_OLD_ANSWER_LENGTH
    if len(message.text) <= limit:
        return message
    return RememberedMessage(message.by, truncate_text(collapse_lines(message.text), limit), is_short=True)
