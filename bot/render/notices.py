"""Short messages to the one who asked: one sentence, never what only an operator could use."""

from __future__ import annotations

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
    StoreUnavailable,
    UsageError,
)
from bot.domain.texts import one_line, shorten
from bot.ports import Post
from bot.render.mrkdwn import escape
from bot.render.rich import block, link, section, text

BUSY = "I can't take this down right now: try again in a minute."
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
}
# refusals of Slack that the asker can mend
_MENDED_BY_ASKERS = {"not_in_channel", "channel_not_found", "is_archived", "restricted_action"}
_LIMIT = 600


def notice(sentence: str) -> Post:
    """A sentence, literal."""
    said = shorten(one_line(sentence), _LIMIT)
    return Post(escape(said), (block(section([text(said)])),))


def already_there(address: str) -> Post:
    """Where the digest that was asked for stands; Slack gave the address."""
    said = "That digest is already here: "
    return Post(said + address, (block(section([text(said), link(address, "open it")])),))


def regret(error: Exception, reference: str) -> Post:
    """What went wrong, in words for the one who asked, with the reference that the log carries too."""
    return notice(in_words(error, reference))


def in_words(error: Exception, reference: str) -> str:
    """The same as a plain sentence. A day that nobody can have is no failure to look up."""
    said = shorten(one_line(sentence(error)), _LIMIT - 20)
    return said if isinstance(error, DayUnavailable) else f"{said} [{reference}]"


def sentence(error: Exception) -> str:
    """What went wrong, without what only an operator could use."""
    if isinstance(error, NotSetUp):
        return _NOT_SET_UP
    mendable = isinstance(error, SlackRefused) and error.code in _MENDED_BY_ASKERS
    if mendable or isinstance(error, _FOR_ASKERS):
        return str(error)
    return next((said for kind, said in _IN_OTHER_WORDS.items() if isinstance(error, kind)), _DEFECT)
