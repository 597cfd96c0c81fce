"""What the bot says of itself: when it is greeted, when it comes somewhere, and when somebody asks for help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.pull_requests.models import Repository
from bot.ports import Post
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import Element, make_block, make_bullets, make_section, make_text


class Greeting(StrEnum):
    """Why the bot speaks of itself."""

    HELLO = "hello"
    """Somebody greeted it, wrote its name alone, or came to its direct messages for the first time."""
    INVITED = "invited"
    """Somebody brought it into a channel."""
    HELP = "help"
    """Somebody wants to know all that it does."""


@dataclass(frozen=True, slots=True)
class HelpExample:
    """What to type to the bot, and what comes of it.

    ``brief`` says it to who does not know the bot yet; without it, only the help has the example.
    """

    input_text: str
    meaning: str
    brief: str = ""


_QUESTION_MEANING = "a question, in your own words"
_FIRST_EXAMPLE = ("what changed in the scheduler this week?", _QUESTION_MEANING)
_QUESTION_EXAMPLE = ("which of these touch ROCm?", _QUESTION_MEANING)
_QUIET_EXAMPLE = ("quiet", "in a thread: I answer there only when you mention me, until you write wake")
_INTRODUCTION = "I read the pull requests merged into "
_MENTION_HINT = "In a channel, begin with my name: "
_HELP_WORD = "help"


def render_greeting(why: Greeting, repository: Repository, commands: Sequence[HelpExample]) -> Post:
    """A few sentences with things to type, about the repository that the bot speaks of by default.

    ``commands`` are the examples of the commands.
    """
    if why is Greeting.HELP:
        known = [_QUESTION_EXAMPLE, *((each.input_text, each.meaning) for each in commands), _QUIET_EXAMPLE]
        return _build_post(
            "Ask me anything about the pull requests of ",
            repository,
            "What I understand:",
            known,
            _render_private_hint(),
        )
    hello = "Thanks for inviting me. " if why is Greeting.INVITED else "Hello, I am prdigest. "
    first = [_FIRST_EXAMPLE, *((each.input_text, each.brief) for each in commands if each.brief)]
    return _build_post(f"{hello}{_INTRODUCTION}", repository, "Try one of these:", first, _render_help_hint())


def _build_post(
    before: str,
    repository: Repository,
    after: str,
    examples: Sequence[tuple[str, str]],
    last: Sequence[Element],
) -> Post:
    first = [make_text(before), make_text(str(repository), bold=True), make_text(f". {after}")]
    listed = [[make_text(typed, code=True), make_text(f" \u2013 {meaning}")] for typed, meaning in examples]
    lines = [_join_texts(first), *(f"\u2022 {_join_texts(each)}" for each in listed), _join_texts(last)]
    return Post(
        escape_mrkdwn("\n".join(lines)),
        (make_block(make_section(first), make_bullets(listed), make_section(last)),),
    )


def _render_private_hint() -> list[Element]:
    return [
        make_text("Add "),
        make_text("private", code=True),
        make_text(" to keep an answer to yourself. "),
        *_render_mention("35617"),
    ]


def _render_help_hint() -> list[Element]:
    return [
        *_render_mention("risks 7d"),
        make_text(". All that I do: "),
        make_text(_HELP_WORD, code=True),
        make_text("."),
    ]


def _render_mention(example: str) -> list[Element]:
    return [make_text(_MENTION_HINT), make_text(f"@prdigest {example}", code=True)]


def _join_texts(elements: Sequence[Element]) -> str:
    return "".join(str(each["text"]) for each in elements)
