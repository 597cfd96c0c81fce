"""Repositories with another name on GitHub and in the settings, over a real store: what is kept goes on."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import time

import pytest
from github import Auth
from redis import Redis

from bot.app import App
from bot.cli.base import find_kept_repository
from bot.connections.sources import LiveSources
from bot.dates import Span
from bot.errors import GitHubUnavailable, UsageError
from bot.features.digest.posts import POSTED_DIGESTS
from bot.features.digest.rules import DigestSpec
from bot.features.renames import FIRST_NAMES, follow_renames
from bot.features.subscriptions.rules import Subscription, Timing
from bot.features.subscriptions.tables import list_subscriptions, put_subscription
from bot.platform.github.client import GitHubClient
from bot.platform.models.registry import PROVIDERS
from bot.platform.store.merge_records import HistoryStore
from impact.repository import Repository
from tests.emulators.github.server import pull as record
from tests.helpers.apps import make_app
from tests.helpers.builders import DAY, NOON, REPOSITORY, pull
from tests.helpers.worlds import ScriptedGitHub

MOTOR, DRIVE = Repository("Elsewhere", "Motor"), Repository("elsewhere", "drive")
CHANNEL, SPAN = "C0ENGINE", Span(DAY.date, DAY.date, DAY.zone)


@pytest.fixture
def github() -> Iterator[ScriptedGitHub]:
    with ScriptedGitHub() as emulator:
        emulator.add(str(REPOSITORY), record(7, merged_at=NOON))
        yield emulator


class Sources(LiveSources):
    def __init__(self, app: App, url: str, now_named: dict[Repository, Repository]) -> None:
        super().__init__(app.settings, app.now, PROVIDERS[0], present_names=now_named)
        self.__dict__["_client"] = GitHubClient(url, Auth.Token("ghp_test"), present_names=now_named)


def start(store: Redis, github: ScriptedGitHub, *names: Repository) -> App:
    """A process with these names in its settings, which has not looked at its store."""
    app = make_app(store)
    app.sources = Sources(app, github.url, app.present_names)
    app.settings = app.settings.model_copy(update={"prdigest_repo": names[0], "prdigest_repos": names[1:]})
    return app


def follow(store: Redis, github: ScriptedGitHub, *names: Repository) -> App:
    app = start(store, github, *names)
    follow_renames(app)
    return app


def build_key(repository: Repository) -> str:
    return DigestSpec(CHANNEL, repository, SPAN).build_key("T1")


def keep_something(app: App, repository: Repository) -> None:
    """What a process keeps of a repository: history, a posted digest, a subscription."""
    HistoryStore(app.store).record_merges([pull(7, repository=repository)])
    app.tables.add_member(POSTED_DIGESTS, build_key(repository), DAY.end, str(repository).lower())
    put_subscription(app, Subscription(CHANNEL, repository, Timing(time(9), DAY.zone), by="U1"))


def test_what_is_kept_goes_on_by_the_first_name_and_is_had_by_both(store: Redis, github: ScriptedGitHub) -> None:
    keep_something(follow(store, github, REPOSITORY), REPOSITORY)
    kept = set(store.keys())
    github.store.rename(str(REPOSITORY), str(MOTOR))
    app = follow(store, github, MOTOR)
    assert app.repositories.list_all() == (REPOSITORY,)
    for name in (MOTOR, REPOSITORY, Repository("elsewhere", "MOTOR"), Repository("OCTO", "engine")):
        assert app.repositories.require_known(name) == REPOSITORY
    assert app.find_first_name(Repository("elsewhere", "motor")) == REPOSITORY
    with pytest.raises(UsageError):
        app.repositories.require_known(DRIVE)
    (subscription,) = list_subscriptions(app)
    assert subscription.repository == app.repositories.default
    assert HistoryStore(store).read_merges(app.repositories.default, DAY.start, DAY.end)
    assert app.list_digest_keys(app.repositories.default, DAY.start, DAY.end) == (build_key(REPOSITORY),)
    # and is read by the present one, which people see
    assert app.name_repository(app.repositories.default) == "Motor"
    github.calls.clear()
    (merged,) = app.sources.pulls.list_merged(app.repositories.default, DAY).pulls
    assert merged.repository == REPOSITORY
    assert app.sources.pulls.load_files(merged).files
    asked = [json.loads(call.body)["variables"] for call in github.calls_to("/graphql")]
    assert {(each["owner"], each["name"]) for each in asked} == {("Elsewhere", "Motor")}
    assert [call.path for call in github.calls_to("/repos")] == ["/repos/Elsewhere/Motor/pulls/7/files"]
    assert set(store.keys()) - kept == {b"renamed"}


def test_a_command_asks_by_the_first_name_of_what_it_is_told(store: Redis, github: ScriptedGitHub) -> None:
    keep_something(start(store, github, REPOSITORY), REPOSITORY)
    github.store.rename(str(REPOSITORY), str(MOTOR))
    for named in (None, str(MOTOR), str(REPOSITORY)):
        assert find_kept_repository(start(store, github, MOTOR), named) == REPOSITORY


def test_a_new_repository_with_the_earlier_name_is_not_mistaken_for_it(
    store: Redis, github: ScriptedGitHub
) -> None:
    keep_something(start(store, github, REPOSITORY), REPOSITORY)
    github.store.rename(str(REPOSITORY), str(MOTOR))
    follow(store, github, MOTOR)
    github.add(str(REPOSITORY), record(1, merged_at=NOON))
    app = follow(store, github, MOTOR)
    assert [each.number for each in app.sources.pulls.list_merged(app.repositories.default, DAY).pulls] == [7]


def test_a_second_name_leads_to_the_first_one_too_and_back(store: Redis, github: ScriptedGitHub) -> None:
    keep_something(start(store, github, REPOSITORY), REPOSITORY)
    for before, now in ((REPOSITORY, MOTOR), (MOTOR, DRIVE)):
        github.store.rename(str(before), str(now))
        assert follow(store, github, now).repositories.default == REPOSITORY
    github.calls.clear()
    assert follow(store, github, DRIVE).present_names == {REPOSITORY: DRIVE}
    back = follow(store, github, REPOSITORY)
    assert (back.repositories.default, back.present_names) == (REPOSITORY, {})
    assert github.calls == []


def keep_history(app: App) -> None:
    HistoryStore(app.store).record_merges([pull(7, repository=REPOSITORY)])


def keep_subscription(app: App) -> None:
    put_subscription(app, Subscription(CHANNEL, REPOSITORY, Timing(time(9), DAY.zone), by="U1"))


def keep_digest(app: App) -> None:
    app.tables.add_member(POSTED_DIGESTS, build_key(REPOSITORY), DAY.end, str(REPOSITORY).lower())


@pytest.mark.parametrize("keep", [keep_history, keep_subscription, keep_digest])
def test_each_of_what_is_kept_makes_a_name_known(
    store: Redis, github: ScriptedGitHub, keep: Callable[[App], None]
) -> None:
    keep(start(store, github, REPOSITORY))
    github.store.rename(str(REPOSITORY), str(MOTOR))
    assert follow(store, github, DRIVE, MOTOR).repositories.list_all() == (DRIVE, REPOSITORY)


def test_another_repository_in_its_place_is_another_one(store: Redis, github: ScriptedGitHub) -> None:
    keep_something(start(store, github, REPOSITORY), REPOSITORY)
    github.add(str(DRIVE))
    app = follow(store, github, DRIVE)
    assert (app.repositories.list_all(), app.present_names) == ((DRIVE,), {})
    github.calls.clear()
    follow(store, github, DRIVE)
    assert github.calls == []


def test_one_that_is_gone_is_nobodys_earlier_name(store: Redis, github: ScriptedGitHub) -> None:
    keep_something(start(store, github, REPOSITORY), REPOSITORY)
    github.store.private.add(str(REPOSITORY))
    assert follow(store, github, DRIVE).repositories.default == DRIVE


def test_nobody_is_asked_while_the_settings_name_what_is_known(store: Redis, github: ScriptedGitHub) -> None:
    # also in an empty store, and with one more repository
    for names in ((REPOSITORY,), (REPOSITORY, DRIVE)):
        keep_something(follow(store, github, *names), REPOSITORY)
        follow(store, github, *names)
    assert github.calls == []
    assert not store.exists("renamed")


def test_processes_at_once_come_to_the_same_name(store: Redis, github: ScriptedGitHub) -> None:
    keep_something(start(store, github, REPOSITORY), REPOSITORY)
    github.store.rename(str(REPOSITORY), str(MOTOR))
    with ThreadPoolExecutor(8) as pool:
        apps = list(pool.map(lambda _: follow(store, github, MOTOR), range(8)))
    assert {app.repositories.default for app in apps} == {REPOSITORY}
    assert make_app(store).tables.list_fields(FIRST_NAMES) == {"elsewhere/motor": REPOSITORY}


def test_a_process_that_ends_before_it_knows_leaves_it_to_the_next(store: Redis, github: ScriptedGitHub) -> None:
    keep_something(start(store, github, REPOSITORY), REPOSITORY)
    github.store.rename(str(REPOSITORY), str(MOTOR))
    github.fail_next("hang_up", 99)
    with pytest.raises(GitHubUnavailable):
        follow(store, github, MOTOR)
    assert not store.exists("renamed")
    github.end_failures()
    assert follow(store, github, MOTOR).repositories.default == REPOSITORY


def test_a_process_without_a_token_waits_for_one_that_has_it(store: Redis, github: ScriptedGitHub) -> None:
    keep_something(start(store, github, REPOSITORY), REPOSITORY)
    github.store.rename(str(REPOSITORY), str(MOTOR))
    clock = start(store, github, MOTOR)
    clock.sources = LiveSources(clock.settings, clock.now, PROVIDERS[0])
    with pytest.raises(GitHubUnavailable, match="A worker has to ask GitHub what became of octo/engine"):
        follow_renames(clock)
    follow(store, github, MOTOR)
    follow_renames(clock)
    assert clock.repositories.default == REPOSITORY
