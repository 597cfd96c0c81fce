"""Steps of Slack's workflows, each declared once: its name, what a workflow fills in, and what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class StepName(StrEnum):
    """A step, by the name that the manifest and Slack's events have; it is never changed."""

    POST_DIGEST = "post_digest"
    ASK = "ask_prdigest"


@dataclass(frozen=True, slots=True)
class StepField:
    """An input or an output of a step. ``name`` and ``type`` are Slack's; no name is ever changed."""

    name: str
    title: str
    description: str
    type: str = "string"


@dataclass(frozen=True, slots=True)
class WorkflowStep:
    """A step: the manifest, the reading of inputs and the outputs follow from it.

    A workflow may leave the ``optional`` inputs empty.
    """

    name: StepName
    title: str
    description: str
    required: tuple[StepField, ...]
    outputs: tuple[StepField, ...]
    optional: tuple[StepField, ...] = ()

    @property
    def inputs(self) -> tuple[StepField, ...]:
        """All that a workflow can fill in."""
        return (*self.required, *self.optional)


CHANNEL: Final = StepField("channel_id", "Channel", "A channel that the bot is in", "slack#/types/channel_id")
DAY: Final = StepField("day", "Day", "2026-02-28; yesterday if it is empty")
REPOSITORY: Final = StepField("repository", "Repository", "owner/name; the usual one if it is empty")
QUESTION: Final = StepField("question", "Question", "What was reverted yesterday?")
LINK: Final = StepField("link", "Link", "The address of the digest")
ANSWER: Final = StepField("answer", "Answer", "The answer as text")

_DECLARED = (
    WorkflowStep(
        StepName.POST_DIGEST,
        "Post the digest",
        "Post the digest of a day in a channel, or find it there",
        required=(CHANNEL,),
        optional=(DAY, REPOSITORY),
        outputs=(LINK,),
    ),
    WorkflowStep(
        StepName.ASK,
        "Ask prdigest",
        "Answer a question about pull requests",
        required=(QUESTION, CHANNEL),
        outputs=(ANSWER,),
    ),
)
STEPS: Mapping[StepName, WorkflowStep] = {step.name: step for step in _DECLARED}
