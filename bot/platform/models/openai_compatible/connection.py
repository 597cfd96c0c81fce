"""Connection to the models of an OpenAI-compatible server: JSON in a schema, and conversations with tools."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from io import StringIO
from itertools import groupby
from typing import Any

from bot.errors import (
    ModelAnswerTruncated,
    ModelBusy,
    ModelError,
    ModelInputTooLong,
    ModelRefusal,
    ModelRequestRejected,
)
from bot.platform.finding import Finding
from bot.platform.http.bounded_calls import run_in_own_context
from bot.platform.models import (
    Chat,
    ChatEvent,
    Completion,
    ModelAccess,
    Prompt,
    TextDelta,
    TextPart,
    ToolCall,
    ToolResult,
    Turn,
    TurnEnd,
    TurnUsage,
    failures,
)
from bot.platform.models.openai_compatible import CONTEXT_TOKENS
from bot.platform.models.openai_compatible.client import (
    ADDRESS_ADVICE,
    NO_TOOLS,
    TOO_LARGE,
    TOO_LONG,
    UNPARSED_CALL,
    CallPart,
    Choice,
    Delta,
    Message,
    Reply,
    ServerClient,
    ServerRefusal,
    WrongService,
)
from bot.platform.models.openai_compatible.markup import MarkupFilter, UnparsedCall, drop_reasoning, extract_json
from bot.platform.models.slots import CallLimit
from bot.usage import Usage

# --- turns

# the least number of bytes of UTF-8 in a token: 3 or 4 letters of English and code, one sign of other scripts
BYTES_PER_TOKEN = 3
# characters of text and reasoning; a turn may have 8,000 tokens, with some characters in each
_MAX_TEXT_LENGTH = 1_000_000
_MAX_CALLS = 64  # a model is allowed some calls in a turn; the others get an error as their result
_MAX_ARGUMENTS_LENGTH = 200_000
_MAX_NAME_LENGTH = 200
# no tool has such an argument: the model reads as the error of its call what was wrong with it
MALFORMED = "these arguments, which are no JSON object"


class TurnReader:
    """Reader of the events of one turn. ``prompt_tokens`` is an estimate.

    ``marked`` are the models whose reasoning is marked, to which the turn adds. With ``is_json`` the text is
    passed on as a whole. ``is_estimated`` is true if the server does not report the usage.
    """

    def __init__(self, model: str, prompt_tokens: int, marked: set[str], *, is_json: bool) -> None:
        self._model = model
        self._prompt_tokens = prompt_tokens
        self._marked = marked
        self._is_json = is_json
        self._filter = MarkupFilter(is_marked=model in marked, is_json=is_json)
        self._calls = _CallAssembler()
        self._parts: list[str] = []
        self._length = 0
        self._finish_reason: str | None = None
        self._refusal: str | None = None
        self.is_estimated = True

    def read_events(self, replies: Iterator[Reply]) -> Iterator[ChatEvent]:
        """Yield the events. Raises WrongService, ServerRefusal, UnparsedCall, ModelRefusal and ModelBusy."""
        usage: Usage | None = None
        try:
            for number, reply in enumerate(replies):
                if number == 0:
                    # the server has read the prompt, however the turn ends
                    yield TurnUsage(estimate_usage(self._prompt_tokens, 0))
                if reply.usage:
                    usage, self.is_estimated = reply.usage.convert_usage(), False
                    yield TurnUsage(usage)
                choice = next((each for each in reply.choices if each.index == 0), None)
                if choice:
                    self._finish_reason = choice.finish_reason or self._finish_reason
                    yield from self._read_delta(choice.delta or Delta())
            if usage is None:
                usage = estimate_usage(self._prompt_tokens, self._length)
                yield TurnUsage(usage)
            is_cut = check_end(self._finish_reason, self._refusal, usage)
        except (ModelBusy, WrongService, ServerRefusal):
            if usage is None and self._length:
                yield TurnUsage(estimate_usage(self._prompt_tokens, self._length))
            # what is known to be no reasoning stays, although the turn has no end
            yield from self._pass_on(self._filter.end(is_whole=False))
            raise
        yield from self._finish(is_cut=is_cut)

    def _read_delta(self, delta: Delta) -> Iterator[ChatEvent]:
        self._length += delta.length
        if self._length > _MAX_TEXT_LENGTH:
            raise ModelBusy(TOO_LARGE)
        self._refusal = delta.refusal or self._refusal
        for part in delta.tool_calls or ():
            self._calls.add_part(part)
        if delta.has_reasoning:
            self._filter.is_marked = True
        if delta.content:
            yield from self._pass_on(self._filter.feed(delta.content))

    def _pass_on(self, text: str) -> Iterator[ChatEvent]:
        self._parts.append(text)
        if text and not self._is_json:
            yield TextDelta(text)

    def _finish(self, *, is_cut: bool) -> Iterator[ChatEvent]:
        yield from self._pass_on(self._filter.end(is_whole=not is_cut))
        (self._marked.add if self._filter.is_marked else self._marked.discard)(self._model)
        # the last call of a turn that was cut may be incomplete
        calls = (
            [] if is_cut else [ToolCall(call.id, call.name, call.parse_arguments()) for call in self._calls.calls]
        )
        text = "".join(self._parts)
        if self._is_json and text and not calls:
            yield TextDelta(extract_json(text))
        yield from calls
        # the turn as it goes back to the server; one that says nothing has no message
        message: dict[str, Any] = {"role": "assistant", "content": text if text.strip() else None}
        if calls:
            message["tool_calls"] = self._calls.dump_calls()
        yield TurnEnd(Turn("model", model_blocks=(message,) if calls or text.strip() else ()), is_cut)


def estimate_usage(prompt_tokens: int, characters: int) -> Usage:
    """Return the usage of a call that the server does not report, rather too high than too low."""
    return Usage(input=prompt_tokens, output=-(-characters // BYTES_PER_TOKEN))


def check_end(finish_reason: str | None, refusal: str | None, usage: Usage) -> bool:
    """Return whether an answer was cut at its length limit. Raises ModelRefusal, and ModelBusy for another end."""
    if refusal or finish_reason == "content_filter":
        raise ModelRefusal(failures.MODEL_DECLINED, usage)
    if finish_reason not in ("stop", "tool_calls", "length"):
        error = ModelBusy(failures.MODEL_STOPPED)
        error.usage = usage
        raise error
    return finish_reason == "length"


@dataclass
class _OpenCall:
    id: str
    name: str
    arguments: StringIO = field(default_factory=StringIO)

    def parse_arguments(self) -> dict[str, Any]:
        """Return the arguments as the model wrote them; no text means none."""
        try:
            value = json.loads(self.arguments.getvalue() or "{}", parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            value = None
        return value if isinstance(value, dict) else {MALFORMED: True}


def _refuse_constant(name: str) -> None:
    """NaN and the like are not JSON."""
    raise ValueError(name)


class _CallAssembler:
    """The calls of one turn, put together from their parts. Raises WrongService for parts that make no call."""

    def __init__(self) -> None:
        self.calls: list[_OpenCall] = []
        self._by_index: dict[int, _OpenCall] = {}

    def add_part(self, part: CallPart) -> None:
        """Add a part of a call, the first with its name. On some servers only ids tell calls apart."""
        name = (part.function.name if part.function else None) or ""
        call = self._by_index.get(part.index)
        if call is None or (name and part.id and part.id != call.id):
            call = self._open_call(part, name)
        elif name and name != call.name:
            raise WrongService
        call.arguments.write((part.function.arguments if part.function else None) or "")
        if call.arguments.tell() > _MAX_ARGUMENTS_LENGTH:
            raise WrongService

    def _open_call(self, part: CallPart, name: str) -> _OpenCall:
        number = len(self.calls)
        is_in_order = part.index in self._by_index or part.index == len(self._by_index)
        if not is_in_order or not 0 < len(name) <= _MAX_NAME_LENGTH or number >= _MAX_CALLS:
            raise WrongService
        is_usable = (
            part.id and len(part.id) <= _MAX_NAME_LENGTH and part.id not in {call.id for call in self.calls}
        )
        call = _OpenCall(str(part.id) if is_usable else f"call_{number}", name)
        self.calls.append(call)
        self._by_index[part.index] = call
        return call

    def dump_calls(self) -> list[dict[str, Any]]:
        """Return the calls for the server, without malformed arguments: templates can't parse them."""
        return [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
            for call in self.calls
            for arguments in ["{}" if MALFORMED in call.parse_arguments() else call.arguments.getvalue() or "{}"]
        ]


# --- the connection

log = logging.getLogger(__name__)

# seconds for one call, from its beginning to the last byte; nothing comes before the whole answer is written. No
# later attempt begins after that time (bot.platform.models.completion)
CALL_SECONDS = 90.0
_LIST_SECONDS = 10.0
_SCHEMA_NOTE = "Answer with one JSON object and nothing else. It matches this JSON schema:\n{schema}"
_TEMPLATE_TOKENS = 200  # what a template adds around the messages
_MIN_OUTPUT_TOKENS = 1_000  # with less room than that, most answers are cut
_LEFT_OUT = "[Left out: the conversation is too long. Call the tool again if you need this.]"
_PLAIN_JSON_NOTE = (
    "The model's server refuses response_format json_schema: plain JSON is asked for from now on, and checked "
    "here."
)
_PARSER_ADVICE = (
    "The model's server passes on calls of tools as text: start vLLM with --enable-auto-tool-choice and the "
    "--tool-call-parser of the model, SGLang with --tool-call-parser, llama.cpp with --jinja."
)
_LIMIT_NOTE = (
    "The model's server did not answer in time what it got at once: it gets half as much, and more again as it "
    "answers. How much it takes is only estimated so. Set PRDIGEST_CONCURRENCY to the number of its slots."
)
_ESTIMATE_NOTE = "The model's server reports no token counts: they are estimated from the length of the texts."

Body = dict[str, Any]


class OpenAIConnection:
    """``ModelConnection`` over the Chat Completions API. May be shared by threads.

    ``seconds`` is the time limit of one completion. A server that refuses answers in a schema is noted, so that
    only the first request is sent twice.
    """

    def __init__(self, access: ModelAccess, seconds: float = CALL_SECONDS) -> None:
        self._client = ServerClient(access)
        self._tokens: int | None = access.options.get(CONTEXT_TOKENS)
        self._windows: dict[str, int | None] | None = None
        self._windows_lock = threading.Lock()
        self._seconds = seconds
        self._advice_log = failures.AdviceLog()
        self._marked_models: set[str] = set()
        self._takes_format = True
        self._limit = CallLimit(lambda _: self._advice_log.log_once(_LIMIT_NOTE))

    def complete(self, prompt: Prompt) -> Completion:
        with self._translate_errors():
            with_format = self._takes_format
            try:
                return self._complete(prompt, with_format=with_format)
            except ServerRefusal as refusal:
                if not (with_format and _may_mean_format(refusal)):
                    raise
            return self._complete(prompt, with_format=False)

    @run_in_own_context
    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        # a server that holds text to a schema does so from the first word: the model could not call a tool
        with_format = self._takes_format and chat.schema is not None and not (chat.tools and chat.may_use_tools)
        with self._translate_errors():
            try:
                yield from self._read_turn(chat, with_format=with_format)
            except ServerRefusal as refusal:
                if not (with_format and _may_mean_format(refusal)):
                    raise
                yield from self._read_turn(chat, with_format=False)
                self._note_refused_format()

    def close(self) -> None:
        self._client.close()

    def _complete(self, prompt: Prompt, *, with_format: bool) -> Completion:
        body = _fit_body(_build_body(prompt, with_format=with_format), self._get_window(prompt.model))
        with self._limit.hold_call():
            try:
                choice, message, usage = self._client.ask(body, seconds=self._seconds)
            except ModelBusy as error:
                if str(error) == failures.MODEL_TIMED_OUT:
                    self._limit.note_timeout()
                raise
            self._limit.note_answer()
        if message.has_reasoning:
            # so its first turn need not be held back
            self._marked_models.add(prompt.model)
        if not with_format:
            # if this had been refused too, the format would not have been the reason
            self._note_refused_format()
        if usage is None:
            self._advice_log.log_once(_ESTIMATE_NOTE)
            usage = estimate_usage(_estimate_prompt(body), message.length)
        if check_end(choice.finish_reason, message.refusal, usage):
            raise ModelAnswerTruncated(failures.MODEL_CUT, usage)
        return Completion(extract_json(drop_reasoning(message.content or "")), usage)

    def _read_turn(self, chat: Chat, *, with_format: bool) -> Iterator[ChatEvent]:
        body = _fit_body(_build_body(chat, with_format=with_format), self._get_window(chat.model))
        seconds = max(failures.MIN_TIMEOUT, chat.seconds)
        silence = max(failures.MIN_TIMEOUT, min(chat.silence, chat.seconds))
        reader = TurnReader(
            chat.model, _estimate_prompt(body), self._marked_models, is_json=chat.schema is not None
        )
        with closing(self._client.stream(body, seconds=seconds, silence=silence)) as replies:
            yield from reader.read_events(replies)
        if reader.is_estimated:
            self._advice_log.log_once(_ESTIMATE_NOTE)

    def _get_window(self, model: str) -> int | None:
        """Return the tokens of a model's window, as the settings or the server say; None if nobody says it."""
        if self._tokens is not None:
            return self._tokens
        with self._windows_lock:
            if self._windows is None:
                try:
                    self._windows = self._client.list_windows(seconds=_LIST_SECONDS)
                except (ServerRefusal, WrongService):
                    self._windows = {}  # there is no such list, so nobody asks again
                except ModelError as error:
                    log.info("the length of the context window is not known: %s", error)
            return (self._windows or {}).get(model)

    def _note_refused_format(self) -> None:
        self._takes_format = False
        self._advice_log.log_once(_PLAIN_JSON_NOTE)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except ServerRefusal as refusal:
            error, advice = refusal.explain()
            self._advice_log.log_once(advice)
            raise error from refusal
        except WrongService as error:
            self._advice_log.log_once(ADDRESS_ADVICE)
            raise ModelBusy(failures.WRONG_SERVICE) from error
        except UnparsedCall as error:
            self._advice_log.log_once(_PARSER_ADVICE)
            raise ModelRequestRejected(UNPARSED_CALL) from error


def _may_mean_format(refusal: ServerRefusal) -> bool:
    """Return whether a refusal may be about the format of the answer: servers say that in many ways."""
    return refusal.is_bad_request and not refusal.refuses_tools


# --- requests


def _build_body(request: Prompt | Chat, *, with_format: bool) -> Body:
    """Return the body of a request. Instructions ask for the schema where no format does, and in each chat."""
    system, schema = request.system, request.schema
    if isinstance(request, Chat):
        messages = _build_messages(request.turns)
    else:
        messages = [{"role": "user", "content": request.user}]
    if schema is not None and (isinstance(request, Chat) or not with_format):
        system += f"\n\n{_SCHEMA_NOTE.format(schema=json.dumps(schema))}"
    messages = [{"role": "system", "content": system}, *messages]
    body: Body = {"model": request.model, "messages": messages, "max_tokens": request.max_tokens}
    if isinstance(request, Chat):
        body |= {"stream": True, "stream_options": {"include_usage": True}}
        if request.tools:
            body["tools"] = [build_tool(tool) for tool in request.tools]
            body["tool_choice"] = "auto" if request.may_use_tools else "none"
    return body | ({"response_format": build_format(schema)} if with_format and schema is not None else {})


def build_format(schema: Mapping[str, Any]) -> Body:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": dict(schema), "strict": True}}


def build_tool(tool: Mapping[str, Any]) -> Body:
    function = {"name": tool["name"], "description": tool["description"], "parameters": tool["input_schema"]}
    return {"type": "function", "function": function}


def _build_messages(turns: Sequence[Turn]) -> list[Body]:
    """Neighbors of the same role become one message: templates of many models take alternating ones alone."""
    messages = [message for turn in turns for message in _list_messages(turn)]
    merged: list[Body] = []
    for is_text, group in groupby(messages, _find_text_role):
        same = list(group)
        merged += [{**same[0], "content": "\n\n".join(each["content"] for each in same)}] if is_text else same
    return merged


def _find_text_role(message: Body) -> str:
    return "" if "tool_calls" in message or message["role"] == "tool" else str(message["role"])


def _list_messages(turn: Turn) -> list[Body]:
    """Return the messages of a turn: the results of tools first, then its text, unless it is blank."""
    if turn.model_blocks:
        return [dict(block) for block in turn.model_blocks]
    messages: list[Body] = [
        # the protocol has no mark for the result of a tool that failed
        {
            "role": "tool",
            "tool_call_id": part.call,
            "content": f"The tool failed: {part.text}" if part.is_error else part.text,
        }
        for part in turn.parts
        if isinstance(part, ToolResult)
    ]
    texts = [part.text for part in turn.parts if isinstance(part, TextPart) and part.text.strip()]
    role = "user" if turn.by == "person" else "assistant"
    return [*messages, *([{"role": role, "content": "\n\n".join(texts)}] if texts else [])]


# --- the context window


def _fit_body(body: Body, window: int | None) -> Body:
    """Return a request that fits into a window of tokens: with a shorter answer, and without the oldest results.

    Nothing else is cut. A text is data between marks, and half of it could lose its mark. Raises
    ModelInputTooLong: that is not enough.
    """
    if window is None:
        return body
    needed = min(body["max_tokens"], _MIN_OUTPUT_TOKENS)
    messages = list(body["messages"])
    room = window - _estimate_prompt(body)
    for index, message in enumerate(messages):
        if room >= needed:
            break
        if message["role"] == "tool" and len(message["content"]) > len(_LEFT_OUT):
            messages[index] = {**message, "content": _LEFT_OUT}
            room = window - _estimate_prompt({**body, "messages": messages})
    if room < needed:
        raise ModelInputTooLong(TOO_LONG, needed - room)
    return {**body, "messages": messages, "max_tokens": min(body["max_tokens"], room)}


def _estimate_prompt(body: Body) -> int:
    parts = [body["messages"], body.get("tools"), body.get("response_format")]
    size = sum(len(json.dumps(part, ensure_ascii=False).encode(errors="replace")) for part in parts if part)
    return size // BYTES_PER_TOKEN + _TEMPLATE_TOKENS


# --- the check

_NO_LIST = {400, 404, 405, 501}  # these say nothing about the key and the model: a gateway may have no list
_OUTPUT_TOKENS = 300  # a model that reasons needs most of them for that, and may write 20 in a second
_WRITING_FACTOR = 3.0
# with less, the instructions and tools of a question leave no room for what a tool returns
_QUESTION_TOKENS, _ROOMY_TOKENS = 10_000, 32_000
_WINDOW_ADVICE = (
    "Give the server a window of at least 32,000 tokens (vLLM: --max-model-len, llama.cpp: --ctx-size for each "
    "slot), and name it in PRDIGEST_CONTEXT_TOKENS if the server does not."
)
_SCHEMA = {
    "type": "object",
    "properties": {"ready": {"type": "boolean"}},
    "required": ["ready"],
    "additionalProperties": False,
}
_NO_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": False}
_TOOL = build_tool({"name": "get_status", "description": "Returns the status.", "input_schema": _NO_ARGUMENTS})
_WORDS = [{"role": "user", "content": "Are you ready? Answer with JSON."}]


def find_models(access: ModelAccess, models: Sequence[str], seconds: float) -> dict[str, bool | None]:
    """Return which models the server lists; None if it has no list."""
    windows = _list_windows(ServerClient(access), seconds)
    return {model: None if windows is None else model in windows for model in models}


def _list_windows(client: ServerClient, seconds: float) -> dict[str, int | None] | None:
    try:
        return client.list_windows(seconds=seconds)
    except ServerRefusal as refusal:
        if refusal.status in _NO_LIST:
            return None
        raise refusal.explain()[0] from refusal
    except WrongService as error:
        raise ModelBusy(failures.WRONG_SERVICE) from error


def try_model(access: ModelAccess, model: str, seconds: float) -> list[Finding]:
    """Try an answer in a schema, and a tool. A call in which the model writes may take three times ``seconds``."""
    client = ServerClient(access)
    structured = _try_structured_outputs(client, model, seconds)
    tools = _try_tools(client, model, seconds)
    return [structured[0], tools, *structured[1:], _describe_window(client, access, model, seconds)]


def _try_structured_outputs(client: ServerClient, model: str, seconds: float) -> list[Finding]:
    name = f"Model {model}, structured outputs"
    answer = _ask(client, model, seconds, response_format=build_format(_SCHEMA))
    if answer is None:
        return [Finding.build_note(name, "not supported: plain JSON is asked for, and checked here")]
    choice, message, usage = answer
    uncounted = Finding.build_note(f"Model {model}, token counts", "not reported: they are estimated")
    counts = [] if usage else [uncounted]
    if choice.finish_reason == "length":
        return [Finding.build_note(name, "not checked: the model only reasoned"), *counts]
    try:
        value = json.loads(message.content or "")
    except (ValueError, RecursionError):
        value = None
    if not (isinstance(value, dict) and isinstance(value.get("ready"), bool)):
        advice = (
            "Summaries may fail or be asked for twice: check the structured outputs of the server, and the parser "
            "for the model's reasoning (vLLM: --reasoning-parser)."
        )
        return [Finding.build_failure(name, "the model's answer was not of the schema", advice), *counts]
    return [Finding.build_note(name, "work"), *counts]


def _try_tools(client: ServerClient, model: str, seconds: float) -> Finding:
    name = f"Model {model}, tools"
    if _ask(client, model, seconds, tools=[_TOOL], tool_choice="auto", max_tokens=1):
        return Finding.build_note(name, "accepted")
    advice = (
        "Without tools there are no answers to questions: start vLLM with --enable-auto-tool-choice and the "
        "--tool-call-parser of the model."
    )
    return Finding.build_failure(name, NO_TOOLS, advice)


def _describe_window(client: ServerClient, access: ModelAccess, model: str, seconds: float) -> Finding:
    name, tokens = f"Model {model}, context window", access.options.get(CONTEXT_TOKENS)
    length = (_list_windows(client, seconds) or {}).get(model) if tokens is None else tokens
    if length is None:
        unknown = "unknown: set PRDIGEST_CONTEXT_TOKENS so that long requests are shortened"
        return Finding.build_note(name, unknown)
    known = f"{length:,} tokens{'' if tokens is None else ', as PRDIGEST_CONTEXT_TOKENS says'}"
    if length < _QUESTION_TOKENS:
        return Finding.build_failure(name, f"{known}: no question can be answered", _WINDOW_ADVICE)
    if length < _ROOMY_TOKENS:
        return Finding.build_note(name, f"{known}: large pull requests are read in part", _WINDOW_ADVICE)
    return Finding.build_note(name, known)


def _ask(
    client: ServerClient, model: str, seconds: float, **fields: Any
) -> tuple[Choice, Message, Usage | None] | None:
    """Return the answer to a few words; None if the server takes no such request."""
    body = {"model": model, "messages": _WORDS, "max_tokens": _OUTPUT_TOKENS, **fields}
    try:
        return client.ask(body, seconds=_WRITING_FACTOR * seconds)
    except ServerRefusal as refusal:
        if refusal.is_bad_request:
            return None
        raise refusal.explain()[0] from refusal
    except WrongService as error:
        raise ModelBusy(failures.WRONG_SERVICE) from error
