import json
from collections.abc import Iterator
from typing import Any

import pytest

from localslack.errors import InvalidAction
from localslack.manifest import read_manifest
from localslack.testing.emulator import SlackEmulator
from localslack.users.person import Person
from localslack.users.transport import Ack
from tests.client import Json, client_of, refusal

STEPS: Json = {
    "greet": {
        "title": "Greet",
        "input_parameters": {"properties": {"name": {"type": "string"}}, "required": ["name"]},
        # as in manifests of version 1
        "output_parameters": {"said": {"type": "string", "is_required": True}},
    }
}


class Taken:
    """A transport that accepts everything."""

    def send(self, kind: str, payload: Json, *, retry: int = 0) -> Ack:
        return Ack(200, "", 0.0)


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with SlackEmulator() as slack:
        slack.declare_steps(STEPS)
        yield slack


@pytest.fixture
def event(slack: SlackEmulator) -> Json:
    event: Json = Person(slack, Taken()).run_step("greet", {"name": "Ada"}).payload["event"]
    return event


def test_a_step_is_told_to_the_app_and_ends_once(slack: SlackEmulator, event: Json) -> None:
    assert event["function"]["callback_id"] == "greet"
    assert event["function"]["input_parameters"] == [{"name": "name", "type": "string", "is_required": True}]
    assert (event["inputs"], "user" in event) == ({"name": "Ada"}, False)
    execution = event["function_execution_id"]
    web = client_of(slack, event["bot_access_token"])
    web.functions_completeSuccess(function_execution_id=execution, outputs={"said": "Hello"})
    step = slack.get_step(execution)
    assert (step.state, step.outputs) == ("COMPLETED", {"said": "Hello"})
    # the token of a workflow ends with the step
    again = refusal(lambda: web.functions_completeError(function_execution_id=execution, error="late"))
    assert again["error"] == "invalid_auth"
    own = client_of(slack)
    again = refusal(lambda: own.functions_completeError(function_execution_id=execution, error="late"))
    assert again["error"] == "execution_not_in_running_state"


def test_a_step_that_fails_has_its_reason(slack: SlackEmulator, event: Json) -> None:
    web = client_of(slack, event["bot_access_token"])
    web.functions_completeError(function_execution_id=event["function_execution_id"], error="No such day.")
    assert (slack.get_step(event["function_execution_id"]).error) == "No such day."


@pytest.mark.parametrize(
    ("outputs", "error"),
    [
        ({}, "parameter_validation_failed"),
        ({"said": 7}, "parameter_validation_failed"),
        ({"said": "a", "more": "b"}, "parameter_validation_failed"),
        ([], "parameter_validation_failed"),
    ],
)
def test_outputs_are_as_declared(slack: SlackEmulator, event: Json, outputs: Any, error: str) -> None:
    web = client_of(slack, event["bot_access_token"])
    execution = event["function_execution_id"]
    answer = refusal(lambda: web.functions_completeSuccess(function_execution_id=execution, outputs=outputs))
    assert answer["error"] == error


def test_other_steps_and_other_tokens_are_refused(slack: SlackEmulator, event: Json) -> None:
    other = Person(slack, Taken()).run_step("greet", {}).payload["event"]
    web = client_of(slack, other["bot_access_token"])
    unknown = refusal(lambda: web.functions_completeError(function_execution_id="FxNONE", error="x"))
    assert unknown["error"] == "function_execution_not_found"
    foreign = refusal(
        lambda: web.functions_completeError(function_execution_id=event["function_execution_id"], error="x")
    )
    assert foreign["error"] == "access_denied"
    with pytest.raises(InvalidAction, match="the app has no step other"):
        Person(slack, Taken()).run_step("other", {})


@pytest.mark.parametrize("missing", ["function_runtime", "org_deploy_enabled", "event_subscriptions", ""])
def test_a_manifest_declares_them_with_all_that_they_need(missing: str) -> None:
    settings = {
        "function_runtime": "remote",
        "org_deploy_enabled": True,
        "event_subscriptions": {"bot_events": ["function_executed"]},
    }
    settings.pop(missing, None)
    steps = read_manifest(json.dumps({"functions": STEPS, "settings": settings})).steps
    assert steps == ({} if missing else STEPS)
