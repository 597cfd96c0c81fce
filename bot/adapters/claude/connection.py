"""Connection to Claude's models over one client of its SDK."""

from __future__ import annotations

from collections.abc import Generator

from bot.adapters.claude.chat import ClaudeChat
from bot.adapters.claude.completion import ClaudeModel, make_claude_client
from bot.ports import Chat, ChatEvent, Completion, ModelAccess, Prompt


class ClaudeConnection:
    """``ModelConnection`` over the Messages API."""

    def __init__(self, access: ModelAccess) -> None:
        self._client = make_claude_client(access.key, access.address)
        self._model = ClaudeModel(self._client)
        self._chat = ClaudeChat(self._client)

    def complete(self, prompt: Prompt) -> Completion:
        """Ask once. See :class:`bot.ports.Model`."""
        return self._model.complete(prompt)

    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        """Ask for the model's next turn. See :class:`bot.ports.ChatModel`."""
        return self._chat.stream_turn(chat)

    def close(self) -> None:
        """Close the client."""
        self._client.close()
