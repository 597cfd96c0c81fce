from __future__ import annotations

from dataclasses import fields

import pytest

from bot.domain.errors import StoreUnavailable
from bot.domain.operations.workflow_steps import STEPS
from bot.services.steps.step_run import StepOutputs, StepRun


@pytest.mark.parametrize(
    ("text", "named"),
    [
        pytest.param('{"link": "https://a.test/1"}', {"link": "https://a.test/1"}, id="link-of-version-1"),
        pytest.param('{"answer": ""}', {"answer": ""}, id="empty-answer-of-version-1"),
        pytest.param('{"answer": "Yes.", "version": 1}', {"answer": "Yes."}, id="marked"),
    ],
)
def test_recorded_outputs_are_read_by_their_names(text: str, named: dict[str, str]) -> None:
    assert StepRun(outputs_json=text).outputs.list_named() == named


def test_outputs_are_recorded_with_their_version() -> None:
    run = StepRun().succeed(StepOutputs(link="https://a.test/1"))
    assert run.outputs_json == '{"version":1,"link":"https://a.test/1"}'
    assert (run.is_decided, run.outputs) == (True, StepOutputs(link="https://a.test/1"))


def test_outputs_have_the_names_that_the_manifest_declares() -> None:
    assert [field.name for field in fields(StepOutputs)] == [
        field.name for step in STEPS.values() for field in step.outputs
    ]


def test_outputs_of_a_later_version_are_not_reported() -> None:
    with pytest.raises(StoreUnavailable):
        _ = StepRun(outputs_json='{"link": "x", "version": 2}').outputs
