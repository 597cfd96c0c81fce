"""Requests that fit into a model's context window, before a server refuses them."""

from dataclasses import replace

import pytest

from bot.errors import ModelInputTooLong
from bot.features.merges.review import ReviewVerdict
from bot.features.merges.summary import describe_fallback
from bot.features.reviews.reading import MAX_DIFF_TOKENS, Reviewer
from bot.features.summaries.reading import read_pull_request
from bot.platform.models import TextPart, Turn
from bot.platform.pulls.models import PullRequest
from bot.platform.source.reading import CodeSources
from bot.usage import NO_PRICES
from tests.emulators.claude.script import Failure, Json, Text, ToolUse, review_answer, summary_answer
from tests.emulators.openai_compatible.server import LARGE, SMALL, OpenAIEmulator
from tests.helpers.apps import make_reading_app
from tests.helpers.builders import changed_file, pull
from tests.helpers.talks import converse
from tests.platform.models.openai_compatible.asking import CHAT, PROMPT, answer_calls, complete, open_model, talk

SMALL_WINDOW = 4_096


def test_a_window_that_the_server_lists_bounds_the_answer(model_server: OpenAIEmulator) -> None:
    model_server.models = {SMALL: SMALL_WINDOW, LARGE: None}
    complete(model_server, Text("x"), prompt=replace(PROMPT, max_tokens=8_000))
    (body,) = model_server.requests
    assert 2_000 < body["max_tokens"] < SMALL_WINDOW


def test_a_window_of_the_settings_comes_first_and_the_server_is_not_asked(model_server: OpenAIEmulator) -> None:
    complete(model_server, Text("x"), prompt=replace(PROMPT, max_tokens=8_000), tokens=5_000)
    assert (len(model_server.headers), model_server.requests[0]["max_tokens"] < 5_000) == (1, True)


def test_the_list_is_asked_for_once(model_server: OpenAIEmulator) -> None:
    with open_model(model_server.address) as model:
        for _ in range(3):
            model.complete(PROMPT)
    assert (len(model_server.requests), len(model_server.headers)) == (3, 4)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["word " * 4_000, "日本" * 4_000, "\x00\x01" * 2_000])
def test_a_prompt_that_can_not_fit_is_not_sent(model_server: OpenAIEmulator, text: str) -> None:
    model_server.models = {SMALL: SMALL_WINDOW}
    with pytest.raises(ModelInputTooLong) as caught:
        complete(model_server, prompt=replace(PROMPT, user=text))
    assert caught.value.excess is not None
    assert caught.value.excess > 0
    assert model_server.requests == []


def test_the_oldest_results_of_tools_go_first_and_as_a_whole(model_server: OpenAIEmulator) -> None:
    model_server.models = {LARGE: 8_192}
    chat = CHAT
    model_server.script(ToolUse("read", {"path": "a"}), ToolUse("read", {"path": "b"}), Text("Much."))
    with open_model(model_server.address) as model:
        for result in ("first " * 2_000, "second " * 1_500):
            chat = answer_calls(chat, converse(model, chat), f'<data id="1">\n{result}</data id="1">')
        assert converse(model, chat).words == "Much."
    first, second = [each["content"] for each in model_server.requests[-1]["messages"] if each["role"] == "tool"]
    assert first.startswith("[Left out")
    assert second.endswith('</data id="1">')


def test_a_conversation_without_results_is_not_cut(model_server: OpenAIEmulator) -> None:
    model_server.models = {LARGE: SMALL_WINDOW}
    turns = (Turn("person", (TextPart("record " * 5_000, stable=True), TextPart("Why?"))),)
    with pytest.raises(ModelInputTooLong):
        talk(model_server, chat=replace(CHAT, turns=turns))
    assert model_server.requests == []


def large_pull() -> PullRequest:
    return pull(1, files=[changed_file(f"engine/part{number}.py", added=90) for number in range(16)])


@pytest.mark.parametrize("is_listed", [True, False], ids=["cut before", "refused by the server"])
def test_a_summary_of_a_large_change_is_one_of_a_smaller_part(
    model_server: OpenAIEmulator, *, is_listed: bool
) -> None:
    model_server.models = {SMALL: 8_192 if is_listed else None}
    refusal = Failure(400, "BadRequestError", "This model's maximum context length is 8192 tokens.")
    model_server.script(*[] if is_listed else [refusal], Json(summary_answer()))
    with open_model(model_server.address) as model:
        app = make_reading_app(None, model)
        app.settings = app.settings.model_copy(update={"prdigest_summary_model": SMALL})
        summary = read_pull_request(app, large_pull()).summary
    assert summary.headline == summary_answer()["headline"]
    assert summary.left_out
    assert len(model_server.requests) == (1 if is_listed else 2)


@pytest.mark.parametrize("is_listed", [True, False], ids=["cut before", "refused by the server"])
def test_a_review_of_a_large_change_is_one_of_a_smaller_part(
    model_server: OpenAIEmulator, *, is_listed: bool
) -> None:
    model_server.models = {LARGE: 8_192 if is_listed else None}
    refusal = Failure(400, "BadRequestError", "This model's maximum context length is 8192 tokens.")
    model_server.script(*[] if is_listed else [refusal], Json(review_answer()))
    with open_model(model_server.address) as connection:
        reviewer = Reviewer(connection, LARGE, NO_PRICES, MAX_DIFF_TOKENS, CodeSources(), lambda _: None)
        review = reviewer.review(large_pull(), reviewer.start_cost(large_pull())).review
    assert review.verdict is ReviewVerdict.NOTHING
    assert len(model_server.requests) == (1 if is_listed else 2)
    assert sum(len(str(body["messages"])) for body in model_server.requests[-1:]) < 8_192 * 4


@pytest.mark.slow
def test_a_change_that_no_window_holds_is_told_so(model_server: OpenAIEmulator) -> None:
    refusal = Failure(400, "BadRequestError", "This model's maximum context length is 10 tokens.")
    model_server.models = {SMALL: None}
    model_server.script(*[refusal] * 40)
    with open_model(model_server.address) as model:
        app = make_reading_app(None, model)
        app.settings = app.settings.model_copy(update={"prdigest_summary_model": SMALL})
        summary = read_pull_request(app, large_pull()).summary
    assert "longer than the model's context window" in describe_fallback(summary.fallback)
    assert len(model_server.requests) < 16
