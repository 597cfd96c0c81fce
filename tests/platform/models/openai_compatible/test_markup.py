import json
import random
import time
from collections.abc import Iterator

import pytest
from localslack.loopback import Response

from bot.errors import ModelInputTooLong, ModelRequestRejected
from bot.features.summaries.reading import SummaryAnswer
from bot.platform.models.openai_compatible.client import TOO_LONG
from bot.platform.models.openai_compatible.markup import MarkupFilter, UnparsedCall, drop_reasoning, extract_json
from tests.emulators.claude.script import Text, summary_answer
from tests.emulators.openai_compatible.server import OpenAIEmulator
from tests.platform.models.openai_compatible.asking import Scripted, complete, talk
from tests.platform.models.openai_compatible.asking import failure as fail

ARGUMENTS = '{"name": "read_diff", "arguments": {"number": 7}}'
CALLS = {
    "Hermes, Qwen": f"<tool_call>\n{ARGUMENTS}\n</tool_call>",
    "in one line": f"<tool_call>{ARGUMENTS}</tool_call>",
    "Qwen coder": "<tool_call>\n<function=read_diff>\n<parameter=number>\n7\n</parameter>\n</function>",
    "Qwen coder without its tag": "<function=read_diff>\n<parameter=number>7</parameter>\n</function>",
    "Llama's function": '<function=read_diff>{"number": 7}</function>',
    "GLM": "<tool_call>read_diff\n<arg_key>number</arg_key>\n<arg_value>7</arg_value>\n</tool_call>",
    "Mistral": f"[TOOL_CALLS] [{ARGUMENTS}]",
    "Mistral, later": '[TOOL_CALLS]read_diff[ARGS]{"number": 7}',
    "Llama": '<|python_tag|>{"name": "read_diff", "parameters": {"number": 7}}',
    "Llama, built in": "<|python_tag|>read_diff.call(number=7)",
    "Llama without its tag": '{"name": "read_diff", "parameters": {"number": 7}}',
    "Llama with its type": '{"type": "function", "name": "read_diff", "parameters": {}}',
    "pythonic": "[read_diff(number=7)]",
    "DeepSeek": "<\uff5ctool▁calls▁begin\uff5c><\uff5ctool▁call▁begin\uff5c>function",
    "DeepSeek, later": '<\uff5cDSML\uff5cfunction_calls>\n<\uff5cDSML\uff5cinvoke name="read_diff">',
    "Kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.read_diff:0<|tool_call_argument_begin|>{}",
    "harmony": '<|channel|>commentary to=functions.read_diff <|constrain|>json<|message|>{"number": 7}<|call|>',
    "harmony after its analysis": "<|channel|>analysis<|message|>Read it.<|end|><|start|>assistant<|channel|>"
    "commentary to=functions.read_diff<|message|>{}<|call|>",
    "harmony without its tokens": "analysisI read it.assistantcommentary to=functions.read_diff json{}",
    "Granite": f"<|tool_call|>[{ARGUMENTS}]",
    "Nemotron": f"<TOOLCALL>[{ARGUMENTS}]</TOOLCALL>",
    "MiniMax": '<minimax:tool_call>\n<invoke name="read_diff">\n</invoke>',
    "Seed": "<seed:tool_call>\n<function=read_diff></function>",
    "LFM": "<|tool_call_start|>[read_diff(number=7)]<|tool_call_end|>",
    "Claude behind a gateway": '<function_calls>\n<invoke name="read_diff">',
    "xLAM": f"functools[{ARGUMENTS}]",
    "after a sentence": f"Let me look.\n\n<tool_call>\n{ARGUMENTS}\n</tool_call>",
    "in a sentence": f"Let me look.<tool_call>{ARGUMENTS}</tool_call>",
    "after code": f"```\nx\n```\n<tool_call>\n{ARGUMENTS}",
    "after its reasoning": f"<think>\nRead it.\n</think>\n\n<tool_call>\n{ARGUMENTS}",
    "after blanks": f" \n\n  <tool_call>\n{ARGUMENTS}",
}
ANSWER = "It parses **calls** now.\n\n1. One\n2. Two"
REASONED = {
    "think": f"<think>Secret.</think>{ANSWER}",
    "thinking": f"<thinking>Secret.\n</thinking>\n\n{ANSWER}",
    "thought": f"\n<thought>\nSecret.</thought>\n{ANSWER}",
    "reasoning": f"<reasoning>Secret <tool_call>\n{{}}</reasoning>{ANSWER}",
    "Magistral": f"[THINK]Secret.[/THINK]{ANSWER}",
    "Kimi": f"◁think▷Secret.◁/think▷{ANSWER}",
    "Command": f"<|START_THINKING|>Secret.<|END_THINKING|><|START_RESPONSE|>{ANSWER}<|END_RESPONSE|>",
    "Seed": f"<seed:think>Secret.</seed:think>{ANSWER}",
    "harmony": f"<|channel|>analysis<|message|>Secret.<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}"
    "<|return|>",
    "harmony, its answer alone": f"<|channel|>final<|message|>{ANSWER}<|return|>",
    "harmony without its tokens": f"analysisSecret thoughts.assistantfinal{ANSWER}",
    "the closing tag alone": f"Secret.\n</think>\n\n{ANSWER}",
    "another closing tag alone": f"Secret.</thinking>{ANSWER}",
    "end of turn": f"{ANSWER}<|im_end|>",
    "ends of turn": f"{ANSWER}\n<|end|><|eot_id|>\n",
    "DeepSeek's end": f"{ANSWER}<\uff5cend▁of▁sentence\uff5c>",
}
LINES = f"{ANSWER}\n<think>\nSecret.\n</think>\n"
QUOTED = [
    "`<tool_call>` is parsed when it is split.",
    "#31871 parses <tool_call> blocks that are split over deltas.",
    "<tool_call> blocks that are split are parsed.",
    "<tool_call>, not <think>, is what it holds back.",
    'The text `<tool_call>{"name": 1}` is held back.',
    'It looks for "<tool_call>{" in the text.',
    'It adds this:\n\n```\n<tool_call>\n{"name": "x"}\n</tool_call>\n```\nNothing else.',
    "Mistral's [TOOL_CALLS] token: [#1](https://github.com/vllm-project/vllm/pull/1).",
    "- [TOOL_CALLS] is kept\n- <|python_tag|> is dropped",
    "[#31871](https://github.com/vllm-project/vllm/pull/31871) parses calls.",
    "| marker | parser |\n|---|---|\n| `<|python_tag|>` | llama3_json |",
    "The `<|channel|>analysis<|message|>` of harmony is split off.",
    "It strips <|im_end|> from texts.",
    "DeepSeek's <\uff5ctool▁calls▁begin\uff5c> is a token.",
    "analysis of logs is faster",
    "a < b and `x[0]` and [y](z) <tool>",
    "The function <function=name> is a form of Qwen's parser.",
    '{"a": 1} is what it returns.',
    "``` `<tool_call>\n{` ```",
]


def cut(text: str) -> Iterator[list[str]]:
    """A text as a whole, by characters, and in pieces of some sizes."""
    yield [text]
    yield list(text)
    sizes = random.Random(len(text))  # noqa: S311 (no secret)
    for _ in range(4):
        places = sorted(sizes.sample(range(len(text)), min(5, len(text))))
        yield [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def read(pieces: list[str], *, is_marked: bool) -> Iterator[str]:
    """What is shown, bit by bit."""
    markup = MarkupFilter(is_marked=is_marked)
    yield from map(markup.feed, pieces)
    yield markup.end(is_whole=True)


def show(pieces: list[str], *, is_marked: bool) -> str:
    return "".join(read(pieces, is_marked=is_marked))


@pytest.mark.parametrize("is_marked", [True, False])
@pytest.mark.parametrize("text", CALLS.values(), ids=CALLS)
def test_a_call_in_the_text_is_none_of_the_answer(text: str, *, is_marked: bool) -> None:
    for pieces in cut(text):
        shown = list[str]()
        with pytest.raises(UnparsedCall):
            shown.extend(read(pieces, is_marked=is_marked))
        assert "".join(shown).strip() in ("", "Let me look.", "```\nx\n```")


@pytest.mark.parametrize("text", REASONED.values(), ids=REASONED)
def test_reasoning_is_no_part_of_the_answer_whatever_its_tags(text: str) -> None:
    is_marked = "alone" not in next(name for name, each in REASONED.items() if each == text)
    for pieces in cut(text):
        assert show(pieces, is_marked=False).strip() == ANSWER
        if is_marked:
            assert show(pieces, is_marked=True).strip() == ANSWER


def test_reasoning_between_lines_is_dropped() -> None:
    for pieces in cut(LINES):
        assert show(pieces, is_marked=True).strip() == ANSWER


@pytest.mark.parametrize("is_marked", [True, False])
@pytest.mark.parametrize("text", QUOTED)
def test_what_is_written_about_markup_is_answered(text: str, *, is_marked: bool) -> None:
    for pieces in cut(text):
        assert show(pieces, is_marked=is_marked) == text


@pytest.mark.parametrize("name", ["Hermes, Qwen", "Mistral", "Llama without its tag", "harmony"])
def test_structured_output_that_is_a_call_says_what_the_server_lacks(
    model_server: OpenAIEmulator, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ModelRequestRejected, match="passes on the model's calls of tools as text"):
        complete(model_server, Text(CALLS[name]))
    assert "--tool-call-parser" in caplog.text


def test_an_answer_that_is_a_call_says_what_the_server_lacks(
    model_server: OpenAIEmulator, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ModelRequestRejected, match="passes on the model's calls of tools as text"):
        talk(model_server, Text(CALLS["Hermes, Qwen"]))
    assert "--tool-call-parser" in caplog.text


SUMMARY = summary_answer() | {"headline": "Parses </think> and <tool_call>\n{} in text"}


@pytest.mark.parametrize("before", ["", "<think>{not this}</think>", "[THINK]{[/THINK]", "Hm {.\n</think>\n"])
def test_structured_output_may_be_about_markup(model_server: OpenAIEmulator, before: str) -> None:
    answer = complete(model_server, Text(before + json.dumps(SUMMARY)))
    assert SummaryAnswer.model_validate_json(answer.text).headline.startswith("Parses </think>")


LARGE = {
    "quoted closings": "```\n</think>\n" * 40_000,
    "closings in code": "```\n" + "</think>\n" * 50_000,
    "openings": "<" * 480_000,
    "calls in code": "`<tool_call>\n{`\n" * 30_000,
    "ticks": "`" * 480_000,
    "blanks": " " * 480_000,
    "reasoning": "<think>" + "x </thin" * 60_000,
    "lines of reasoning": "a\n" + "<think>\nx\n</think>\n" * 24_000,
    "words": "<a:" + "tool_" * 96_000,
    "brackets": "[" * 240_000 + "{" * 240_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("is_marked", [True, False])
@pytest.mark.parametrize("size", [1, 480_000])
@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_the_time_grows_with_the_text_alone(text: str, size: int, *, is_marked: bool) -> None:
    began = time.process_time()
    markup = MarkupFilter(is_marked=is_marked)
    for start in range(0, len(text), size):
        markup.feed(text[start : start + size])
    markup.end(is_whole=True)
    drop_reasoning(text)
    extract_json(text)
    assert time.process_time() - began < 10


# --- a prompt that is too long, in the words of servers

OVERFLOWS = {
    "vLLM": (400, {"object": "error", "message": "This model's maximum context length is 8192 tokens."}),
    "TGI, the prompt": (
        422,
        {
            "error": "Input validation error: `inputs` must have less than 1024 tokens. Given: 1168",
            "error_type": "validation",
        },
    ),
    "TGI, the sum": (
        422,
        {
            "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1512. Given: 1000 "
            "`inputs` tokens and 1024 `max_new_tokens`",
            "error_type": "validation",
        },
    ),
    "TensorRT-LLM": (
        400,
        {
            "object": "error",
            "message": "The sum of prompt length (72417.0), query length (0) should not exceed "
            "max_num_tokens (69632)",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
    ),
    "TensorRT-LLM, its engine": (
        500,
        {"error": "Encountered an error: Prompt length (5056) exceeds maximum input length (2048)"},
    ),
    "Triton": (400, {"error": "Cannot process new request: Prompt length (5056) exceeds maximum sequence length"}),
    "Gemini": (
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "The input token count (1200293) exceeds the maximum number of tokens allowed "
                    "(1048576).",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
    ),
    "SGLang": (400, {"message": "Input length (265330 tokens) exceeds the maximum allowed length (262144)."}),
    "xAI": (400, {"error": "This model's maximum prompt length is 131072 but the request contains 537812 tokens"}),
    "Groq": (413, {"error": {"message": "Please reduce the length of the messages or completion."}}),
    "Claude": (400, {"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}}),
    "llama.cpp": (500, {"error": {"message": "the request exceeds the available context size", "code": 500}}),
}
OTHERS = {
    "a length of something else": (400, {"error": "the length of the list exceeds 5"}),
    "tokens a minute": (429, {"error": {"message": "Rate limit reached: input tokens per minute exceeded"}}),
    "an answer": (400, {"error": "max_tokens must be at least 1"}),
    "a list of none": (400, []),
}


@pytest.mark.parametrize(("status", "body"), OVERFLOWS.values(), ids=OVERFLOWS)
def test_a_refusal_for_its_length_is_one(status: int, body: object) -> None:
    with Scripted(Response.of_json(body, status)) as world:
        error = fail(f"{world.url}/v1")
    assert (type(error), str(error)) == (ModelInputTooLong, TOO_LONG)


@pytest.mark.parametrize(("status", "body"), OTHERS.values(), ids=OTHERS)
def test_another_refusal_is_none_for_its_length(status: int, body: object) -> None:
    with Scripted(Response.of_json(body, status)) as world:
        assert not isinstance(fail(f"{world.url}/v1"), ModelInputTooLong)
