"""Discussions and the pull requests of commits, over HTTP from a GitHub with its limits."""

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from github import Auth
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import GitHubAccessDenied, PrdigestError, PullRequestNotFound, RateLimited, RepositoryNotFound
from bot.platform.github.client import GitHubClient
from bot.platform.github.discussions import MAX_COMMITS, MAX_REMARK, GitHubBackground, parse_discussion
from bot.platform.pulls.sources import Discussion, RemarkKind, Role
from impact.repository import Repository
from tests.emulators.github.server import EnterpriseEmulator, IssueRecord, pull
from tests.emulators.github.store import RemarkRecord, ThreadRecord, sha
from tests.helpers.builders import REPOSITORY
from tests.helpers.worlds import REPO, ScriptedGitHub

AT = datetime(2026, 2, 27, 9, 0, tzinfo=UTC)
SECRET = f"ghp_{'a1B2' * 9}"


@pytest.fixture
def github() -> Iterator[ScriptedGitHub]:
    with ScriptedGitHub() as emulator:
        yield emulator


def background(github: Any, token: str = "") -> GitHubBackground:
    return GitHubBackground(GitHubClient(github.url, Auth.Token(token or github.token)))


def make_remark(number: int, body: str, author: str | None = "bob", **more: Any) -> RemarkRecord:
    return RemarkRecord(number, body, author, created_at=AT + timedelta(minutes=number), **more)


def fetch(github: ScriptedGitHub, **fields: Any) -> Discussion:
    github.add(REPO, pull(7, **{"author": "alice", **fields}))
    return background(github).fetch_discussion(REPOSITORY, 7)


def test_a_discussion_is_one_call_with_issues_comments_reviews_and_threads(github: ScriptedGitHub) -> None:
    thread = ThreadRecord("a.py", tuple(make_remark(n, f"remark {n}") for n in range(30, 38)), is_resolved=True)
    discussion = fetch(
        github,
        closes=(
            IssueRecord(12, "It hangs", body="Since yesterday.", is_open=True),
            IssueRecord(13, "Secret", "o/x"),
        ),
        comments=(
            make_remark(1, "first", "alice"),
            make_remark(2, "second", "bob", association="MEMBER"),
            make_remark(3, "gone", None),
        ),
        reviews=(
            make_remark(20, "", state="APPROVED"),
            make_remark(21, "draft", state="PENDING"),
            make_remark(22, "hm", "ci[bot]"),
        ),
        threads=(thread, ThreadRecord("b.py", (make_remark(40, "why?"),))),
    )
    assert github.queries == 1
    assert [(each.anchor, each.kind, each.author.login, each.role) for each in discussion.remarks] == [
        ("issue-12", RemarkKind.ISSUE, "reporter", Role.OTHER),
        ("issuecomment-1", RemarkKind.COMMENT, "alice", Role.AUTHOR),
        ("issuecomment-2", RemarkKind.COMMENT, "bob", Role.MEMBER),
        ("issuecomment-3", RemarkKind.COMMENT, "ghost", Role.OTHER),
        ("pullrequestreview-20", RemarkKind.APPROVAL, "bob", Role.OTHER),
        ("pullrequestreview-22", RemarkKind.REVIEW, "ci", Role.BOT),
        # the first remark of a long thread, and its end
        ("discussion_r30", RemarkKind.RESOLVED, "bob", Role.OTHER),
        *((f"discussion_r{number}", RemarkKind.RESOLVED, "bob", Role.OTHER) for number in range(34, 38)),
        ("discussion_r40", RemarkKind.OPEN, "bob", Role.OTHER),
    ]
    issue, first = discussion.remarks[:2]
    assert (issue.title, issue.state, issue.text) == ("It hangs", "open", "Since yesterday.")
    assert first.written_at == AT + timedelta(minutes=1)
    assert discussion.build_remark_url(first) == "https://github.com/octo/engine/pull/7#issuecomment-1"
    assert discussion.build_remark_url(issue) == "https://github.com/octo/engine/issues/12"
    assert discussion.remarks[6].path == "a.py"
    assert discussion.unlisted == 0


def test_the_newest_are_read_and_the_others_counted(github: ScriptedGitHub) -> None:
    discussion = fetch(
        github,
        comments=tuple(make_remark(n, f"comment {n}") for n in range(130)),
        reviews=tuple(make_remark(n, f"review {n}") for n in range(70)),
        threads=tuple(ThreadRecord("a.py", (make_remark(1_000 + n, "x"),)) for n in range(61)),
    )
    assert len(discussion.remarks) == 220
    assert discussion.unlisted == 30 + 10 + 1
    assert (discussion.remarks[0].anchor, discussion.remarks[99].anchor) == ("issuecomment-30", "issuecomment-129")


@pytest.mark.slow
def test_texts_of_strangers_are_cleaned(github: ScriptedGitHub) -> None:
    started = time.monotonic()
    discussion = fetch(
        github,
        comments=(
            make_remark(1, "x" * 10_000_000),
            make_remark(2, f"a\tb\0\u202e<!-- hint -->token {SECRET}\r\nnext"),
            make_remark(3, "hidden", is_minimized=True),
            make_remark(4, "<!-- only a template -->"),
        ),
    )
    assert time.monotonic() - started < 10
    long, odd, empty = discussion.remarks
    assert len(long.text) == MAX_REMARK
    assert odd.text == "a   btoken [redacted]\nnext"
    assert empty.text == ""
    assert empty.is_noise


@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("at", ["place", "nowhere"])
@pytest.mark.parametrize("field", ["body", "author"])
@pytest.mark.parametrize("kind", ["comments", "reviews"])
def test_remarks_with_gaps_are_asked_for_again_then_told(
    github: ScriptedGitHub, kind: str, field: str, at: str, *, stays: bool
) -> None:
    def limit(answered: int, body: dict[str, Any]) -> None:
        if stays or answered == 1:
            place = ["repository", "pullRequest", kind, "nodes", 0]
            body["data"]["repository"]["pullRequest"][kind]["nodes"][0][field] = None
            path = {"path": [*place, field]} if at == "place" else {}
            body["errors"] = [{"type": "RESOURCE_LIMITS_EXCEEDED", "message": "Limits exceeded.", **path}]

    github.after = limit
    discussion = fetch(github, **{kind: (make_remark(1, "first"), make_remark(2, "second"))})
    assert (len(discussion.remarks), discussion.is_partial, github.queries) == (2, stays, 2)


def test_an_address_outside_github_is_not_believed(github: ScriptedGitHub) -> None:
    def lie(_: int, body: dict[str, Any]) -> None:
        nodes = body["data"]["repository"]["pullRequest"]["comments"]["nodes"]
        nodes[0]["url"] = "https://evil.example/x#issuecomment-1"
        nodes[1]["url"] = "javascript:alert(1)"
        nodes[2]["url"] = {"a": 1}

    github.after = lie
    discussion = fetch(github, comments=tuple(make_remark(n, "text") for n in range(3)))
    assert [discussion.build_remark_url(each) for each in discussion.remarks] == [
        "https://github.com/octo/engine/pull/7#issuecomment-1"
    ]


def test_pages_of_an_enterprise_server_are_its_own() -> None:
    with EnterpriseEmulator() as server:
        server.add(REPO, pull(7, comments=(make_remark(1, "text"),)))
        discussion = background(server).fetch_discussion(REPOSITORY, 7)
        assert (
            discussion.build_remark_url(discussion.remarks[0]) == f"{server.web}/octo/engine/pull/7#issuecomment-1"
        )


@pytest.mark.parametrize(
    ("repository", "number", "token", "limit", "error"),
    [
        (REPOSITORY, 8, "", 100, PullRequestNotFound),
        (Repository("octo", "none"), 7, "", 100, RepositoryNotFound),
        (REPOSITORY, 7, "ghp_wrong", 100, GitHubAccessDenied),
        (REPOSITORY, 7, "", 0, RateLimited),
    ],
    ids=["no pull request", "no repository", "wrong token", "limit used up"],
)
def test_a_failure_is_a_sentence(
    repository: Repository, number: int, token: str, limit: int, error: type[PrdigestError], github: ScriptedGitHub
) -> None:
    github.add(REPO, pull(7))
    github.set_limit("graphql", limit)
    with pytest.raises(error):
        background(github, token).fetch_discussion(repository, number)
    if error is RateLimited:
        with pytest.raises(error):
            background(github).find_merges(repository, [sha("merge 7")])


FIELDS = st.sampled_from(
    ["nodes", "totalCount", "author", "login", "body", "url", "state", "number", "title", "repository", "id"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["comments", "reviews", "reviewThreads", "closingIssuesReferences"]), JSON))
@settings(max_examples=60)
def test_no_answer_of_the_wrong_shape_raises(node: dict[str, Any]) -> None:
    assert parse_discussion(REPOSITORY, "R_1", node, 7).unlisted >= 0


def test_a_commit_is_its_merged_pull_request_in_one_call(github: ScriptedGitHub) -> None:
    github.add(REPO, pull(7), pull(8), pull(9, state="OPEN"))
    seven, eight = sha("merge 7"), sha("merge 8")
    merges = background(github).find_merges(
        REPOSITORY, [seven, eight[:9].upper(), sha("elsewhere"), "main", "HEAD"]
    )
    assert {commit: each.number for commit, each in merges.items()} == {seven: 7, eight[:9]: 8}
    assert merges[seven].merge_commit == seven
    assert github.queries == 1
    assert background(github).find_merges(REPOSITORY, ["main"]) == {}
    assert github.queries == 1, "what is no hash is not asked for"
    background(github).find_merges(REPOSITORY, [f"{n:07x}" for n in range(50)])
    query = github.calls_to("/graphql")[-1].json()
    assert query is not None
    assert len(query["variables"]) == MAX_COMMITS + 2


def test_a_pull_request_of_a_fork_or_another_commit_is_not_taken(github: ScriptedGitHub) -> None:
    github.add(REPO, pull(7))

    def from_fork(_: int, body: dict[str, Any]) -> None:
        node = body["data"]["repository"]["c0"]
        node["associatedPullRequests"]["nodes"][0]["repository"]["id"] = "R_fork"

    def another(_: int, body: dict[str, Any]) -> None:
        body["data"]["repository"]["c0"]["oid"] = sha("a branch with such a name")

    for change in (from_fork, another):
        github.after = change
        assert background(github).find_merges(REPOSITORY, [sha("merge 7")]) == {}


def test_a_commit_of_several_is_rather_the_one_that_was_merged_as_it(github: ScriptedGitHub) -> None:
    github.add(REPO, pull(7))

    def add_stacked(_: int, body: dict[str, Any]) -> None:
        nodes = body["data"]["repository"]["c0"]["associatedPullRequests"]["nodes"]
        nodes.insert(0, {**nodes[0], "number": 6, "mergeCommit": {"oid": sha("merge 6"), "message": ""}})

    github.after = add_stacked
    (merge,) = background(github).find_merges(REPOSITORY, [sha("merge 7")]).values()
    assert merge.number == 7
    assert replace(merge, number=6) != merge
