"""What stands around pull requests on GitHub: discussions, and the pull requests of commits. One call each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.adapters.github.client import GitHubClient
from bot.adapters.github.errors import GraphQLError, translate_github_errors
from bot.adapters.github.queries import DISCUSSION_QUERY, build_commits_query, parse_pull_request
from bot.adapters.records.cleaning import parse_node, parse_nodes, parse_number
from bot.adapters.records.discussions import parse_discussion
from bot.domain.pull_requests.discussion import Discussion
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.pull_requests.reference import Reference

# commits of one call; a revert names a few
MAX_COMMITS = 10
_COMMIT = re.compile(r"[0-9a-f]{7,64}")

Node = Mapping[str, Any]


class GitHubBackground:
    """``PullRequestBackground`` with GraphQL."""

    def __init__(self, client: GitHubClient) -> None:
        self._client = client

    def fetch_discussion(self, repository: Repository, number: int) -> Discussion:
        """Fetch the newest of what people wrote about a pull request, in one call."""
        with translate_github_errors(repository, number):
            data = self._client.run_query(DISCUSSION_QUERY, repository, {"number": number})
            place = parse_node(data["repository"])
            node = parse_node(place.get("pullRequest"))
        if not node:
            raise Reference(repository, number).build_missing_error()
        return replace(parse_discussion(repository, place.get("id"), node, number), web=self._client.web)

    def find_merges(self, repository: Repository, commits: Sequence[str]) -> Mapping[str, PullRequest]:
        """Return the merged pull request of each commit, at most ten of them, in one call.

        What looks like no hash is not asked for: GitHub would take it for the name of a branch.
        """
        hashes = list(dict.fromkeys(commit.lower() for commit in commits if _COMMIT.fullmatch(commit.lower())))
        asked = {f"c{index}": commit for index, commit in enumerate(hashes[:MAX_COMMITS])}
        if not asked:
            return {}
        with translate_github_errors(repository):
            data, errors = self._client.run_partial_query(build_commits_query(len(asked)), repository, asked)
            if any(error.get("type") == "RATE_LIMITED" for error in errors):
                raise GraphQLError(errors)
        nodes = parse_node(data["repository"])
        origins = ((commit, parse_node(nodes.get(field))) for field, commit in asked.items())
        return {
            commit: replace(pull, web=self._client.web)
            for commit, node in origins
            if (pull := _find_merged(repository, commit, node, nodes.get("id")))
        }


def _find_merged(repository: Repository, commit: str, node: Node, repository_id: object) -> PullRequest | None:
    """Return the merged pull request of a commit, rather one that was merged as this commit.

    A branch may have a name that looks like a hash, and a commit may be in pull requests of forks too.
    """
    oid = node.get("oid")
    if node.get("__typename") != "Commit" or not isinstance(oid, str) or not oid.startswith(commit):
        return None
    pulls = [
        parse_pull_request(repository, each, number)
        for each in parse_nodes(node.get("associatedPullRequests"))
        if (number := parse_number(each.get("number")))
        and isinstance(repository_id, str)
        and parse_node(each.get("repository")).get("id") == repository_id
    ]
    merged = [pull for pull in pulls if pull.is_merged]
    return min(merged, key=lambda pull: pull.merge_commit != oid, default=None)
