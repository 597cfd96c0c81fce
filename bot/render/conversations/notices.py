"""Short messages to the one who asked: one sentence, never what only an operator could use."""

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
# errors whose sentence speaks to the one who asked
_FOR_ASKERS = (
    *(UsageError, DayUnavailable, PullRequestNotFound, RepositoryNotFound, RateLimited, InProgress, OutOfTime),
)
# the sentences of these name settings and addresses; the log has them
_IN_OTHER_WORDS: dict[type[PrdigestError], str] = {
    GitHubRefused: "GitHub does not let me read that: ask whoever runs me to look at the token.",
    GitHubUnavailable: "GitHub does not answer me right now: try again in a few minutes.",
    SlackRefused: "Slack does not let me do that: ask whoever runs me to look at my permissions.",
    StoreUnavailable: BUSY,
    SlackUnavailable: "Slack does not answer me right now: try again in a few minutes.",
}
# refusals of Slack that the asker can mend
_MENDED_BY_ASKERS = {"not_in_channel", "channel_not_found", "is_archived", "restricted_action"}
_LIMIT = 600


def notice(sentence: str) -> Post:
    """A sentence, literal."""
    said = shorten(one_line(sentence), _LIMIT)
    return Post(escape(said), (block(section([text(said)])),))


def budget_notice(resets: datetime) -> Post:
    """That somebody gets facts alone until then, as their own clock shows it."""
    said = "You have used up your budget for today: what nobody has asked for before comes as facts alone "
    until = moment(resets, "until ")
    return Post(f"{said}{until['fallback']}.", (block(section([text(said), until, text(".")])),))


def already_there(address: str) -> Post:
    """Where the digest that was asked for stands; Slack gave the address."""
    said = "That digest is already here: "
    return Post(said + address, (block(section([text(said), link(address, "open it")])),))


def later(service: str, then: datetime) -> Post:
    """That an answer has to wait until a service may be asked again, at an instant (aware)."""
    asks = f"{service} asks me to wait. "
    said = [text(asks), moment(then, "I go on "), text(" and answer then.")]
    return Post(f"{asks}I go on at {then:%H:%M} UTC and answer then.", (block(section(said)),))


def regret(error: Exception, reference: str) -> Post:
    """What went wrong, in words for the one who asked, with the reference that the log carries too."""
    return notice(describe_error(error, reference))


def describe_error(error: Exception, reference: str) -> str:
    """The same as a plain sentence. A day that nobody can have is no failure to look up."""
    said = shorten(one_line(sentence(error)), _LIMIT - 20)
    return said if isinstance(error, DayUnavailable) else f"{said} [{reference}]"


def sentence(error: Exception) -> str:
    """What went wrong, without what only an operator could use."""
    if isinstance(error, NotSetUp):
        return _NOT_SET_UP
    if isinstance(error, SlackUnavailable) and error.retry_after:
        return f"Slack asks me to wait: try again in {plural(math.ceil(error.retry_after / 60), 'minute')}."
    mendable = isinstance(error, SlackRefused) and error.code in _MENDED_BY_ASKERS
    if mendable or isinstance(error, _FOR_ASKERS):
        return str(error)
    return next((said for kind, said in _IN_OTHER_WORDS.items() if isinstance(error, kind)), _DEFECT)
