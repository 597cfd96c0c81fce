"""Discussions of pull requests from GitHub's nodes: whatever was sent, clean remarks come out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bot.adapters.records.cleaning import (
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
from bot.domain.pull_requests.discussion import Discussion, Remark, RemarkKind, Role
from bot.domain.pull_requests.models import GHOST, Account, Repository
from bot.domain.text.strings import remove_comments, remove_invisible

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
        *(remark for review in reviews for remark in _parse_review(review, author)),
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


def _parse_review(node: Node, author: Account) -> Iterator[Remark]:
    state = node.get("state")
    if state != _UNSENT:
        yield from _parse_remarks([node], _REVIEWS.get(str(state), RemarkKind.REVIEW), author)


def _parse_thread(thread: Node, author: Account) -> Iterator[Remark]:
    """Yield the first and the last remarks of a thread, each once."""
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
