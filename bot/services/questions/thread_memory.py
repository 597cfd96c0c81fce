"""The memory of threads: kept in the store, and rebuilt from Slack once if the store has none."""

from __future__ import annotations

import logging

from bot.domain.conversations.slack_text import restore_bot_text, restore_user_text
from bot.domain.conversations.thread import RememberedMessage, ThreadMemory, is_remark
from bot.domain.errors import SlackCallRefused
from bot.domain.keyspace.keys import DIGEST_RECORD, THREAD_MEMORY
from bot.domain.text.strings import truncate_text
from bot.ports import ThreadMessage, ThreadReader, ThreadStateStore
from bot.ports.codecs.versioned_json import VersionedJson

log = logging.getLogger(__name__)

_MEMORY_JSON = VersionedJson(ThreadMemory, 1)
# characters of one message that is read from Slack
_MAX_MESSAGE_LENGTH = 4_000


class ThreadMemories:
    """Memories of threads. Every method may raise StoreUnavailable."""

    def __init__(self, states: ThreadStateStore, threads: ThreadReader) -> None:
        self._states = states
        self._threads = threads

    def load_memory(self, channel: str, thread: str, until: str) -> ThreadMemory:
        """Return the memory of a thread; if there is none, build it from its messages in Slack before ``until``.

        Raises:
            SlackUnavailable: Slack does not answer; another attempt may help.
        """
        memory = self._load_saved(channel, thread)
        if memory is None:
            memory = self._rebuild_memory(channel, thread, until)
            self.save_memory(channel, thread, memory)
        return memory

    def save_memory(self, channel: str, thread: str, memory: ThreadMemory) -> None:
        """Save the memory of a thread."""
        self._states.put(_build_key(channel, thread), _MEMORY_JSON.dump_text(memory))

    def note_post(self, channel: str, thread: str, text: str) -> None:
        """Record another post of the bot in a thread. A thread without memory gets it later, from Slack."""
        memory = self._load_saved(channel, thread)
        if memory is not None:
            self.save_memory(channel, thread, memory.add_messages(RememberedMessage("bot", text)))

    def _load_saved(self, channel: str, thread: str) -> ThreadMemory | None:
        return _MEMORY_JSON.load_or_none(self._states.get(_build_key(channel, thread)))

    def _rebuild_memory(self, channel: str, thread: str, until: str) -> ThreadMemory:
        try:
            messages = self._threads.list_messages(channel, thread)
        except SlackCallRefused as error:
            log.info("the thread is not read, its memory begins without it: %s", error)
            return ThreadMemory("")
        earlier = [message for message in messages if float(message.ts) < float(until)]
        own_messages = [message for message in earlier if message.is_own]
        about = next((message.about for message in own_messages if message.about), "")
        first = earlier[0] if earlier and earlier[0].is_own else None
        memory = ThreadMemory(about)
        for message in earlier:
            remembered = _convert_message(message)
            if message is not first and remembered.text and _is_conversation(message):
                memory = memory.add_messages(remembered)
        return memory


def _is_conversation(message: ThreadMessage) -> bool:
    """Return whether a message is neither a mere remark nor a part of a digest, which the record has."""
    return not DIGEST_RECORD.has_key(message.key) if message.is_own else not is_remark(message.text)


def _convert_message(message: ThreadMessage) -> RememberedMessage:
    if message.is_own:
        return RememberedMessage("bot", truncate_text(_describe_own_message(message), _MAX_MESSAGE_LENGTH))
    return RememberedMessage("person", truncate_text(restore_user_text(message.text), _MAX_MESSAGE_LENGTH))


def _describe_own_message(message: ThreadMessage) -> str:
    """Return the text of a message of the bot. That of an answer to a command is only for notifications."""
    return (
        describe_post(message.about, restore_bot_text(message.text))
        if message.about
        else restore_bot_text(message.text)
    )


def describe_post(about: str, text: str) -> str:
    """Return the text with which a thread remembers a message that is no answer to a question."""
    return f"[The bot posted: {about}] {text}".strip()


def _build_key(channel: str, thread: str) -> str:
    return THREAD_MEMORY.build_key(channel, thread)
