"""The Web API's methods that end a step of a workflow."""

from __future__ import annotations

import json

from localslack.errors import SlackError, raise_error
from localslack.state.steps import COMPLETED, FAILED, RUNNING, StepExecution
from localslack.state.workspace import Json, Workspace


def complete_step(team: Workspace, arguments: Json) -> Json:
    """End a step with its outputs (``functions.completeSuccess``)."""
    execution = _find_running(team, arguments)
    try:
        raw_outputs = arguments.get("outputs")
        outputs = json.loads(raw_outputs) if isinstance(raw_outputs, str) else raw_outputs
    except ValueError:
        raise SlackError("invalid_arguments") from None
    raise_error("parameter_validation_failed" if team.steps.find_output_fault(execution, outputs) else None)
    execution.state, execution.outputs = COMPLETED, dict(outputs or {})
    return {}


def fail_step(team: Workspace, arguments: Json) -> Json:
    """End a step with the reason why it failed (``functions.completeError``)."""
    execution = _find_running(team, arguments)
    reason = str(arguments.get("error") or "")
    raise_error(None if reason else "invalid_arguments")
    execution.state, execution.error = FAILED, reason
    return {}


def _find_running(team: Workspace, arguments: Json) -> StepExecution:
    """Return a step that runs, by the token of its own workflow or that of the bot. Raises SlackError."""
    execution = team.steps.executions.get(str(arguments.get("function_execution_id") or ""))
    if execution is None:
        raise SlackError("function_execution_not_found")
    own = arguments.get("workflow_token")
    raise_error("access_denied" if own is not None and own != execution.token else None)
    raise_error(None if execution.state == RUNNING else "execution_not_in_running_state")
    return execution
