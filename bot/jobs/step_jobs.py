"""Jobs for the steps of workflows. They have no asker: Slack does not say who started a workflow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bot.app import App
from bot.container.steps import build_step_services
from bot.domain.errors import UsageError
from bot.domain.operations.workflow_steps import StepName
from bot.jobs.job_runner import JobHandler
from bot.services.costs.billing import bill_to, name_payer
from bot.services.jobs.job_types import RUN_STEP
from bot.services.jobs.payloads import StepPayload
from bot.services.steps.step_run import StepOutputs


def list_jobs() -> Iterable[JobHandler[Any]]:
    """List the job with its handler."""
    return (JobHandler(RUN_STEP, run_step),)


def run_step(app: App, payload: StepPayload) -> None:
    """Run a step of a workflow; all workflows of a workspace share one budget."""
    steps = build_step_services(app)

    def do_work() -> StepOutputs:
        if payload.refusal:
            raise UsageError(payload.refusal)
        if payload.name is StepName.POST_DIGEST:
            return steps.work.post_digest(payload.inputs)
        return steps.work.answer_question(payload.origin, payload.inputs)

    with bill_to(name_payer(payload.origin)):
        steps.runner.run(payload.execution, do_work)
