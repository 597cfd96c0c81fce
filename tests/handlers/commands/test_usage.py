"""``/prdigest usage`` is for the asker alone, until it is shared."""

from __future__ import annotations

from typing import Any, cast

import pytest

from bot.domain.conversations.requests.usage_request import UsageRequest
from bot.domain.conversations.slack_request import Audience
from handlers.commands.registry import COMMANDS
from handlers.commands.usage import USAGE_JOB, enqueue_usage
from handlers.intake import RequestIntake
from tests.services.doubles import slack_request


class Queue:
    """An intake whose queue remembers what was sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[object, Any]] = []

    @property
    def jobs(self) -> Queue:
        return self

    def send(self, job: object, payload: Any) -> None:
        self.sent.append((job, payload))


@pytest.mark.parametrize(
    ("audience", "seen_by"),
    [
        (Audience.CHANNEL, Audience.ASKER),
        (Audience.HERE, Audience.ASKER),
        (Audience.ASKER, Audience.ASKER),
        (Audience.SHARED, Audience.SHARED),
    ],
)
def test_only_who_asks_sees_the_cost_unless_it_is_shared(audience: Audience, seen_by: Audience) -> None:
    queue = Queue()
    assert enqueue_usage(cast("RequestIntake", queue), slack_request(), UsageRequest(), audience) == ""
    ((job, payload),) = queue.sent
    assert (job, payload.audience) == (USAGE_JOB, seen_by)


def test_its_word_is_one_of_prdigest() -> None:
    command = COMMANDS.find_by_word("prdigest")
    assert command
    assert "usage" in command.keywords
    assert UsageRequest in command.request_types
