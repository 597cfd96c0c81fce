"""The seams: what the services need of the outside world. Adapters and test doubles have these shapes."""

from __future__ import annotations

from bot.ports.github import Merged, PullRequests
from bot.ports.llm import Chat, ChatModel, Completion, Model, Prompt, Reply, Text, ToolCall, ToolResult, Turn
from bot.ports.slack import Attachment, Display, Displays, Messenger, Post, ThreadMessage, Threads, Views, Whispers
from bot.ports.sources import Outside
from bot.ports.store import (
    Agenda,
    Aside,
    Backfilled,
    Ballot,
    Cache,
    Contexts,
    History,
    Issued,
    Journal,
    Limiter,
    Line,
    Owner,
    PostRecords,
    Queue,
    Spending,
    Subscriptions,
)

__all__ = [
    "Agenda",
    "Aside",
    "Attachment",
    "Backfilled",
    "Ballot",
    "Cache",
    "Chat",
    "ChatModel",
    "Completion",
    "Contexts",
    "Display",
    "Displays",
    "History",
    "Issued",
    "Journal",
    "Limiter",
    "Line",
    "Merged",
    "Messenger",
    "Model",
    "Outside",
    "Owner",
    "Post",
    "PostRecords",
    "Prompt",
    "PullRequests",
    "Queue",
    "Reply",
    "Spending",
    "Subscriptions",
    "Text",
    "ThreadMessage",
    "Threads",
    "ToolCall",
    "ToolResult",
    "Turn",
    "Views",
    "Whispers",
]
