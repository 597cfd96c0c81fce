"""Short notices to a person: what failed, what takes long, how to ask."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from bot.errors import (
    ConfigurationError,
    DayUnavailable,
    DiscussionUnavailable,
    GitHubAccessDenied,
    GitHubUnavailable,
    PackageUnavailable,
    PostingInProgress,
    PrdigestError,
    PullRequestNotFound,
    RateLimited,
    RepositoryNotFound,
    SlackCallRefused,
    SlackUnavailable,
    StoreUnavailable,
    TimeLimitExceeded,
    UsageError,
)
from bot.platform.slack.blocks import (
    CLOSE_LABEL,
    Element,
    Post,
    escape_mrkdwn,
    make_block,
    make_bullets,
    make_context,
    make_instant,
    make_link,
    make_plain_text,
    make_section,
    make_text,
)
from bot.platform.slack.requests import restore_bot_text
from bot.platform.worker_threads import WorkProgress
from bot.text import format_count
from impact.repository import Repository
from impact.text.strings import collapse_lines, truncate_text

BUSY = "I can't accept requests right now: try again in a minute."
GAVE_UP = "I tried several times without success: ask again in a few minutes."
SET_ASIDE = (
    "That request crashed three times, so I stopped trying: ask for something smaller, or send the code to "
    "the bot's admin."
)
TOO_FAST = "Too many requests: wait a minute, then ask again."
STILL_WORKING = "I'm still working on it. I'll tell you when it's done, or if it fails."
NOT_POSTED_YET = (
    "Slack does not accept my answer right now. I'll keep trying for some minutes; ask again if it doesn't appear."
)
ASK_HINT = (
    "Reply in that message's thread, in your own words: which of these touch ROCm? does #35617 change a "
    "default? I answer there, with links to the code. You don't need to mention me."
)
# what the greeting and the help suggest to ask
GREETING_QUESTION = "what changed in the scheduler this week?"
HELP_QUESTION = "which of these touch ROCm?"


# errors whose sentence is written for the user
_USER_ERRORS = (
    UsageError,
    DayUnavailable,
    DiscussionUnavailable,
    PackageUnavailable,
    PullRequestNotFound,
    RepositoryNotFound,
    RateLimited,
    PostingInProgress,
    TimeLimitExceeded,
)
# those that the user made and can correct: the operator's log needs no reference to them
_USER_MISTAKES = (UsageError, DayUnavailable, PullRequestNotFound)
# the errors' own sentences name settings and addresses, which belong in the log
_USER_SENTENCES: dict[type[PrdigestError], str] = {
    GitHubAccessDenied: "GitHub does not let me read that: ask the bot's admin to check the GitHub token.",
    GitHubUnavailable: "GitHub is not responding: try again in a few minutes.",
    SlackCallRefused: "Slack does not let me do that: ask the bot's admin to check my permissions.",
    StoreUnavailable: BUSY,
    SlackUnavailable: "Slack is not responding: try again in a few minutes.",
}
_DEFECT = "Something went wrong on my side: try again, or send the code to the bot's admin if it keeps failing."
# error codes of Slack whose cause the user can remove
_USER_FIXABLE_CODES = {"not_in_channel", "channel_not_found", "is_archived", "restricted_action"}
_MAX_LENGTH = 600
_MAX_TITLE_LENGTH = 150


def render_notice(sentence: str) -> Post:
    """Render a sentence, literal."""
    line = truncate_text(collapse_lines(sentence), _MAX_LENGTH)
    return _build_post(escape_mrkdwn(line), make_text(line))


def render_budget_notice(resets: datetime) -> Post:
    """Render that the user gets facts alone until an instant, shown in their own time zone."""
    lead = "You have used up your budget for today. New summaries contain facts only "
    until = make_instant(resets, "until ")
    return _build_post(f"{lead}{until['fallback']}.", make_text(lead), until, make_text("."))


def render_existing_digest(address: str) -> Post:
    """Render the address of the digest that was requested and exists; Slack returned the address."""
    lead = "That digest is already here: "
    return _build_post(lead + address, make_text(lead), make_link(address, "open it"))


def render_ask_window(address: str) -> dict[str, Any]:
    """Render how to ask about a message; ``address`` is that of the message, empty if it is not known."""
    link = [make_text(" "), make_link(address, "Open the message")] if address else []
    return {
        "type": "modal",
        "title": make_plain_text("Ask about this", 24),
        "close": make_plain_text(CLOSE_LABEL, 24),
        "blocks": [make_block(make_section([make_text(ASK_HINT), *link]))],
    }


def render_earlier_answer(address: str, title: str) -> Post:
    """Render the address of the same answer in this channel; ``title`` is the text of its message."""
    lead = "This channel got the same answer within the last hour: "
    label = truncate_text(restore_bot_text(title), _MAX_TITLE_LENGTH) or "open it"
    return _build_post(lead + address, make_text(lead), make_link(address, label))


def render_delay(service: str, then: datetime) -> Post:
    """Render that an answer waits until a service may be called again; ``then`` is in UTC."""
    lead, going_on, end = f"{service} limits my rate. ", "I'll continue ", " and answer then."
    # the text is for readers without blocks: no time zone of theirs can be shown there
    text = f"{lead}{going_on}at {then:%H:%M} UTC{end}"
    return _build_post(text, make_text(lead), make_instant(then, going_on), make_text(end))


def _build_post(text: str, *elements: Element) -> Post:
    return Post(text, (make_block(make_section(elements)),))


def format_still_working(progress: WorkProgress) -> str:
    """Return that the work goes on, how far it is, and how long the rest may take."""
    if not progress.total:
        return STILL_WORKING
    place = f"Reading {progress.unit} {min(progress.done + 1, progress.total):,} of {progress.total:,}"
    seconds = progress.estimate_seconds()
    if seconds is None:
        return f"{place}."
    return f"{place}, about {format_count(math.ceil(seconds / 60) or 1, 'minute')} left."


# --- files of answers


def add_file_note(post: Post, title: str) -> Post:
    return _add_note(post, f"In the thread, as a file: {_shorten_title(title)}")


def add_missing_file_note(post: Post, title: str) -> Post:
    """Return a message for the asker alone, which can't have a file, with a line that says how to get it."""
    note = (
        f"{_shorten_title(title)}: Slack shows no file to one person alone. Share this answer in a channel that I "
        "am in, or ask in a direct message to me."
    )
    return _add_note(post, note)


def render_missing_file(title: str) -> Post:
    return render_notice(
        f"{_shorten_title(title)}: Slack refuses this file. Someone who runs this bot can give it the scope "
        "files:write."
    )


def _add_note(post: Post, note: str) -> Post:
    """Return a message with a line below the text and above the buttons."""
    place = next((at for at, block in enumerate(post.blocks) if block["type"] == "actions"), len(post.blocks))
    return Post(post.text, (*post.blocks[:place], make_context(note), *post.blocks[place:]))


def _shorten_title(title: str) -> str:
    return truncate_text(collapse_lines(title), _MAX_TITLE_LENGTH)


# --- errors


def render_error(error: Exception, reference: str) -> Post:
    return render_notice(describe_error(error, reference))


def describe_error(error: Exception, reference: str) -> str:
    """Return an error as a plain sentence, with its reference unless the user can correct it."""
    line = truncate_text(collapse_lines(explain_error(error)), _MAX_LENGTH - 20)
    return line if line and is_user_mistake(error) else f"{line} [{reference}]"


def is_user_mistake(error: Exception) -> bool:
    is_mistake = isinstance(error, _USER_MISTAKES) and not isinstance(error, ConfigurationError)
    return is_mistake or _is_fixable(error)


def explain_error(error: Exception) -> str:
    """Return what went wrong, without anything that only an operator could use."""
    if isinstance(error, ConfigurationError):
        return "I'm not set up for that: send the code to the bot's admin."
    if isinstance(error, SlackUnavailable) and error.retry_after:
        minutes = math.ceil(error.retry_after / 60)
        return f"Slack limits my rate: try again in {format_count(minutes, 'minute')}."
    if _is_fixable(error) or isinstance(error, _USER_ERRORS):
        return str(error)
    matching = (sentence for kind, sentence in _USER_SENTENCES.items() if isinstance(error, kind))
    return next(matching, _DEFECT)


def _is_fixable(error: Exception) -> bool:
    return isinstance(error, SlackCallRefused) and error.code in _USER_FIXABLE_CODES


# --- greetings


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
