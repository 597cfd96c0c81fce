"""Who may ask: people of the bot's own workspace, others only if the settings allow it. And who was welcomed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.platform.costs import RateLimiter
from bot.platform.slack.notices import TOO_FAST
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.keys import build_links_rate, build_person_name
from bot.platform.store.tables import Table


@dataclass(frozen=True, slots=True)
class Welcome:
    """That somebody was greeted in direct messages, and when (aware): nobody is greeted twice."""

    at: datetime


WELCOMES = Table("welcomed:{user}", Welcome, "that somebody was welcomed")


@dataclass(frozen=True, slots=True)
class AccessRules:
    """Ids from Slack of those who may ask. An empty set of channels or users allows all.

    ``workspaces`` are those whose people may ask, the bot's own among them, or ids of whole organizations.
    """

    workspaces: frozenset[str]
    channels: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()


class AccessControl:
    """Access control of requests from Slack. Methods with a rate limit may raise StoreUnavailable."""

    def __init__(self, rules: AccessRules, limiter: RateLimiter) -> None:
        self._rules = rules
        self._limiter = limiter

    def explain_refusal(self, slack_request: SlackRequest) -> str:
        """Return why the user gets no answer, as a sentence for them; empty if they may ask."""
        exclusion = self.explain_early(slack_request)
        name = build_person_name(slack_request.team, slack_request.user)
        is_admitted = not exclusion and self._limiter.try_acquire(name)
        return exclusion or ("" if is_admitted else TOO_FAST)

    def may_post_links(self, slack_request: SlackRequest) -> bool:
        """Return whether links of a user get previews. They are counted apart from what people ask for."""
        name = build_links_rate(slack_request.team, slack_request.user)
        return not self.explain_early(slack_request) and self._limiter.try_acquire(name)

    def explain_early(self, slack_request: SlackRequest) -> str:
        """Return the same as ``explain_exclusion``, as far as the request says who its user is.

        Where it names no workspace, the worker looks that up before it does anything (``App.identify``).
        """
        return (self.explain_exclusion if slack_request.team else self._explain_place)(slack_request)

    def explain_exclusion(self, slack_request: SlackRequest) -> str:
        """Return why the user may never ask, empty if they may. An unknown workspace is none of those that may."""
        if self._rules.workspaces.isdisjoint((slack_request.team, slack_request.enterprise)):
            return "I only answer people of my own workspace: ask the bot's admin to allow yours."
        return self._explain_place(slack_request)

    def _explain_place(self, slack_request: SlackRequest) -> str:
        rules = self._rules
        # App Home is no channel; changes made there are checked for the channel of the subscription
        if slack_request.channel and rules.channels and slack_request.channel not in rules.channels:
            return "I don't answer in this channel: use another one, or ask the bot's admin."
        if rules.users and slack_request.user not in rules.users:
            return "I'm not allowed to answer you: ask the bot's admin."
        return ""
