"""Steps in Slack's workflows: each is done once, and its workflow goes on once."""

from __future__ import annotations

import json

import pytest
from localslack.state.steps import StepExecution
from localslack.state.workspace import Json
from localslack.users.sender import Delivery

from bot.domain.operations.app_manifest import add_steps
from tests.helpers.processes.command import ROOT
from tests.scenarios import Bot, both_transports
from tests.scenarios.conversations.asking import answer, answering

MANIFEST = json.loads((ROOT / "manifest.json").read_text())


def begin(bot: Bot, step: str, **inputs: str) -> Delivery:
    bot.world.slack.declare_steps(add_steps(MANIFEST)["functions"])
    delivery = bot.person().run_step(step, inputs)
    assert delivery.ack.status == 200
    return delivery


def end(bot: Bot, delivery: Delivery) -> StepExecution:
    """The step, once nothing is left to do."""
    bot.settle()
    return bot.world.slack.get_step(delivery.payload["event"]["function_execution_id"])


def reports(bot: Bot, delivery: Delivery) -> list[Json]:
    """What Slack was told of a step."""
    execution = delivery.payload["event"]["function_execution_id"]
    return [
        arguments
        for method, arguments in bot.world.slack.calls
        if method.startswith("functions.") and arguments["function_execution_id"] == execution
    ]


@both_transports
def test_a_digest_is_posted_once_and_its_address_goes_on(bot: Bot) -> None:
    repository, channel = bot.repository(), bot.channel()
    bot.pull(repository, merged_at=bot.noon(1))
    day = f"{bot.noon(1):%Y-%m-%d}"
    delivery = begin(bot, "post_digest", channel_id=channel, day=day, repository=repository)
    step = end(bot, delivery)
    (message,) = bot.list_posts(channel)
    assert (step.state, step.error) == ("COMPLETED", "")
    assert message["ts"].replace(".", "") in step.outputs["link"]
    # the event comes twice
    bot.person().redeliver(delivery)
    bot.settle()
    assert len(reports(bot, delivery)) == 1
    # another workflow with the same day gets the same address
    again = end(bot, begin(bot, "post_digest", channel_id=channel, day=day, repository=repository))
    assert again.outputs == step.outputs
    assert len(bot.list_posts(channel)) == 1


def test_a_question_is_answered_as_text_that_notifies_nobody(bot: Bot) -> None:
    bot.pull()
    with answering(bot, answer("<!channel> The loader [was replaced](https://evil.test).")):
        delivery = begin(bot, "ask_prdigest", question="What changed?", channel_id=bot.channel())
        step = end(bot, delivery)
    assert step.state == "COMPLETED"
    assert "The loader" in step.outputs["answer"]
    assert "<!channel>" not in step.outputs["answer"]
    assert "](https://evil.test" not in step.outputs["answer"]


REFUSED: dict[str, tuple[dict[str, str], str]] = {
    "no channel": ({}, "There is no channel"),
    "a person in place of a channel": ({"channel_id": "U0ADA"}, "There is no channel"),
    "a channel that is none": ({"channel_id": "C0NONE"}, "C0NONE"),
    "another repository": ({"channel_id": "", "repository": "octo/secret"}, "I'm not set up for octo/secret"),
    "no day": ({"channel_id": "", "day": "path:x private"}, "is not a date"),
    "a day that is not over": ({"channel_id": "", "day": "today"}, "not over yet"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_not_be_done_ends_with_a_sentence(bot: Bot, name: str) -> None:
    inputs, sentence = REFUSED[name]
    # an empty one stands for a channel of this test
    known = {key: value or bot.channel() for key, value in inputs.items()}
    delivery = begin(bot, "post_digest", **known)
    step = end(bot, delivery)
    assert step.state == "ERROR"
    assert sentence in step.error
    assert len(reports(bot, delivery)) == 1


def test_a_report_that_is_lost_is_made_again(bot: Bot) -> None:
    slack = bot.world.slack
    channel, repository = bot.channel(), bot.repository()
    bot.pull(repository, merged_at=bot.noon(1))
    # Slack takes it, and the answer is lost: the next report finds the step ended
    slack.fail_next("functions.completeSuccess", status=503, after_effect=True)
    delivery = begin(bot, "post_digest", channel_id=channel, repository=repository)
    assert end(bot, delivery).state == "COMPLETED"
    # Slack does not take it
    slack.fail_next("functions.completeSuccess", status=503)
    delivery = begin(bot, "post_digest", channel_id=channel, repository=repository)
    assert end(bot, delivery).state == "COMPLETED"
    assert len(reports(bot, delivery)) == 2
    assert len(bot.list_posts(channel)) == 1
