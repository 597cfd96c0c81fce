"""What a workflow fills in for a step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.domain.operations.workflow_steps import CHANNEL, DAY, QUESTION, REPOSITORY, WorkflowStep
from bot.domain.text.redaction import redact_text

# Workflow Builder lets people write much more, and no question needs it
MAX_INPUT_LENGTH = 4_000


@dataclass(frozen=True, slots=True)
class StepInputs:
    """What a workflow filled in; what it left out is empty."""

    channel: str = ""
    day: str = ""
    repository: str = ""
    question: str = ""

    @classmethod
    def read(cls, step: WorkflowStep, inputs: Mapping[str, Any]) -> StepInputs:
        """Read the inputs of an event, as far as the step declares them.

        What looks like a credential is removed, and what is too long is cut.
        """
        texts = {field: _clean_input(inputs.get(field.name)) for field in step.inputs}

        return cls(*(texts.get(field, "") for field in (CHANNEL, DAY, REPOSITORY, QUESTION)))


def _clean_input(value: object) -> str:
    """Return an input as text that may be kept; empty if it is none."""
    return redact_text(value.strip()[:MAX_INPUT_LENGTH]) if isinstance(value, str) else ""
