"""The declaration of steps: the manifest and the reading of inputs follow from it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.domain.conversations.step_inputs import MAX_INPUT_LENGTH, StepInputs
from bot.domain.operations.app_manifest import add_steps
from bot.domain.operations.workflow_steps import STEPS, StepName
from tests.helpers.processes.command import ROOT

MANIFEST = json.loads((ROOT / "manifest.json").read_text())
FILLED_IN = {"channel_id": "C1", "day": " 2026-02-28 ", "repository": "octo/engine", "question": "Why?"}


def test_every_name_is_declared_once_and_the_manifest_offers_it() -> None:
    functions = add_steps(MANIFEST)["functions"]
    assert list(STEPS) == list(StepName)
    assert list(functions) == [name.value for name in StepName]
    for step in STEPS.values():
        shown = functions[step.name]
        assert list(shown["input_parameters"]["properties"]) == [field.name for field in step.inputs]
        assert shown["input_parameters"]["required"] == [field.name for field in step.required]
        assert list(shown["output_parameters"]["properties"]) == [field.name for field in step.outputs]


def test_what_workflows_were_built_with_keeps_its_names() -> None:
    named = {
        step.name.value: ([field.name for field in step.inputs], [field.name for field in step.outputs])
        for step in STEPS.values()
    }
    assert named == {
        "post_digest": (["channel_id", "day", "repository"], ["link"]),
        "ask_prdigest": (["question", "channel_id"], ["answer"]),
    }


@pytest.mark.parametrize(
    ("name", "filled_in", "read"),
    [
        (StepName.POST_DIGEST, FILLED_IN, StepInputs("C1", "2026-02-28", "octo/engine")),
        (StepName.ASK, FILLED_IN, StepInputs("C1", question="Why?")),
        (StepName.POST_DIGEST, {"channel_id": "C1", "day": None}, StepInputs("C1")),
        (StepName.POST_DIGEST, {"channel_id": ["C1"], "day": 3}, StepInputs()),
        (StepName.ASK, {"question": "x" * 5_000}, StepInputs(question="x" * MAX_INPUT_LENGTH)),
    ],
    ids=["all", "another-step", "left-out", "no-texts", "long"],
)
def test_inputs_are_read_as_the_step_declares_them(
    name: StepName, filled_in: dict[str, Any], read: StepInputs
) -> None:
    assert StepInputs.read(STEPS[name], filled_in) == read
