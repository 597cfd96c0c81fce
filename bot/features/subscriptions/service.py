"""Changes of subscriptions by people, with commands, buttons and the form, and what they are answered.

All may raise UsageError for the user, SlackCallRefused, SlackUnavailable and StoreUnavailable.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.app import App
from bot.dates import Span, get_yesterday
from bot.errors import RepositoryNotFound, SlackCallRefused, SlackUnavailable, UsageError
from bot.features.digest.rules import DigestSpec
from bot.features.noise.service import list_mutes
from bot.features.subscriptions import view
from bot.features.subscriptions.rules import (
    DAY,
    AmbiguousSelection,
    Subscription,
    SubscriptionCommand,
    SubscriptionRequest,
    SubscriptionSelector,
    SubscriptionVerb,
    Timing,
)
from bot.features.subscriptions.tables import (
    IS_GONE,
    SUBSCRIPTIONS,
    can_see,
    filter_visible,
    find_refusal,
    get_subscription,
    get_subscriptions,
    list_subscriptions,
    put_subscription,
    require_member,
    require_previews,
    set_previews,
)
from bot.features.subscriptions.view import render_form
from bot.platform.commands import AllowedRepositories
from bot.platform.jobs import LONG_RETRIES, QueueName, job
from bot.platform.slack.answers import Answer
from bot.platform.slack.blocks import Post
from bot.platform.slack.directory import ChannelInfo
from bot.platform.slack.replies import ModalPresenter
from bot.platform.slack.requests import Audience, SlackRequest
from bot.platform.store.due_queue import NextDigest, OutcomeCheck
from bot.platform.store.tables import Table
from impact.repository import Repository

log = logging.getLogger(__name__)

MAX_PER_CHANNEL = 20
_IS_FIXED = "That digest comes from the settings of the bot: only the bot's admin can change it."
_BOT_NOT_MEMBER = "I'm not in that channel: invite me with /invite, then subscribe again."
_CLOSED_CODES = {"channel_not_found", "not_in_channel"}
# the button of each verb that needs one subscription
_CHOICE_ACTIONS = {
    SubscriptionVerb.UNSUBSCRIBE: view.REMOVE,
    SubscriptionVerb.PAUSE: view.PAUSE,
    SubscriptionVerb.RESUME: view.RESUME,
}


@dataclass(frozen=True, slots=True)
class ChangeNotice:
    channel: str
    id: str
    post: Post


@dataclass(frozen=True, slots=True)
class CommandResult:
    answer: Answer
    news: tuple[ChangeNotice, ...] = ()


# longer than a job is retried
RESULTS = Table("regular:{request}", CommandResult, "what came of a change of subscriptions", days=1 / 24)


# --- commands


@job("regular")
def change_subscription(app: App, asker: SlackRequest, command: SubscriptionCommand) -> None:
    app.replies.give_answer(asker, "regular", Audience.HERE, lambda: answer_command(app, asker, command))


def answer_command(app: App, asker: SlackRequest, command: SubscriptionCommand) -> Answer:
    """Do what a command asks for. A job that runs again finds the result: nothing can be removed twice."""

    def run_command() -> CommandResult:
        if command.wish:
            admitted = _admit_repository(app, command.wish.repository)
            return _run_subscribe(app, asker, command, command.wish.require_known(admitted))
        if command.verb is SubscriptionVerb.LIST:
            listed = filter_visible(app, asker.user, list_subscriptions(app, asker.channel))
            listing, mutes = view.render_listing(_add_due_times(app, listed)), list_mutes(app, asker.user)
            made = _build_result(asker, listed, replace(listing, blocks=(*listing.blocks, *mutes)))
            return replace(made, answer=replace(made.answer, is_private=made.answer.is_private or bool(mutes)))
        which = command.which.require_known(app.repositories)
        return change_selected(app, asker, command.verb, which, command.until)

    result = app.tables.remember(RESULTS, run_command, asker.key)
    for notice in result.news:
        app.replies.announce_change(asker, notice.channel, notice.id, notice.post)
    return result.answer


def parse_wish(app: App, text: str) -> SubscriptionRequest:
    """Parse what somebody wants to subscribe to; before any repository was chosen, the first word is one."""
    try:
        repositories = app.repositories
    except UsageError as none_chosen:
        web = app.settings.github_web_url
        try:
            repositories = AllowedRepositories(Repository.parse("".join(text.split()[:1]), web), web=web)
        except UsageError:
            raise none_chosen from None
    return SubscriptionRequest.parse(text, repositories)


def _admit_repository(app: App, repository: Repository) -> AllowedRepositories:
    """Return the repositories that may be spoken of; before any was chosen, this one, if everybody may read it."""
    try:
        return app.repositories
    except UsageError:
        trees = app.sources.source_trees
        if trees is None:
            raise
        try:
            present = trees.find_present_name(repository, is_public=True)
        except RepositoryNotFound as error:
            advice = "check its name, or have PRDIGEST_REPO set where the bot runs"
            raise UsageError(f"GitHub has no public repository {repository}: {advice}.") from error
        return AllowedRepositories(present, web=app.settings.github_web_url)


def _build_result(
    asker: SlackRequest, subscriptions: Sequence[Subscription], post: Post, news: Iterable[ChangeNotice] = ()
) -> CommandResult:
    """Return the answer; it is private if a subscription is of another channel, as personal ones are."""
    is_private = any(each.channel != asker.channel for each in subscriptions)
    return CommandResult(Answer.for_asker(post, is_private=is_private), tuple(news))


def _build_notices(asker: SlackRequest, how: str, subscriptions: Iterable[Subscription]) -> list[ChangeNotice]:
    """Return the notices for the channels. The owner of a personal digest knows what they did."""
    return [
        ChangeNotice(each.channel, each.id, view.render_change_notice(asker.user, how, each))
        for each in subscriptions
        if not each.is_personal
    ]


def _run_subscribe(
    app: App, asker: SlackRequest, command: SubscriptionCommand, wish: SubscriptionRequest
) -> CommandResult:
    wish = replace(wish, view=app.profiles.require_view(wish.view, wish.repository))
    if wish.has_previews and not (wish.is_personal or asker.is_direct):
        require_previews(app, _require_channel(app, asker, command.channel or asker.channel))
    current, previous = subscribe(app, asker, wish, command.channel, command.replaces)
    if wish.has_previews:
        set_previews(app, current.channel, asker.user, is_on=True)
    due, now = get_next_due(app, current), app.now()
    post = view.render_confirmation(current, due, now, previous, has_previews=wish.has_previews)
    news: list[ChangeNotice] = []
    # the first of a channel needs no notice: it appears there
    if previous and previous != current:
        is_moved = previous.channel != current.channel
        news = _build_notices(asker, "removed" if is_moved else "changed", [previous if is_moved else current])
    return _build_result(asker, [current], post, news)


def change_selected(
    app: App,
    asker: SlackRequest,
    verb: SubscriptionVerb,
    selector: SubscriptionSelector,
    until: dt.date | None = None,
) -> CommandResult:
    try:
        selected = _select_changeable(app, asker, selector, stops=verb is not SubscriptionVerb.RESUME)
    except AmbiguousSelection as error:
        if verb not in _CHOICE_ACTIONS:
            # a button has no day
            raise
        choice = view.render_choice(error.subscriptions, _CHOICE_ACTIONS[verb])
        return _build_result(asker, error.subscriptions, choice)
    if verb is SubscriptionVerb.UNSUBSCRIBE:
        for each in selected:
            _remove_subscription(app, each)
        post = view.render_changes(selected, "Unsubscribed", view.POSTS_STAY)
        return _build_result(asker, selected, post, _build_notices(asker, "removed", selected))
    planned = _add_due_times(app, selected)
    if verb is SubscriptionVerb.PAUSE:
        current, how = [_pause(app, each) for each in selected], "paused"
        post = view.render_changes(current, "Paused", "/prdigest resume continues it.")
    else:
        current, how = [_resume(app, each, until) for each in selected], "snoozed" if until else "resumed"
        post = view.render_resumption(_add_due_times(app, current), how)
    changed = [
        after[0] for before, after in zip(planned, _add_due_times(app, current), strict=True) if after != before
    ]
    return _build_result(asker, current, post, _build_notices(asker, how, changed))


def _add_due_times(app: App, subscriptions: Sequence[Subscription]) -> list[view.DueSubscription]:
    return [(each, get_next_due(app, each)) for each in subscriptions]


@job("preview", QueueName.LONG, LONG_RETRIES)
def show_preview(app: App, asker: SlackRequest, name: str = "", wish: SubscriptionRequest | None = None) -> None:
    """Show the digest up to yesterday for the subscription ``name``, a requested one, or the only one here."""

    def make() -> Answer:
        try:
            subscription = _find_previewed(app, asker, name, wish and wish.require_known(app.repositories))
        except AmbiguousSelection as error:
            choice = view.render_choice(error.subscriptions, view.PREVIEW)
            return _build_result(asker, error.subscriptions, choice).answer
        shown = app.profiles.require_view(subscription.view, subscription.repository)
        day = get_yesterday(app.now(), subscription.timing.zone)
        # of each week the last seven days, whichever day it is
        first = day.date if not subscription.is_weekly else day.date - 6 * DAY
        spec = DigestSpec(subscription.channel, subscription.repository, Span(first, day.date, day.zone), shown)
        note = "Preview, visible only to you. Nothing was posted. Its thread comes with the digest."
        return Answer.for_asker(app.compose_digest(spec, [note], is_preview=True, reader=asker.user).lead)

    app.replies.give_answer(asker, "preview", Audience.ASKER, make, "Preparing a preview…")


def _find_previewed(app: App, asker: SlackRequest, name: str, wish: SubscriptionRequest | None) -> Subscription:
    listed = filter_visible(app, asker.user, list_subscriptions(app, asker.channel))
    if not name and wish is None and len(listed) > 1:
        raise AmbiguousSelection(tuple(listed))
    if name or (wish is None and listed):
        selector = SubscriptionSelector(name)
        return selector.require_clear(_list_matching(app, asker, selector))[0]
    wish = wish or SubscriptionRequest(app.repositories.default)
    return _build_subscription(app, asker, wish, asker.channel, is_open=False)


@job("form")
def open_form(app: App, asker: SlackRequest, name: str = "") -> None:
    """Open the form for a new subscription, or for the one of the id or number. Slack allows three seconds."""
    try:
        selector = SubscriptionSelector(name)
        if selector.is_number:
            name = _list_matching(app, asker, selector)[0].id
        old = _get_changeable(app, asker, name) if name else None
        names = app.profiles.list_names()
        modal = render_form(app.repositories.list_all(), _get_usual_timing(app), old, asker, names)
    except UsageError as error:
        app.replies.tell_asker(asker, str(error))
    else:
        ModalPresenter(app.views, app.replies).open_modal(asker, asker.trigger, modal)


# --- changes


def subscribe(
    app: App, asker: SlackRequest, wish: SubscriptionRequest, channel: str = "", replaces: str = ""
) -> tuple[Subscription, Subscription | None]:
    """Create a subscription, or change the one with the same repository and filters, which keeps its creator.

    A daily one and a weekly one stand beside each other. It is for ``channel`` if there is one, else for the
    channel of the request. ``replaces`` is the id of the subscription that it replaces. Return it as it is now,
    and as it was before.
    """
    is_personal = wish.is_personal or (asker.is_direct and not channel)
    target = app.directory.open_direct_messages(asker.user) if is_personal else channel or asker.channel
    if target.startswith("D") and not is_personal:
        raise UsageError("You can't subscribe somebody else's direct messages: use me for your own.")
    is_open = _require_channel(app, asker, target).is_open
    replaced = _get_changeable(app, asker, replaces) if replaces else None
    if replaced and replaced.is_fixed:
        raise UsageError(_IS_FIXED)
    subscription = _build_subscription(app, asker, wish, target, replaced, is_open=is_open)
    existing = get_subscription(app, subscription.id)
    if existing and existing.is_fixed:
        already = f"This channel already gets {existing.repository}{view.format_timing(existing)}"
        raise UsageError(f"{already}, set by the bot's admin: add a filter, or write me for your own.")
    previous = replaced or existing
    if not is_personal:
        require_member(app, asker.user, target, previous, is_open=is_open)
        subscription = replace(subscription, by=previous.by) if previous else subscription
    is_additional = existing is None and (replaced is None or replaced.channel != target)
    if is_additional and len(list_subscriptions(app, target)) >= MAX_PER_CHANNEL:
        raise UsageError(f"This channel already has {MAX_PER_CHANNEL} subscriptions: remove one first.")
    _save_subscription(app, subscription, previous)
    if replaced and replaced.id != subscription.id:
        _remove_subscription(app, replaced)
    return subscription, previous


def get_next_due(app: App, subscription: Subscription) -> datetime:
    """Return when the next digest is due, in UTC. One that is due and not posted yet counts."""
    planned = app.due_queue.get_time(NextDigest(subscription.id))
    return planned or subscription.timing.find_next_after(app.now())


def refresh_time_zone(app: App, name: str) -> None:
    """Take over the current zone of the user whom a subscription follows, who may have travelled."""
    subscription = get_subscription(app, name)
    if subscription is None or not subscription.follows or subscription.is_paused:
        return
    timing = subscription.timing
    try:
        zone = app.directory.fetch_time_zone(subscription.follows)
    except (SlackCallRefused, SlackUnavailable) as error:
        log.info("the zone of %s stays %s: %s", subscription.follows, timing.zone, error)
        return
    if zone != timing.zone:
        _save_subscription(app, replace(subscription, timing=replace(timing, zone=zone)), subscription)


def _get_usual_timing(app: App) -> Timing:
    return Timing(app.settings.prdigest_post_at, app.settings.prdigest_timezone)


def _find_place(
    app: App, usual: Subscription, wish: SubscriptionRequest, replaced: Subscription | None
) -> tuple[Subscription, Subscription | None]:
    """Return which of the two of a channel, repository and view a wish is about, and what is there now."""
    both = (usual, replace(usual, is_second=True))
    stored = get_subscriptions(app, [each.id for each in both])
    places = [(each, stored.get(each.id)) for each in both]
    own = [each for each in places if replaced and each[0].id == replaced.id]
    known = [each for each in places if each[1]]
    if wish.weekdays is None and wish.weekday is None:
        if len(known) > 1 and not own:
            raise UsageError("There is a daily and a weekly one: add daily or weekly to change one of them.")
        return (own or known or places)[0]
    same = [each for each in known if each[1] and each[1].is_weekly == (wish.weekday is not None)]
    free = [each for each in places if each[1] is None]
    return (same or own or free or places)[0]


def _build_subscription(
    app: App,
    asker: SlackRequest,
    wish: SubscriptionRequest,
    target: str,
    replaced: Subscription | None = None,
    *,
    is_open: bool,
) -> Subscription:
    usual = Subscription(target, wish.repository, _get_usual_timing(app), wish.view)
    usual, existing = _find_place(app, usual, wish, replaced)
    timing = existing.timing if existing else usual.timing
    # a personal digest is in the user's own zone unless they name another one
    is_mine = wish.is_mine or (wish.zone is None and existing is None and usual.is_personal)
    follows = asker.user if is_mine else existing.follows if existing and wish.zone is None else ""
    zone = app.directory.fetch_time_zone(asker.user) if is_mine else wish.zone or timing.zone
    is_kept = wish.weekdays is None and wish.weekday is None
    days = (timing.weekdays, timing.weekday) if is_kept else (bool(wish.weekdays), wish.weekday)
    new_timing = Timing(wish.at or timing.at, zone, *days)
    can_have_open_pulls = new_timing.weekday is not None and bool(wish.view.profile)
    if wish.has_open_pulls and not can_have_open_pulls:
        raise UsageError("Open pull requests come once a week, for a profile: add weekly monday and profile:NAME.")
    before = existing or replaced
    has_open_pulls = bool(before and before.has_open_pulls) if wish.has_open_pulls is None else wish.has_open_pulls
    return replace(
        usual,
        timing=new_timing,
        by=asker.user,
        follows=follows,
        is_open=is_open,
        has_open_pulls=has_open_pulls and can_have_open_pulls,
    )


def _require_channel(app: App, asker: SlackRequest, channel: str) -> ChannelInfo:
    if refusal := app.access_control.explain_exclusion(replace(asker, channel=channel)):
        raise UsageError(refusal)
    try:
        channel_info = app.directory.fetch_channel(channel)
    except SlackCallRefused as error:
        if error.code in _CLOSED_CODES:
            raise UsageError(_BOT_NOT_MEMBER) from error
        raise
    if channel_info.is_archived:
        raise UsageError("That channel is archived: choose another one.")
    if not channel_info.is_member:
        raise UsageError(_BOT_NOT_MEMBER)
    return channel_info


def _get_changeable(app: App, asker: SlackRequest, name: str) -> Subscription:
    subscription = get_subscription(app, name)
    if subscription is None:
        raise UsageError(IS_GONE)
    if refusal := find_refusal(app, asker.user, subscription):
        raise UsageError(refusal)
    return subscription


def _list_matching(app: App, asker: SlackRequest, selector: SubscriptionSelector) -> tuple[Subscription, ...]:
    """Return the selected subscriptions of the channel, or one of another channel that the user may see."""
    subscription = get_subscription(app, selector.id) if selector.id else None
    if subscription is None or not can_see(app, asker.user, subscription):
        here = filter_visible(app, asker.user, list_subscriptions(app, asker.channel))
        return selector.list_matching(tuple(here))
    if refusal := app.access_control.explain_exclusion(replace(asker, channel=subscription.channel)):
        raise UsageError(refusal)
    return (subscription,)


def _select_changeable(
    app: App, asker: SlackRequest, selector: SubscriptionSelector, *, stops: bool
) -> tuple[Subscription, ...]:
    """Return the selected ones that the user may change, at least one. Raises AmbiguousSelection for several."""
    refusals = {
        each: _IS_FIXED if each.is_fixed else find_refusal(app, asker.user, each, stops=stops)
        for each in _list_matching(app, asker, selector)
    }
    changeable = tuple(each for each, refusal in refusals.items() if not refusal)
    if not changeable:
        raise UsageError(next(reversed(refusals.values())))
    return selector.require_clear(changeable)


def _save_subscription(app: App, subscription: Subscription, previous: Subscription | None) -> None:
    """Save a subscription; its next digest covers the days that the one planned before would have covered."""
    planned = app.due_queue.get_time(NextDigest(previous.id)) if previous else None
    put_subscription(app, subscription)
    # one that is no longer weekly doesn't make up for the days of its week, a digest each
    was_weekly = previous and previous.is_weekly and not subscription.is_weekly
    if previous and planned and not was_weekly:
        due = subscription.timing.find_first_from(previous.timing.get_covered_days(planned).first + DAY)
    else:
        due = subscription.timing.find_next_after(app.now())
    app.due_queue.put(NextDigest(subscription.id), due)
    if subscription.view.profile:
        # it gets posts about new tags, of which the first look sees none
        app.due_queue.add(OutcomeCheck(subscription.repository), app.now())


def _remove_subscription(app: App, subscription: Subscription) -> None:
    app.tables.remove_field(SUBSCRIPTIONS, subscription.id)
    app.due_queue.drop(NextDigest(subscription.id))


def _pause(app: App, subscription: Subscription) -> Subscription:
    updated = replace(subscription, is_paused=True)
    put_subscription(app, updated)
    app.due_queue.drop(NextDigest(updated.id))
    return updated


def _resume(app: App, subscription: Subscription, until: dt.date | None) -> Subscription:
    """Go on with the next digest that is due, or with the first one from a day on. Missed ones are not posted."""
    updated, item = replace(subscription, is_paused=False), NextDigest(subscription.id)
    put_subscription(app, updated)
    following, planned = updated.timing.find_next_after(app.now()), app.due_queue.get_time(item)
    if until:
        app.due_queue.put(item, updated.timing.find_first_from(until))
    elif planned is None or planned > following:
        app.due_queue.put(item, following)
    return updated
