"""The weekly post of open pull requests that would break a profile, for subscriptions that asked for it.

It is due with the digest, and stays due until all of it stands.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.app import App
from bot.errors import SlackCallRefused, UsageError
from bot.features.posting import post_once
from bot.features.subscriptions.incidents import Incident, IncidentKind, report_incident
from bot.features.subscriptions.rules import Subscription
from bot.features.subscriptions.tables import get_subscription
from bot.features.touches.open_pulls import judge_open_pulls, render_open_pulls
from bot.platform.jobs import LONG_RETRIES, JobQueue, QueueName, job
from bot.platform.store.due_queue import OpenPullsPost
from bot.platform.store.keys import build_attempt_key
from bot.platform.store.tables import Table

log = logging.getLogger(__name__)

# so long an attempt is given before the next; who comes later than that finds the next week nearer
_RESEND_INTERVAL, _GIVE_UP_AFTER = timedelta(minutes=10), timedelta(days=1)


@dataclass(frozen=True, slots=True)
class OpenPost:
    """The last post for a subscription, that was ``due`` at an instant (aware), once all of it stands.

    ``heads`` are those that it showed, by the numbers of pull requests. That of a day is of its first attempt.
    """

    due: datetime
    heads: Mapping[int, str]


OPEN_POSTS = Table("open_post:{subscription}", OpenPost, "the last post of open pull requests", days=60)


def enqueue_open_pulls(app: App, item: OpenPullsPost, due: datetime, jobs: JobQueue) -> None:
    if app.now() - due > _GIVE_UP_AFTER:
        _give_up(app, item.name, due, "GitHub, Slack or a worker was away for a day")
    elif app.cache.add(build_attempt_key(item.name, due.isoformat(), item.kind), "1", _RESEND_INTERVAL):
        post_open_pulls.send_to(jobs, item.name, due)


# the schedule enqueues it again; retries here are for an unavailable store or Slack
@job("open_weekly", QueueName.LONG, LONG_RETRIES)
def post_open_pulls(app: App, name: str, due: datetime) -> None:
    """Post, once, what was due at an instant (aware). What GitHub and Slack raise, a later attempt may mend."""
    subscription = get_subscription(app, name)
    if subscription and subscription.has_open_pulls and not subscription.is_paused:
        try:
            with app.tables.hold_lease(OPEN_POSTS, name):
                _post_once(app, subscription, due)
        except (SlackCallRefused, UsageError) as error:
            _give_up(app, name, due, str(error).rstrip("."))
            return
    app.due_queue.drop(OpenPullsPost(name))


def _give_up(app: App, name: str, due: datetime, reason: str) -> None:
    """Leave a post out, and tell people why."""
    log.warning("the open pull requests for %s are not posted: %s", name, reason)
    if subscription := get_subscription(app, name):
        key, title = _build_key(name, due), f"the open pull requests of {subscription.repository}"
        channel, by = subscription.channel, subscription.by
        report_incident(app, Incident(key, IncidentKind.SKIPPED, title, reason, app.now(), None, channel, by))
    app.due_queue.drop(OpenPullsPost(name))


def _build_key(name: str, due: datetime) -> str:
    return f"{OPEN_POSTS.family.build_key(name)}:{due:%Y-%m-%d}"


def _post_once(app: App, subscription: Subscription, due: datetime) -> None:
    last, channel = app.tables.get(OPEN_POSTS, subscription.id), subscription.channel
    if last and last.due == due:
        return
    # a personal one is for somebody who may have become a guest since
    served = app.serve(app.directory.fetch_channel(channel).user) if subscription.is_personal else app
    report = judge_open_pulls(served, subscription.view.profile)
    lead, *thread = render_open_pulls(report, last.heads if last else {})
    key, day = _build_key(subscription.id, due), f"{subscription.id}:{due:%Y-%m-%d}"
    # a later attempt finds the lead of the first one, which shows no more than that knew
    begun = app.tables.remember(OPEN_POSTS, lambda: OpenPost(due, report.heads), day)
    message = post_once(app, channel, key, lead)
    for place, each in enumerate(thread, 1):
        post_once(app, channel, f"{key}#{place}", each, message)
    app.tables.put(OPEN_POSTS, begun, subscription.id)
