"""Jobs that nobody asked for: the clock puts them on their queues."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from bot.container import Wiring
from bot.jobs.kind_queue import amend_queue
from bot.jobs.performer import Job
from bot.services.jobs.declaration import JobQueue
from bot.services.jobs.job_types import AMEND, DELIVER, MEND, WATCH
from bot.services.jobs.payloads import AmendPayload, DeliveryPayload, DigestPayload, RepositoryPayload


def list_jobs(jobs: JobQueue) -> Iterable[Job[Any]]:
    """Return them; a look at a repository puts further ones on ``jobs``."""
    return (
        Job(DELIVER, deliver),
        Job(MEND, repair),
        Job(WATCH, partial(watch, jobs)),
        Job(AMEND, amend),
    )


def deliver(wiring: Wiring, payload: DeliveryPayload) -> None:
    """Post the digest of a subscription."""
    wiring.scheduling.delivery.deliver(payload.name, payload.due)
    wiring.scheduling.subscribing.keep_up(payload.name)


def repair(wiring: Wiring, payload: DigestPayload) -> None:
    """Fill the gaps of a digest that was posted."""
    wiring.scheduling.delivery.mend(payload.key)


def watch(jobs: JobQueue, wiring: Wiring, payload: RepositoryPayload) -> None:
    """Look at what became of the pull requests of a repository."""
    wiring.scheduling.aftermath.look(payload.repository, amend_queue(jobs))


def amend(wiring: Wiring, payload: AmendPayload) -> None:
    """Say in a digest what became of its pull requests."""
    wiring.scheduling.aftermath.amend(payload.key, payload.looked_at)
