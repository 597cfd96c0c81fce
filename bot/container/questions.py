"""What answers questions: threads and what they remember, the writer, votes and budgets."""

from __future__ import annotations

import time
from functools import cached_property

from bot.adapters.caching import DayListCache
from bot.adapters.redis import RedisBallot, RedisContexts, RedisLine
from bot.adapters.slack import SlackDisplays, SlackThreads
from bot.container.part import Part
from bot.domain.conversations.slack_request import Visit
from bot.ports import Line
from bot.services.operations.metering import MeteredChat
from bot.services.questions.agent import Answerer
from bot.services.questions.answer_writer import Writer
from bot.services.questions.archive import Archive
from bot.services.questions.conversations import Conversations
from bot.services.questions.feedback import Votes
from bot.services.questions.thread_memory import Memories, posted
from bot.services.questions.thread_muting import Attention
from bot.services.slack.replies import Answer
from bot.services.slack.welcomes import WelcomeLog


class Talking(Part):
    """Builds each service when it is first asked for."""

    @cached_property
    def conversations(self) -> Conversations:
        """Answers questions in threads."""
        root = self._root
        return Conversations(
            RedisLine(root.store, root.keys),
            root.answered,
            SlackDisplays(root.slack, root.messenger, time.monotonic, self._sleep),
            self.memories,
            self.writer,
            self.votes,
            root.replies,
            self._now,
        )

    @cached_property
    def memories(self) -> Memories:
        """What threads remember."""
        return Memories(RedisContexts(self._root.store, self._root.keys), SlackThreads(self._root.messenger))

    def remember(self, visit: Visit, answer: Answer) -> None:
        """What is posted into a thread is part of what is said there."""
        if visit.thread and answer.about:
            self.memories.note(visit.channel, visit.thread, posted(answer.about, answer.public.text))

    @cached_property
    def attention(self) -> Attention:
        """Where the bot answers without being named, for those who must answer Slack at once."""
        return Attention(RedisContexts(self._root.hurried_store, self._root.keys))

    @cached_property
    def welcomes(self) -> WelcomeLog:
        """Whom the bot has welcomed, for those who must answer Slack at once."""
        return WelcomeLog(RedisContexts(self._root.hurried_store, self._root.keys))

    @cached_property
    def votes(self) -> Votes:
        """What people think of answers."""
        return Votes(self._root.cache, RedisBallot(self._root.store, self._root.keys), self._now)

    @cached_property
    def line(self) -> Line:
        """Where questions wait, for those who must answer Slack at once."""
        return RedisLine(self._root.hurried_store, self._root.keys)

    @cached_property
    def writer(self) -> Writer:
        """Writes answers to questions."""
        root, model = self._root, self._settings.prdigest_answer_model
        return Writer(
            self.archive,
            root.repositories,
            root.today,
            self._answerer,
            model,
            root.costs.budget,
            time.monotonic,
            root.outside.stands_in,
        )

    @cached_property
    def archive(self) -> Archive:
        """What questions are answered from."""
        root = self._root
        pulls = DayListCache(root.pulls, root.cache, self._now)
        return Archive(
            pulls, root.reader, root.entries, self._settings.prdigest_concurrency, root.paths.get_path_classes
        )

    @cached_property
    def _answerer(self) -> Answerer | None:
        chat = self._root.outside.chat
        if chat is None:
            return None
        meter = self._root.costs.meter
        return Answerer(
            MeteredChat(chat, meter) if meter else chat,
            self._settings.prdigest_answer_model,
            time.monotonic,
            self._sleep,
        )
