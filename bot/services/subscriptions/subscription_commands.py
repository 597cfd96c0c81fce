"""Answers to commands about subscriptions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.digest.view import DigestView
from bot.domain.errors import UsageError
from bot.domain.keyspace.keys import COMMAND_RESULT
from bot.domain.pull_requests.models import Repository
from bot.domain.subscriptions.models import DigestSpec, Subscription
from bot.domain.subscriptions.request import (
    AmbiguousSelection,
    SubscriptionRequest,
    SubscriptionSelector,
    SubscriptionVerb,
)
from bot.domain.time.date_range import Span
from bot.domain.time.day import get_yesterday
from bot.features.digest.view import RenderedDigest
from bot.platform.slack.answers import Answer
from bot.platform.slack.replies import ReplySender
from bot.ports import Cache, Post
from bot.ports.codecs.cached_json import load_or_none
from bot.render.blocks.buttons import add_buttons
from bot.render.subscriptions import sentences, subscription_list
from bot.render.subscriptions.subscription_list import (
    DueSubscription,
    make_new_button,
    render_change_notice,
    render_changes,
    render_choice,
    render_confirmation,
    render_listing,
    render_resumption,
)
from bot.services.subscriptions.editor import SubscriptionChange, SubscriptionEditor

if TYPE_CHECKING:
    # it is a feature, and so is this soon
    from bot.features.profiles.service import Profiles

# the button of each verb that needs one subscription
_CHOICE_ACTIONS = {
    SubscriptionVerb.UNSUBSCRIBE: subscription_list.REMOVE,
    SubscriptionVerb.PAUSE: subscription_list.PAUSE,
    SubscriptionVerb.RESUME: subscription_list.RESUME,
}


@dataclass(frozen=True, slots=True)
class ChangeNotice:
    """A notice for the readers of a subscription's channel: what was changed, and by whom."""

    subscription: Subscription
    post: Post


@dataclass(frozen=True, slots=True)
class _CommandResult:
    """The result of a verb: the answer for the user, and notices for the channels concerned."""

    answer: Answer
    news: tuple[ChangeNotice, ...] = ()


_RESULT_ADAPTER = TypeAdapter(_CommandResult)


class SubscriptionCommands:
    """Commands about subscriptions. Every method may raise what :class:`SubscriptionEditor` raises."""

    def __init__(
        self,
        editor: SubscriptionEditor,
        compose: Callable[[DigestSpec, Sequence[str]], RenderedDigest],
        repositories: AllowedRepositories,
        cache: Cache,
        replies: ReplySender,
        now: Callable[[], datetime],
        profiles: Profiles | None = None,
        turn_previews_on: Callable[[str, str], None] = lambda channel, user: None,
    ) -> None:
        self._editor = editor
        self._compose = compose
        self._repositories = repositories
        self._cache = cache
        self._replies = replies
        self._now = now
        self._profiles = profiles
        self._turn_previews_on = turn_previews_on

    def answer_command(
        self,
        slack_request: SlackRequest,
        verb: SubscriptionVerb,
        request: SubscriptionRequest | SubscriptionSelector | None,
        channel: str = "",
        replaces: str = "",
    ) -> Answer:
        """Execute ``verb`` and return the answer.

        ``request`` is a SubscriptionRequest for ``subscribe``, None for the list, and a selector for all others.
        A job that runs again because its answer was lost finds the result: what is removed can't be removed again.
        """
        key = COMMAND_RESULT.build_key(slack_request.key)
        result = load_or_none(_RESULT_ADAPTER, self._cache.get(key))
        if result is None:
            result = self._run_verb(slack_request, verb, request, channel, replaces)
            self._cache.put(key, _RESULT_ADAPTER.dump_json(result).decode(), COMMAND_RESULT.lifetime)
        for each in result.news:
            self._replies.announce_change(
                slack_request, each.subscription.channel, each.subscription.id, each.post
            )
        return result.answer

    def preview_digest(
        self, slack_request: SlackRequest, name: str = "", request: SubscriptionRequest | None = None
    ) -> Answer:
        """Return yesterday's digest as a subscription would show it.

        It is the subscription with the id ``name``, the one of a request, or the only one of the channel.
        """
        try:
            spec = self._build_previewed_spec(slack_request, name, request)
        except AmbiguousSelection as error:
            choice = render_choice(error.subscriptions, subscription_list.PREVIEW)
            return _build_answer(slack_request, error.subscriptions, choice)
        return Answer.for_asker(self._compose(spec, [sentences.PREVIEW_NOTE]).lead)

    def _run_verb(
        self,
        slack_request: SlackRequest,
        verb: SubscriptionVerb,
        request: SubscriptionRequest | SubscriptionSelector | None,
        channel: str,
        replaces: str,
    ) -> _CommandResult:
        if isinstance(request, SubscriptionRequest):
            known = replace(request, view=self._complete_view(request.view, request.repository))
            change = self._editor.subscribe(slack_request, known, channel, replaces)
            if known.has_previews:
                self._turn_previews_on(change.current.channel, slack_request.user)
            due = self._editor.get_next_due(change.current)
            post = render_confirmation(change.current, due, self._now(), has_previews=known.has_previews)
            return _CommandResult(
                _build_answer(slack_request, [change.current], post),
                tuple(_iterate_move_notices(slack_request, change)),
            )
        if verb is SubscriptionVerb.LIST:
            listed = self._editor.list_here(slack_request)
            return _CommandResult(
                _build_answer(
                    slack_request,
                    listed,
                    add_buttons(render_listing(self._add_due_times(listed)), make_new_button()),
                )
            )
        selector = request or SubscriptionSelector()
        try:
            return self._change_selected(slack_request, verb, selector)
        except AmbiguousSelection as error:
            choice = render_choice(error.subscriptions, _CHOICE_ACTIONS[verb])
            return _CommandResult(_build_answer(slack_request, error.subscriptions, choice))

    def _change_selected(
        self, slack_request: SlackRequest, verb: SubscriptionVerb, selector: SubscriptionSelector
    ) -> _CommandResult:
        """Pause, resume or remove what was selected. Raises AmbiguousSelection if several match."""
        if verb is SubscriptionVerb.UNSUBSCRIBE:
            removed = self._editor.unsubscribe(slack_request, selector)
            post = render_changes(removed, sentences.UNSUBSCRIBED, sentences.POSTS_STAY)
            return _CommandResult(
                _build_answer(slack_request, removed, post),
                _build_notices(slack_request, sentences.HAS_REMOVED, removed),
            )
        return self._set_paused(slack_request, verb, selector)

    def _set_paused(
        self, slack_request: SlackRequest, verb: SubscriptionVerb, selector: SubscriptionSelector
    ) -> _CommandResult:
        if not verb.has_selector:
            raise UsageError(sentences.UNKNOWN_VERB)
        is_pause = verb is SubscriptionVerb.PAUSE
        apply = self._editor.pause if is_pause else self._editor.resume
        changes = apply(slack_request, selector)
        subscriptions = [each.current for each in changes]
        post = render_resumption(self._add_due_times(subscriptions))
        if is_pause:
            post = render_changes(subscriptions, sentences.PAUSED, sentences.RESUME_HINT)
        changed = [each.current for each in changes if each.current != each.previous]
        return _CommandResult(
            _build_answer(slack_request, subscriptions, post),
            _build_notices(slack_request, sentences.HAS_PAUSED if is_pause else sentences.HAS_RESUMED, changed),
        )

    def _add_due_times(self, subscriptions: Sequence[Subscription]) -> list[DueSubscription]:
        return [(each, self._editor.get_next_due(each)) for each in subscriptions]

    def _build_previewed_spec(
        self, slack_request: SlackRequest, name: str, request: SubscriptionRequest | None
    ) -> DigestSpec:
        """Return yesterday's digest for one of the channel's subscriptions, or for a request."""
        listed = self._editor.list_here(slack_request)
        if not name and request is None and len(listed) > 1:
            raise AmbiguousSelection(tuple(listed))
        is_existing = name or (request is None and listed)
        subscription = (
            self._editor.select_subscriptions(slack_request, SubscriptionSelector(name))[0]
            if is_existing
            else self._editor.preview_subscription(
                slack_request, request or SubscriptionRequest(self._repositories.default)
            )
        )
        view = self._complete_view(subscription.view, subscription.repository)
        day = get_yesterday(self._now(), subscription.timing.zone)
        return DigestSpec(subscription.channel, subscription.repository, Span(day.date, day.date, day.zone), view)

    def _complete_view(self, view: DigestView, repository: Repository) -> DigestView:
        return self._profiles.require_view(view, repository) if self._profiles else view


def _build_answer(slack_request: SlackRequest, subscriptions: Sequence[Subscription], post: Post) -> Answer:
    """Return the answer to a command; it is private if a subscription belongs to another channel.

    Personal subscriptions always do.
    """
    return Answer.for_asker(post, is_private=any(each.channel != slack_request.channel for each in subscriptions))


def _build_notices(
    slack_request: SlackRequest, action: str, subscriptions: Iterable[Subscription]
) -> tuple[ChangeNotice, ...]:
    """Return the notices for the channels. The owner of a personal digest knows what they did."""
    shared = (each for each in subscriptions if not each.is_personal)
    return tuple(ChangeNotice(each, render_change_notice(slack_request.user, action, each)) for each in shared)


def _iterate_move_notices(slack_request: SlackRequest, change: SubscriptionChange) -> Iterator[ChangeNotice]:
    """Yield the notices of a changed subscription. The first of a channel needs none: it appears there."""
    current, previous = change.current, change.previous
    if previous is None or previous == current:
        return
    if previous.channel == current.channel:
        yield from _build_notices(slack_request, sentences.HAS_CHANGED, [current])
    else:
        yield from _build_notices(slack_request, sentences.HAS_REMOVED, [previous])
