"""The tools that answers in Slack have too, and files at a commit."""

from __future__ import annotations

from bot.domain.errors import UsageError
from bot.domain.text.strings import format_count, quote_input, truncate_text
from bot.mcp.arguments import FileAtCommitArguments
from bot.mcp.declaration import ToolContext
from bot.services.questions.tools.discussion_tools import DiscussionTools
from bot.services.questions.tools.pull_request_tools import PullRequestTools
from bot.services.questions.tools.schemas import (
    DiffArguments,
    DiscussionArguments,
    FileArguments,
    ListArguments,
    PullArguments,
    SearchArguments,
    TakenBackArguments,
    UsesArguments,
)
from bot.services.questions.tools.source_tools import SourceTools
from bot.services.source.source_text import FilePart, select_lines
from impact.source.models import SourceFile

_MAX_LINE_LENGTH = 2_000


def list_pull_requests(context: ToolContext, arguments: ListArguments) -> str:
    """List the merges of some days."""
    return PullRequestTools(context.session).list_pull_requests(arguments)


def search_lines(context: ToolContext, arguments: SearchArguments) -> str:
    """Search diffs or texts."""
    return PullRequestTools(context.session).search_lines(arguments)


def describe_pull_request(context: ToolContext, arguments: PullArguments) -> str:
    """Describe one pull request."""
    return PullRequestTools(context.session).describe_pull_request(arguments)


def read_diff(context: ToolContext, arguments: DiffArguments) -> str:
    """Read a diff, or the places of it that contain a text."""
    return PullRequestTools(context.session).read_diff(arguments)


def list_reverts(context: ToolContext, arguments: TakenBackArguments) -> str:
    """List what was taken back."""
    return PullRequestTools(context.session).list_reverts(arguments)


def read_file(context: ToolContext, arguments: FileArguments) -> str:
    """Read a part of a file as it is after a pull request."""
    check_path(arguments.path)
    return SourceTools(context.session, context.sources.archive.code).read_file(arguments)


def find_uses(context: ToolContext, arguments: UsesArguments) -> str:
    """Find the uses of a name after a pull request."""
    return SourceTools(context.session, context.sources.archive.code).find_uses(arguments)


def read_discussion(context: ToolContext, arguments: DiscussionArguments) -> str:
    """Read what people wrote about a pull request."""
    return DiscussionTools(context.session, context.sources.archive.background).read_discussion(arguments)


def read_file_at_commit(context: ToolContext, arguments: FileAtCommitArguments) -> str:
    """Read a part of a file at a commit."""
    check_path(arguments.path)
    repository = context.session.parse_repository(arguments.repository)
    files, path, commit = context.sources.archive.code.files, arguments.path.strip(), arguments.commit.lower()
    if files is None:
        raise UsageError("Files can't be read here: read the diff of a pull request.")
    file = files.read_files(repository, commit, [path])[path]
    where = f"{path} of {repository} at {commit[:10]}"
    if file.problem:
        raise UsageError(f"{where} can't be shown: {file.problem}.")
    return _format_part(file, where, FilePart(arguments.first, arguments.last, arguments.around.strip()))


def _format_part(file: SourceFile, where: str, part: FilePart) -> str:
    """Return the lines of a part with their numbers."""
    numbers, head = select_lines(file, part)
    lines = (f"{number}: {truncate_text(file.lines[number - 1], _MAX_LINE_LENGTH)}" for number in numbers)
    return "\n".join([f"{where}, {format_count(len(file.lines), 'line')}; {head}", *lines])


def check_path(path: str) -> None:
    """Raise UsageError for a path that leads out of a repository, or that no file has."""
    parts = path.strip().split("/")
    if not path.strip().isprintable() or "\\" in path or any(part in ("", ".", "..") for part in parts):
        raise UsageError(f"{quote_input(path)} is no path in a repository: write it as in src/engine/core.py.")
