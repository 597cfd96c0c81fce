"""Posts about new tags of an upstream: one for each tag, in each channel whose subscription has a profile.

The due queue says what is still to be posted.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from bot.app import App
from bot.errors import MirrorUnavailable, PrdigestError, SlackCallRefused, SourceUnavailable, StoreUnavailable
from bot.features.posting import find_posted, post_once
from bot.features.releases import SEEN_TAGS, build_release, concerns_pin, list_new_tags, render_release
from bot.features.subscriptions.incidents import (
    Incident,
    IncidentKind,
    abandon_incident,
    report_incident,
    resolve_incident,
)
from bot.features.subscriptions.rules import Subscription
from bot.features.subscriptions.tables import get_subscription, list_subscriptions
from bot.platform.jobs import MINUTE, JobRetries, QueueName, job
from bot.platform.slack.blocks import Post, add_buttons, make_details_menu
from bot.platform.store.due_queue import CHECK_INTERVAL, OutcomeCheck, ReleasePost
from impact.repository import Repository

log = logging.getLogger(__name__)

RETRY_PAUSE = timedelta(minutes=15)


def announce_tags(app: App, repository: Repository) -> None:
    """Plan a post about each tag that is new, for the channels that want one, and then note that it was seen."""
    name = str(repository).lower()
    active = (each for each in list_subscriptions(app) if each.view.profile and not each.is_paused)
    # of several with a profile in a channel, the first to post does: another may be removed before that
    subscribed = [each for each in active if str(each.repository).lower() == name]
    if not subscribed:
        return
    # also before the first digest, without which nobody looks
    app.due_queue.add(OutcomeCheck(repository), app.now() + CHECK_INTERVAL)
    with app.tables.hold_lease(SEEN_TAGS, name):
        try:
            seen, news = list_new_tags(app, repository)
        except (MirrorUnavailable, SourceUnavailable) as error:
            log.info("new tags of %s are looked for later: %s", repository, error)
            return
        for tag in news:
            for subscription in subscribed:
                entry = app.profiles.get_entry(subscription.view.profile)
                if entry and concerns_pin(tag, entry):
                    app.due_queue.add(ReleasePost(f"{subscription.id} {tag.name}"), app.now())
        if seen:
            app.tables.put(SEEN_TAGS, seen, name)


# the due queue has the next attempt; retries here are for an unavailable store only
@job("post_release", QueueName.LONG, JobRetries(3, MINUTE))
def post_release(app: App, name: str) -> None:
    """Post what a tag means for a subscription's profile, once, or finish an attempt that broke off."""
    id_, _, tag = name.partition(" ")
    item, subscription = ReleasePost(name), get_subscription(app, id_)
    if subscription is None or subscription.is_paused:
        app.due_queue.drop(item)
        return
    key = _name_post(subscription, tag)
    try:
        # what stands is not given up because of what fails since
        if not find_posted(app, subscription.channel, key):
            post_once(app, subscription.channel, key, _render_post(app, subscription, tag))
    except StoreUnavailable:
        raise
    except PrdigestError as error:
        _put_off(app, subscription, item, str(error).rstrip("."), is_refused=isinstance(error, SlackCallRefused))
        return
    except Exception:
        log.exception("%s is not posted", item)
        _put_off(app, subscription, item, "a bug: see the worker's log")
        return
    app.due_queue.drop(item)
    resolve_incident(app, key, IncidentKind.MISSING, "posted after all")


def _name_post(subscription: Subscription, tag: str) -> str:
    return f"release:{subscription.channel}:{subscription.view.profile}:{tag}"


def _render_post(app: App, subscription: Subscription, tag: str) -> Post:
    reader = app.directory.fetch_channel(subscription.channel).user if subscription.is_personal else ""
    # who alone gets it may have become a guest since
    served = app.serve(reader) if reader else app
    report = build_release(served, served.profiles.find_entry(subscription.view.profile), tag, reader)
    post = render_release(report, app.name_repository(subscription.repository), app.repositories.web)
    menu = make_details_menu(report.pulls)
    return add_buttons(post, menu) if menu else post


def _put_off(
    app: App, subscription: Subscription, item: ReleasePost, reason: str, *, is_refused: bool = False
) -> None:
    """Leave a post to the next attempt, and tell people what only they can mend; after hours, that none comes."""
    now, tag, channel, by = app.now(), item.name.partition(" ")[2], subscription.channel, subscription.by
    name = _name_post(subscription, tag)
    title = f"{tag} of {subscription.repository}"
    log.warning("%s is not posted yet in %s: %s", title, channel, reason)
    seen = app.tables.get(SEEN_TAGS, str(subscription.repository).lower())
    first = seen.tags.get(tag) if seen else None
    is_over = first is None or now - first > timedelta(hours=app.settings.prdigest_catch_up_hours)
    kind, retry = (IncidentKind.SKIPPED, None) if is_over else (IncidentKind.MISSING, now + RETRY_PAUSE)
    # the report on what was refused says that it is not tried again
    if is_over and is_refused:
        abandon_incident(app, name, IncidentKind.MISSING)
    elif is_over or is_refused:
        report_incident(app, Incident(name, kind, title, reason, now, retry, channel, by))
    if is_over:
        app.due_queue.drop(item)
