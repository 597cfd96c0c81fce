"""Every service, built of the settings and the adapters when it is first asked for."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from redis import Redis
from slack_sdk import WebClient

from bot.adapters.contexts import RedisContexts
from bot.adapters.days_cache import CachedDays
from bot.adapters.files_cache import CachedFiles
from bot.adapters.github import GitHubPullRequests
from bot.adapters.github_client import GitHubClient
from bot.adapters.history import RedisHistory
from bot.adapters.issued import RedisIssued
from bot.adapters.limits import RedisLimiter
from bot.adapters.line import RedisLine, RedisSpending
from bot.adapters.moving import Moving
from bot.adapters.schema import migrate
from bot.adapters.slack import SlackMessenger, slack_client
from bot.adapters.slack_display import SlackDisplays
from bot.adapters.slack_private import SlackViews, SlackWhispers
from bot.adapters.slack_threads import SlackThreads
from bot.adapters.store import (
    HURRIED,
    Patience,
    RedisCache,
    RedisPostRecords,
    require_durable,
)
from bot.adapters.votes import RedisBallot
from bot.config import Settings
from bot.domain.days import LocalDay, today
from bot.domain.errors import NotSetUp
from bot.domain.paths import PathSettings
from bot.domain.pulls import Repository
from bot.domain.requests import Repositories
from bot.domain.visits import Visit
from bot.ports import Cache, History, Line, PostRecords, PullRequests
from bot.services.admission import Admission, Allowed
from bot.services.asking import Asker
from bot.services.backfill import Backfill
from bot.services.chronicle import Chronicle
from bot.services.commands import Answers
from bot.services.daily import DailyDigest, Surroundings
from bot.services.details import Details
from bot.services.entries import Entries
from bot.services.overview import Overviewer
from bot.services.prompts import SUMMARY
from bot.services.questions.answering import Answerer
from bot.services.questions.archive import Archive
from bot.services.questions.attention import Attention
from bot.services.questions.budget import Budget
from bot.services.questions.conversations import Conversations
from bot.services.questions.memory import Memories, posted
from bot.services.questions.votes import Votes
from bot.services.questions.writing import Writer
from bot.services.reading import Reader
from bot.services.replies import Answer, Replies
from bot.services.risky import RiskLister
from bot.services.scoring import Kept, Scoring
from bot.services.summarise import Summariser
from bot.wiring.credentials import github_auth, required
from bot.wiring.filling import backfill_of
from bot.wiring.from_settings import connected, known_repositories, path_settings
from bot.wiring.scheduling import Scheduling

if TYPE_CHECKING:
    from anthropic import Anthropic

log = logging.getLogger(__name__)

# Slack delivers again for minutes, and a job may wait for a worker over a night
_ANSWERED = timedelta(days=1)


class Wiring:
    """Builds each service when it is first asked for, so that a command needs only its own settings."""

    def __init__(self, settings: Settings, now: Callable[[], datetime], sleep: Callable[[float], None]) -> None:
        self._settings = settings
        self._now = now
        self._sleep = sleep

    @cached_property
    def daily(self) -> DailyDigest:
        """Builds digests and single entries."""
        return self.daily_of(self.pulls)

    @cached_property
    def scheduling(self) -> Scheduling:
        """What posts by itself."""
        return Scheduling(self, self._settings, self._now, self._sleep)

    def daily_of(self, pulls: PullRequests) -> DailyDigest:
        """Builds digests of what is listed there."""
        return DailyDigest(
            pulls,
            self.entries.read,
            Overviewer(self._asker, self._settings.prdigest_answer_model).overview,
            self._reader.with_files,
            self._settings.prdigest_concurrency,
            self.paths.of,
            Surroundings(self.chronicle_of(pulls).around, self.chronicle.record, self.scoring.is_sparing),
        )

    @cached_property
    def chronicle(self) -> Chronicle:
        """What is known besides the days that are asked about."""
        return self.chronicle_of(self.pulls)

    def chronicle_of(self, pulls: PullRequests) -> Chronicle:
        """The same with the lists from there."""
        return Chronicle(lambda: self.history, pulls.merged_on, self._now, self.paths.of)

    @cached_property
    def pulls(self) -> PullRequests:
        """Pull requests from GitHub, their files through the cache."""
        client = GitHubClient(self._settings.github_api_url, github_auth(self._settings))
        return CachedFiles(GitHubPullRequests(client, self._now), self.cache)

    @cached_property
    def history(self) -> History:
        """What is known of merged pull requests. Needs a store that drops nothing by itself."""
        return RedisHistory(self.store)

    @cached_property
    def backfill(self) -> Backfill:
        """Fills history and caches for past days."""
        return backfill_of(self, self._settings, self._now, self._sleep)

    @cached_property
    def slack(self) -> WebClient:
        """The client of Slack, for the listeners."""
        token = required(self._settings.slack_bot_token, "SLACK_BOT_TOKEN", "the bot's token (xoxb-…)")
        return slack_client(token, self._settings.slack_api_url)

    @cached_property
    def messenger(self) -> SlackMessenger:
        """Slack as the services know it."""
        return SlackMessenger(self.slack)

    @cached_property
    def entries(self) -> Entries:
        """Single pull requests, kept."""
        settings = self._settings
        version = f"{settings.prdigest_summary_model} {SUMMARY} {settings.prdigest_diff_tokens}"
        return Entries(self.pulls, self._reader, self.cache, version, self.chronicle.rate, self.paths.of)

    @cached_property
    def answers(self) -> Answers:
        """What people ask for, as messages."""
        workers, recorded = self._settings.prdigest_concurrency, self.chronicle.recorded
        risks = RiskLister(
            self.pulls, self._reader, self.entries, workers, self.paths.of, recorded, self.scoring.is_sparing
        )
        return Answers(self.entries, risks, self.daily, self.name_of, self.today, self.scoring.score)

    @cached_property
    def scoring(self) -> Scoring:
        """How good the lists were."""
        return Scoring(self._kept, self.cache, self._now)

    def _kept(self) -> Kept:
        """What was posted and merged. Needs a store that drops nothing by itself."""
        return Kept(RedisIssued(self.store), RedisPostRecords(self.store), self.history)

    @cached_property
    def replies(self) -> Replies:
        """Answers each request once."""
        return Replies(self.messenger, SlackWhispers(self.slack), self._answered, self._now, self._remembered)

    @cached_property
    def conversations(self) -> Conversations:
        """Answers questions in threads."""
        return Conversations(
            RedisLine(self.store),
            self._answered,
            SlackDisplays(self.slack, self.messenger, time.monotonic, self._sleep),
            self.memories,
            self.writer,
            self.votes,
            self.replies,
            self._now,
        )

    @cached_property
    def memories(self) -> Memories:
        """What threads remember."""
        return Memories(RedisContexts(self.store), SlackThreads(self.messenger))

    @cached_property
    def attention(self) -> Attention:
        """Where the bot answers without being named, for those who must answer Slack at once."""
        return Attention(RedisContexts(self.hurried_store))

    @cached_property
    def votes(self) -> Votes:
        """What people think of answers."""
        return Votes(self.cache, RedisBallot(self.store), self._now)

    @cached_property
    def line(self) -> Line:
        """Where questions wait, for those who must answer Slack at once."""
        return RedisLine(self.hurried_store)

    @cached_property
    def details(self) -> Details:
        """Windows about one pull request."""
        return Details(self.entries, SlackViews(self.slack), self.replies)

    @cached_property
    def repositories(self) -> Repositories:
        """What the bot may speak of. Raises NotSetUp where that is nothing."""
        known = known_repositories(self._settings)
        if not known:
            raise NotSetUp("Set PRDIGEST_REPO to the repository that the bot speaks of, as owner/name.")
        return Repositories(known[0], known[1:])

    @cached_property
    def paths(self) -> PathSettings:
        """Which paths of which repository are what. Raises NotSetUp where the file that says so can't be used."""
        return path_settings(self._settings)

    @cached_property
    def admission(self) -> Admission:
        """Who may ask."""
        settings = self._settings
        own = self.messenger.team()
        allowed = Allowed(
            frozenset({own}) | settings.prdigest_allowed_workspaces,
            settings.prdigest_allowed_channels,
            settings.prdigest_allowed_users,
        )
        return Admission(allowed, RedisLimiter(self.hurried_store, settings.prdigest_user_limit))

    def prepare(self) -> None:
        """Build what jobs need before the first one waits for it.

        Raises:
            NotSetUp, SlackRefused, SlackUnavailable, StoreUnavailable: a setting is missing or wrong.
        """
        _ = (self.answers, self.details, self.scheduling.delivery, self.conversations, self.messenger.team())

    def name_of(self, repository: Repository) -> str:
        """What headings call a repository."""
        settings = self._settings
        if settings.prdigest_name and repository == settings.prdigest_repo:
            return settings.prdigest_name
        return repository.name

    def today(self) -> LocalDay:
        """The day that is not over, in the zone of the settings."""
        return today(self._now(), self._settings.prdigest_timezone)

    @cached_property
    def cache(self) -> Cache:
        """The cache, for what is remembered for a while."""
        return RedisCache(self._store)

    @cached_property
    def hurried_store(self) -> Redis:
        """The same for those who must answer within Slack's three seconds, if only that they can't."""
        require_durable(self._store)
        migrate(self._store)
        return connected(self._settings, HURRIED)

    @cached_property
    def hurried_cache(self) -> Cache:
        """The cache for the same."""
        return RedisCache(self.hurried_store)

    @cached_property
    def store(self) -> Redis:
        """The store itself, for the job queue. It must not drop anything by itself."""
        require_durable(self._store)
        migrate(self._store)
        return self._store

    @property
    def moving(self) -> Moving:
        """Takes what is kept for good to another store."""
        require_durable(self._store)
        return Moving(self._store)

    @property
    def has_model(self) -> bool:
        """Whether summaries will be a model's."""
        return self._settings.anthropic_api_key is not None

    def close(self) -> None:
        """Let go of the store and of the model; the embedded store ends by itself when nobody uses it."""
        for name in ("hurried_store", "_store", "_claude"):
            if opened := self.__dict__.get(name):
                opened.close()

    @cached_property
    def _store(self) -> Redis:
        return connected(self._settings, Patience())

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self.pulls, self._summariser.summarise, self.paths.of)

    @cached_property
    def _summariser(self) -> Summariser:
        settings = self._settings
        model, budget = settings.prdigest_summary_model, settings.prdigest_diff_tokens
        return Summariser(self._asker, model, budget, self.paths.of)

    @cached_property
    def writer(self) -> Writer:
        """Writes answers to questions."""
        model = self._settings.prdigest_answer_model
        return Writer(
            self.archive, self.repositories, self.today, self._answerer, model, self.budget, time.monotonic
        )

    @cached_property
    def archive(self) -> Archive:
        """What questions are answered from."""
        pulls = CachedDays(self.pulls, self.cache, self._now)
        return Archive(pulls, self._reader, self.entries, self._settings.prdigest_concurrency, self.paths.of)

    @cached_property
    def budget(self) -> Budget:
        """How much answers may cost."""
        settings, spending = self._settings, RedisSpending(self.store)
        return Budget(spending, self.today, settings.prdigest_daily_budget, settings.prdigest_user_budget)

    @cached_property
    def _answered(self) -> PostRecords:
        """How far each request was answered."""
        return RedisPostRecords(self.store, lifetime=_ANSWERED)

    def _remembered(self, visit: Visit, answer: Answer) -> None:
        """What is posted into a thread is part of what is said there."""
        if visit.thread and answer.about:
            self.memories.note(visit.channel, visit.thread, posted(answer.about, answer.public.text))

    @cached_property
    def _answerer(self) -> Answerer | None:
        if self._claude is None:
            return None
        from bot.adapters.claude_chat import ClaudeChat  # noqa: PLC0415 (see below)

        chat = ClaudeChat(self._claude)
        return Answerer(chat, self._settings.prdigest_answer_model, time.monotonic, self._sleep)

    @cached_property
    def _asker(self) -> Asker | None:
        if self._claude is None:
            return None
        from bot.adapters.claude import ClaudeModel  # noqa: PLC0415 (see below)

        return Asker(ClaudeModel(self._claude), self.cache, self._sleep)

    @cached_property
    def _claude(self) -> Anthropic | None:
        if self._settings.anthropic_api_key is None:
            return None
        # the SDK takes a second to import; whoever asks no model shall not wait for it
        from bot.adapters.claude import claude_client  # noqa: PLC0415

        return claude_client(
            self._settings.anthropic_api_key.get_secret_value(), self._settings.anthropic_base_url
        )
