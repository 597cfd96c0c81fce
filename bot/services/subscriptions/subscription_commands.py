"""Answers to what people say of their regular digests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import TypeAdapter

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import UsageError
from bot.domain.keyspace.keys import COMMAND_RESULT
from bot.domain.subscriptions.models import DigestSpec, Subscription
from bot.domain.subscriptions.request import SubscriptionRequest, SubscriptionSelector
from bot.domain.time.date_range import Span
from bot.domain.time.day import get_yesterday
from bot.ports import Cache, Post
from bot.ports.cached_json import load_or_none
from bot.render.blocks.buttons import add_buttons
from bot.render.subscriptions import sentences
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
from bot.services.slack.replies import Answer, ReplySender
from bot.services.subscriptions.editor import SubscriptionChange, SubscriptionEditor

SUBSCRIBE, UNSUBSCRIBE, PAUSE, RESUME, LIST = "subscribe", "unsubscribe", "pause", "resume", "list"


@dataclass(frozen=True, slots=True)
class ChangeNotice:
    """What the readers of a subscription's channel are told: what was done to it, and by whom."""

    subscription: Subscription
    post: Post


@dataclass(frozen=True, slots=True)
class _CommandResult:
    """What came of a verb: for whoever said it, and for the channels that it is about."""

    answer: Answer
    news: tuple[ChangeNotice, ...] = ()


_RESULT_ADAPTER = TypeAdapter(_CommandResult)


class SubscriptionCommands:
    """Does what a verb says, and tells the visitor. Every method may raise what :class:`Subscribing` raises."""

    def __init__(
        self,
        subscribing: SubscriptionEditor,
        composer: DigestComposer,
        repositories: AllowedRepositories,
        cache: Cache,
        replies: ReplySender,
        now: Callable[[], datetime],
    ) -> None:
        self._subscribing = subscribing
        self._composer = composer
        self._repositories = repositories
        self._cache = cache
        self._replies = replies
        self._now = now

    def answer_command(
        self,
        slack_request: SlackRequest,
        verb: str,
        request: SubscriptionRequest | SubscriptionSelector | None,
        channel: str = "",
        replaces: str = "",
    ) -> Answer:
        """What came of ``verb``; ``subscribe`` has a wish, the list nothing, all others say which.

        A job that is run again because its answer was lost finds it: what is removed can't be removed again.
        """
        key = COMMAND_RESULT.build_key(slack_request.key)
        done = load_or_none(_RESULT_ADAPTER, self._cache.get(key))
        if done is None:
            done = self._run_verb(slack_request, verb, request, channel, replaces)
            self._cache.put(key, _RESULT_ADAPTER.dump_json(done).decode(), COMMAND_RESULT.lifetime)
        for each in done.news:
            self._replies.announce_change(
                slack_request, each.subscription.channel, each.subscription.id, each.post
            )
        return done.answer

    def preview_digest(
        self, slack_request: SlackRequest, name: str = "", wish: SubscriptionRequest | None = None
    ) -> Answer:
        """Yesterday as a subscription would show it: the one of the id ``name``, a wish, or the only one here."""
        spec = self._build_previewed_spec(slack_request, name, wish)
        return Answer.for_asker(self._composer.compose_messages(spec, [sentences.PREVIEW_NOTE]).lead)

    def _run_verb(
        self,
        slack_request: SlackRequest,
        verb: str,
        request: SubscriptionRequest | SubscriptionSelector | None,
        channel: str,
        replaces: str,
    ) -> _CommandResult:
        if isinstance(request, SubscriptionRequest):
            change = self._subscribing.subscribe(slack_request, request, channel, replaces)
            post = render_confirmation(change.current, self._subscribing.get_next_due(change.current))
            return _CommandResult(
                _build_answer(slack_request, [change.current], post),
                tuple(_iterate_move_notices(slack_request, change)),
            )
        if verb == LIST:
            here = self._subscribing.list_here(slack_request)
            return _CommandResult(
                _build_answer(
                    slack_request, here, add_buttons(render_listing(self._add_due_times(here)), make_new_button())
                )
            )
        which = request or SubscriptionSelector()
        if verb == UNSUBSCRIBE:
            found = self._subscribing.unsubscribe(slack_request, which)
            post = render_changes(found, sentences.UNSUBSCRIBED, sentences.POSTS_STAY)
            return _CommandResult(
                _build_answer(slack_request, found, post),
                _build_notices(slack_request, sentences.HAS_REMOVED, found),
            )
        return self._set_paused(slack_request, verb, which)

    def _set_paused(self, slack_request: SlackRequest, verb: str, which: SubscriptionSelector) -> _CommandResult:
        if verb not in (PAUSE, RESUME):
            raise UsageError(sentences.UNKNOWN_VERB)
        turn = self._subscribing.pause if verb == PAUSE else self._subscribing.resume
        changes = turn(slack_request, which)
        found = [each.current for each in changes]
        post = render_resumption(self._add_due_times(found))
        if verb == PAUSE:
            post = render_changes(found, sentences.PAUSED, sentences.RESUME_HINT)
        turned = [each.current for each in changes if each.current != each.previous]
        return _CommandResult(
            _build_answer(slack_request, found, post),
            _build_notices(
                slack_request, sentences.HAS_PAUSED if verb == PAUSE else sentences.HAS_RESUMED, turned
            ),
        )

    def _add_due_times(self, subscriptions: Sequence[Subscription]) -> list[DueSubscription]:
        return [(each, self._subscribing.get_next_due(each)) for each in subscriptions]

    def _build_previewed_spec(
        self, slack_request: SlackRequest, name: str, wish: SubscriptionRequest | None
    ) -> DigestSpec:
        """The digest of yesterday for one of the channel's subscriptions, or for what somebody thinks of."""
        here = self._subscribing.list_here(slack_request)
        if not name and wish is None and len(here) > 1:
            ids = ", ".join(each.id for each in here)
            raise UsageError(sentences.format_preview_choice(ids))
        has_one = name or (wish is None and here)
        found = (
            self._subscribing.select_subscriptions(slack_request, SubscriptionSelector(name))[0]
            if has_one
            else self._subscribing.preview_subscription(
                slack_request, wish or SubscriptionRequest(self._repositories.default)
            )
        )
        day = get_yesterday(self._now(), found.timing.zone)
        return DigestSpec(found.channel, found.repository, Span(day.date, day.date, day.zone), found.view)


def _build_answer(slack_request: SlackRequest, subscriptions: Sequence[Subscription], post: Post) -> Answer:
    """What came of it. A subscription of another place, as somebody's own is, is nobody's business here."""
    return Answer.for_asker(post, is_private=any(each.channel != slack_request.channel for each in subscriptions))


def _build_notices(
    slack_request: SlackRequest, how: str, found: Iterable[Subscription]
) -> tuple[ChangeNotice, ...]:
    """What readers of the channels are told; who gets a digest alone knows what they did."""
    shared = (each for each in found if not each.is_personal)
    return tuple(ChangeNotice(each, render_change_notice(slack_request.user, how, each)) for each in shared)


def _iterate_move_notices(slack_request: SlackRequest, change: SubscriptionChange) -> Iterator[ChangeNotice]:
    """The same of one that was changed; the first of a channel tells of itself by coming."""
    now, before = change.current, change.previous
    if before is None or before == now:
        return
    if before.channel == now.channel:
        yield from _build_notices(slack_request, sentences.HAS_CHANGED, [now])
    else:
        yield from _build_notices(slack_request, sentences.HAS_REMOVED, [before])
