"""Channels and users of Slack. All methods but two raise SlackCallRefused and SlackUnavailable."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from bot.dates import parse_zone
from bot.errors import SlackCallRefused, UsageError
from bot.platform.costs import RateLimiter
from bot.platform.slack.client import translate_slack_errors
from bot.platform.slack.messenger import SlackMessenger
from bot.platform.slack.notices import TOO_FAST
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.keys import build_links_rate, build_person_name
from bot.platform.store.tables import Table

log = logging.getLogger(__name__)

_UTC = ZoneInfo("UTC")
_PAGE_SIZE = 999  # the most that Slack returns at once
_CHANNEL_TYPES = "public_channel,private_channel,mpim"


@dataclass(frozen=True, slots=True)
class ChannelInfo:
    """Facts about a visible channel: is the bot a member, is it archived, and may everybody read it.

    ``is_external``: people of other workspaces are in it, or will be once an administrator agrees. ``user`` is
    whose direct messages it is, empty for all others.
    """

    is_member: bool
    is_archived: bool
    is_open: bool
    is_external: bool = False
    user: str = ""


@dataclass(frozen=True, slots=True)
class UserInfo:
    """Facts about a user: the workspace, and whether the user is a guest or an administrator there."""

    team: str
    is_guest: bool = False
    is_admin: bool = False


class SlackWorkspaceDirectory:
    def __init__(self, client: WebClient) -> None:
        self._client = client

    def fetch_channel(self, channel: str) -> ChannelInfo:
        with translate_slack_errors(channel):
            info = self._client.conversations_info(channel=channel)["channel"]
        is_direct = bool(info.get("is_im"))
        return ChannelInfo(
            # Slack shows group direct messages only to their members
            is_member=is_direct or bool(info.get("is_mpim") or info.get("is_member")),
            is_archived=bool(info.get("is_archived")),
            is_open=not (is_direct or info.get("is_private") or info.get("is_mpim")),
            is_external=bool(info.get("is_ext_shared") or info.get("is_pending_ext_shared")),
            user=str(info.get("user") or ""),
        )

    def open_direct_messages(self, user: str) -> str:
        return SlackMessenger(self._client).open_direct_messages(user)

    def choose_conversation(self, slack_request: SlackRequest) -> SlackRequest:
        """Return the request with a channel, else that of direct messages. Raises SlackUnavailable alone."""
        if slack_request.channel:
            return slack_request
        try:
            return replace(slack_request, channel=self.open_direct_messages(slack_request.user))
        except SlackCallRefused as error:
            log.info("no direct messages to find an answer in [%s]: %s", slack_request.reference, error)
            return slack_request

    def can_post(self, slack_request: SlackRequest) -> bool:
        """Return whether the bot is in the open conversation; False if unknown. Raises SlackUnavailable alone."""
        try:
            channel = self.fetch_channel(slack_request.channel)
        except SlackCallRefused as error:
            log.info("whether the bot is in %s is not known: %s", slack_request.channel, error)
            return False
        return channel.is_member and not channel.is_archived

    def fetch_user(self, user: str) -> UserInfo:
        """Fetch a user. Slack calls a guest of one channel ultra restricted, and a guest of several restricted."""
        info = self._fetch_info(user)
        return UserInfo(
            team=str(info.get("team_id") or ""),
            is_guest=bool(info.get("is_restricted") or info.get("is_ultra_restricted")),
            is_admin=bool(info.get("is_admin") or info.get("is_owner")),
        )

    def fetch_time_zone(self, user: str) -> ZoneInfo:
        """Fetch the time zone that a user has set in Slack; UTC if Slack names one that is unknown here."""
        try:
            return parse_zone(str(self._fetch_info(user).get("tz") or ""))
        except UsageError:
            return _UTC

    def _fetch_info(self, user: str) -> Mapping[str, Any]:
        with translate_slack_errors():
            info: Mapping[str, Any] = self._client.users_info(user=user)["user"]
        return info

    def is_channel_member(self, channel: str, user: str) -> bool:
        """Return whether a user is in a channel. This includes people of other workspaces in shared channels."""
        with translate_slack_errors(channel):
            pages = _iterate_pages(self._client.conversations_members, channel=channel)
            return any(user in page["members"] for page in pages)

    def list_channels(self, user: str) -> frozenset[str]:
        """List the channels that a user is in; those that are not public only if the bot is in them too."""
        # this takes one call for most people, however many channels exist
        with translate_slack_errors():
            pages = _iterate_pages(self._client.users_conversations, user=user, types=_CHANNEL_TYPES)
            return frozenset(str(channel["id"]) for page in pages for channel in page["channels"])


def _iterate_pages(method: Callable[..., SlackResponse], **arguments: str) -> Iterator[SlackResponse]:
    """Yield all pages of a listing. A workspace's size limits their number, the work's deadline their time."""
    cursor = ""
    while True:
        page = method(**arguments, limit=_PAGE_SIZE, cursor=cursor)
        yield page
        cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
        if not cursor:
            return


# --- who may ask


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
