"""Connection to the models of an OpenAI-compatible server: JSON in a schema, and conversations with tools."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from typing import Any

from bot.adapters.models.openai_compatible import CONTEXT_TOKENS, sentences
from bot.adapters.models.openai_compatible.client import ServerClient
from bot.adapters.models.openai_compatible.errors import OperatorAdvice, ServerRefusal, WrongService
from bot.adapters.models.openai_compatible.messages import build_chat_body, build_completion_body, may_have_format
from bot.adapters.models.openai_compatible.replies import Answer, check_end, parse_answer
from bot.adapters.models.openai_compatible.thinking import ThinkingHabits, extract_json
from bot.adapters.models.openai_compatible.turns import TurnReader
from bot.adapters.models.openai_compatible.window import ContextWindow, estimate_usage, fit_body
from bot.domain.errors import ModelAnswerTruncated
from bot.domain.operations.usage import Usage
from bot.platform.http import model_sentences
from bot.platform.http.bounded_calls import run_in_own_context
from bot.ports import Chat, ChatEvent, Completion, ModelAccess, Prompt

CHAT_PATH = "/chat/completions"
# seconds for one call, from its beginning to the last byte; nothing comes before the whole answer is written. No
# later attempt begins after that time (bot.services.summaries.structured_completion)
CALL_SECONDS = 90.0
# seconds; with less, a call at the very end could not even begin its answer
_MIN_TIMEOUT = 1.0


class OpenAIConnection:
    """``ModelConnection`` over the Chat Completions API. May be shared by threads.

    ``seconds`` is the time limit of one completion. A server that refuses answers in a schema is noted, so that
    only the first request is sent twice.
    """

    def __init__(self, access: ModelAccess, seconds: float = CALL_SECONDS) -> None:
        self._client = ServerClient(access)
        self._window = ContextWindow(self._client, access.get_number(CONTEXT_TOKENS))
        self._seconds = seconds
        self._advice = OperatorAdvice()
        self._habits = ThinkingHabits()
        self._takes_format = True

    def complete(self, prompt: Prompt) -> Completion:
        """Ask once. See :class:`bot.ports.Model`."""
        with self._translate_errors():
            body, answer = self._send_prompt(prompt)
        return self._read_answer(body, answer)

    @run_in_own_context
    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        """Ask for the model's next turn. See :class:`bot.ports.ChatModel`."""
        with_format = may_have_format(chat) and self._takes_format
        with self._translate_errors():
            try:
                yield from self._read_turn(chat, with_format=with_format)
            except ServerRefusal as refusal:
                if not (with_format and _may_mean_format(refusal)):
                    raise
                yield from self._read_turn(chat, with_format=False)
                self._note_refused_format()

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    def _send_prompt(self, prompt: Prompt) -> tuple[dict[str, Any], Answer]:
        """Return the body of a request for a prompt, and the answer to it."""
        if not self._takes_format:
            return self._send_body(build_completion_body(prompt, with_format=False))
        try:
            return self._send_body(build_completion_body(prompt, with_format=True))
        except ServerRefusal as refusal:
            if not _may_mean_format(refusal):
                raise
        # if this is refused too, the format was not the reason
        result = self._send_body(build_completion_body(prompt, with_format=False))
        self._note_refused_format()
        return result

    def _send_body(self, body: dict[str, Any]) -> tuple[dict[str, Any], Answer]:
        """Return a body as it was sent, and the answer to it."""
        body = fit_body(body, self._window.get_length(body["model"]))
        return body, parse_answer(self._client.fetch_json(CHAT_PATH, body, seconds=self._seconds))

    def _read_turn(self, chat: Chat, *, with_format: bool) -> Iterator[ChatEvent]:
        """Send a request for a turn, and yield its events."""
        body = fit_body(build_chat_body(chat, with_format=with_format), self._window.get_length(chat.model))
        seconds = max(_MIN_TIMEOUT, chat.seconds)
        silence = max(_MIN_TIMEOUT, min(chat.silence, chat.seconds))
        reader = TurnReader(body, self._habits, is_json=chat.schema is not None)
        with closing(self._client.stream_events(CHAT_PATH, body, seconds=seconds, silence=silence)) as events:
            yield from reader.read_events(events)
        if reader.is_estimated:
            self._advice.log_once(sentences.ESTIMATE_NOTE)

    def _note_refused_format(self) -> None:
        """Note that the server takes no format."""
        self._takes_format = False
        self._advice.log_once(sentences.PLAIN_JSON_NOTE)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raise errors of the domain for those of the server in the block."""
        try:
            yield
        except ServerRefusal as refusal:
            raise self._advice.translate_refusal(refusal) from refusal
        except WrongService as error:
            raise self._advice.report_wrong_service() from error

    def _read_answer(self, body: dict[str, Any], answer: Answer) -> Completion:
        """Return the completion in an answer. Raises ModelRefusal, ModelAnswerTruncated and ModelBusy."""
        choice = answer.choices[0]
        usage = self._read_usage(body, answer)
        if check_end(choice.finish_reason, choice.message.refusal, usage):
            raise ModelAnswerTruncated(model_sentences.MODEL_CUT, usage)
        return Completion(extract_json(choice.message.content or ""), usage)

    def _read_usage(self, body: dict[str, Any], answer: Answer) -> Usage:
        """Return the usage of an answer, estimated if the server reports none."""
        if answer.usage:
            return answer.usage.convert_usage()
        self._advice.log_once(sentences.ESTIMATE_NOTE)
        return estimate_usage(body, answer.choices[0].message.length)


def _may_mean_format(refusal: ServerRefusal) -> bool:
    """Return whether a refusal may be about the format of the answer: servers say that in many ways."""
    return refusal.is_bad_request and not refusal.refuses_tools
