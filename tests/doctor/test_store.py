"""What the doctor says of the store: a real server, in the states that operators meet."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from redis import Redis
from redis.exceptions import ResponseError

from bot.app import App
from bot.doctor.checks import check_previews, check_store
from bot.features.subscriptions.tables import PREVIEW_SWITCHES, PreviewSwitch
from bot.platform.slack.app_manifest import PREVIEW_SCOPES
from bot.platform.store.connection import RedisTimeouts, connect_server, describe_redis_error
from bot.platform.store.server import CURRENT_SCHEMA, SCHEMA_KEY, redact_address
from bot.settings import Settings
from tests.doctor.findings import format_findings, outcome
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.apps import make_app
from tests.helpers.checks import closed_port
from tests.platform.slack.test_check import probe_slack

HASTY = RedisTimeouts(connect=1, answer=1, retries=0)
PLACE = "redis://localhost:6379/0"
UNCHECKED = [
    f"- Store {name}: not checked: see Store above"
    for name in ("policy", "memory", "persistence", "writes", "schema")
]


def probe_store(client: Redis) -> tuple[list[str], tuple[str, timedelta | None]]:
    settings = Settings(redis_url=PLACE)
    return outcome(check_store(make_app(client, settings=settings, now=lambda: datetime.now(UTC))))


@contextmanager
def configure_store(store: Redis, **options: str) -> Iterator[None]:
    """The server as an operator configured it; afterwards as it was."""
    names = {name.replace("_", "-"): value for name, value in options.items()}
    before = {name: str(store.config_get(name)[name] or "") for name in names}
    for name, value in names.items():
        store.config_set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            store.config_set(name, value)


def test_a_good_store_is_told_in_six_lines_and_handed_on(store: Redis) -> None:
    lines, (no_store, ahead) = probe_store(store)
    used = lines.pop(2)
    assert lines == [
        "+ Store: redis://localhost:6379/0 answers",
        "+ Store policy: noeviction: permanent data is safe",
        "+ Store persistence: append-only file",
        "+ Store writes: accepted",
        "+ Store schema: none yet, the store is new",
    ]
    assert used.startswith("+ Store memory: ")
    assert used.endswith(" MB used, no limit")
    assert not no_store
    assert ahead is not None
    assert abs(ahead) < timedelta(seconds=2)


def test_what_was_written_soon_expires(store: Redis) -> None:
    probe_store(store)
    assert [0 < int(str(store.ttl(key))) <= 60 for key in store.scan_iter("*")] == [True]


def test_a_policy_that_drops_records_is_a_failure(store: Redis) -> None:
    with configure_store(store, maxmemory_policy="allkeys-lru"):
        lines, _ = probe_store(store)
    advice = "The store may evict records (maxmemory-policy allkeys-lru): set it to noeviction or volatile-lru."
    assert lines[1] == f"! Store policy: refused -> {advice}"


@pytest.mark.parametrize(("policy", "mark"), [("noeviction", "!"), ("volatile-lru", "+")])
def test_memory_that_runs_out_is_a_failure_where_nothing_makes_room(store: Redis, policy: str, mark: str) -> None:
    used = int(store.info("memory")["used_memory"])
    with configure_store(store, maxmemory=str(int(used / 0.95)), maxmemory_policy=policy):
        lines, _ = probe_store(store)
    advice = "Raise maxmemory of the server, or set maxmemory-policy to volatile-lru, before writes fail."
    assert lines[2].startswith(f"{mark} Store memory: ")
    assert lines[2].endswith(f" MB used -> {advice}" if mark == "!" else " MB used")


def test_memory_with_room_is_told_with_its_limit(store: Redis) -> None:
    with configure_store(store, maxmemory="256000000"):
        lines, _ = probe_store(store)
    assert lines[2].endswith(" of 256.0 MB used")


def test_a_store_that_is_full_refuses_what_is_written(store: Redis) -> None:
    with configure_store(store, maxmemory="1"):
        lines, _ = probe_store(store)
    assert lines[4] == "! Store writes: refused -> The store is full: raise maxmemory of the server."


SCHEMAS = {
    str(CURRENT_SCHEMA): f"+ Store schema: version {CURRENT_SCHEMA}",
    "2": (
        "! Store schema: refused -> A prdigest before 0.1.0 wrote this store (schema 2, this version supports "
        f"{CURRENT_SCHEMA}): use another REDIS_URL."
    ),
    "99": (
        "! Store schema: refused -> A newer prdigest wrote this store (schema 99, this version supports "
        f"{CURRENT_SCHEMA}): upgrade, or use another REDIS_URL."
    ),
}


@pytest.mark.parametrize(("noted", "expected_line"), SCHEMAS.items())
def test_what_another_version_wrote_is_told_and_left_as_it_is(
    store: Redis, noted: str, expected_line: str
) -> None:
    store.set(SCHEMA_KEY, noted)
    lines, (no_store, _) = probe_store(store)
    assert lines[5] == expected_line
    assert store.get(SCHEMA_KEY) == noted.encode()
    assert no_store == ("see Store schema above" if expected_line.startswith("!") else "")


def test_a_replica_takes_no_writes(store: Redis) -> None:
    store.replicaof("127.0.0.1", str(closed_port()))
    try:
        lines, _ = probe_store(store)
    finally:
        store.replicaof("NO", "ONE")
    advice = "The store is a read-only replica: set REDIS_URL to its primary."
    assert lines[4] == f"! Store writes: refused -> {advice}"


FORGETS = "a restart of the server loses subscriptions and the record of posts"
KEPT = {
    "snapshots": ("3600 1", "+ Store persistence: snapshots"),
    "nothing": ("", f"- Store persistence: none: {FORGETS} -> Set appendonly to yes on the server."),
}


@pytest.mark.parametrize(("points", "expected_line"), KEPT.values(), ids=KEPT)
def test_how_it_outlives_a_restart_is_told(store: Redis, points: str, expected_line: str) -> None:
    with configure_store(store, appendonly="no", save=points):
        lines, _ = probe_store(store)
    assert lines[3] == expected_line


Connect = Callable[[str, str], Redis]


@pytest.fixture
def user(store: Redis, store_url: str) -> Iterator[Connect]:
    """Connects as a user without a right, with a password."""
    made: list[Redis] = []

    def connect_guest(rights: str, password: str) -> Redis:
        store.acl_setuser("guest", enabled=True, passwords=["+right"], keys=["*"], commands=["+@all", rights])
        made.append(connect_server(f"{store_url}?username=guest&password={password}", timeouts=HASTY))
        return made[0]

    yield connect_guest
    for client in made:
        client.close()
    store.acl_deluser("guest")


def test_a_server_that_hides_its_configuration_is_no_failure(store: Redis, user: Connect) -> None:
    with configure_store(store, appendonly="no"):
        lines, _ = probe_store(user("-config", "right"))
    assert lines[3] == "- Store persistence: not checked: the server does not say"


REFUSED = {
    "wrong": "The store rejected the password: check the user and the password in REDIS_URL.",
    "right": "The store's user lacks a permission: in its ACL, allow INFO (+info) and the keys of prdigest.",
}


@pytest.mark.parametrize(("password", "advice"), REFUSED.items())
def test_what_a_user_may_not_do_is_told_apart_from_a_store_that_is_away(
    user: Connect, password: str, advice: str
) -> None:
    lines, (no_store, _) = probe_store(user("-info", password))
    assert lines == [f"! Store: can't be used -> {advice}", *UNCHECKED]
    assert no_store == "see Store above"


@pytest.mark.parametrize("command", ["evalsha", "script|load", "eval"])
def test_a_user_who_may_run_no_script_is_told_so(user: Connect, command: str) -> None:
    lines, _ = probe_store(user(f"-{command}", "right"))
    refused = command.replace("|", " ").upper()
    advice = (
        f"The store's user lacks a permission: in its ACL, allow {refused} (+{command}) and the keys of prdigest."
    )
    # the bot runs no script by its text
    is_needed = command != "eval"
    assert lines[4] == (f"! Store writes: refused -> {advice}" if is_needed else "+ Store writes: accepted")


def test_a_command_that_a_server_hides_is_named() -> None:
    error = ResponseError("unknown command 'INFO', with args beginning with: 'cluster' ")
    assert describe_redis_error(error) == (
        "The store has no command INFO, which prdigest needs: set REDIS_URL to another server."
    )


def test_a_store_that_is_not_there_is_the_one_failure() -> None:
    with connect_server(f"redis://127.0.0.1:{closed_port()}", timeouts=HASTY) as client:
        lines, (no_store, ahead) = probe_store(client)
    advice = "The store does not answer: start Redis or check REDIS_URL (unset it to use the embedded store)."
    assert (lines, no_store, ahead) == (
        [f"! Store: can't be used -> {advice}", *UNCHECKED],
        "see Store above",
        None,
    )


def test_an_address_that_is_none_is_the_one_failure(store: Redis) -> None:
    app = make_app(store, settings=Settings(redis_url="nonsense"))
    del app.expiring_store
    lines, _ = outcome(check_store(app))
    assert lines[0] == "! Store: can't be used -> REDIS_URL is not an address: write it as redis://host:6379/0."


PLACES = {
    "redis://localhost:6379/0": "redis://localhost:6379/0",
    "rediss://user:SECRET@host:6379/0": "rediss://host:6379/0",
    "redis://:SECRET@[::1]:6379": "redis://[::1]:6379",
    "redis://host/0?password=SECRET": "redis://host/0",
    "unix:///run/redis.sock?db=1&password=SECRET": "unix:///run/redis.sock",
    "unix://user:SECRET@/run/redis.sock": "unix:///run/redis.sock",
    "redis://user:SEC/RET@host": "the server of REDIS_URL",
    "redis://user:12#SECRET@host": "the server of REDIS_URL",
    "redis://user:12?SECRET@host": "the server of REDIS_URL",
    "redis://user:SEC@RET@host": "redis://host",
    "redis://[SECRET": "the server of REDIS_URL",
}


@pytest.mark.parametrize(("url", "place"), PLACES.items())
def test_where_it_is_is_told_without_what_may_be_secret(url: str, place: str) -> None:
    assert redact_address(url) == place


def list_preview_findings(app: App, slack: SlackEmulator) -> list[str]:
    _, (access, _) = probe_slack(slack.url)
    assert not isinstance(access, str)
    return format_findings(check_previews(app, access))


@pytest.mark.parametrize("is_on", [True, False])
def test_previews_that_are_on_need_their_scopes(store: Redis, is_on: bool) -> None:
    app = make_app(store)
    app.tables.put_field(PREVIEW_SWITCHES, "C1", PreviewSwitch(is_on, "U1", datetime.now(UTC)))
    with SlackEmulator() as slack:
        lacking = list_preview_findings(app, slack)
        slack.grant_scopes(*PREVIEW_SCOPES)
        complete = list_preview_findings(app, slack)
    advice = (
        "Update the app's manifest from `prdigest manifest --previews`, which adds links:read and links:write, "
        "then install the app again."
    )
    problem = f"on in 1 conversation, but not possible: {'; '.join(PREVIEW_SCOPES.values())}"
    assert lacking == ([f"! Link previews: {problem} -> {advice}"] if is_on else [])
    assert complete == (["+ Link previews: on in 1 conversation"] if is_on else [])
