"""The profiles that people may name."""

from __future__ import annotations

import pytest

from bot.domain.digest.view import DigestView
from bot.domain.errors import UsageError
from bot.domain.profile.entries import ProfileEntry
from bot.domain.pull_requests.models import Repository
from bot.services.profile.known_profiles import NO_PROFILES, KnownProfiles
from tests.helpers.builders import REPOSITORY
from tests.helpers.checks import is_one_sentence

OTHER = Repository("Acme", "web.app")
KNOWN = KnownProfiles(
    lambda: [ProfileEntry("xpu", OTHER, ("web",)), ProfileEntry("ascend", REPOSITORY, ("engine",))]
)


def test_a_name_is_found_whatever_its_case() -> None:
    assert KNOWN.list_names() == ["ascend", "xpu"]
    assert KNOWN.require_known("Ascend", REPOSITORY) == "ascend"
    assert KNOWN.require_known("xpu", Repository("acme", "WEB.app")) == "xpu"
    assert KNOWN.require_view(DigestView(profile="ASCEND"), REPOSITORY) == DigestView(profile="ascend")


def test_without_a_name_there_is_only_one_to_find() -> None:
    assert KnownProfiles(lambda: [ProfileEntry("xpu", OTHER, ("web",))]).find_entry("").name == "xpu"
    with pytest.raises(UsageError, match="Add profile:NAME with one of ascend, xpu"):
        KNOWN.find_entry("")
    many = [ProfileEntry(f"team-{number}", OTHER, ("web",)) for number in range(1, 12)]
    with pytest.raises(UsageError, match=r"use team-1, team-10, team-11, .*, team-6\.$"):
        KnownProfiles(lambda: many).find_entry("gaudi")


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        ("", "The profile xpu was not scanned yet: try again in a few minutes."),
        ("GitHub is away.", "The profile xpu could not be scanned: GitHub is away."),
    ],
)
def test_one_without_a_scan_says_why(problem: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        KNOWN.require_scanned(ProfileEntry("xpu", OTHER, ("web",), problem=problem))
    assert str(caught.value) == sentence


def test_without_a_name_nothing_is_looked_up() -> None:
    def fail() -> list[ProfileEntry]:
        raise AssertionError

    unasked = KnownProfiles(fail)
    assert unasked.require_known("", REPOSITORY) == ""
    assert unasked.require_view(DigestView(), REPOSITORY) == DigestView()


@pytest.mark.parametrize(
    ("profiles", "name", "sentence"),
    [
        (KNOWN, "npu", "There is no profile 'npu': use ascend, xpu."),
        (KNOWN, "xpu", "The profile xpu is about Acme/web.app, not about octo/engine."),
        (NO_PROFILES, "npu", "There is no profile yet: an operator adds one with `prdigest profile add`."),
    ],
)
def test_a_profile_that_can_not_be_used_is_one_sentence(profiles: KnownProfiles, name: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        profiles.require_known(name, REPOSITORY)
    assert str(caught.value) == sentence
    assert is_one_sentence(sentence)
