"""What lies outside besides Slack and the store: GitHub and Claude, or what is given in their place."""

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field

import pytest
from redis import Redis

from bot.app import App, open_app
from bot.connections.sources import LiveSources, Sources
from bot.errors import ConfigurationError
from bot.features.digest.service import build_digest
from bot.features.merges.review import BugReview
from bot.features.summaries.service import get_cached_entry, get_entry
from bot.platform.deadlines import ShutdownSignal
from bot.platform.git.mirror import GitMirror
from bot.platform.git.reading import MirrorReader
from bot.platform.git.tag_history import TagHistory
from bot.platform.github.open_pulls import GitHubOpenPulls
from bot.platform.github.source_files import GitHubTrees
from bot.platform.models import ChatModel, Model, Prompt
from bot.platform.models.claude import CLAUDE
from bot.platform.pulls.models import PullRequest, Reference
from bot.platform.pulls.sources import PullRequestBackground, PullRequests, RateAllowance, Releases
from bot.platform.source.models import SourceFiles, SourceVersionReader
from bot.processes import _start_workers
from bot.settings import load_settings
from tests.emulators.claude.server import ClaudeEmulator, Json, overview_answer, summary_answer
from tests.emulators.github.store import RemarkRecord, sha
from tests.emulators.github.store import pull as record
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.builders import DAY, REPOSITORY, changed_file, pull
from tests.helpers.doubles import KnownPulls, ScriptedModel, Sleeps
from tests.helpers.worlds import MORNING, REPO, ScriptedGitHub

Env = pytest.MonkeyPatch


@dataclass
class Known:
    """An outside of pull requests and answers that are known."""

    pulls: PullRequests
    background: PullRequestBackground | None = None
    source_files: SourceFiles | None = None
    source_versions: SourceVersionReader | None = None
    source_trees: GitHubTrees | None = None
    open_pulls: GitHubOpenPulls | None = None
    releases: Releases | None = None
    model: Model | None = None
    chat: ChatModel | None = None
    stands_in: str = ""
    source_mirror: GitMirror | None = None
    source_search: MirrorReader | None = None
    tag_history: TagHistory | None = None
    reviews: dict[int, BugReview] = field(default_factory=dict)
    closed: list[str] = field(default_factory=list)

    def get_written_review(self, pull: PullRequest) -> BugReview | None:
        return self.reviews.get(pull.number)

    def list_allowances(self) -> Iterable[RateAllowance]:
        return ()

    def open_sources(self) -> None:
        self.closed.append("prepared")

    def close(self) -> None:
        self.closed.append("closed")


@pytest.fixture
def known_services(store: Redis, store_url: str, monkeypatch: Env) -> Known:
    store.ping()
    monkeypatch.setenv("REDIS_URL", store_url)
    answer = summary_answer(headline="Counts once")
    model = ScriptedModel.of(json.dumps(answer), json.dumps(overview_answer()))
    return Known(KnownPulls((pull(7, files=(changed_file(),)),)), model=model)


def open_base(outside: Sources) -> AbstractContextManager[App]:
    return open_app(load_settings(), lambda: MORNING, Sleeps(), outside)


def test_what_is_given_is_asked_instead_of_github_and_claude(known_services: Known) -> None:
    with open_base(known_services) as base:
        digests = base
        digest = build_digest(base, REPOSITORY, DAY, "Engine")
        assert [entry.summary.headline for entry in digest.entries] == ["Counts once"]
        assert get_cached_entry(digests, Reference(REPOSITORY, 7))


def test_it_is_let_go_of_at_the_end(known_services: Known) -> None:
    with open_base(known_services):
        assert known_services.closed == []
    assert known_services.closed == ["closed"]


def test_without_a_model_nothing_is_a_models(known_services: Known) -> None:
    known_services.model = None
    with open_base(known_services) as base:
        assert get_entry(base, Reference(REPOSITORY, 7)).summary.is_fallback


def test_claude_is_there_with_its_key_alone(monkeypatch: Env) -> None:
    def find_sources() -> tuple[bool, bool]:
        with closing(LiveSources(load_settings(), lambda: MORNING, CLAUDE)) as outside:
            return outside.model is not None, outside.chat is not None

    assert find_sources() == (False, False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    assert find_sources() == (True, True)


def test_files_are_read_from_github(known_services: Known, github: ScriptedGitHub, monkeypatch: Env) -> None:
    commit = sha("commit")
    github.add_commit(REPO, TreeCommit(commit, FixedTree({"a.py": Entry(b"x = 1\n")})))
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    monkeypatch.setenv("GITHUB_TOKEN", github.token)
    with closing(LiveSources(load_settings(), lambda: MORNING, CLAUDE)) as outside:
        files = outside.source_files
        assert files is not None
        assert files.read_files(REPOSITORY, commit, ["a.py"])["a.py"].text == "x = 1\n"


def test_discussions_are_read_from_github_and_kept(
    known_services: Known, github: ScriptedGitHub, monkeypatch: Env
) -> None:
    github.add(REPO, record(7, comments=(RemarkRecord(1, "We keep it."),)))
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    monkeypatch.setenv("GITHUB_TOKEN", github.token)
    with closing(LiveSources(load_settings(), lambda: MORNING, CLAUDE)) as outside:
        known_services.background = outside.background
        with open_base(known_services) as base:
            for _ in range(2):
                assert base.background is not None
                discussion = base.background.fetch_discussion(REPOSITORY, 7)
                assert [each.text for each in discussion.remarks] == ["We keep it."]
            assert base.timeline.read_merges_or_none(REPOSITORY, DAY.start, DAY.end) == ()
    assert github.queries == 1


def test_without_credentials_no_files_are_read() -> None:
    with (
        closing(LiveSources(load_settings(), lambda: MORNING, CLAUDE)) as outside,
        pytest.raises(ConfigurationError),
    ):
        _ = outside.source_files


@pytest.mark.slow
def test_it_is_made_ready_before_the_first_job(
    known_services: Known, monkeypatch: Env, slack: SlackEmulator
) -> None:
    for name, value in {
        "SLACK_API_URL": slack.url,
        "SLACK_BOT_TOKEN": "xoxb-test",
        "PRDIGEST_REPO": "o/n",
    }.items():
        monkeypatch.setenv(name, value)
    with open_base(known_services) as base, _start_workers(base, ShutdownSignal(), last_work=1.0):
        assert known_services.closed == ["prepared"]


def test_many_who_ask_first_open_one_way_to_claude(claude: ClaudeEmulator, monkeypatch: Env) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", claude.api_key)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", claude.url)
    prompt = Prompt(
        "claude-haiku-5-5", "v1", "Say.", "What?", {"type": "object", "additionalProperties": False}, 9
    )
    claude.respond = lambda body: Json({})
    with closing(LiveSources(load_settings(), lambda: MORNING, CLAUDE)) as outside, ThreadPoolExecutor(8) as pool:
        model = outside.model
        assert model is not None
        assert {each.text for each in pool.map(model.complete, [prompt] * 8)} == {"{}"}
    assert claude.problems == []


def test_what_was_never_asked_is_closed_without_a_word(
    monkeypatch: Env, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    outside = LiveSources(load_settings(), lambda: MORNING, CLAUDE)
    outside.close()
    outside.close()
    assert (capfd.readouterr(), caplog.messages) == (("", ""), [])
