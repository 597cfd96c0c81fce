"""Steps of workflows: those that the app declares in its manifest, and those that run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
RUNNING, COMPLETED, FAILED = "RUNNING", "COMPLETED", "ERROR"


@dataclass
class StepExecution:
    """A step that a workflow runs: its token, its state, and its outputs or the reason why it failed."""

    id: str
    callback_id: str
    token: str
    state: str = RUNNING
    outputs: Json = field(default_factory=dict)
    error: str = ""


@dataclass
class Steps:
    """The steps that the app declares, by callback_id, and those that were begun."""

    declared: Mapping[str, Json] = field(default_factory=dict)
    executions: dict[str, StepExecution] = field(default_factory=dict)

    def begin(self, execution_id: str, callback_id: str, token: str) -> StepExecution:
        """Begin a step."""
        self.executions[execution_id] = StepExecution(execution_id, callback_id, token)
        return self.executions[execution_id]

    def has_token(self, token: str) -> bool:
        """Return whether a token is that of a workflow that waits for a step."""
        return any(each.token == token and each.state == RUNNING for each in self.executions.values())

    def find_output_fault(self, execution: StepExecution, outputs: object) -> str:
        """Return what is wrong with outputs by the declaration of the step, empty if nothing is."""
        if not isinstance(outputs, dict):
            return "outputs are no object"
        parameters = list_parameters(self.declared.get(execution.callback_id, {}), "output_parameters")
        for name, parameter in parameters.items():
            if parameter.get("is_required") and name not in outputs:
                return f"{name} is missing"
            if name in outputs and parameter.get("type") == "string" and not isinstance(outputs[name], str):
                return f"{name} is no string"
        unknown = sorted(outputs.keys() - parameters.keys())
        return f"{unknown[0]} is not declared" if unknown else ""


def list_parameters(step: Json, kind: str) -> dict[str, Json]:
    """Return the parameters of a step by name, with ``is_required``. Manifests of version 1 have it themselves."""
    section = step.get(kind) or {}
    if "properties" not in section:
        return {name: {**parameter} for name, parameter in section.items()}
    required = section.get("required", ())
    return {
        name: {**parameter, "is_required": name in required} for name, parameter in section["properties"].items()
    }
