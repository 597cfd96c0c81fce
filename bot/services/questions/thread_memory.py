"""What a thread remembers: on the store, and rebuilt from Slack once where the store has nothing."""

from __future__ import annotations

import logging

from pydantic import TypeAdapter

from bot.domain.conversations.slack_text import labelled, typed
from bot.domain.conversations.thread import Memory, Said, is_remark
from bot.domain.errors import SlackCallRefused
from bot.domain.keyspace.keys import DIGEST, THREAD
from bot.domain.text.strings import truncate_text
from bot.ports import Contexts, ThreadMessage, ThreadReader
from bot.ports.cached_json import load_or_none

log = logging.getLogger(__name__)

_MEMORY = TypeAdapter(Memory)
# of one message that is read back from Slack
_LONGEST = 4_000


class Memories:
    """Keeps what was said in threads. Every method may raise StoreUnavailable."""

    def __init__(self, contexts: Contexts, threads: ThreadReader) -> None:
        self._contexts = contexts
        self._threads = threads

    def of(self, channel: str, thread: str, until: str) -> Memory:
        """What is known of a thread; what Slack has of it before the time ``until`` where nothing is known.

        Raises:
            SlackUnavailable: Slack does not say; trying again may help.
        """
        found = self._kept(channel, thread)
        if found is None:
            found = self._rebuilt(channel, thread, until)
            self.keep(channel, thread, found)
        return found

    def keep(self, channel: str, thread: str, memory: Memory) -> None:
        """Remember."""
        self._contexts.put(_key(channel, thread), _MEMORY.dump_json(memory).decode())

    def note(self, channel: str, thread: str, text: str) -> None:
        """The bot posted something else into a thread; of one that nobody asked in yet, Slack will tell."""
        found = self._kept(channel, thread)
        if found is not None:
            self.keep(channel, thread, found.with_said(Said("bot", text)))

    def _kept(self, channel: str, thread: str) -> Memory | None:
        return load_or_none(_MEMORY, self._contexts.get(_key(channel, thread)))

    def _rebuilt(self, channel: str, thread: str, until: str) -> Memory:
        try:
            messages = self._threads.list_messages(channel, thread)
        except SlackCallRefused as error:
            log.info("the thread is not read, its memory begins anew: %s", error)
            return Memory("")
        before = [message for message in messages if float(message.ts) < float(until)]
        own = [message for message in before if message.is_own]
        about = next((found for message in own if (found := message.about or message.key)), "")
        first = before[0] if before and before[0].is_own else None
        memory = Memory(about)
        for message in before:
            said = _said(message)
            if message is not first and said.text and _is_talk(message):
                memory = memory.with_said(said)
        return memory


def _is_talk(message: ThreadMessage) -> bool:
    """What is not only a nod, nor a part of a digest, which the record holds."""
    return not DIGEST.holds(message.key) if message.is_own else not is_remark(message.text)


def _said(message: ThreadMessage) -> Said:
    if message.is_own:
        return Said("bot", truncate_text(_posted(message), _LONGEST))
    return Said("person", truncate_text(typed(message.text), _LONGEST))


def _posted(message: ThreadMessage) -> str:
    """An answer to a command says what it is about; its text is only what notifications show."""
    return posted(message.about, labelled(message.text)) if message.about else labelled(message.text)


def posted(about: str, text: str) -> str:
    """How the thread remembers a message that was no answer to a question."""
    return f"[The bot posted: {about}] {text}".strip()


def _key(channel: str, thread: str) -> str:
    return THREAD.key(channel, thread)
