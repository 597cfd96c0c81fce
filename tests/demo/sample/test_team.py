"""The sample team: its files, its profile and what the day changes fit together."""

import pytest

from bot.demo.run import build_sample_stage
from bot.demo.sample.sources import SampleSources
from bot.demo.sample.team import load_profile, load_spent
from bot.demo.stand_in import load_contracts
from docs.sample.__main__ import PACKAGES, list_team_files
from impact.profile.file_uses import scan_file
from impact.profile.models import Profile, UseKind
from impact.profile.scan import build_profile
from impact.touches.judgement import judge_merge
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex

AGAIN = "make them again: python -m docs.sample CLONE"


def test_each_use_is_at_its_line() -> None:
    lines = {file.path: file.lines for file in list_team_files()}
    profile = load_profile()
    assert profile.files == len(lines) == 6
    assert [use for use in profile.uses if use.text not in lines[use.path][use.line - 1]] == [], AGAIN


def test_a_fresh_scan_uses_the_same_lines() -> None:
    kept = load_profile()
    scans = [scan_file(file.path, file.text, PACKAGES) for file in list_team_files()]
    fresh = build_profile(kept.name, kept.source, kept.commit, kept.scanned_at, PACKAGES, scans)
    assert list_places(fresh) == list_places(kept), AGAIN


def list_places(profile: Profile) -> set[tuple[str, int]]:
    """Its files and lines, without members: whether one of those is upstream's, only a clone tells."""
    members = {UseKind.SET, UseKind.OVERRIDE}
    return {(use.path, use.line) for use in profile.uses if use.kind not in members}


def test_the_contracts_are_those_of_the_day() -> None:
    sample = SampleSources()
    commits = {number: sample.fetch_pull_request(sample.repository, number).commit for number in sample.numbers}
    assert {number: each.commit for number, each in load_contracts().items()} == commits


def test_what_may_go_is_a_use_of_the_profile() -> None:
    spent = load_spent().uses
    uses = {use for use in load_profile().uses if use.kind is UseKind.PATCH}
    assert {each.use for each in spent} == uses, AGAIN
    assert {each.merge and each.merge.number for each in spent} == {35557}


def test_three_merges_touch_the_team() -> None:
    index = ProfileIndex(load_profile())
    levels = {number: judge_merge(each, index).level for number, each in load_contracts().items()}
    assert {number: level for number, level in levels.items() if level} == {
        35441: TouchLevel.BREAKS,
        34214: TouchLevel.BREAKS,
        35600: TouchLevel.MAY_BREAK,
    }


@pytest.mark.parametrize("with_profile", [False, True])
def test_the_page_speaks_of_the_team_where_it_is(*, with_profile: bool) -> None:
    about = build_sample_stage(lambda: 0.0, with_profile=with_profile).about
    assert any("six files" in fact.text for fact in about.facts) == with_profile
    assert any(each.text == "/prdigest touches 7d" for each in about.tries) == with_profile
