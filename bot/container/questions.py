"""The services that answer questions: threads and what they remember, the writer, votes."""

from __future__ import annotations

import time
from dataclasses import dataclass

from bot.adapters.caching import BackgroundCache
from bot.adapters.redis import RedisFeedbackStore, RedisQuestionQueue, RedisThreadStateStore
from bot.adapters.slack import SlackAnswerDisplays, SlackThreads
from bot.container.digests.code import build_code_sources
from bot.container.digests.services import DigestServices
from bot.container.foundation import Foundation
from bot.container.records import build_answered_requests
from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.slack_request import SlackRequest
from bot.ports import QuestionQueue
from bot.services.questions.agent import AnswerAgent
from bot.services.questions.answer_writer import AnswerWriter
from bot.services.questions.archive import PullRequestArchive
from bot.services.questions.background import BackgroundSources
from bot.services.questions.conversations import ConversationService
from bot.services.questions.feedback import AnswerFeedback
from bot.services.questions.thread_memory import ThreadMemories, describe_post
from bot.services.slack.answers.answer import Answer
from bot.services.slack.answers.replies import ReplySender
from bot.services.slack.welcome_log import WelcomeLog


@dataclass(frozen=True, slots=True)
class QuestionServices:
    """What jobs use around questions."""

    question_queue: QuestionQueue
    conversations: ConversationService
    votes: AnswerFeedback
    welcomes: WelcomeLog


def build_question_services(
    base: Foundation,
    repositories: AllowedRepositories,
    digests: DigestServices,
    memories: ThreadMemories,
    replies: ReplySender,
) -> QuestionServices:
    """Build them. Raises ConfigurationError without a token of Slack, and StoreUnavailable."""
    question_queue = RedisQuestionQueue(base.store, base.keyspace)
    votes = build_answer_feedback(base)
    conversations = ConversationService(
        question_queue,
        build_answered_requests(base),
        SlackAnswerDisplays(base.slack, base.messenger, time.monotonic, base.sleep),
        memories,
        build_answer_writer(base, repositories, digests),
        votes,
        replies,
        base.now,
    )
    return QuestionServices(question_queue, conversations, votes, build_welcome_log(base))


def build_answer_feedback(base: Foundation) -> AnswerFeedback:
    """Build the record of what people think of answers. Raises StoreUnavailable."""
    return AnswerFeedback(base.cache, RedisFeedbackStore(base.store, base.keyspace), base.now)


def build_welcome_log(base: Foundation) -> WelcomeLog:
    """Build the log of the people whom the bot has welcomed. Raises StoreUnavailable."""
    return WelcomeLog(RedisThreadStateStore(base.hurried_store, base.keyspace))


def build_thread_memories(base: Foundation) -> ThreadMemories:
    """Build what threads remember. Raises ConfigurationError without a token of Slack, and StoreUnavailable."""
    return ThreadMemories(RedisThreadStateStore(base.store, base.keyspace), SlackThreads(base.messenger))


def remember_answer(memories: ThreadMemories, slack_request: SlackRequest, answer: Answer) -> None:
    """Note an answer that is posted into a thread: it is part of the conversation there."""
    if slack_request.thread and answer.about:
        memories.note_post(
            slack_request.channel, slack_request.thread, describe_post(answer.about, answer.public.text)
        )


def build_archive(base: Foundation, digests: DigestServices) -> PullRequestArchive:
    """Build the archive that questions are answered from."""
    return PullRequestArchive(
        digests.day_lists,
        digests.reader,
        digests.entries,
        base.settings.prdigest_concurrency,
        digests.paths.get_path_classes,
        build_code_sources(base),
        build_background_sources(base, digests),
    )


def build_background_sources(base: Foundation, digests: DigestServices) -> BackgroundSources:
    """Build what discussions and the merges that reverts mean are read with."""
    background = base.sources.background
    return BackgroundSources(
        BackgroundCache(background, base.cache) if background else None,
        digests.history.timeline.read_merges_or_none,
        digests.get_profile,
        digests.read_touches,
    )


def build_answer_writer(
    base: Foundation, repositories: AllowedRepositories, digests: DigestServices
) -> AnswerWriter:
    """Build the writer of answers."""
    return AnswerWriter(
        build_archive(base, digests),
        repositories,
        base.get_today,
        _build_agent(base, digests),
        base.settings.prdigest_answer_model,
        digests.costs.budget,
        time.monotonic,
        base.sources.stands_in,
    )


def _build_agent(base: Foundation, digests: DigestServices) -> AnswerAgent | None:
    chat = base.sources.chat
    if chat is None:
        return None
    model = base.settings.prdigest_answer_model
    return AnswerAgent(digests.costs.add_chat_meter(chat), model, time.monotonic, base.sleep)
