"""Releases and tags of a repository, in one call each, and the list of all its files, in two."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.errors import GitHubAccessDenied, SourceUnavailable
from bot.platform.cleaning import clean_hash, clean_line, parse_count, parse_instant, parse_node, parse_nodes
from bot.platform.github.client import GitHubClient
from bot.platform.github.errors import UnreadableResponse, translate_github_errors
from bot.platform.github.queries import HEAD_QUERY, NAME_QUERY, RELEASES_QUERY, TAG_QUERY
from bot.platform.source.models import RepositoryTree, TreeFile
from impact.contract.deprecations import Release, build_releases
from impact.repository import Repository
from impact.source.reading import find_type_problem

# other tags, such as those of packages and nightly builds, are out of the count unless somebody released them
_PLAIN_TAG = re.compile(r"v?\d{1,4}(?:\.\d{1,4}){1,3}", re.A)

# GitHub lists at most 100,000 entries (docs.github.com, "Get a tree"); vLLM has some 5,000
_MAX_ENTRIES = 100_000
_MODE = re.compile(r"[0-7]{6}")

Node = Mapping[str, Any]


@dataclass(frozen=True)
class GitHubReleases:
    """``Releases`` of GitHub: those that were published, and tags that are versions."""

    client: GitHubClient

    def list_releases(self, repository: Repository) -> tuple[Release, ...]:
        """Return the releases among the newest hundred, oldest first. See ``Releases``."""
        with translate_github_errors(repository):
            place = parse_node(self.client.run_query(RELEASES_QUERY, repository, {})["repository"])
        if not (parse_node(place.get("releases")) and parse_node(place.get("refs"))):
            # else a repository that may not be read would have no releases
            raise GitHubAccessDenied(
                f"The token may not read the releases of {repository}: give it read access to contents."
            )
        return build_releases(_list_versions(place).items())

    def find_commit(self, repository: Repository, tag: str) -> str:
        """Return the last merge of the default branch among the newest hundred commits that a tag holds."""
        with translate_github_errors(repository):
            data = self.client.run_query(TAG_QUERY, repository, {"tag": f"refs/tags/{tag}"})
        place = parse_node(data["repository"])
        target = parse_node(parse_node(place.get("ref")).get("target"))
        # a tag with a message stands before the commit
        history = parse_node(target.get("history") or parse_node(target.get("target")).get("history"))
        branch = parse_node(place.get("defaultBranchRef")).get("name")
        commits = (each for each in parse_nodes(history) if _is_merge(each, branch, place.get("id")))
        return next((clean_hash(commit.get("oid")) for commit in commits), "")


def _list_versions(place: Node) -> dict[str, datetime]:
    """Return the time of each tag that is out: when it was released, else that of its commit."""
    releases = parse_nodes(parse_node(place.get("releases")))
    candidates = {clean_line(each.get("tagName")) for each in releases if each.get("isPrerelease")}
    versions = dict[str, datetime]()
    for node in parse_nodes(parse_node(place.get("refs"))):
        name, target = clean_line(node.get("name")), parse_node(node.get("target"))
        commit = target if target.get("committedDate") else parse_node(target.get("target"))
        at = parse_instant(commit.get("committedDate"))
        if at and name not in candidates and _PLAIN_TAG.fullmatch(name):
            versions[name] = at
    for node in releases:
        name, at = clean_line(node.get("tagName")), parse_instant(node.get("publishedAt"))
        if name and at and not node.get("isDraft") and not node.get("isPrerelease"):
            versions[name] = at
    return versions


def _is_merge(commit: Node, branch: object, repository_id: object) -> bool:
    """Return whether a pull request into the default branch was merged as this commit."""
    return any(
        each.get("baseRefName") == branch
        and parse_node(each.get("mergeCommit")).get("oid") == commit.get("oid")
        and parse_node(each.get("repository")).get("id") == repository_id
        for each in parse_nodes(commit.get("associatedPullRequests"))
    )


@dataclass(frozen=True)
class GitHubTrees:
    """Lists of the files of repositories."""

    client: GitHubClient

    def find_present_name(self, repository: Repository) -> Repository:
        """Return the name that a repository has now. Raises RepositoryNotFound, and what other calls raise."""
        with translate_github_errors(repository):
            place = parse_node(self.client.run_query(NAME_QUERY, repository, {})["repository"])
        return Repository.parse(clean_line(place.get("nameWithOwner")))

    def list_tree(self, repository: Repository, until: datetime | None = None) -> RepositoryTree:
        """List the files at the newest commit by an instant (aware), without links. Raises SourceUnavailable."""
        at = until.astimezone(UTC).isoformat() if until else None
        with translate_github_errors(repository):
            data = self.client.run_query(HEAD_QUERY, repository, {"until": at})
            place = parse_node(data["repository"])
            # a redirect from an earlier name would lose the parameters
            now = place.get("nameWithOwner")
            address = Repository.parse(now) if isinstance(now, str) else repository
            branch = parse_node(place.get("defaultBranchRef"))
            history = parse_nodes(parse_node(branch.get("target")).get("history"))
            commit = clean_hash(history[0].get("oid")) if history else ""
            if not commit:
                raise SourceUnavailable(f"{repository} has no commit{f' until {at}' if at else ' yet'}.")
            answer = self.client.get_object(f"/repos/{address}/git/trees/{commit}", {"recursive": "1"})
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
