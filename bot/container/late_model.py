"""A way to a model that is opened when the model is really asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator

from bot.ports import Chat, ChatEvent, Completion, ModelConnection, Prompt


class LazyModelConnection:
    """:class:`bot.ports.ModelConnection`, opened by the first question. May be shared by threads."""

    def __init__(self, connect: Callable[[], ModelConnection]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._opened: ModelConnection | None = None

    def complete(self, prompt: Prompt) -> Completion:
        """Ask once. See :class:`bot.ports.Model`."""
        return self.open_connection().complete(prompt)

    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        """Ask for the next turn. See :class:`bot.ports.ChatModel`."""
        return self.open_connection().stream_turn(chat)

    def open_connection(self) -> ModelConnection:
        """Open it, unless it is open, so that the next question does not wait for that."""
        with self._lock:
            if self._opened is None:
                self._opened = self._connect()
            return self._opened

    def close(self) -> None:
        """Let go of it, if it was opened."""
        with self._lock:
            if self._opened:
                self._opened.close()
