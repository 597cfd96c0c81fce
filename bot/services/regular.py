"""Answers to what people say of their regular digests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from pydantic import TypeAdapter

from bot.domain.days import yesterday
from bot.domain.errors import UsageError
from bot.domain.requests import Repositories
from bot.domain.spans import Span
from bot.domain.subscriptions import Edition, Subscription
from bot.domain.visits import Visit
from bot.domain.wishes import ID, Which, Wish
from bot.ports import Cache, Post
from bot.ports.kept import read_back
from bot.render.buttons import below
from bot.render.subscriptions import Planned, changed, confirmed, listing, new_button, resumed
from bot.services.editions import Editions
from bot.services.replies import Answer
from bot.services.subscribing import Subscribing

SUBSCRIBE, UNSUBSCRIBE, PAUSE, RESUME, LIST = "subscribe", "unsubscribe", "pause", "resume", "list"
_ANSWER = TypeAdapter(Answer)
# longer than a job is tried again
_REMEMBERED = timedelta(hours=1)
_PREVIEW = "A preview for you alone: nothing was posted."


class Regular:
    """Does what a verb says, and tells the visitor. Every method may raise what :class:`Subscribing` raises."""

    def __init__(
        self,
        subscribing: Subscribing,
        editions: Editions,
        repositories: Repositories,
        cache: Cache,
        now: Callable[[], datetime],
    ) -> None:
        self._subscribing = subscribing
        self._editions = editions
        self._repositories = repositories
        self._cache = cache
        self._now = now

    def answer(self, visit: Visit, verb: str, text: str, channel: str = "", replaces: str = "") -> Answer:
        """What came of ``verb``; ``text`` is a wish for ``subscribe``, and says which for all others.

        A job that is run again because its answer was lost finds it: what is removed can't be removed again.
        """
        key = f"regular:{visit.key}"
        answer = read_back(_ANSWER, self._cache.get(key))
        if answer is None:
            answer = self._done(visit, verb, text, channel, replaces)
            self._cache.put(key, _ANSWER.dump_json(answer).decode(), _REMEMBERED)
        return answer

    def preview(self, visit: Visit, text: str) -> Answer:
        """Yesterday as a subscription would show it; ``text`` says which, or is a wish."""
        edition = self._previewed(visit, text)
        return Answer.for_asker(self._editions.build(edition, [_PREVIEW]).lead)

    def _done(self, visit: Visit, verb: str, text: str, channel: str, replaces: str) -> Answer:
        if verb == SUBSCRIBE:
            wish = Wish.parse(text, self._repositories)
            made = self._subscribing.subscribe(visit, wish, channel, replaces)
            return _told(visit, [made], confirmed(made, self._subscribing.next_of(made)))
        if verb == LIST:
            here = self._subscribing.here(visit)
            return _told(visit, here, below(listing(self._planned(here)), new_button()))
        found, post = self._turned(visit, verb, Which.parse(text, self._repositories))
        return _told(visit, found, post)

    def _turned(self, visit: Visit, verb: str, which: Which) -> tuple[Sequence[Subscription], Post]:
        if verb == UNSUBSCRIBE:
            found = self._subscribing.unsubscribe(visit, which)
            return found, changed(found, "Unsubscribed", "What was posted stays.")
        if verb == PAUSE:
            found = self._subscribing.pause(visit, which)
            return found, changed(found, "Paused", "/prdigest resume goes on.")
        if verb == RESUME:
            found = self._subscribing.resume(visit, which)
            return found, resumed(self._planned(found))
        raise UsageError("I don't know that: /prdigest help says what I do.")

    def _planned(self, subscriptions: Sequence[Subscription]) -> list[Planned]:
        return [(each, self._subscribing.next_of(each)) for each in subscriptions]

    def _previewed(self, visit: Visit, text: str) -> Edition:
        """The edition of yesterday for one of the channel's subscriptions, or for what somebody thinks of."""
        is_name, here = bool(ID.fullmatch(text.lower())), self._subscribing.here(visit)
        if not text and len(here) > 1:
            ids = ", ".join(each.id for each in here)
            raise UsageError(f"There are several here: write test with one of {ids}.")
        has_one = is_name or (not text and here)
        found = (
            self._subscribing.meant(visit, Which.parse(text, self._repositories))[0]
            if has_one
            else self._subscribing.probe(visit, Wish.parse(text, self._repositories))
        )
        day = yesterday(self._now(), found.timing.zone)
        return Edition(found.channel, found.repository, Span(day.date, day.date, day.zone), found.view)


def _told(visit: Visit, subscriptions: Sequence[Subscription], post: Post) -> Answer:
    """What came of it. A subscription of another place, as somebody's own is, is nobody's business here."""
    return Answer.for_asker(post, is_private=any(each.channel != visit.channel for each in subscriptions))
