"""The tools that answers in Slack have too, and files at a commit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.domain.errors import UsageError
from bot.domain.text.strings import format_count, quote_input, truncate_text
from bot.features.questions import tools
from bot.features.questions.reading import ReadingSession
from bot.features.questions.tools import FileArguments
from bot.mcp.arguments import FileAtCommitArguments
from bot.mcp.declaration import ToolContext
from bot.platform.source import select_lines

_MAX_LINE_LENGTH = 2_000


def answer_with(tool: Callable[[ReadingSession, Any], str]) -> Callable[[ToolContext, Any], str]:
    """Return a tool of answers as a tool of agents."""
    return lambda context, arguments: tool(context.session, arguments)


def read_file(context: ToolContext, arguments: FileArguments) -> str:
    """Read a part of a file as it is after a pull request."""
    check_path(arguments.path)
    return tools.read_file(context.session, arguments)


def read_file_at_commit(context: ToolContext, arguments: FileAtCommitArguments) -> str:
    """Read a part of a file at a commit."""
    check_path(arguments.path)
    repository = context.session.parse_repository(arguments.repository)
    files, path, commit = context.session.app.code.files, arguments.path.strip(), arguments.commit.lower()
    if files is None:
        raise UsageError("Files can't be read here: read the diff of a pull request.")
    file = files.read_files(repository, commit, [path])[path]
    where = f"{path} of {repository} at {commit[:10]}"
    if file.problem:
        raise UsageError(f"{where} can't be shown: {file.problem}.")
    numbers, head = select_lines(file, arguments.first, arguments.last, arguments.around)
    lines = (f"{number}: {truncate_text(file.lines[number - 1], _MAX_LINE_LENGTH)}" for number in numbers)
    return "\n".join([f"{where}, {format_count(len(file.lines), 'line')}; {head}", *lines])


def check_path(path: str) -> None:
    """Raise UsageError for a path that leads out of a repository, or that no file has."""
    parts = path.strip().split("/")
    if not path.strip().isprintable() or "\\" in path or any(part in ("", ".", "..") for part in parts):
        raise UsageError(f"{quote_input(path)} is no path in a repository: write it as in src/engine/core.py.")
