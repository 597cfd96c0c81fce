"""The record of a step of a workflow, with which a later attempt continues."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from bot.ports.codecs.record_codec import INSTANT, TEXT, Record, RecordCodec, declare_field


@dataclass(frozen=True, slots=True)
class StepRun(Record):
    """A step: its outputs as JSON or the reason why it failed, and when Slack was told. Times are aware."""

    outputs_json: str = declare_field("outputs", TEXT)
    failure: str = declare_field("failure", TEXT)
    reported_at: datetime | None = declare_field("reported", INSTANT)

    @property
    def is_decided(self) -> bool:
        """Whether the work is done, or has failed for good."""
        return bool(self.outputs_json or self.failure)

    def succeed(self, outputs_json: str) -> StepRun:
        """Return the record of a step whose work is done."""
        return replace(self, outputs_json=outputs_json)

    def fail(self, reason: str) -> StepRun:
        """Return the record of a step that has failed."""
        return replace(self, failure=reason)

    def report(self, at: datetime) -> StepRun:
        """Return the record of a step whose end Slack was told."""
        return replace(self, reported_at=at)


STEP_RUN_CODEC = RecordCodec(StepRun, version=1)
