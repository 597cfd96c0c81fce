"""Jobs without an asker: the clock enqueues them, and what they find."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from bot.domain.operations.lane import QueueName
from bot.domain.pull_requests.models import Repository
from bot.platform.jobs import MINUTE, JobRetries, job

if TYPE_CHECKING:
    # it is built on what enqueues these jobs
    from bot.app import App


# the schedule enqueues failed jobs again; retries here are for an unavailable store only
@job("deliver", QueueName.LONG, JobRetries(20))
def deliver_digest(app: App, name: str, due: datetime) -> None:
    """Post the digest of the subscription with an id that is due since an instant (aware)."""
    app.delivery.deliver_digest(name, due)
    app.subscription_editor.refresh_time_zone(name)


@job("mend", QueueName.LONG, JobRetries(20))
def repair_digest(app: App, key: str) -> None:
    """Fill the gaps of a posted digest."""
    app.delivery.repair_incomplete(key)


# after a failure, the next check is some hours later
@job("watch", QueueName.LONG, JobRetries(3, MINUTE))
def watch_repository(app: App, repository: Repository) -> None:
    """Check the outcomes of the pull requests of a repository."""
    # a feature, which stands above what enqueues this job
    from bot.features.digest.amendments import check_repository  # noqa: PLC0415

    check_repository(app, repository)


# after a failure, the next scan is a day later; the profile stays as it was
@job("refresh_profile", QueueName.LONG, JobRetries(3, MINUTE))
def refresh_profile(app: App, name: str) -> None:
    """Scan the tree of a profile again."""
    app.refresh_profile(name)
