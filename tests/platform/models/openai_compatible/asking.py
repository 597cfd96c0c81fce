from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from localslack.loopback import Loopback, Request, Response

from bot.errors import ModelError
from bot.features.summaries.reading import SummaryAnswer
from bot.platform.models import Chat, Completion, ModelAccess, ModelConnection, Prompt, TextPart, ToolResult, Turn
from bot.platform.models.completion import build_schema
from bot.platform.models.openai_compatible import CONTEXT_TOKENS, OPENAI_COMPATIBLE
from tests.emulators.claude.questions import make_closed_schema
from tests.emulators.claude.script import Step
from tests.emulators.openai_compatible.server import LARGE, SMALL, OpenAIEmulator
from tests.helpers.talks import Reply, converse

TOOLS: tuple[dict[str, Any], ...] = (
    {"name": "read", "description": "Reads a file.", "input_schema": make_closed_schema(path={"type": "string"})},
    {"name": "find", "description": "Finds a word.", "input_schema": make_closed_schema(word={"type": "string"})},
)
PROMPT = Prompt(SMALL, "v1", "Be brief.", "What changed? " * 20, build_schema(SummaryAnswer), 1_000)
ASKED = (Turn("person", (TextPart("A record."), TextPart("What changed?"))),)
CHAT = Chat(LARGE, "You answer questions.", TOOLS, ASKED, max_tokens=2_000, silence=5.0, seconds=10.0)


@contextmanager
def open_model(url: str, key: str = "key-of-the-server", tokens: int | None = None) -> Iterator[ModelConnection]:
    connection = OPENAI_COMPATIBLE.connect(ModelAccess(key, url, {CONTEXT_TOKENS: tokens}))
    try:
        yield connection
    finally:
        connection.close()


def complete(served: OpenAIEmulator, *steps: Step, prompt: Prompt = PROMPT, **access: Any) -> Completion:
    served.script(*steps)
    with open_model(served.address, **access) as model:
        return model.complete(prompt)


def talk(served: OpenAIEmulator, *steps: Step, chat: Chat = CHAT, **access: Any) -> Reply:
    served.script(*steps)
    with open_model(served.address, **access) as model:
        return converse(model, chat)


def failure(url: str, **access: Any) -> ModelError:
    with open_model(url, **access) as model, pytest.raises(ModelError) as caught:
        model.complete(PROMPT)
    return caught.value


def talk_failure(url: str, **access: Any) -> ModelError:
    with open_model(url, **access) as model, pytest.raises(ModelError) as caught:
        converse(model, CHAT)
    return caught.value


def answer_calls(chat: Chat, reply: Reply, result: str = "found", *, is_error: bool = False) -> Chat:
    """The talk after the tools that a reply wants."""
    results = tuple(ToolResult(call.id, result, is_error) for call in reply.calls)
    return replace(chat, turns=(*chat.turns, reply.turn, Turn("person", results)))


class Scripted(Loopback):
    """Answers each path with one response; ``asked`` has the requests."""

    def __init__(self, *responses: Response) -> None:
        super().__init__()
        self.asked: list[Request] = []
        self._responses = list(responses)

    def handle(self, request: Request) -> Response:
        if request.path.endswith("/models"):
            return Response(404)
        self.asked.append(request)
        return self._responses[min(len(self.asked), len(self._responses)) - 1]
