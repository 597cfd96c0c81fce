"""Short messages to the user: one sentence, without anything that only an operator could use."""

from __future__ import annotations

from datetime import datetime

from bot.domain.conversations.slack_text import restore_bot_text
from bot.domain.errors import (
    ConfigurationError,
    DayUnavailable,
    DiscussionUnavailable,
    GitHubAccessDenied,
    GitHubUnavailable,
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
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.ports import Post
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import make_block, make_context, make_link, make_section, make_text
from bot.render.conversations import sentences
from bot.render.subscriptions.incidents import render_instant

# errors whose sentence is written for the user
_USER_ERRORS = (
    UsageError,
    DayUnavailable,
    DiscussionUnavailable,
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
    GitHubAccessDenied: sentences.GITHUB_DENIES,
    GitHubUnavailable: sentences.GITHUB_SILENT,
    SlackCallRefused: sentences.SLACK_DENIES,
    StoreUnavailable: sentences.BUSY,
    SlackUnavailable: sentences.SLACK_SILENT,
}
# error codes of Slack whose cause the user can remove
_USER_FIXABLE_CODES = {"not_in_channel", "channel_not_found", "is_archived", "restricted_action"}
_MAX_LENGTH = 600
_MAX_TITLE_LENGTH = 150


def render_notice(sentence: str) -> Post:
    """Render a sentence, literal."""
    line = truncate_text(collapse_lines(sentence), _MAX_LENGTH)
    return Post(escape_mrkdwn(line), (make_block(make_section([make_text(line)])),))


def render_budget_notice(resets: datetime) -> Post:
    """Render that the user gets facts alone until an instant, shown in their own time zone."""
    lead, until = sentences.BUDGET_SPENT, render_instant(resets, sentences.UNTIL)
    elements = [make_text(lead), until, make_text(".")]
    return Post(f"{lead}{until['fallback']}.", (make_block(make_section(elements)),))


def render_existing_digest(address: str) -> Post:
    """Render the address of the digest that was requested and exists; Slack returned the address."""
    lead = sentences.DIGEST_EXISTS
    elements = [make_text(lead), make_link(address, sentences.OPEN_LINK)]
    return Post(lead + address, (make_block(make_section(elements)),))


def render_ask_hint(address: str) -> Post:
    """Render how to ask about a message; ``address`` is that of the message, empty if it is not known."""
    link = [make_text(" "), make_link(address, sentences.OPEN_THREAD)] if address else []
    return Post(
        escape_mrkdwn(sentences.ASK_HINT), (make_block(make_section([make_text(sentences.ASK_HINT), *link])),)
    )


def render_earlier_answer(address: str, title: str) -> Post:
    """Render the address of the same answer in this channel; ``title`` is the text of its message."""
    lead, label = sentences.ANSWERED_ALREADY, truncate_text(restore_bot_text(title), _MAX_TITLE_LENGTH)
    elements = [make_text(lead), make_link(address, label or sentences.OPEN_LINK)]
    return Post(lead + address, (make_block(make_section(elements)),))


def add_file_note(post: Post, title: str) -> Post:
    """Return a message with a line that names the file in its thread."""
    return _add_note(post, sentences.format_file_note(_shorten_title(title)))


def add_missing_file_note(post: Post, title: str) -> Post:
    """Return a message for the asker alone, which can't have a file, with a line that says how to get it."""
    return _add_note(post, sentences.format_missing_file(_shorten_title(title)))


def render_missing_file(title: str) -> Post:
    """Render that Slack refused a file."""
    return render_notice(sentences.format_refused_file(_shorten_title(title)))


def _add_note(post: Post, note: str) -> Post:
    """Return a message with a line below the text and above the buttons."""
    place = next((at for at, block in enumerate(post.blocks) if block["type"] == "actions"), len(post.blocks))
    return Post(post.text, (*post.blocks[:place], make_context(note), *post.blocks[place:]))


def _shorten_title(title: str) -> str:
    return truncate_text(collapse_lines(title), _MAX_TITLE_LENGTH)


def render_delay(service: str, then: datetime) -> Post:
    """Render that an answer waits until a service may be called again; ``then`` is in UTC."""
    lead = sentences.format_service_pause(service)
    instant = render_instant(then, sentences.GOING_ON)
    elements = [make_text(lead), instant, make_text(sentences.ANSWER_THEN)]
    return Post(lead + sentences.format_next_call(then), (make_block(make_section(elements)),))


def render_error(error: Exception, reference: str) -> Post:
    """Render an error in words for the user, with the reference that is in the log too."""
    return render_notice(describe_error(error, reference))


def describe_error(error: Exception, reference: str) -> str:
    """Return an error as a plain sentence, with its reference unless the user can correct it."""
    line = truncate_text(collapse_lines(explain_error(error)), _MAX_LENGTH - 20)
    return line if line and is_user_mistake(error) else f"{line} [{reference}]"


def is_user_mistake(error: Exception) -> bool:
    """Return whether the user, and not an operator, can do something about an error."""
    is_fixable = isinstance(error, SlackCallRefused) and error.code in _USER_FIXABLE_CODES
    return is_fixable or (isinstance(error, _USER_MISTAKES) and not isinstance(error, ConfigurationError))


def explain_error(error: Exception) -> str:
    """Return what went wrong, without anything that only an operator could use."""
    if isinstance(error, ConfigurationError):
        return sentences.NOT_SET_UP
    if isinstance(error, SlackUnavailable) and error.retry_after:
        return sentences.format_slack_pause(error.retry_after)
    is_fixable = isinstance(error, SlackCallRefused) and error.code in _USER_FIXABLE_CODES
    if is_fixable or isinstance(error, _USER_ERRORS):
        return str(error)
    matching = (sentence for kind, sentence in _USER_SENTENCES.items() if isinstance(error, kind))
    return next(matching, sentences.DEFECT)
