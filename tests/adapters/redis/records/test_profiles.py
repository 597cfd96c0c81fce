"""Profiles on a real server: what was put is there, and what cannot be read stops nobody."""

from __future__ import annotations

from dataclasses import replace

import pytest
from redis import Redis

from bot.adapters.redis.records.profiles import RedisProfileStore
from bot.domain.errors import StoreUnavailable
from bot.domain.profile.entries import ProfileEntry
from impact.profile.models import DerivedClass, Profile, Use, UseKind
from impact.python.models import CallShape, Parameter, ParameterKind, Signature
from tests.helpers.builders import NOON, REPOSITORY

SIGNATURE = Signature((Parameter("x", ParameterKind.KEYWORD_ONLY, "1", "int"),), "int", is_async=True)
CALL = CallShape(1, ("block_size",), has_star=True)
USES = (
    Use(UseKind.CALL, "engine.run", "a.py", 3, "run(1, block_size=2) # Größe", ("engine.core.run",), "f", CALL),
    Use(UseKind.OVERRIDE, "engine.Core.step", "b.py", 9, signature=SIGNATURE, body="ab12", is_guess=True),
)
CLASSES = {"Mine": DerivedClass("Mine", "b.py", 8, ("engine.Core",), frozenset({"step", "stop"}))}
PROFILE = Profile("ascend", ("engine",), "octo/plugin", "c0ffee", NOON, USES, CLASSES, 2)
ENTRY = ProfileEntry("ascend", REPOSITORY, ("engine",), REPOSITORY, "c0ffee", 2, 2, NOON, NOON)


def test_a_profile_comes_back_as_it_was_put(store: Redis) -> None:
    profiles = RedisProfileStore(store)
    assert (profiles.list_entries(), profiles.get_entry("ascend"), profiles.get_profile("ascend")) == (
        [],
        None,
        None,
    )
    profiles.put(ENTRY, PROFILE)
    assert profiles.get_profile("ascend") == PROFILE
    assert profiles.get_entry("ascend") == ENTRY
    profiles.put(replace(ENTRY, name="a"))
    assert [entry.name for entry in profiles.list_entries()] == ["a", "ascend"]
    assert profiles.get_profile("a") is None


def test_an_entry_alone_leaves_the_profile(store: Redis) -> None:
    profiles = RedisProfileStore(store)
    profiles.put(ENTRY, PROFILE)
    profiles.put(replace(ENTRY, problem="GitHub is away."))
    entry = profiles.get_entry("ascend")
    assert entry is not None
    assert (entry.problem, profiles.get_profile("ascend")) == ("GitHub is away.", PROFILE)


def test_removal_leaves_nothing(store: Redis) -> None:
    profiles = RedisProfileStore(store)
    profiles.put(ENTRY, PROFILE)
    profiles.remove("ascend")
    assert store.dbsize() == 0


def test_what_a_later_version_wrote_counts_as_not_scanned(store: Redis) -> None:
    profiles = RedisProfileStore(store)
    profiles.put(ENTRY, PROFILE)
    for bad in (b'p{"version": 2}', b"p[]", b"p", b"zx", b'p{"version": 1}', b"p\xff"):
        store.set("downstream:ascend", bad)
        store.hset("profiles", "other", bad)
        assert profiles.get_profile("ascend") is None
        assert [entry.name for entry in profiles.list_entries()] == ["ascend"]


def test_an_entry_of_a_later_version_is_not_taken_for_none(store: Redis) -> None:
    store.hset("profiles", "ascend", b'p{"version": 2}')
    with pytest.raises(StoreUnavailable):
        RedisProfileStore(store).get_entry("ascend")
