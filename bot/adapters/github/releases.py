"""The releases of a repository, in one call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from bot.adapters.github.client import GitHubClient
from bot.adapters.github.errors import translate_github_errors
from bot.adapters.github.queries import RELEASES_QUERY
from bot.adapters.records.cleaning import clean_line, parse_instant, parse_node, parse_nodes
from bot.domain.contract.releases import Release, build_releases
from bot.domain.pull_requests.models import Repository


class GitHubReleases:
    """``Releases`` of GitHub: those that were published. A tag without a release is none."""

    def __init__(self, client: GitHubClient) -> None:
        self._client = client

    def list_releases(self, repository: Repository) -> Sequence[Release]:
        """Return the releases among the newest hundred, oldest first. See :class:`bot.ports.Releases`."""
        with translate_github_errors(repository):
            data = self._client.run_query(RELEASES_QUERY, repository, {})
        page = parse_node(parse_node(data["repository"]).get("releases"))
        return build_releases(_list_tags(parse_nodes(page)))


def _list_tags(nodes: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, datetime]]:
    """Yield tag and time of what is out."""
    for node in nodes:
        tag, at = clean_line(node.get("tagName")), parse_instant(node.get("publishedAt"))
        if tag and at and not node.get("isDraft") and not node.get("isPrerelease"):
            yield tag, at
