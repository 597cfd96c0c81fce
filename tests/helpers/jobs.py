"""Jobs of commands, put on their queues as the handlers put them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bot.container import Wiring
from bot.domain.conversations.commands import ParseContext
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.services.jobs.declaration import JobQueue, JobType


def enqueue(
    jobs: JobQueue,
    wiring: Wiring,
    job: JobType[Any],
    asker: SlackRequest,
    text: str,
    audience: Audience = Audience.CHANNEL,
) -> None:
    """Enqueue the job for what somebody typed behind a command."""
    context = ParseContext(wiring.repositories, wiring.get_today)
    assert job.read_old
    jobs.send(job, job.read_old(context, asdict(asker), text, audience.value))
