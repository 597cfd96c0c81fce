"""Open pull requests that would break a profile, on an emulated GitHub: listed, read, told and folded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from github import Auth
from redis import Redis

from bot.app import App
from bot.errors import RateLimited, RepositoryNotFound, UsageError
from bot.features.touches.contracts import OPEN_CONTRACTS, read_open_contracts
from bot.features.touches.open_pulls import OpenReport, judge_open_pulls, render_open_pulls
from bot.platform.commands import AllowedRepositories
from bot.platform.github.client import GitHubClient
from bot.platform.github.open_pulls import GitHubOpenPulls
from bot.platform.github.source_files import GitHubSourceFiles
from bot.platform.slack.blocks import Post
from impact.touches.models import TouchLevel
from tests.emulators.github.server import pull
from tests.emulators.github.store import changed_file, sha
from tests.emulators.github.trees import FILE, SUBMODULE, Entry, FixedTree, TreeCommit
from tests.features.touches.worlds import AFTER, BEFORE, ENTRY, PROFILE, open_app
from tests.helpers.builders import NOON, REPOSITORY
from tests.helpers.world import as_read
from tests.helpers.worlds import REPO, ScriptedGitHub

QUIET = BEFORE | {"engine/core.py": b"# quiet\n" + BEFORE["engine/core.py"]}
# the function that the profile calls takes an argument more that has no default
OTHER = BEFORE | {"engine/core.py": BEFORE["engine/core.py"].replace(b"stop()", b"stop(now)")}
SEEN = "plugin/worker.py:7 breaks: core.stop is gone (core.py:5)."


@pytest.fixture
def github() -> Iterator[ScriptedGitHub]:
    with ScriptedGitHub() as emulator:
        emulator.add(REPO)
        yield emulator


@pytest.fixture
def app(github: ScriptedGitHub, store: Redis) -> App:
    client = GitHubClient(github.url, Auth.Token(github.token))
    files = GitHubSourceFiles(client)
    app = open_app(store, github, open_pulls=GitHubOpenPulls(client), source_files=files)
    app.repositories = AllowedRepositories(REPOSITORY)
    app.profiles.put(ENTRY, PROFILE)
    return app


def add_open(
    github: ScriptedGitHub, number: int, after: Mapping[str, bytes | Entry] | None = AFTER, **fields: Any
) -> str:
    """Add an open pull request with the files of its head, none if they can't be had; return its head."""
    head = str(fields.get("head_sha", sha(f"head {number}")))
    for oid, tree in ((sha(f"base {number}"), BEFORE), *([(head, after)] if after is not None else [])):
        entries = {path: data if isinstance(data, Entry) else Entry(data) for path, data in tree.items()}
        github.add_commit(REPO, TreeCommit(oid, FixedTree(entries)))
    values = {"files": [changed_file("engine/core.py")], "updated_at": NOON, **fields}
    github.add(REPO, pull(number, state="OPEN", **values))
    return head


def count_calls(github: ScriptedGitHub) -> dict[str, int]:
    paths = [call.path for call in github.calls]
    return {"graphql": paths.count("/graphql"), "compare": sum("/compare/" in path for path in paths)}


def read(posts: Sequence[Post]) -> list[str]:
    return [as_read({"text": post.text, "blocks": json.loads(json.dumps(post.blocks))}) for post in posts]


def list_levels(report: OpenReport) -> list[tuple[int, TouchLevel]]:
    return [(hit.number, hit.level) for hit in report.hits.ignore_coverage()]


def test_the_head_is_compared_with_where_it_branched_off_and_the_most_certain_comes_first(
    app: App, github: ScriptedGitHub
) -> None:
    add_open(github, 1, QUIET)
    add_open(github, 2, OTHER)
    add_open(github, 3)
    report = judge_open_pulls(app, "ascend")
    assert [number for number, _ in list_levels(report)] == [3, 2]
    assert list_levels(report)[0][1] is TouchLevel.BREAKS
    assert count_calls(github) == {"graphql": 1 + 2 * 3, "compare": 3}
    (shown,) = read(render_open_pulls(report))
    title, lines = shown.split("\n\n")
    assert title.startswith("Open pull requests that would break ascend, or may")
    assert lines.startswith(f"  • #3 Change part 3 — {SEEN}")


def test_the_same_head_is_read_once_and_another_one_again(app: App, github: ScriptedGitHub, store: Redis) -> None:
    add_open(github, 3)
    judge_open_pulls(app, "ascend")
    first = count_calls(github)
    add_open(github, 3, title="Another title")
    report = judge_open_pulls(app, "ascend")
    assert count_calls(github) == {**first, "graphql": first["graphql"] + 1}
    assert "Another title" in read(render_open_pulls(report))[0]
    add_open(github, 3, QUIET, head_sha=sha("pushed"))
    assert list_levels(judge_open_pulls(app, "ascend")) == []
    # what is kept of a merge is something else, and a deprecation is noted when it is merged
    kept = {key.decode().partition(":")[0] for key in store.scan_iter("*")}
    assert OPEN_CONTRACTS.family.build_key("v", "r", "c").partition(":")[0] in kept
    assert not kept & {"contract", "deprecations"}


def test_the_profile_as_it_is_now_judges_what_was_read(app: App, github: ScriptedGitHub) -> None:
    add_open(github, 3)
    app.profiles.put(ENTRY, replace(PROFILE, uses=()))
    assert list_levels(judge_open_pulls(app, "ascend")) == []
    app.profiles.put(ENTRY, PROFILE)
    assert [number for number, _ in list_levels(judge_open_pulls(app, "ascend"))] == [3]
    assert count_calls(github)["compare"] == 1


def test_what_is_left_out_is_said_before_what_is_shown(app: App, github: ScriptedGitHub) -> None:
    add_open(github, 1, is_draft=True)
    add_open(github, 2, base_ref="releases/v1")
    add_open(github, 3, updated_at=app.now() - timedelta(days=31))
    add_open(github, 4, updated_at=app.now() - timedelta(days=29))
    report = judge_open_pulls(app, "ascend")
    assert [number for number, _ in list_levels(report)] == [4]
    sentence = "Of 4 open ones I left out: 1 drafts, 1 without an update in 30 days, 1 into other branches."
    assert read(render_open_pulls(report))[0].split("\n\n")[1] == sentence
    assert count_calls(github)["compare"] == 1


def test_all_pages_are_listed_until_one_is_too_old(app: App, github: ScriptedGitHub) -> None:
    for number in range(1, 331):
        fields: dict[str, Any] = {"updated_at": app.now() - timedelta(hours=3 * number), "files": []}
        github.add(REPO, pull(number, state="OPEN", **fields))
    listed = app.sources.open_pulls and app.sources.open_pulls.list_open(REPOSITORY, app.now() - timedelta(30))
    assert listed
    assert [each.number for each in listed.pulls] == list(range(1, 241))
    assert (listed.total, listed.idle, listed.unlisted) == (330, 90, 0)
    assert count_calls(github) == {"graphql": 3, "compare": 0}


def test_nothing_is_said_of_all_that_was_read(app: App, github: ScriptedGitHub) -> None:
    add_open(github, 1, QUIET)
    assert read(render_open_pulls(judge_open_pulls(app, "ascend")))[0].split("\n\n")[1:] == [
        "None of 1 open pull request does."
    ]


@pytest.mark.parametrize(
    ("fields", "after", "gap"),
    [
        pytest.param({}, None, "changed files", id="a head whose files are gone, as of a fork that was deleted"),
        pytest.param({"head_sha": "not a hash"}, None, "open pull requests", id="a head that is no hash"),
        pytest.param({"head_sha": "../../other"}, None, "open pull requests", id="a head that is an address"),
    ],
)
def test_a_head_that_cannot_be_read_is_counted(
    app: App, github: ScriptedGitHub, fields: dict[str, Any], after: None, gap: str
) -> None:
    add_open(github, 1, after, **fields)
    add_open(github, 3)
    report = judge_open_pulls(app, "ascend")
    assert [number for number, _ in list_levels(report)] == [3]
    (shown,) = read(render_open_pulls(report))
    unread, first = shown.split("\n\n")[1:3]
    assert unread.startswith("I couldn't read 1 of 2 " + gap)
    assert unread.endswith("there may be more.")
    assert first.startswith("  • #3")


def test_github_that_refuses_one_comparison_costs_that_one_alone(app: App, github: ScriptedGitHub) -> None:
    for number in (1, 2):
        add_open(github, number)
    github.fail_next("404", 1, "/compare/")
    report = judge_open_pulls(app, "ascend")
    assert len(list_levels(report)) == 1
    assert "1 of 2 open pull requests" in report.hits.explain_gaps()
    # it is asked for again the next time
    assert len(list_levels(judge_open_pulls(app, "ascend"))) == 2


def test_a_limit_ends_the_reading_and_the_next_one_goes_on_from_there(app: App, github: ScriptedGitHub) -> None:
    for number in range(1, 9):
        add_open(github, number)
    github.set_limit("core", 5)
    report = judge_open_pulls(app, "ascend")
    assert len(list_levels(report)) == 5
    assert "3 of 8 open pull requests (GitHub's rate limit for this token is used up" in report.hits.explain_gaps()
    github.set_limit("core", 3)
    assert len(list_levels(judge_open_pulls(app, "ascend"))) == 8


def test_no_more_are_read_at_a_time_than_the_bound(app: App, github: ScriptedGitHub) -> None:
    for number in range(1, 4):
        add_open(github, number, updated_at=NOON - timedelta(hours=number))
    source = app.sources.open_pulls
    assert source
    pulls = source.list_open(REPOSITORY, NOON - timedelta(days=1)).pulls
    contracts, coverage = read_open_contracts(app, source, pulls, most=2)
    assert [each.number for each in contracts] == [1, 2]
    assert coverage.gaps == ["1 of 3 open pull requests (2 at a time)"]
    assert [each.number for each in read_open_contracts(app, source, pulls, most=2)[0]] == [1, 2, 3]


HOSTILE_FILES = [
    pytest.param(AFTER, [changed_file(f"engine/part_{n}.py") for n in range(3_000)], True, id="3,000 files"),
    pytest.param({"engine/core.py": b"\x00\xff" * 99}, None, False, id="binary"),
    pytest.param({"engine/core.py": b"def f(" + b"(" * 5_000}, None, True, id="no Python"),
    pytest.param({"engine/core.py": Entry(b"c0ffee", SUBMODULE)}, None, False, id="a submodule in its place"),
    pytest.param({"engine/core.py": Entry(b"x" * 600_000, FILE)}, None, True, id="too large"),
    pytest.param(
        {"engine/new.py": BEFORE["engine/core.py"]},
        [changed_file("engine/new.py", status="renamed", previous_filename="engine/core.py")],
        False,
        id="renamed",
    ),
    pytest.param({}, [changed_file("engine/core.py", status="removed")], False, id="removed"),
    pytest.param({}, [{"filename": 7, "status": []}, "no object", None], False, id="files without names"),
]


@pytest.mark.parametrize(("after", "files", "is_told"), HOSTILE_FILES)
def test_whatever_is_in_it_the_others_are_judged_and_what_is_not_read_is_told(
    app: App, github: ScriptedGitHub, after: Mapping[str, bytes], files: Any, is_told: bool
) -> None:
    add_open(github, 1, after)
    if files is not None:
        # as it is sent: the emulator's own counts would not survive it
        record = github.store.find(REPO)
        assert record
        record.pulls[1] = replace(record.pulls[1], files=tuple(files), changed_files=len(files))
    add_open(github, 3)
    report = judge_open_pulls(app, "ascend")
    assert 3 in [number for number, _ in list_levels(report)]
    assert bool(report.hits.explain_gaps()) is is_told
    assert read(render_open_pulls(report))


def test_titles_are_shown_as_text(app: App, github: ScriptedGitHub) -> None:
    add_open(github, 3, title="<!channel> *bold* `code` https://evil.example <@U1|x> ghp_" + "a" * 36)
    (post,) = render_open_pulls(judge_open_pulls(app, "ascend"))
    payload = json.dumps(post.build_payload())
    assert '"<!channel>' not in payload.replace("<!channel> *bold*", "")
    assert "ghp_aaaa" not in payload
    links = [each for each in _list_elements(list(post.blocks)) if each.get("type") == "link"]
    assert all(each["url"].startswith("https://github.com/octo/engine/") for each in links)


def _list_elements(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for each in node.values():
            yield from _list_elements(each)
    elif isinstance(node, list):
        for each in node:
            yield from _list_elements(each)


def test_what_did_not_change_is_folded_and_what_did_is_marked(app: App, github: ScriptedGitHub) -> None:
    for number in (1, 2, 3):
        add_open(github, number)
    before = judge_open_pulls(app, "ascend")
    add_open(github, 2, AFTER, head_sha=sha("pushed"))
    add_open(github, 4)
    lead, thread = read(render_open_pulls(judge_open_pulls(app, "ascend"), before.heads))
    assert "#4 Change part 4 — " in lead
    assert "#2 Change part 2 (changed since the last message) — " in lead
    assert "Still open, as in the last message: #3, #1." in lead
    assert "Change part 3" not in lead
    assert "#3 Change part 3 — " in thread
    assert "#1 Change part 1 — " in thread


def test_many_are_folded_and_every_message_fits(app: App, github: ScriptedGitHub) -> None:
    for number in range(1, 61):
        add_open(github, number, title=f"{'W' * 12} " * 12)
    posts = render_open_pulls(judge_open_pulls(app, "ascend"))
    lead, thread = read(posts)
    assert 3 <= lead.count(SEEN) <= 8
    assert "Also: #" in lead
    assert thread.count(SEEN) >= 6
    assert "of them" in thread
    for post in posts:
        assert len(json.dumps(post.build_payload())) < 40_000


def test_what_github_refuses_altogether_is_an_error(app: App, github: ScriptedGitHub) -> None:
    github.set_limit("graphql", 0)
    with pytest.raises(RateLimited):
        judge_open_pulls(app, "ascend")
    github.set_limit("graphql", 5_000)
    github.store.private.add(REPO)
    with pytest.raises(RepositoryNotFound):
        judge_open_pulls(app, "ascend")
    with pytest.raises(UsageError, match="no profile"):
        judge_open_pulls(app, "other")
