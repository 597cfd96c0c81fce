"""Profiles on a real server: what was put is there, what cannot be read stops nobody, and how people name them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from redis import Redis

from bot.errors import StoreUnavailable, UsageError
from bot.features.merges.requests import DigestView
from bot.features.profiles.service import ProfileEntry, Profiles
from impact.profile.models import DerivedClass, Profile, Use, UseKind
from impact.python.models import CallShape, Parameter, ParameterKind, Signature
from impact.repository import Repository
from tests.helpers.apps import make_app
from tests.helpers.builders import NOON, REPOSITORY
from tests.helpers.checks import is_one_sentence

SIGNATURE = Signature((Parameter("x", ParameterKind.KEYWORD_ONLY, "1", "int"),), "int", is_async=True)
CALL = CallShape(1, ("block_size",), has_star=True)
USES = (
    Use(UseKind.CALL, "engine.run", "a.py", 3, "run(1, block_size=2) # Größe", ("engine.core.run",), "f", CALL),
    Use(UseKind.OVERRIDE, "engine.Core.step", "b.py", 9, signature=SIGNATURE, body="ab12"),
)
CLASSES = {"Mine": DerivedClass("Mine", "b.py", 8, ("engine.Core",), frozenset({"step", "stop"}))}
PROFILE = Profile("ascend", ("engine",), "octo/plugin", "c0ffee", NOON, USES, CLASSES, 2)
ENTRY = ProfileEntry("ascend", REPOSITORY, ("engine",), REPOSITORY, "c0ffee", 2, 2, NOON, NOON)
OTHER = ProfileEntry("xpu", Repository("Acme", "web.app"), ("web",))


@pytest.fixture
def profiles(store: Redis) -> Profiles:
    return make_app(store).profiles


def test_a_profile_comes_back_as_it_was_put(profiles: Profiles, store: Redis) -> None:
    assert (profiles.list_entries(), profiles.get_entry("ascend"), profiles.get_profile("ascend")) == (
        [],
        None,
        None,
    )
    profiles.put(ENTRY, PROFILE)
    assert (profiles.get_entry("ascend"), profiles.get_profile("ascend")) == (ENTRY, PROFILE)
    profiles.put(replace(ENTRY, name="a"))
    assert (profiles.list_names(), profiles.get_profile("a")) == (["a", "ascend"], None)
    # an entry alone leaves the profile
    profiles.put(away := replace(ENTRY, problem="GitHub is away."))
    assert (profiles.get_entry("ascend"), profiles.get_profile("ascend")) == (away, PROFILE)
    for name in ("a", "ascend"):
        profiles.remove(name)
    assert store.dbsize() == 0


def test_what_cannot_be_read_keeps_nobody_from_the_others(profiles: Profiles, store: Redis) -> None:
    profiles.put(ENTRY, PROFILE)
    for bad in (b"p[]", b"p", b"zx", b'p{"version": 1}', b"p\xff"):
        store.set("downstream:ascend", bad)
        store.hset("profiles", "other", bad)
        assert profiles.get_profile("ascend") is None
        assert profiles.list_names() == ["ascend"]


def test_what_a_later_version_wrote_is_not_taken_for_none(profiles: Profiles, store: Redis) -> None:
    profiles.put(ENTRY, PROFILE)
    store.set("downstream:ascend", b'p{"version": 2}')
    store.hset("profiles", "other", b'p{"version": 2}')
    assert profiles.list_names() == ["ascend"]
    for read in (lambda: profiles.get_profile("ascend"), lambda: profiles.get_entry("other")):
        with pytest.raises(StoreUnavailable):
            read()


def test_a_name_is_known_whatever_its_case(profiles: Profiles) -> None:
    profiles.put(ENTRY)
    assert profiles.find_entry("") == ENTRY
    profiles.put(OTHER)
    assert profiles.require_known("Ascend", REPOSITORY) == "ascend"
    assert profiles.require_known("xpu", Repository("acme", "WEB.app")) == "xpu"
    assert profiles.require_view(DigestView(profile="ASCEND"), REPOSITORY) == DigestView(profile="ascend")


def test_without_a_name_nothing_is_looked_up() -> None:
    app = make_app()
    assert app.profiles.require_known("", REPOSITORY) == ""
    assert app.profiles.require_view(DigestView(), REPOSITORY) == DigestView()


MANY = [replace(OTHER, name=f"team-{number}") for number in range(1, 12)]


@pytest.mark.parametrize(
    ("entries", "name", "sentence"),
    [
        ([], "npu", "I don't know your code yet: ask the bot's admin to run prdigest profile add."),
        ([ENTRY, OTHER], " ", "Which profile? Add profile:NAME with one of ascend, xpu."),
        ([ENTRY, OTHER], "npu", "There is no profile 'npu': use ascend, xpu."),
        (MANY, "npu", "There is no profile 'npu': use " + ", ".join(sorted(e.name for e in MANY)[:8]) + "."),
        ([ENTRY, OTHER], "xpu", "The profile xpu is about Acme/web.app, not about octo/engine."),
    ],
)
def test_a_profile_that_can_not_be_used_is_one_sentence(
    profiles: Profiles, entries: list[ProfileEntry], name: str, sentence: str
) -> None:
    for entry in entries:
        profiles.put(entry)
    with pytest.raises(UsageError) as caught:
        profiles.require_known(name, REPOSITORY)
    assert str(caught.value) == sentence
    assert is_one_sentence(sentence)


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        ("", "The profile xpu was not scanned yet: try again in a few minutes."),
        ("GitHub is away.", "The profile xpu could not be scanned: GitHub is away."),
    ],
)
def test_one_without_a_scan_says_why(profiles: Profiles, problem: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        profiles.require_scanned(replace(OTHER, problem=problem))
    assert str(caught.value) == sentence
