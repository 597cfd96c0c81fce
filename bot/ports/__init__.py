"""Interfaces of the services to the outside world, which adapters and test doubles implement."""

from __future__ import annotations

from bot.platform.models import (
    Chat,
    ChatEvent,
    ChatModel,
    Completion,
    Model,
    ModelAccess,
    ModelConnection,
    ModelProvider,
    Prompt,
    TextDelta,
    TextPart,
    ToolCall,
    ToolResult,
    Turn,
    TurnEnd,
    TurnUsage,
)
from bot.platform.slack.messages import AnswerDisplay, Attachment, Post
from bot.ports.calls import CallWatch, watch_nothing
from bot.ports.github import DayMerges, PullRequestBackground, PullRequests
from bot.ports.releases import Releases
from bot.ports.source.files import SourceFiles, SourceMirror, SourceSearch, SourceTrees, SourceVersionReader
from bot.ports.sources import Sources
from bot.ports.store.cache import RateLimiter
from bot.ports.store.history import HistoryStore
from bot.ports.store.records import RecordStore, ThreadStateStore, WorkspaceOwner

__all__ = [
    "AnswerDisplay",
    "Attachment",
    "CallWatch",
    "Chat",
    "ChatEvent",
    "ChatModel",
    "Completion",
    "DayMerges",
    "HistoryStore",
    "Model",
    "ModelAccess",
    "ModelConnection",
    "ModelProvider",
    "Post",
    "Prompt",
    "PullRequestBackground",
    "PullRequests",
    "RateLimiter",
    "RecordStore",
    "Releases",
    "SourceFiles",
    "SourceMirror",
    "SourceSearch",
    "SourceTrees",
    "SourceVersionReader",
    "Sources",
    "TextDelta",
    "TextPart",
    "ThreadStateStore",
    "ToolCall",
    "ToolResult",
    "Turn",
    "TurnEnd",
    "TurnUsage",
    "WorkspaceOwner",
    "watch_nothing",
]
