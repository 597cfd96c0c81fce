"""What stands around pull requests: discussions, and the pull requests of commits. One call each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.platform.cleaning import (
    clean_path,
    clean_text,
    clean_title,
    parse_account,
    parse_count,
    parse_instant,
    parse_node,
    parse_nodes,
    parse_number,
)
from bot.platform.github.client import GitHubClient, find_gaps, is_subject_missing
from bot.platform.github.errors import GraphQLError, translate_github_errors
from bot.platform.github.pulls import DISCUSSION_QUERY, build_commits_query, parse_pull_request
from bot.platform.pulls.models import GHOST, Account, PullRequest, Reference
from bot.platform.pulls.sources import Discussion, Remark, RemarkKind, Role
from impact.repository import Repository
from impact.text.strings import remove_comments, remove_invisible

# commits of one call; a revert names a few
MAX_COMMITS = 10
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
# characters of one text: more than a question shows of it
MAX_REMARK = 4_000
_MAX_ISSUES, _MAX_COMMENTS, _MAX_REVIEWS, _MAX_THREADS, _MAX_REPLIES = 5, 100, 60, 60, 4
_MEMBERS = ("OWNER", "MEMBER", "COLLABORATOR")
# the part of an address that names a remark; the rest of it is not trusted
_ANCHOR = re.compile(r"#((?:issuecomment-|pullrequestreview-|discussion_r)\d{1,20})")
_REVIEWS = {"APPROVED": RemarkKind.APPROVAL, "CHANGES_REQUESTED": RemarkKind.REFUSAL}
_UNSENT = "PENDING"
_CONNECTIONS = ("comments", "reviews", "reviewThreads")
_ISSUES = "closingIssuesReferences"
_MAX_ANCHOR_LENGTH = 60

Node = Mapping[str, Any]


@dataclass(frozen=True)
class GitHubBackground:
    """``PullRequestBackground`` with GraphQL."""

    client: GitHubClient

    def fetch_discussion(self, repository: Repository, number: int) -> Discussion:
        """Fetch the newest of what people wrote about a pull request, in one call."""
        with translate_github_errors(repository, number):
            data, errors = self.client.run_repeated_query(DISCUSSION_QUERY, repository, {"number": number})
            if is_subject_missing(errors):
                raise GraphQLError(errors)
            place = parse_node(data["repository"])
            node = parse_node(place.get("pullRequest"))
        if not node:
            raise Reference(repository, number).build_missing_error()
        discussion = parse_discussion(repository, place.get("id"), node, number)
        is_partial = discussion.is_partial or bool(find_gaps(data, errors))
        return replace(discussion, web=self.client.web, is_partial=is_partial)

    def find_merges(self, repository: Repository, commits: Sequence[str]) -> Mapping[str, PullRequest]:
        """Return the merges of ten commits at most, in one call. What is no hash might be taken for a branch."""
        hashes = list(dict.fromkeys(commit.lower() for commit in commits if _COMMIT.fullmatch(commit.lower())))
        asked = {f"c{index}": commit for index, commit in enumerate(hashes[:MAX_COMMITS])}
        if not asked:
            return {}
        with translate_github_errors(repository):
            data, errors = self.client.run_repeated_query(build_commits_query(len(asked)), repository, asked)
            if find_gaps(data, errors):
                raise GraphQLError(errors)
        nodes = parse_node(data["repository"])
        origins = ((commit, parse_node(nodes.get(field))) for field, commit in asked.items())
        return {
            commit: replace(pull, web=self.client.web)
            for commit, node in origins
            if (pull := _find_merged(repository, commit, node, nodes.get("id")))
        }


def _find_merged(repository: Repository, commit: str, node: Node, repository_id: object) -> PullRequest | None:
    """Return the merged pull request of a commit, rather one that was merged as this commit."""
    # a branch may have a name that looks like a hash, and a commit may be in pull requests of forks too
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


def parse_discussion(repository: Repository, repository_id: object, node: Node, number: int) -> Discussion:
    """Return the discussion of a pull request's node. Minimized remarks and those without an address are left out.

    ``repository_id`` is that of the repository: issues of others may be private, and are left out.
    """
    author = parse_account(node.get("author"))
    comments = parse_nodes(node.get("comments"))[-_MAX_COMMENTS:]
    reviews = parse_nodes(node.get("reviews"))[-_MAX_REVIEWS:]
    threads = parse_nodes(node.get("reviewThreads"))[-_MAX_THREADS:]
    issues = parse_nodes(node.get(_ISSUES))[:_MAX_ISSUES]
    listed = len(comments) + len(reviews) + len(threads)
    total = sum(parse_count(parse_node(node.get(name)).get("totalCount")) for name in _CONNECTIONS)
    remarks = (
        *_parse_issues(issues, repository_id, author),
        *_parse_remarks(comments, RemarkKind.COMMENT, author),
        *(
            remark
            for review in reviews
            if (state := review.get("state")) != _UNSENT
            for remark in _parse_remarks([review], _REVIEWS.get(str(state), RemarkKind.REVIEW), author)
        ),
        *(remark for thread in threads for remark in _parse_thread(thread, author)),
    )
    is_partial = not all(isinstance(node.get(name), Mapping) for name in (*_CONNECTIONS, _ISSUES))
    title = clean_title(node.get("title"))
    return Discussion(repository, number, title, remarks, max(total - listed, 0), is_partial)


def _parse_issues(nodes: Iterable[Node], repository_id: object, author: Account) -> Iterator[Remark]:
    for node in nodes:
        number = parse_number(node.get("number"))
        home = parse_node(node.get("repository")).get("id")
        if number and isinstance(home, str) and home == repository_id:
            account = parse_account(node.get("author"))
            yield Remark(
                f"issue-{number}",
                RemarkKind.ISSUE,
                account,
                _find_role(node, account, author),
                parse_instant(node.get("createdAt")),
                _clean_remark(node.get("body")),
                title=clean_title(node.get("title")),
                state="closed" if node.get("state") == "CLOSED" else "open",
            )


def _parse_thread(thread: Node, author: Account) -> Iterator[Remark]:
    opening = parse_nodes(thread.get("opening"))[:1]
    latest = parse_nodes(thread.get("latest"))[-_MAX_REPLIES:]
    kind = RemarkKind.RESOLVED if thread.get("isResolved") is True else RemarkKind.OPEN
    path = clean_path(thread.get("path"))
    remarks = {remark.anchor: remark for remark in _parse_remarks([*opening, *latest], kind, author, path)}
    yield from remarks.values()


def _parse_remarks(nodes: Iterable[Node], kind: RemarkKind, author: Account, path: str = "") -> Iterator[Remark]:
    for node in nodes:
        url = node.get("url")
        anchor = _ANCHOR.search(url[-_MAX_ANCHOR_LENGTH:]) if isinstance(url, str) else None
        if anchor and node.get("isMinimized") is not True:
            account = parse_account(node.get("author"))
            role = _find_role(node, account, author)
            written_at, text = parse_instant(node.get("createdAt")), _clean_remark(node.get("body"))
            yield Remark(anchor[1], kind, account, role, written_at, text, path)


def _find_role(node: Node, account: Account, author: Account) -> Role:
    """Return what an account is to the pull request of an author. A deleted account is nobody's."""
    if account.is_bot or account.login.endswith("[bot]"):
        return Role.BOT
    if account != GHOST and account.login.casefold() == author.login.casefold():
        return Role.AUTHOR
    return Role.MEMBER if node.get("authorAssociation") in _MEMBERS else Role.OTHER


def _clean_remark(value: object) -> str:
    """Return a text without hints of templates and without what nobody sees."""
    return remove_invisible(remove_comments(clean_text(value)).expandtabs(4)).strip()[:MAX_REMARK]
