"""Listeners for the steps that people put into Slack's workflows. Who started a workflow is not known."""

from __future__ import annotations

from typing import Any

from slack_bolt import App

from bot.domain.conversations.step_inputs import StepInputs
from bot.domain.keyspace.forgotten_ids import is_channel_id
from bot.domain.keyspace.keys import STEP_TOKEN
from bot.domain.operations.workflow_steps import STEPS, WorkflowStep
from bot.render.conversations.sentences import STEP_WITHOUT_CHANNEL
from bot.services.jobs.job_types import RUN_STEP
from bot.services.jobs.payloads import StepPayload
from handlers import requests
from handlers.intake import RequestIntake


def register_step_listeners(app: App, intake: RequestIntake) -> None:
    """Register a listener for each step."""

    def listen(step: WorkflowStep) -> None:
        @app.function(step.name.value)
        def run(body: dict[str, Any], event: dict[str, Any]) -> None:
            _enqueue_step(intake, step, body, event)

    for step in STEPS.values():
        listen(step)


def _enqueue_step(intake: RequestIntake, step: WorkflowStep, body: dict[str, Any], event: dict[str, Any]) -> None:
    """Enqueue the job for a step. One that is refused is reported to its workflow by the same job."""
    execution = str(event["function_execution_id"])
    inputs = StepInputs.read(step, event["inputs"])
    origin = requests.parse_step(body, event, inputs.channel)

    def accept(refusal: str) -> None:
        # the rules name channels, and a digest must not reach a person whom a workflow names
        refusal = refusal or ("" if is_channel_id(inputs.channel) else STEP_WITHOUT_CHANNEL)
        intake.cache.put(
            STEP_TOKEN.build_key(execution), str(event.get("bot_access_token") or ""), STEP_TOKEN.lifetime
        )
        intake.jobs.send(RUN_STEP, StepPayload(execution, step.name, inputs, origin, refusal))

    intake.handle_step(origin, accept)
