"""The record of a step of a workflow, with which a later attempt continues."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import datetime

from bot.ports.codecs.record_codec import INSTANT, TEXT, Record, RecordCodec, declare_field
from bot.ports.codecs.versioned_json import VersionedJson


@dataclass(frozen=True, slots=True)
class StepOutputs:
    """The outputs of a step: that of a digest has its link, an answered question has the answer.

    The manifest declares their names, workflows use them, and they are stored: they never change.
    """

    link: str | None = None
    answer: str | None = None

    def list_named(self) -> dict[str, str]:
        """List the outputs that the step has, by their names."""
        return {name: text for name, text in asdict(self).items() if text is not None}


_OUTPUTS_JSON = VersionedJson(StepOutputs, 1, dict)


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

    @property
    def outputs(self) -> StepOutputs:
        """The outputs of a step whose work is done."""
        return _OUTPUTS_JSON.load_text(self.outputs_json)

    def succeed(self, outputs: StepOutputs) -> StepRun:
        """Return the record of a step whose work is done."""
        return replace(self, outputs_json=_OUTPUTS_JSON.dump_text(outputs))

    def fail(self, reason: str) -> StepRun:
        """Return the record of a step that has failed."""
        return replace(self, failure=reason)

    def report(self, at: datetime) -> StepRun:
        """Return the record of a step whose end Slack was told."""
        return replace(self, reported_at=at)


STEP_RUN_CODEC = RecordCodec(StepRun, version=1)
