"""Pins: a hash, a tag, and what the tree of a team says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from bot.domain.errors import UsageError
from bot.domain.pull_requests.discussion import Discussion
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.services.touches.pins import PinFinder
from impact.profile.models import Use, UseKind
from tests.helpers.builders import REPOSITORY, pull
from tests.services.touches.test_reports import PROFILE

KNOWN, OTHER = "a1" * 20, "b2" * 20


class Merges:
    """One merge that is known by its hash, and no discussions."""

    def fetch_discussion(self, repository: Repository, number: int) -> Discussion:
        raise NotImplementedError

    def find_merges(self, repository: Repository, commits: Sequence[str]) -> Mapping[str, PullRequest]:
        return {each: pull(7, merge_commit=KNOWN) for each in commits if KNOWN.startswith(each)}


def find_tag(repository: Repository, tag: str) -> str:
    return KNOWN if tag == "v1.2.0" else ""


PINS = PinFinder(Merges, find_tag)


def pin(name: str, text: str) -> Use:
    return Use(UseKind.PIN, name, "requirements.txt", 1, text)


@pytest.mark.parametrize("start", [KNOWN, KNOWN[:8], "v1.2.0"])
def test_what_people_write_names_a_merge(start: str) -> None:
    release_pin = PINS.find_pin(REPOSITORY, start, PROFILE)
    assert (release_pin.name, release_pin.merge.number) == (start, 7)


@pytest.mark.parametrize(
    ("uses", "name"),
    [
        ([pin("engine", f"ENGINE_COMMIT={KNOWN}")], KNOWN),
        ([pin("action", f"uses: a/b@{OTHER}"), pin("engine", f"engine @ {KNOWN}")], KNOWN),
        ([pin("torch", "torch==1.2.0"), pin("engine", "engine == 1.2.0")], "v1.2.0"),
    ],
)
def test_a_tree_says_what_it_pins(uses: list[Use], name: str) -> None:
    assert PINS.find_pin(REPOSITORY, "", replace(PROFILE, uses=tuple(uses))).name == name


@pytest.mark.parametrize(
    ("start", "uses", "sentence"),
    [
        ("", [], "Which commit does ascend use"),
        ("", [pin("torch", "torch==1.2.0"), pin("engine", "engine>=1.2.0")], "Which commit does ascend use"),
        ("", [pin("engine", "engine==9.1")], "ascend pins 'v9.1', no tag of octo/engine"),
        ("v9", [], "'v9' is no tag of octo/engine"),
        (OTHER, [], "is no merge of octo/engine"),
    ],
)
def test_a_pin_that_is_missing_is_explained(start: str, uses: list[Use], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        PINS.find_pin(REPOSITORY, start, replace(PROFILE, uses=tuple(uses)))
