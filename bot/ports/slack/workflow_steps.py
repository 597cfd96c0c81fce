"""Interface to Slack's workflows: telling that a step has ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class StepReporter(Protocol):
    """Reporter of the end of steps. ``token`` is that of the workflow, from the event that began the step.

    Both methods may raise SlackUnavailable. A step that Slack does not know, or that has ended, is no error: Slack
    was told before, or nobody waits for it.
    """

    def complete(self, execution: str, token: str, outputs: Mapping[str, str]) -> None:
        """Tell that a step is done."""

    def fail(self, execution: str, token: str, reason: str) -> None:
        """Tell that a step has failed. Slack shows the reason to the people of the workflow."""
