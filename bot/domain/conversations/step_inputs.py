"""Steps of workflows: which there are, and what a workflow fills in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from bot.domain.text.redaction import redact_text

# Workflow Builder lets people write much more, and no question needs it
MAX_INPUT_LENGTH = 4_000


class StepName(StrEnum):
    """A step, by the name that the manifest and Slack's events have; it is never changed."""

    POST_DIGEST = "post_digest"
    ASK = "ask_prdigest"


@dataclass(frozen=True, slots=True)
class StepInputs:
    """What a workflow filled in; what it left out is empty."""

    channel: str = ""
    day: str = ""
    repository: str = ""
    question: str = ""

    @classmethod
    def read(cls, inputs: Mapping[str, Any]) -> StepInputs:
        """Read the inputs of an event. What looks like a credential is removed, and what is too long is cut."""

        def read(name: str) -> str:
            value = inputs.get(name)
            return redact_text(value.strip()[:MAX_INPUT_LENGTH]) if isinstance(value, str) else ""

        return cls(read("channel_id"), read("day"), read("repository"), read("question"))
