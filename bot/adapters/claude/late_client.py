"""Claude as whoever is wired has it: its SDK is imported when a model is really asked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from bot.ports import Chat, Completion, Prompt, Reply

if TYPE_CHECKING:
    from anthropic import Anthropic

    from bot.adapters.claude.chat import ClaudeChat
    from bot.adapters.claude.completion import ClaudeModel


class LateClaude:
    """:class:`bot.ports.Model` and :class:`bot.ports.ChatModel`, opened by the first question; for threads."""

    def __init__(self, api_key: str, base_url: str | None) -> None:
        self._api_key = api_key
        self._base_url = base_url
        self._lock = threading.Lock()
        self._opened: tuple[Anthropic, ClaudeModel, ClaudeChat] | None = None

    def complete(self, prompt: Prompt) -> Completion:
        """Ask once. See :class:`bot.ports.Model`."""
        return self._open()[1].complete(prompt)

    def converse(self, chat: Chat, hear: Callable[[str], bool]) -> Reply:
        """The next turn. See :class:`bot.ports.ChatModel`."""
        return self._open()[2].converse(chat, hear)

    def prepare(self) -> None:
        """Open it now, so that the first question does not wait for that."""
        self._open()

    def close(self) -> None:
        """Let go of it, if it was opened."""
        with self._lock:
            if self._opened:
                self._opened[0].close()

    def _open(self) -> tuple[Anthropic, ClaudeModel, ClaudeChat]:
        with self._lock:
            if self._opened is None:
                # the SDK takes one to three seconds of processor time to import, more than all the rest together
                from bot.adapters.claude.chat import ClaudeChat  # noqa: PLC0415
                from bot.adapters.claude.completion import ClaudeModel, claude_client  # noqa: PLC0415

                client = claude_client(self._api_key, self._base_url)
                self._opened = client, ClaudeModel(client), ClaudeChat(client)
            return self._opened
