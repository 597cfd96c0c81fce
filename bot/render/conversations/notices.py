"""Short messages to the user: one sentence, without anything that only an operator could use."""

from __future__ import annotations

import math
from datetime import datetime

from bot.domain.errors import (
    ConfigurationError,
    DayUnavailable,
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
from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from bot.ports import Post
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import make_block, make_link, make_section, make_text
from bot.render.subscriptions.incidents import render_instant

BUSY = "I can't take this down right now: try again in a minute."
GAVE_UP = "I tried that several times and gave up: ask again in a few minutes."
SET_ASIDE = (
    "I broke down three times while I worked on that, so I have set it aside: ask for something smaller, or give"
    " the reference to whoever runs me."
)
_DEFECT_SENTENCE = (
    "Something went wrong on my side: try again, and if it stays so, give the reference to whoever runs me."
)
_NOT_SET_UP_SENTENCE = "I am not set up for that: give the reference to whoever runs me."
# errors whose sentence is written for the user
_USER_ERRORS = (
    *(
        UsageError,
        DayUnavailable,
        PullRequestNotFound,
        RepositoryNotFound,
        RateLimited,
        PostingInProgress,
        TimeLimitExceeded,
    ),
)
# the errors' own sentences name settings and addresses, which belong in the log
_USER_SENTENCES: dict[type[PrdigestError], str] = {
    GitHubAccessDenied: "GitHub does not let me read that: ask whoever runs me to look at the token.",
    GitHubUnavailable: "GitHub does not answer me right now: try again in a few minutes.",
    SlackCallRefused: "Slack does not let me do that: ask whoever runs me to look at my permissions.",
    StoreUnavailable: BUSY,
    SlackUnavailable: "Slack does not answer me right now: try again in a few minutes.",
}
# error codes of Slack whose cause the user can remove
_USER_FIXABLE_CODES = {"not_in_channel", "channel_not_found", "is_archived", "restricted_action"}
_MAX_LENGTH = 600


def render_notice(sentence: str) -> Post:
    """Render a sentence, literal."""
    line = truncate_text(collapse_lines(sentence), _MAX_LENGTH)
    return Post(escape_mrkdwn(line), (make_block(make_section([make_text(line)])),))


def render_budget_notice(resets: datetime) -> Post:
    """Render that the user gets facts alone until an instant, shown in their own time zone."""
    lead = "You have used up your budget for today: what nobody has asked for before comes as facts alone "
    until = render_instant(resets, "until ")
    return Post(
        f"{lead}{until['fallback']}.", (make_block(make_section([make_text(lead), until, make_text(".")])),)
    )


def render_existing_digest(address: str) -> Post:
    """Render the address of the digest that was requested and exists; Slack returned the address."""
    lead = "That digest is already here: "
    return Post(lead + address, (make_block(make_section([make_text(lead), make_link(address, "open it")])),))


def render_delay(service: str, then: datetime) -> Post:
    """Render that an answer waits until a service may be called again, at an instant (aware)."""
    lead = f"{service} asks me to wait. "
    elements = [make_text(lead), render_instant(then, "I go on "), make_text(" and answer then.")]
    return Post(f"{lead}I go on at {then:%H:%M} UTC and answer then.", (make_block(make_section(elements)),))


def render_error(error: Exception, reference: str) -> Post:
    """Render an error in words for the user, with the reference that is in the log too."""
    return render_notice(describe_error(error, reference))


def describe_error(error: Exception, reference: str) -> str:
    """Return an error as a plain sentence with its reference; a day that is unavailable needs none."""
    line = truncate_text(collapse_lines(explain_error(error)), _MAX_LENGTH - 20)
    return line if isinstance(error, DayUnavailable) else f"{line} [{reference}]"


def explain_error(error: Exception) -> str:
    """Return what went wrong, without anything that only an operator could use."""
    if isinstance(error, ConfigurationError):
        return _NOT_SET_UP_SENTENCE
    if isinstance(error, SlackUnavailable) and error.retry_after:
        return f"Slack asks me to wait: try again in {format_count(math.ceil(error.retry_after / 60), 'minute')}."
    mendable = isinstance(error, SlackCallRefused) and error.code in _USER_FIXABLE_CODES
    if mendable or isinstance(error, _USER_ERRORS):
        return str(error)
    return next(
        (wording for kind, wording in _USER_SENTENCES.items() if isinstance(error, kind)), _DEFECT_SENTENCE
    )
