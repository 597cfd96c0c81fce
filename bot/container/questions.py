"""What answers questions: threads and what they remember, the writer, votes and budgets."""

from __future__ import annotations

import time
from functools import cached_property

from bot.adapters.caching import DayListCache
from bot.adapters.redis import RedisFeedbackStore, RedisQuestionQueue, RedisThreadStateStore
from bot.adapters.slack import SlackAnswerDisplays, SlackThreads
from bot.container.part import WiringPart
from bot.domain.conversations.slack_request import SlackRequest
from bot.ports import QuestionQueue
from bot.services.operations.metering import MeteredChat
from bot.services.questions.agent import AnswerAgent
from bot.services.questions.answer_writer import AnswerWriter
from bot.services.questions.archive import PullRequestArchive
from bot.services.questions.conversations import ConversationService
from bot.services.questions.feedback import AnswerFeedback
from bot.services.questions.thread_memory import ThreadMemories, describe_post
from bot.services.questions.thread_muting import ThreadMuting
from bot.services.slack.replies import Answer
from bot.services.slack.welcome_log import WelcomeLog


class QuestionWiring(WiringPart):
    """Builds each service when it is first asked for."""

    @cached_property
    def conversations(self) -> ConversationService:
        """Answers questions in threads."""
        root = self._root
        return ConversationService(
            RedisQuestionQueue(root.store, root.keyspace),
            root.answered_requests,
            SlackAnswerDisplays(root.slack, root.messenger, time.monotonic, self._sleep),
            self.thread_memories,
            self.answer_writer,
            self.votes,
            root.replies,
            self._now,
        )

    @cached_property
    def thread_memories(self) -> ThreadMemories:
        """What threads remember."""
        return ThreadMemories(
            RedisThreadStateStore(self._root.store, self._root.keyspace), SlackThreads(self._root.messenger)
        )

    def remember_answer(self, slack_request: SlackRequest, answer: Answer) -> None:
        """What is posted into a thread is part of what is said there."""
        if slack_request.thread and answer.about:
            self.thread_memories.note_post(
                slack_request.channel, slack_request.thread, describe_post(answer.about, answer.public.text)
            )

    @cached_property
    def thread_muting(self) -> ThreadMuting:
        """Where the bot answers without being named, for those who must answer Slack at once."""
        return ThreadMuting(RedisThreadStateStore(self._root.hurried_store, self._root.keyspace))

    @cached_property
    def welcomes(self) -> WelcomeLog:
        """Whom the bot has welcomed, for those who must answer Slack at once."""
        return WelcomeLog(RedisThreadStateStore(self._root.hurried_store, self._root.keyspace))

    @cached_property
    def votes(self) -> AnswerFeedback:
        """What people think of answers."""
        return AnswerFeedback(
            self._root.cache, RedisFeedbackStore(self._root.store, self._root.keyspace), self._now
        )

    @cached_property
    def question_queue(self) -> QuestionQueue:
        """Where questions wait, for those who must answer Slack at once."""
        return RedisQuestionQueue(self._root.hurried_store, self._root.keyspace)

    @cached_property
    def answer_writer(self) -> AnswerWriter:
        """Writes answers to questions."""
        root, model = self._root, self._settings.prdigest_answer_model
        return AnswerWriter(
            self.archive,
            root.repositories,
            root.get_today,
            self._agent,
            model,
            root.costs.budget,
            time.monotonic,
            root.sources.stands_in,
        )

    @cached_property
    def archive(self) -> PullRequestArchive:
        """What questions are answered from."""
        root = self._root
        pulls = DayListCache(root.pulls, root.cache, self._now)
        return PullRequestArchive(
            pulls, root.reader, root.entries, self._settings.prdigest_concurrency, root.paths.get_path_classes
        )

    @cached_property
    def _agent(self) -> AnswerAgent | None:
        chat = self._root.sources.chat
        if chat is None:
            return None
        meter = self._root.costs.meter
        return AnswerAgent(
            MeteredChat(chat, meter) if meter else chat,
            self._settings.prdigest_answer_model,
            time.monotonic,
            self._sleep,
        )
