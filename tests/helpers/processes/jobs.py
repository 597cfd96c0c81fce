"""Jobs of commands, put on their queues as the handlers put them, and workers in this process."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from dramatiq import Worker

from bot.dates import TodayProvider
from bot.platform.commands import AllowedRepositories, ParseContext
from bot.platform.dramatiq.broker import stop_workers
from bot.platform.jobs import Job, JobQueue
from bot.platform.slack.requests import Audience, SlackRequest
from handlers import COMMANDS


class AskingServices(Protocol):
    @property
    def repositories(self) -> AllowedRepositories: ...

    @property
    def get_today(self) -> TodayProvider: ...


def enqueue(
    jobs: JobQueue,
    services: AskingServices,
    job: Job[...],
    asker: SlackRequest,
    text: str,
    audience: Audience = Audience.CHANNEL,
) -> None:
    command = next(each for each in COMMANDS if job.name in each.trigger_words)
    request = command.parse(text, ParseContext(services.repositories, services.get_today))
    job.send_to(jobs, asker, request, audience)


@contextmanager
def working(workers: Sequence[Worker]) -> Iterator[None]:
    """Let the workers take jobs until the end of the block; they stop together, as those of a process do."""
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        stop_workers(workers, 10.0)
