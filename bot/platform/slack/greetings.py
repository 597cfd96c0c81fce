from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.platform.slack.blocks import Element, escape_mrkdwn, make_block, make_bullets, make_section, make_text
from bot.platform.slack.messages import Post
from bot.platform.slack.notices import GREETING_QUESTION, HELP_QUESTION
from impact.repository import Repository


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
    """A text to type and its effect; ``brief`` is for newcomers, without it the example is in the help alone."""

    input_text: str
    meaning: str
    brief: str = ""


_QUESTION_MEANING = "a question, in your own words"
_QUIET_EXAMPLE = ("quiet", "in a thread: I answer only when you mention me, until you write wake")
_MENTION_HINT = "In a channel, mention me first: "


def render_greeting(why: Greeting, repository: Repository, commands: Sequence[HelpExample]) -> Post:
    """Render a few sentences with things to type: examples of the commands, for the default repository."""
    if why is Greeting.HELP:
        before, after = "Ask me anything about the pull requests of ", "What I understand:"
        listed = [(each.input_text, each.meaning) for each in commands]
        examples = [(HELP_QUESTION, _QUESTION_MEANING), *listed, _QUIET_EXAMPLE]
        last = [
            make_text("Add "),
            make_text("private", code=True),
            make_text(f" to keep an answer to yourself. {_MENTION_HINT}"),
            make_text("@prdigest 35617", code=True),
        ]
    else:
        hello = "Thanks for inviting me. " if why is Greeting.INVITED else "Hello, I'm prdigest. "
        before, after = f"{hello}I read the pull requests merged into ", "Try one of these:"
        listed = [(each.input_text, each.brief) for each in commands if each.brief]
        examples = [(GREETING_QUESTION, _QUESTION_MEANING), *listed]
        last = [
            make_text(_MENTION_HINT),
            make_text("@prdigest risks 7d", code=True),
            make_text(". For all commands: "),
            make_text("help", code=True),
            make_text("."),
        ]
    first = [make_text(before), make_text(str(repository), bold=True), make_text(f". {after}")]
    bullets = [[make_text(typed, code=True), make_text(f" \u2013 {meaning}")] for typed, meaning in examples]
    lines = [_join_texts(first), *(f"\u2022 {_join_texts(each)}" for each in bullets), _join_texts(last)]
    block = make_block(make_section(first), make_bullets(bullets), make_section(last))
    return Post(escape_mrkdwn("\n".join(lines)), (block,))


def _join_texts(elements: Sequence[Element]) -> str:
    return "".join(str(each["text"]) for each in elements)
