"""Connection to Claude's models over one client of its SDK."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace

from bot.adapters.models.claude.chat import ClaudeChat
from bot.adapters.models.claude.completion import ClaudeModel
from bot.adapters.models.claude.errors import API_ADVICE, ClaudeClient, OperatorAdvice, ServiceAdvice
from bot.ports import Chat, ChatEvent, Completion, Prompt


class ClaudeConnection:
    """``ModelConnection`` over the Messages API.

    ``name_model`` returns the service's name of a model. ``advice`` is what operators read about errors.
    """

    def __init__(
        self, client: ClaudeClient, advice: ServiceAdvice = API_ADVICE, name_model: Callable[[str], str] = str
    ) -> None:
        self._client = client
        self._name_model = name_model
        self._model = ClaudeModel(client, advice=OperatorAdvice(advice))
        self._chat = ClaudeChat(client, OperatorAdvice(advice))

    def complete(self, prompt: Prompt) -> Completion:
        """Ask once. See :class:`bot.ports.Model`."""
        return self._model.complete(replace(prompt, model=self._name_model(prompt.model)))

    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        """Ask for the model's next turn. See :class:`bot.ports.ChatModel`."""
        return self._chat.stream_turn(replace(chat, model=self._name_model(chat.model)))

    def close(self) -> None:
        """Close the client."""
        self._client.close()
