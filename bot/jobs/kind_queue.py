"""Queues of one kind of job, for those who know jobs by their first values only."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Generic, TypeVar

from bot.domain.pull_requests.models import Repository
from bot.services.jobs.declaration import JobQueue, JobType
from bot.services.jobs.job_types import AMEND_DIGEST, DELIVER_DIGEST, REPAIR_DIGEST, WATCH_REPOSITORY
from bot.services.jobs.payloads import AmendmentPayload, DeliveryPayload, DigestPayload, RepositoryPayload

P = TypeVar("P")


class JobTypeQueue(Generic[P]):
    """``WorkQueue`` of the jobs of one kind; ``make`` makes what a job carries of what is sent."""

    def __init__(self, jobs: JobQueue, job: JobType[P], make: Callable[..., P]) -> None:
        self._jobs = jobs
        self._job = job
        self._make = make

    def send(self, *arguments: Any) -> None:
        """Enqueue a job. Raises StoreUnavailable."""
        self._jobs.send(self._job, self._make(*arguments))


def make_delivery_queue(jobs: JobQueue) -> JobTypeQueue[DeliveryPayload]:
    """Return the queue of due digests: the name of a subscription, and when it was due in ISO 8601."""
    return JobTypeQueue(jobs, DELIVER_DIGEST, lambda name, due: DeliveryPayload(name, datetime.fromisoformat(due)))


def make_repair_queue(jobs: JobQueue) -> JobTypeQueue[DigestPayload]:
    """Return the queue of digests with gaps: the key of each."""
    return JobTypeQueue(jobs, REPAIR_DIGEST, DigestPayload)


def make_watch_queue(jobs: JobQueue) -> JobTypeQueue[RepositoryPayload]:
    """Return the queue of repositories to be looked at: the name of each."""
    return JobTypeQueue(jobs, WATCH_REPOSITORY, lambda name: RepositoryPayload(Repository.parse(name)))


def make_amendment_queue(jobs: JobQueue) -> JobTypeQueue[AmendmentPayload]:
    """Return the queue of digests to be amended: the key of each, and when was looked in ISO 8601."""
    return JobTypeQueue(jobs, AMEND_DIGEST, lambda key, at: AmendmentPayload(key, datetime.fromisoformat(at)))
