"""Messages of the bot about itself: to a greeting, in a channel that it joins, and as help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.pull_requests.models import Repository
from bot.ports import Post
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import Element, make_block, make_bullets, make_section, make_text
from bot.render.conversations import sentences


class Greeting(StrEnum):
    """The reason for a message of the bot about itself."""

    HELLO = "hello"
    """A user greeted it, wrote only its name, or opened its direct messages for the first time."""
    INVITED = "invited"
    """A user invited it to a channel."""
    HELP = "help"
    """A user asked for all that it does."""


@dataclass(frozen=True, slots=True)
class HelpExample:
    """A text to type to the bot, and its effect.

    ``brief`` is the effect in words for users who do not know the bot yet; an example without it stands in the
    help alone.
    """

    input_text: str
    meaning: str
    brief: str = ""


_GREETING_EXAMPLE = (sentences.GREETING_QUESTION, sentences.QUESTION_MEANING)
_HELP_EXAMPLE = (sentences.HELP_QUESTION, sentences.QUESTION_MEANING)
_QUIET_EXAMPLE = ("quiet", sentences.QUIET_MEANING)
_HELP_WORD = "help"


def render_greeting(why: Greeting, repository: Repository, commands: Sequence[HelpExample]) -> Post:
    """Render a few sentences with things to type, about the repository that the bot uses by default.

    ``commands`` are the examples of the commands.
    """
    if why is Greeting.HELP:
        examples = [_HELP_EXAMPLE, *((each.input_text, each.meaning) for each in commands), _QUIET_EXAMPLE]
        after = sentences.WHAT_I_UNDERSTAND
        return _build_post(sentences.ASK_ANYTHING, repository, after, examples, _render_private_hint())
    before = (sentences.THANKS if why is Greeting.INVITED else sentences.HELLO) + sentences.INTRODUCTION
    first = [_GREETING_EXAMPLE, *((each.input_text, each.brief) for each in commands if each.brief)]
    return _build_post(before, repository, sentences.TRY_ONE, first, _render_help_hint())


def _build_post(
    before: str,
    repository: Repository,
    after: str,
    examples: Sequence[tuple[str, str]],
    last: Sequence[Element],
) -> Post:
    """Build the message: a sentence with the repository in its middle, the examples, and the hint at the end."""
    first = [make_text(before), make_text(str(repository), bold=True), make_text(f". {after}")]
    listed = [[make_text(typed, code=True), make_text(f" \u2013 {meaning}")] for typed, meaning in examples]
    lines = [_join_texts(first), *(f"\u2022 {_join_texts(each)}" for each in listed), _join_texts(last)]
    return Post(
        escape_mrkdwn("\n".join(lines)),
        (make_block(make_section(first), make_bullets(listed), make_section(last)),),
    )


def _render_private_hint() -> list[Element]:
    """Return how to get an answer that nobody else sees."""
    return [
        make_text(sentences.PRIVATE_BEFORE),
        make_text("private", code=True),
        make_text(sentences.PRIVATE_AFTER),
        *_render_mention("35617"),
    ]


def _render_help_hint() -> list[Element]:
    """Return how to get the help."""
    return [
        *_render_mention("risks 7d"),
        make_text(sentences.HELP_BEFORE),
        make_text(_HELP_WORD, code=True),
        make_text(sentences.HELP_AFTER),
    ]


def _render_mention(example: str) -> list[Element]:
    """Return how to write to the bot in a channel."""
    return [make_text(sentences.MENTION_HINT), make_text(sentences.format_mention(example), code=True)]


def _join_texts(elements: Sequence[Element]) -> str:
    """Return the elements as text."""
    return "".join(str(each["text"]) for each in elements)
