"""The list of all files of a repository, in two calls: its newest commit, and the tree of that."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from bot.adapters.github.client import GitHubClient
from bot.adapters.github.errors import UnreadableResponse, translate_github_errors
from bot.adapters.github.queries import HEAD_QUERY
from bot.adapters.records.cleaning import clean_hash, parse_count, parse_node, parse_nodes
from bot.domain.errors import SourceUnavailable
from bot.domain.pull_requests.models import Repository
from bot.domain.source.listing import RepositoryTree, TreeFile
from impact.source.reading import find_type_problem

# GitHub lists at most 100,000 entries (docs.github.com, "Get a tree"); vLLM has some 5,000
_MAX_ENTRIES = 100_000
_MODE = re.compile(r"[0-7]{6}")


class GitHubTrees:
    """``SourceTrees`` of GitHub."""

    def __init__(self, client: GitHubClient) -> None:
        self._client = client

    def list_tree(self, repository: Repository, until: datetime | None = None) -> RepositoryTree:
        """List the files at the newest commit of the default branch. See :class:`bot.ports.SourceTrees`."""
        at = until.astimezone(UTC).isoformat() if until else None
        with translate_github_errors(repository):
            data = self._client.run_query(HEAD_QUERY, repository, {"until": at})
            branch = parse_node(parse_node(data["repository"]).get("defaultBranchRef"))
            history = parse_nodes(parse_node(branch.get("target")).get("history"))
            commit = clean_hash(history[0].get("oid")) if history else ""
            if not commit:
                raise SourceUnavailable(f"{repository} has no commit{f' until {at}' if at else ' yet'}.")
            answer = self._client.get_object(f"/repos/{repository}/git/trees/{commit}", {"recursive": "1"})
            if not isinstance(answer.get("tree"), list):
                raise UnreadableResponse("no tree")
        files = tuple(_list_files(answer))
        return RepositoryTree(commit, files, bool(answer.get("truncated")) or len(files) >= _MAX_ENTRIES)


def _list_files(answer: dict[str, Any]) -> Iterator[TreeFile]:
    """Yield the files of a tree, without folders, links and submodules."""
    for entry in parse_nodes({"nodes": answer["tree"][:_MAX_ENTRIES]}):
        path, mode, content = entry.get("path"), entry.get("mode"), clean_hash(entry.get("sha"))
        is_file = isinstance(mode, str) and _MODE.fullmatch(mode) and find_type_problem(int(mode, 8)) is None
        if is_file and isinstance(path, str) and path and content:
            yield TreeFile(path, content, parse_count(entry.get("size")))
