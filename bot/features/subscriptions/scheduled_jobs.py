"""Jobs without an asker: the clock enqueues them, and what they find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.platform.jobs import MINUTE, JobRetries, QueueName, job
from impact.repository import Repository

if TYPE_CHECKING:
    # it is built on what enqueues these jobs
    from bot.app import App


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
