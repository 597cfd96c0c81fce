import logging
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass

import pytest

from bot.errors import ModelBusy, ModelError, ModelRefusal
from bot.platform.correlation import identify_request
from bot.platform.costs import CallMeter, MeteredChat, MeteredModel
from bot.platform.metrics import Instruments
from bot.platform.models import Chat, ChatEvent, Completion, Prompt, TextDelta, Turn, TurnEnd, TurnUsage
from bot.usage import CallPurpose, ModelPrice, PriceList, Usage

USED = Usage(input=1_000, output=50, cache_read=200, cache_write=30, cache_write_hour=4)
PRICES = PriceList({"small": ModelPrice(input=1.0, output=10.0)})
PROMPT = Prompt("small", "1", "be brief", "SECRET TEXT", {}, 100, CallPurpose.OVERVIEW)
CHAT = Chat("small", "be brief", (), (), 100, 1.0, 1.0)
EVENTS = (TextDelta("SECRET TEXT"), TurnUsage(USED), TurnEnd(Turn("model")))


@dataclass
class ScriptedModel:
    error: Exception | None = None

    def complete(self, prompt: Prompt) -> Completion:
        if self.error:
            raise self.error
        return Completion("SECRET TEXT", USED)

    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        for event in EVENTS:
            if self.error and isinstance(event, TurnEnd):
                raise self.error
            yield event


@pytest.fixture
def instruments() -> Instruments:
    return Instruments()


def count_calls(instruments: Instruments, purpose: str, result: str) -> float | None:
    labels = {"model": "small", "purpose": purpose, "result": result}
    return instruments.registry.get_sample_value("prdigest_model_calls_total", labels)


def count_tokens(instruments: Instruments) -> dict[str, float | None]:
    kinds = ("input", "output", "cache_read", "cache_write")
    return {
        kind: instruments.registry.get_sample_value(
            "prdigest_model_tokens_total", {"model": "small", "kind": kind}
        )
        for kind in kinds
    }


def spend(error: type[ModelError]) -> ModelError:
    made = error("no")
    made.usage = USED
    return made


def test_a_completion_is_counted_with_its_tokens_and_its_cost(instruments: Instruments) -> None:
    MeteredModel(ScriptedModel(), CallMeter(instruments, PRICES)).complete(PROMPT)
    assert count_calls(instruments, "overview", "ok") == 1
    assert count_tokens(instruments) == {"input": 1_000, "output": 50, "cache_read": 200, "cache_write": 34}
    cost = instruments.registry.get_sample_value("prdigest_model_cost_dollars_total", {"model": "small"})
    assert cost == pytest.approx(PRICES.cost("small", USED))


@pytest.mark.parametrize(
    ("error", "result", "tokens"),
    [
        (ModelBusy("later", None), "busy", 0),
        (spend(ModelRefusal), "failed", 1_000),
        (KeyError("a defect"), "failed", 0),
    ],
    ids=["busy", "refusal", "defect"],
)
def test_a_failure_is_counted_with_what_it_cost(
    instruments: Instruments, error: Exception, result: str, tokens: int
) -> None:
    with pytest.raises(type(error)):
        MeteredModel(ScriptedModel(error), CallMeter(instruments, PRICES)).complete(PROMPT)
    assert count_calls(instruments, "overview", result) == 1
    assert count_tokens(instruments)["input"] == tokens


def test_a_turn_is_counted_once_at_its_end(instruments: Instruments) -> None:
    events = MeteredChat(ScriptedModel(), CallMeter(instruments, PRICES)).stream_turn(CHAT)
    assert next(events) == EVENTS[0]
    assert count_calls(instruments, "usual", "ok") is None
    assert list(events) == list(EVENTS[1:])
    assert count_calls(instruments, "usual", "ok") == 1
    assert count_tokens(instruments)["input"] == 1_000


def test_a_turn_whose_reader_needs_no_more_is_no_failure(instruments: Instruments) -> None:
    with closing(MeteredChat(ScriptedModel(), CallMeter(instruments, PRICES)).stream_turn(CHAT)) as events:
        next(events)
    assert count_calls(instruments, "usual", "ok") == 1


def test_a_turn_that_breaks_keeps_the_tokens_that_were_reported(instruments: Instruments) -> None:
    with pytest.raises(ModelBusy):
        list(
            MeteredChat(ScriptedModel(ModelBusy("later", None)), CallMeter(instruments, PRICES)).stream_turn(CHAT)
        )
    assert count_calls(instruments, "usual", "busy") == 1
    assert count_tokens(instruments)["input"] == 1_000


def test_the_line_of_a_call_has_figures_and_no_text(
    instruments: Instruments, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with identify_request("0b134a"):
        MeteredModel(ScriptedModel(), CallMeter(instruments, PRICES)).complete(PROMPT)
    [line] = [record.getMessage() for record in caplog.records]
    assert line.startswith("model call: small for overview, ok after ")
    assert line.endswith("1234 tokens read, 50 written")
    assert "SECRET" not in line
