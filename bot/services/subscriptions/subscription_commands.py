"""Answers to what people say of their regular digests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import TypeAdapter

from bot.domain.conversations.commands import Repositories
from bot.domain.conversations.slack_request import Visit
from bot.domain.errors import UsageError
from bot.domain.keyspace.keys import COMMAND_RESULT
from bot.domain.subscriptions.models import DigestSpec, Subscription
from bot.domain.subscriptions.request import Which, Wish
from bot.domain.time.date_range import Span
from bot.domain.time.day import get_yesterday
from bot.ports import Cache, Post
from bot.ports.cached_json import load_or_none
from bot.render.blocks.buttons import below
from bot.render.subscriptions.subscription_list import (
    DueSubscription,
    make_new_button,
    render_change_notice,
    render_changes,
    render_confirmation,
    render_listing,
    render_resumption,
)
from bot.services.digest.composer import DigestComposer
from bot.services.slack.replies import Answer, Replies
from bot.services.subscriptions.editor import Change, Subscribing

SUBSCRIBE, UNSUBSCRIBE, PAUSE, RESUME, LIST = "subscribe", "unsubscribe", "pause", "resume", "list"


@dataclass(frozen=True, slots=True)
class News:
    """What the readers of a subscription's channel are told: what was done to it, and by whom."""

    subscription: Subscription
    post: Post


@dataclass(frozen=True, slots=True)
class _Done:
    """What came of a verb: for whoever said it, and for the channels that it is about."""

    answer: Answer
    news: tuple[News, ...] = ()


_DONE = TypeAdapter(_Done)
_PREVIEW = "A preview for you alone: nothing was posted."


class Regular:
    """Does what a verb says, and tells the visitor. Every method may raise what :class:`Subscribing` raises."""

    def __init__(
        self,
        subscribing: Subscribing,
        composer: DigestComposer,
        repositories: Repositories,
        cache: Cache,
        replies: Replies,
        now: Callable[[], datetime],
    ) -> None:
        self._subscribing = subscribing
        self._composer = composer
        self._repositories = repositories
        self._cache = cache
        self._replies = replies
        self._now = now

    def answer(
        self, visit: Visit, verb: str, request: Wish | Which | None, channel: str = "", replaces: str = ""
    ) -> Answer:
        """What came of ``verb``; ``subscribe`` has a wish, the list nothing, all others say which.

        A job that is run again because its answer was lost finds it: what is removed can't be removed again.
        """
        key = COMMAND_RESULT.key(visit.key)
        done = load_or_none(_DONE, self._cache.get(key))
        if done is None:
            done = self._done(visit, verb, request, channel, replaces)
            self._cache.put(key, _DONE.dump_json(done).decode(), COMMAND_RESULT.lifetime)
        for each in done.news:
            self._replies.announce(visit, each.subscription.channel, each.subscription.id, each.post)
        return done.answer

    def preview(self, visit: Visit, name: str = "", wish: Wish | None = None) -> Answer:
        """Yesterday as a subscription would show it: the one of the id ``name``, a wish, or the only one here."""
        spec = self._previewed(visit, name, wish)
        return Answer.for_asker(self._composer.build(spec, [_PREVIEW]).lead)

    def _done(self, visit: Visit, verb: str, request: Wish | Which | None, channel: str, replaces: str) -> _Done:
        if isinstance(request, Wish):
            change = self._subscribing.subscribe(visit, request, channel, replaces)
            post = render_confirmation(change.now, self._subscribing.next_of(change.now))
            return _Done(_told(visit, [change.now], post), tuple(_tell_move(visit, change)))
        if verb == LIST:
            here = self._subscribing.here(visit)
            return _Done(_told(visit, here, below(render_listing(self._planned(here)), make_new_button())))
        which = request or Which()
        if verb == UNSUBSCRIBE:
            found = self._subscribing.unsubscribe(visit, which)
            post = render_changes(found, "Unsubscribed", "What was posted stays.")
            return _Done(_told(visit, found, post), _list_news(visit, "removed", found))
        return self._turned(visit, verb, which)

    def _turned(self, visit: Visit, verb: str, which: Which) -> _Done:
        if verb not in (PAUSE, RESUME):
            raise UsageError("I don't know that: /prdigest help says what I do.")
        turn = self._subscribing.pause if verb == PAUSE else self._subscribing.resume
        changes = turn(visit, which)
        found = [each.now for each in changes]
        post = render_resumption(self._planned(found))
        if verb == PAUSE:
            post = render_changes(found, "Paused", "/prdigest resume goes on.")
        turned = [each.now for each in changes if each.now != each.before]
        return _Done(
            _told(visit, found, post), _list_news(visit, "paused" if verb == PAUSE else "resumed", turned)
        )

    def _planned(self, subscriptions: Sequence[Subscription]) -> list[DueSubscription]:
        return [(each, self._subscribing.next_of(each)) for each in subscriptions]

    def _previewed(self, visit: Visit, name: str, wish: Wish | None) -> DigestSpec:
        """The digest of yesterday for one of the channel's subscriptions, or for what somebody thinks of."""
        here = self._subscribing.here(visit)
        if not name and wish is None and len(here) > 1:
            ids = ", ".join(each.id for each in here)
            raise UsageError(f"There are several here: write test with one of {ids}.")
        has_one = name or (wish is None and here)
        found = (
            self._subscribing.meant(visit, Which(name))[0]
            if has_one
            else self._subscribing.probe(visit, wish or Wish(self._repositories.default))
        )
        day = get_yesterday(self._now(), found.timing.zone)
        return DigestSpec(found.channel, found.repository, Span(day.date, day.date, day.zone), found.view)


def _told(visit: Visit, subscriptions: Sequence[Subscription], post: Post) -> Answer:
    """What came of it. A subscription of another place, as somebody's own is, is nobody's business here."""
    return Answer.for_asker(post, is_private=any(each.channel != visit.channel for each in subscriptions))


def _list_news(visit: Visit, how: str, found: Iterable[Subscription]) -> tuple[News, ...]:
    """What readers of the channels are told; who gets a digest alone knows what they did."""
    shared = (each for each in found if not each.is_personal)
    return tuple(News(each, render_change_notice(visit.user, how, each)) for each in shared)


def _tell_move(visit: Visit, change: Change) -> Iterator[News]:
    """The same of one that was changed; the first of a channel tells of itself by coming."""
    now, before = change.now, change.before
    if before is None or before == now:
        return
    if before.channel == now.channel:
        yield from _list_news(visit, "changed", [now])
    else:
        yield from _list_news(visit, "removed", [before])
