"""What stands before the keys of a deployment: nothing of it is another's, and nothing is without it."""

import ast
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis import Redis

import bot.app
from bot.errors import ConfigurationError
from bot.features import import_features
from bot.platform.costs import RateLimiter
from bot.platform.store.connection import UNPREFIXED, Keyspace, RedisCache
from bot.platform.store.erasure import reset_store
from bot.platform.store.leases import hold_lease
from bot.platform.store.server import CURRENT_SCHEMA, claim_store, read_owner, read_version, require_schema
from bot.settings import Settings
from tests.helpers.checks import is_one_sentence

# they declare what a reset keeps
import_features()

A, B = Keyspace("team-a"), Keyspace("team-b")
PREFIXES = st.from_regex(r"[A-Za-z0-9._-]{1,8}", fullmatch=True)


def keys_of(store: Redis) -> list[str]:
    return sorted(key.decode() for key in store.scan_iter())


def test_without_a_prefix_keys_are_what_they_always_were() -> None:
    assert UNPREFIXED.add_prefix("digest:T1:C1") == "digest:T1:C1"


@given(PREFIXES, PREFIXES, st.text(max_size=8), st.text(max_size=8))
def test_keys_of_two_deployments_are_never_the_same(one: str, other: str, name: str, named: str) -> None:
    first, second = Keyspace(one).add_prefix(name), Keyspace(other).add_prefix(named)
    assert (first == second) is ((one, name) == (other, named))


PREFIX_TABLE = ("team-a", "team", "a.b", "t-[a]", "digest", "*", "te?m", "a^b", "a\\b")


def test_a_deployment_finds_all_of_its_keys_and_no_others(store: Redis) -> None:
    """Patterns are escaped, though the settings take none of the characters that need it."""
    spaces = [UNPREFIXED, *map(Keyspace, PREFIX_TABLE)]
    for keys in spaces:
        store.mset(
            {keys.add_prefix("digest:1"): "x", keys.add_prefix("votes"): "x", keys.add_prefix("day:a/b:2026"): "x"}
        )
    for keys in spaces:
        assert sorted(keys.iterate_names(store)) == ["day:a/b:2026", "digest:1", "votes"], keys
        assert list(keys.iterate_names(store, "digest:*")) == ["digest:1"], keys


def test_each_has_a_version_of_its_own(store: Redis) -> None:
    require_schema(store, A)
    assert (read_version(store, A), read_version(store)) == (CURRENT_SCHEMA, None)


@pytest.mark.parametrize("keys", [A, UNPREFIXED])
def test_forgetting_talk_forgets_nobody_elses(store: Redis, keys: Keyspace) -> None:
    for each in (A, B, UNPREFIXED):
        store.mset({each.add_prefix("answer:1"): "x", each.add_prefix("llm:1"): "x"})
    reset_store(store, keys)
    assert keys_of(store) == sorted(
        {each.add_prefix(name) for each in (A, B, UNPREFIXED) for name in ("answer:1", "llm:1")}
        - {keys.add_prefix("answer:1")}
    )


def test_leases_and_limits_are_each_deployments_own(store: Redis) -> None:
    with hold_lease(store, A, "post", timeout=0) as ours, hold_lease(store, B, "post", timeout=0) as theirs:
        assert (ours, theirs) == (True, True)
    limits = [RateLimiter(store, 1, keys) for keys in (A, B)]
    assert [limit.try_acquire("U1") for limit in (*limits, *limits)] == [True, True, False, False]


def test_a_cache_holds_the_lease_of_its_deployment(store: Redis) -> None:
    with hold_lease(store, A, "question"):
        assert keys_of(store) == ["team-a/lease:question"]
    RedisCache(store, A).put("key", "value", timedelta(minutes=1))
    assert keys_of(store) == ["team-a/key"]


# --- what builds the users of the store hands them the keyspace

NEEDS = (
    *("HistoryStore", "RateLimiter", "RecordStore"),
    *("claim_store", "read_owner", "require_schema", "make_broker"),
)
WITHOUT_KEYS = ("RedisTimeouts",)


def name_function(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def calls(tree: ast.AST) -> list[ast.Call]:
    every = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    users = [call for call in every if name_function(call).startswith("Redis") or name_function(call) in NEEDS]
    return [call for call in users if name_function(call) not in WITHOUT_KEYS]


def has_keys(call: ast.Call) -> bool:
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(ast.unparse(each).rpartition(".")[2] in ("keys", "keyspace") for each in arguments)


def test_all_that_the_wiring_builds_on_the_store_gets_the_keyspace() -> None:
    folder = Path(bot.app.__file__).parent
    files = [folder / "app.py", *(folder / "doctor").glob("*.py"), *(folder / "jobs").glob("*.py")]
    every = [(file.name, call) for file in files for call in calls(ast.parse(file.read_text()))]
    assert len(every) > 10
    assert [(name, ast.unparse(call)) for name, call in every if not has_keys(call)] == []


# --- the setting


@pytest.mark.parametrize("value", ["team-a", "a", "Team_1.b", "x" * 64])
def test_a_prefix_is_a_plain_word(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRDIGEST_STORE_PREFIX", value)
    assert Settings().prdigest_store_prefix == value


@pytest.mark.parametrize("value", ["team a", "a:", "a/b", "*", "ä", "x" * 65, "a\n"])
def test_what_could_be_read_as_a_key_or_a_pattern_is_none(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRDIGEST_STORE_PREFIX", value)
    with pytest.raises(ValueError, match="use up to 64 letters, digits, dots, dashes and underscores"):
        Settings()


# --- whose it is


def test_who_claims_first_owns_it(store: Redis) -> None:
    assert read_owner(store, A) is None
    claim_store(store, A, "T1")
    assert (read_owner(store, A), store.ttl("team-a/owner")) == ("T1", -1)


@pytest.mark.parametrize("prefix", ["", "team-a"])
def test_another_workspace_is_refused_in_one_sentence(store: Redis, prefix: str) -> None:
    keys = Keyspace(prefix)
    claim_store(store, keys, "T1")
    claim_store(store, keys, "T1")
    with pytest.raises(ConfigurationError) as caught:
        claim_store(store, keys, "T2")
    assert read_owner(store, keys) == "T1"
    message = str(caught.value)
    assert is_one_sentence(message)
    assert all(word in message for word in ("T1", "T2", "PRDIGEST_STORE_PREFIX", prefix))
