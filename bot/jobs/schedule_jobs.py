"""Jobs without an asker: the clock enqueues them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from bot.app import App
from bot.jobs.job_runner import JobHandler
from bot.platform.jobs import JobQueue
from bot.services.jobs.job_types import (
    AMEND_DIGEST,
    DELIVER_DIGEST,
    REFRESH_PROFILE,
    REPAIR_DIGEST,
    WATCH_REPOSITORY,
)
from bot.services.jobs.payloads import (
    AmendmentPayload,
    DeliveryPayload,
    DigestPayload,
    ProfilePayload,
    RepositoryPayload,
)


def list_jobs(jobs: JobQueue) -> Iterable[JobHandler[Any]]:
    """List the jobs with their handlers. The check of a repository enqueues further ones on ``jobs``."""
    return (
        JobHandler(DELIVER_DIGEST, deliver_digest),
        JobHandler(REPAIR_DIGEST, repair_digest),
        JobHandler(WATCH_REPOSITORY, partial(watch_repository, jobs)),
        JobHandler(AMEND_DIGEST, amend_digest),
        JobHandler(REFRESH_PROFILE, refresh_profile),
    )


def deliver_digest(app: App, payload: DeliveryPayload) -> None:
    """Post the digest of a subscription."""
    app.delivery.deliver_digest(payload.name, payload.due)
    app.subscription_editor.refresh_time_zone(payload.name)


def repair_digest(app: App, payload: DigestPayload) -> None:
    """Fill the gaps of a posted digest."""
    app.delivery.repair_incomplete(payload.key)


def watch_repository(jobs: JobQueue, app: App, payload: RepositoryPayload) -> None:
    """Check the outcomes of the pull requests of a repository."""
    app.outcome_watcher.check_repository(payload.repository, jobs)


def amend_digest(app: App, payload: AmendmentPayload) -> None:
    """Add the outcomes of its pull requests to a posted digest."""
    app.outcome_watcher.amend_digest(payload.key, payload.looked_at)


def refresh_profile(app: App, payload: ProfilePayload) -> None:
    """Scan the tree of a profile again."""
    app.profile_refresher.refresh(payload.name)
