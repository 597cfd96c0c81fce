"""Connection to the models of an OpenAI-compatible server: JSON in a schema, and conversations with tools."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import groupby
from typing import Any

from bot.errors import ModelAnswerTruncated, ModelBusy, ModelError, ModelInputTooLong, ModelRequestRejected
from bot.platform.http.bounded_calls import run_in_own_context
from bot.platform.models import (
    Chat,
    ChatEvent,
    Completion,
    ModelAccess,
    Prompt,
    TextPart,
    ToolResult,
    Turn,
    failures,
)
from bot.platform.models.openai_compatible import CONTEXT_TOKENS
from bot.platform.models.openai_compatible.client import (
    ADDRESS_ADVICE,
    TOO_LONG,
    UNPARSED_CALL,
    ServerClient,
    ServerRefusal,
    WrongService,
)
from bot.platform.models.openai_compatible.markup import UnparsedCall, drop_reasoning, extract_json
from bot.platform.models.openai_compatible.turns import BYTES_PER_TOKEN, TurnReader, check_end, estimate_usage
from bot.platform.models.slots import CallLimit

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
