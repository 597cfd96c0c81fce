"""Interfaces of the services to the outside world, which adapters and test doubles implement."""

from __future__ import annotations

from bot.ports.batches import BatchResult, BatchStatus, BatchStore, ModelBatches
from bot.ports.calls import CallWatch, watch_nothing
from bot.ports.deprecations import DeprecationStore
from bot.ports.eraser import Eraser, ErasureCount
from bot.ports.github import DayMerges, PullRequestBackground, PullRequests
from bot.ports.llm import (
    Chat,
    ChatEvent,
    ChatModel,
    Completion,
    Model,
    Prompt,
    TextDelta,
    TextPart,
    ToolCall,
    ToolResult,
    Turn,
    TurnEnd,
    TurnUsage,
)
from bot.ports.profiles import ProfileStore
from bot.ports.providers import ModelAccess, ModelConnection, ModelProvider
from bot.ports.releases import Releases
from bot.ports.site_folder import SiteFolder
from bot.ports.slack import (
    AnswerDisplay,
    AnswerDisplays,
    Attachment,
    EphemeralMessenger,
    Messenger,
    Post,
    ThreadMessage,
    ThreadReader,
    Views,
)
from bot.ports.source_files import SourceFiles, SourceMirror, SourceSearch, SourceTrees, SourceVersionReader
from bot.ports.sources import Sources
from bot.ports.store import (
    BackfillLog,
    Cache,
    CostLedger,
    DueQueue,
    FeedbackStore,
    HistoryStore,
    LostJobStore,
    PostedDigestIndex,
    QuestionQueue,
    RateLimiter,
    RecordStore,
    RunLog,
    SpendingStore,
    SubscriptionStore,
    ThreadStateStore,
    WorkspaceOwner,
)
from bot.ports.touches import TouchStore

__all__ = [
    "AnswerDisplay",
    "AnswerDisplays",
    "Attachment",
    "BackfillLog",
    "BatchResult",
    "BatchStatus",
    "BatchStore",
    "Cache",
    "CallWatch",
    "Chat",
    "ChatEvent",
    "ChatModel",
    "Completion",
    "CostLedger",
    "DayMerges",
    "DeprecationStore",
    "DueQueue",
    "EphemeralMessenger",
    "Eraser",
    "ErasureCount",
    "FeedbackStore",
    "HistoryStore",
    "LostJobStore",
    "Messenger",
    "Model",
    "ModelAccess",
    "ModelBatches",
    "ModelConnection",
    "ModelProvider",
    "Post",
    "PostedDigestIndex",
    "ProfileStore",
    "Prompt",
    "PullRequestBackground",
    "PullRequests",
    "QuestionQueue",
    "RateLimiter",
    "RecordStore",
    "Releases",
    "RunLog",
    "SiteFolder",
    "SourceFiles",
    "SourceMirror",
    "SourceSearch",
    "SourceTrees",
    "SourceVersionReader",
    "Sources",
    "SpendingStore",
    "SubscriptionStore",
    "TextDelta",
    "TextPart",
    "ThreadMessage",
    "ThreadReader",
    "ThreadStateStore",
    "ToolCall",
    "ToolResult",
    "TouchStore",
    "Turn",
    "TurnEnd",
    "TurnUsage",
    "Views",
    "WorkspaceOwner",
    "watch_nothing",
]
