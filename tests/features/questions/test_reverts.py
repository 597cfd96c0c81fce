"""What a revert means that names a commit or a title only: GitHub over HTTP is asked once, then the record."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from github import Auth

from bot.features.questions.reading import ReadingSession
from bot.platform.github.caches import BackgroundCache
from bot.platform.github.client import GitHubClient
from bot.platform.github.discussions import GitHubBackground
from bot.platform.pulls.models import PullRequest
from bot.platform.store.tables import Store
from impact.history.reverts import parse_claim
from impact.repository import Repository
from tests.emulators.github.server import pull as record
from tests.emulators.github.store import sha
from tests.features.questions.archives import read_no_history, run_tool, shelf
from tests.helpers.builders import NOON, pull
from tests.helpers.calls import counting
from tests.helpers.doubles import MemoryStore
from tests.helpers.worlds import REPO, ScriptedGitHub

LONG_BEFORE = NOON - timedelta(days=20)
COMMIT = sha("merge 3")
REVERT = pull(20, title='Revert "Count the tokens twice"', body="It was slow.")
BY_COMMIT = replace(REVERT, title="Revert a change", body=f"This reverts commit {COMMIT}.")
OLD = pull(3, title="Count the tokens twice", merged_at=LONG_BEFORE)
UNKNOWN = "#20 takes back something whose number is not known, merged before these days."
KNOWN = "#20 takes back #3 (Count the tokens twice), merged before these days."


@pytest.fixture
def github() -> Iterator[ScriptedGitHub]:
    with ScriptedGitHub() as emulator:
        emulator.add(REPO, record(3, title="Count the tokens twice", merged_at=LONG_BEFORE))
        yield emulator


class Recorded:
    """Merges that were recorded; keeps what was asked for."""

    def __init__(self, *pulls: PullRequest) -> None:
        self.pulls = pulls
        self.asked: list[tuple[datetime, datetime]] = []

    def __call__(self, _repository: Repository, since: datetime, until: datetime) -> tuple[PullRequest, ...]:
        self.asked.append((since, until))
        return tuple(each for each in self.pulls if since <= each.merge_time < until)


def tools(
    github: ScriptedGitHub, *pulls: PullRequest, history: Recorded | None = None, cache: Store | None = None
) -> ReadingSession:
    there = shelf(*pulls)
    source = GitHubBackground(GitHubClient(github.url, Auth.Token(github.token)))
    there.background = BackgroundCache(source, cache or MemoryStore())
    there.read_history = history or read_no_history
    return there.toolbox()


def test_a_commit_gets_its_number_by_one_call_that_is_kept(github: ScriptedGitHub) -> None:
    cache = MemoryStore()
    for _ in range(2):
        session = tools(github, BY_COMMIT, cache=cache)
        assert KNOWN in run_tool(session, "taken_back")
        assert session.find_address(3) == "https://github.com/octo/engine/pull/3"
    assert github.queries == 1


def test_the_commits_of_several_reverts_are_one_call(github: ScriptedGitHub) -> None:
    github.add(REPO, record(4, title="Read twice", merged_at=LONG_BEFORE))
    other = replace(BY_COMMIT, number=21, body=f"This reverts commit {sha('merge 4')[:10]}.")
    text = run_tool(tools(github, BY_COMMIT, other), "taken_back")
    assert KNOWN in text
    assert "#21 takes back #4 (Read twice), merged before these days." in text
    assert github.queries == 1


@pytest.mark.parametrize(
    ("revert", "recorded", "says"),
    [
        (REVERT, (OLD,), KNOWN),
        (BY_COMMIT, (), KNOWN),
        (
            replace(BY_COMMIT, body="This reverts commit c0ffee123."),
            (replace(OLD, merge_commit="c0ffee123" * 4),),
            KNOWN,
        ),
        (REVERT, (), UNKNOWN),
        (REVERT, (replace(OLD, merged_at=NOON - timedelta(days=61)),), UNKNOWN),
        (REVERT, (replace(OLD, merged_at=NOON + timedelta(hours=1)),), UNKNOWN),
        (replace(BY_COMMIT, body=f"This reverts commit {sha('nowhere')}."), (OLD,), UNKNOWN),
    ],
    ids=["title", "commit", "recorded commit", "no record", "too old", "later", "unknown commit"],
)
def test_what_github_does_not_know_may_be_recorded(
    revert: PullRequest, recorded: tuple[PullRequest, ...], says: str, github: ScriptedGitHub
) -> None:
    assert says in run_tool(tools(github, revert, history=Recorded(*recorded)), "taken_back")


def test_what_github_knows_needs_no_record(github: ScriptedGitHub) -> None:
    history = Recorded(OLD)
    run_tool(tools(github, BY_COMMIT, history=history), "taken_back")
    assert history.asked == []


def test_its_own_merge_is_not_what_a_revert_means(github: ScriptedGitHub) -> None:
    github.add(REPO, record(20, title=REVERT.title))
    own = replace(BY_COMMIT, body=f"This reverts commit {sha('merge 20')}.")
    assert UNKNOWN in run_tool(tools(github, own), "taken_back")


def test_where_github_is_away_it_is_said_and_the_record_is_read(github: ScriptedGitHub) -> None:
    github.set_limit("graphql", 0)
    both = replace(BY_COMMIT, title=REVERT.title)
    session = tools(github, both, history=Recorded(OLD))
    assert KNOWN in run_tool(session, "taken_back")
    assert session.provenance.gaps == "the pull requests of reverted commits (they could not be loaded)"


def test_no_more_than_five_are_looked_up(github: ScriptedGitHub) -> None:
    reverts = [replace(BY_COMMIT, number=number) for number in range(20, 28)]
    text = run_tool(tools(github, *reverts), "taken_back")
    assert text.count("takes back #3 (") == 5
    assert text.count("whose number is not known") == 3
    assert github.queries == 1


def test_the_texts_of_a_revert_are_searched_once(github: ScriptedGitHub) -> None:
    session = tools(github, REVERT, history=Recorded(OLD))
    # the ratings of the day search on their own
    run_tool(session, "list_pull_requests")
    with counting(parse_claim) as counts:
        assert KNOWN in run_tool(session, "taken_back")
    assert counts == Counter({("parse_claim", number): 1 for number in (3, 20)})
