"""Access control: people of the bot's own workspace may ask, others only if the settings allow it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.keyspace.names import build_links_rate, build_person_name
from bot.ports import RateLimiter
from bot.render.conversations import sentences


@dataclass(frozen=True, slots=True)
class AccessRules:
    """Ids from Slack of those who may ask. An empty set of channels or users allows all.

    ``workspaces`` are those whose people may ask, the bot's own among them, or ids of whole organisations.
    """

    workspaces: frozenset[str]
    channels: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()


class AccessControl:
    """Access control of requests from Slack."""

    def __init__(self, rules: AccessRules, limiter: RateLimiter) -> None:
        self._rules = rules
        self._limiter = limiter

    def explain_refusal(self, slack_request: SlackRequest) -> str:
        """Return why the user gets no answer, as a sentence for them; empty if they may ask.

        Raises:
            StoreUnavailable: the number of their requests is unknown.
        """
        exclusion = self.explain_exclusion(slack_request)
        name = build_person_name(slack_request.team, slack_request.user)
        return exclusion or ("" if self._limiter.try_acquire(name) else sentences.TOO_FAST)

    def may_post_links(self, slack_request: SlackRequest) -> bool:
        """Return whether links of a user get previews. They are counted apart from what people ask for.

        Raises:
            StoreUnavailable: their number is unknown.
        """
        name = build_links_rate(slack_request.team, slack_request.user)
        return not self.explain_exclusion(slack_request) and self._limiter.try_acquire(name)

    def explain_exclusion(self, slack_request: SlackRequest) -> str:
        """Return why the user may never ask here, as a sentence for them; empty if they may.

        Rate limits do not count here.
        """
        rules = self._rules
        if rules.workspaces.isdisjoint((slack_request.team, slack_request.enterprise)):
            return sentences.OTHER_WORKSPACE
        # App Home is no channel; changes made there are checked for the channel of the subscription
        if slack_request.channel and not _is_listed(rules.channels, slack_request.channel):
            return sentences.OTHER_CHANNEL
        if not _is_listed(rules.users, slack_request.user):
            return sentences.NOT_ALLOWED
        return ""


def _is_listed(listed: Iterable[str], slack_id: str) -> bool:
    """Return whether a list holds an id. An empty list holds all."""
    ids = frozenset(listed)
    return not ids or slack_id in ids
