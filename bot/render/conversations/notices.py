"""Short messages to the user: one sentence, without anything that only an operator could use."""

from __future__ import annotations

import math
from datetime import datetime

from bot.domain.errors import (
    DayUnavailable,
    GitHubRefused,
    GitHubUnavailable,
    InProgress,
    NotSetUp,
    OutOfTime,
    PrdigestError,
    PullRequestNotFound,
    RateLimited,
    RepositoryNotFound,
    SlackRefused,
    SlackUnavailable,
    StoreUnavailable,
    UsageError,
)
from bot.domain.text.strings import one_line, plural, shorten
from bot.ports import Post
from bot.render.blocks.mrkdwn import escape
from bot.render.blocks.rich_text import block, link, section, text
from bot.render.subscriptions.incidents import moment

BUSY = "I can't take this down right now: try again in a minute."
GAVE_UP = "I tried that several times and gave up: ask again in a few minutes."
SET_ASIDE = (
    "I broke down three times while I worked on that, so I have set it aside: ask for something smaller, or give"
    " the reference to whoever runs me."
)
_DEFECT = "Something went wrong on my side: try again, and if it stays so, give the reference to whoever runs me."
_NOT_SET_UP = "I am not set up for that: give the reference to whoever runs me."
# errors whose sentence is written for the user
_FOR_ASKERS = (
    *(UsageError, DayUnavailable, PullRequestNotFound, RepositoryNotFound, RateLimited, InProgress, OutOfTime),
)
# the errors' own sentences name settings and addresses, which belong in the log
_IN_OTHER_WORDS: dict[type[PrdigestError], str] = {
    GitHubRefused: "GitHub does not let me read that: ask whoever runs me to look at the token.",
    GitHubUnavailable: "GitHub does not answer me right now: try again in a few minutes.",
    SlackRefused: "Slack does not let me do that: ask whoever runs me to look at my permissions.",
    StoreUnavailable: BUSY,
    SlackUnavailable: "Slack does not answer me right now: try again in a few minutes.",
}
# error codes of Slack whose cause the user can remove
_MENDED_BY_ASKERS = {"not_in_channel", "channel_not_found", "is_archived", "restricted_action"}
_LIMIT = 600


def notice(sentence: str) -> Post:
    """Render a sentence, literal."""
    line = shorten(one_line(sentence), _LIMIT)
    return Post(escape(line), (block(section([text(line)])),))


def budget_notice(resets: datetime) -> Post:
    """Render that the user gets facts alone until an instant, shown in their own time zone."""
    lead = "You have used up your budget for today: what nobody has asked for before comes as facts alone "
    until = moment(resets, "until ")
    return Post(f"{lead}{until['fallback']}.", (block(section([text(lead), until, text(".")])),))


def already_there(address: str) -> Post:
    """Render the address of the digest that was requested and exists; Slack returned the address."""
    lead = "That digest is already here: "
    return Post(lead + address, (block(section([text(lead), link(address, "open it")])),))


def later(service: str, then: datetime) -> Post:
    """Render that an answer waits until a service may be called again, at an instant (aware)."""
    lead = f"{service} asks me to wait. "
    elements = [text(lead), moment(then, "I go on "), text(" and answer then.")]
    return Post(f"{lead}I go on at {then:%H:%M} UTC and answer then.", (block(section(elements)),))


def regret(error: Exception, reference: str) -> Post:
    """Render an error in words for the user, with the reference that is in the log too."""
    return notice(describe_error(error, reference))


def describe_error(error: Exception, reference: str) -> str:
    """Return an error as a plain sentence with its reference; a day that is unavailable needs none."""
    line = shorten(one_line(sentence(error)), _LIMIT - 20)
    return line if isinstance(error, DayUnavailable) else f"{line} [{reference}]"


def sentence(error: Exception) -> str:
    """Return what went wrong, without anything that only an operator could use."""
    if isinstance(error, NotSetUp):
        return _NOT_SET_UP
    if isinstance(error, SlackUnavailable) and error.retry_after:
        return f"Slack asks me to wait: try again in {plural(math.ceil(error.retry_after / 60), 'minute')}."
    mendable = isinstance(error, SlackRefused) and error.code in _MENDED_BY_ASKERS
    if mendable or isinstance(error, _FOR_ASKERS):
        return str(error)
    return next((wording for kind, wording in _IN_OTHER_WORDS.items() if isinstance(error, kind)), _DEFECT)
