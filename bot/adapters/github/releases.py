"""The releases and tags of a repository, in one call each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from bot.adapters.github.client import GitHubClient
from bot.adapters.github.errors import translate_github_errors
from bot.adapters.github.queries import RELEASES_QUERY, TAG_QUERY
from bot.adapters.records.cleaning import clean_hash, clean_line, parse_instant, parse_node, parse_nodes
from bot.domain.pull_requests.models import Repository
from impact.contract.releases import Release, build_releases

# other tags, such as those of packages and nightly builds, are out of the count unless somebody released them
_PLAIN_TAG = re.compile(r"v?\d{1,4}(?:\.\d{1,4}){1,3}", re.A)

Node = Mapping[str, Any]


class GitHubReleases:
    """``Releases`` of GitHub: those that were published, and tags that are versions."""

    def __init__(self, client: GitHubClient) -> None:
        self._client = client

    def list_releases(self, repository: Repository) -> tuple[Release, ...]:
        """Return the releases among the newest hundred, oldest first. See :class:`bot.ports.Releases`."""
        with translate_github_errors(repository):
            data = self._client.run_query(RELEASES_QUERY, repository, {})
        return build_releases(_list_versions(parse_node(data["repository"])).items())

    def find_commit(self, repository: Repository, tag: str) -> str:
        """Return the last merge of the default branch among the newest hundred commits that a tag holds."""
        with translate_github_errors(repository):
            data = self._client.run_query(TAG_QUERY, repository, {"tag": f"refs/tags/{tag}"})
        place = parse_node(data["repository"])
        target = parse_node(parse_node(place.get("ref")).get("target"))
        # a tag with a message stands before the commit
        history = parse_node(target.get("history") or parse_node(target.get("target")).get("history"))
        branch = parse_node(place.get("defaultBranchRef")).get("name")
        commits = (each for each in parse_nodes(history) if _is_merge(each, branch, place.get("id")))
        return next((clean_hash(commit.get("oid")) for commit in commits), "")


def _list_versions(place: Node) -> dict[str, datetime]:
    """Return the time of each tag that is out: when it was released, else that of its commit."""
    releases = list(parse_nodes(parse_node(place.get("releases"))))
    candidates = {clean_line(each.get("tagName")) for each in releases if each.get("isPrerelease")}
    tags = {name: at for name, at in _list_tags(place) if name not in candidates}
    return tags | dict(_list_published(releases))


def _list_published(releases: list[Node]) -> Iterator[tuple[str, datetime]]:
    """Yield tag and time of what is out."""
    for node in releases:
        tag, at = clean_line(node.get("tagName")), parse_instant(node.get("publishedAt"))
        if tag and at and not node.get("isDraft") and not node.get("isPrerelease"):
            yield tag, at


def _list_tags(place: Node) -> Iterator[tuple[str, datetime]]:
    """Yield name and time of the tags that are versions."""
    for node in parse_nodes(parse_node(place.get("refs"))):
        name, target = clean_line(node.get("name")), parse_node(node.get("target"))
        commit = target if target.get("committedDate") else parse_node(target.get("target"))
        at = parse_instant(commit.get("committedDate"))
        if at and _PLAIN_TAG.fullmatch(name):
            yield name, at


def _is_merge(commit: Node, branch: object, repository_id: object) -> bool:
    """Return whether a pull request into the default branch was merged as this commit."""
    return any(
        each.get("baseRefName") == branch
        and parse_node(each.get("mergeCommit")).get("oid") == commit.get("oid")
        and parse_node(each.get("repository")).get("id") == repository_id
        for each in parse_nodes(commit.get("associatedPullRequests"))
    )
