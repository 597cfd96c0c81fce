"""What is kept of what GitHub sends: whole where it is well, cut where it is too much, nothing that hurts."""

import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import GitHubUnavailable
from bot.platform.cleaning import (
    clean_line,
    clean_path,
    clean_text,
    parse_account,
    parse_count,
    parse_file,
    parse_instant,
)
from bot.platform.github.pulls import parse_pull_request
from bot.platform.models.packing import Coverage, pack_diff
from bot.platform.pulls.diff import MAX_PATCH_CHARACTERS, MAX_PATCH_LINES, split_hunks
from bot.platform.pulls.models import Account
from impact.git.clone_trees import parse_commits
from tests.emulators.github.server import changed_file
from tests.emulators.github.server import pull as record
from tests.helpers.builders import DAY, NOON, REPOSITORY
from tests.helpers.worlds import REPO, ScriptedGitHub

MEGABYTE = 1_000_000
json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
FIELDS = (
    "title body state mergedAt headRefOid baseRefName additions changedFiles author mergeCommit labels".split()
)


def item(lines: int, line: str = "+line {}", header: str = "@@ -0,0 +1,{} @@") -> dict[str, Any]:
    patch = "\n".join([header.format(lines), *(line.format(n) for n in range(lines))])
    return changed_file("engine/core.py", patch)


@given(st.dictionaries(st.sampled_from(FIELDS), json))
def test_any_record_becomes_a_pull_request_that_can_be_written(node: dict[str, Any]) -> None:
    pull_request = parse_pull_request(REPOSITORY, node, 7)
    assert (pull_request.repository, pull_request.number) == (REPOSITORY, 7)
    # what can't be written, as a half of a surrogate pair, raises here
    assert repr(pull_request).encode()


@given(json, st.dictionaries(st.sampled_from(["filename", "status", "additions", "patch"]), json))
def test_any_item_becomes_a_file(value: Any, fields: dict[str, Any]) -> None:
    for each in (value, fields):
        file = parse_file(each)
        assert file.path
        assert file.additions >= 0
        repr(file).encode()


@pytest.mark.parametrize("text", ["Fix [a](b)  it ", "é 漢字 👨\u200d👩", "a\tb", ""])
def test_what_is_well_stays_as_it_is(text: str) -> None:
    assert (clean_line(text), clean_text(f"{text}\r\n{text}")) == (text, f"{text}\r\n{text}")
    assert parse_account({"login": "dependabot[bot]", "__typename": "Bot"}) == Account(
        "dependabot[bot]", is_bot=True
    )


def test_a_path_with_an_odd_sign_is_not_the_path_without_it() -> None:
    assert clean_path("a\nb.py") != clean_path("ab.py")


@pytest.mark.parametrize(
    "value", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "noon", 7, None, "1e9"]
)
def test_a_time_out_of_range_is_none(value: object) -> None:
    assert parse_instant(value) is None


def test_counts_stay_in_range() -> None:
    assert [parse_count(value) for value in (-1, 10**12, True, 1.5, "7", None)] == [0, 2**31 - 1, 0, 0, 0, 0]


class TestPatch:
    def test_one_at_the_limit_is_kept_whole(self) -> None:
        whole = item(MAX_PATCH_LINES - 1, "+x")
        assert (parse_file(whole).patch, parse_file(whole).unread) == (whole["patch"], 0)

    @pytest.mark.slow
    @pytest.mark.parametrize("lines", [MAX_PATCH_LINES, 3 * MAX_PATCH_LINES])
    def test_one_with_more_lines_is_cut_at_a_line_and_the_rest_is_counted(self, lines: int) -> None:
        file = parse_file(item(lines))
        [(_, kept)] = split_hunks(file.patch or "")
        assert (len(kept), file.unread) == (MAX_PATCH_LINES - 1, lines - MAX_PATCH_LINES + 1)

    def test_one_with_more_characters_is_cut_at_a_line(self) -> None:
        file = parse_file(item(1_000, "+" + "x" * 1_000))
        assert MAX_PATCH_CHARACTERS - 1_100 < len(file.patch or "") <= MAX_PATCH_CHARACTERS
        assert (file.patch or "").endswith("x" * 1_000)

    def test_it_is_cut_between_hunks_where_that_is_half_of_it(self) -> None:
        hunk = "\n".join(["@@ -1 +1,3000 @@", *["+x"] * 3_000])
        file = parse_file(changed_file("engine/core.py", "\n".join([hunk] * 9)))
        assert [len(lines) for _, lines in split_hunks(file.patch or "")] == [3_000] * 6
        assert file.unread == 9_000

    def test_one_of_a_single_endless_line_counts_as_too_large_to_be_sent(self) -> None:
        file = parse_file(changed_file("engine/core.py", "@@ -1 +1 @@\n+" + "x" * 2 * MAX_PATCH_CHARACTERS))
        assert file.unread == 1
        packed = pack_diff([file], 1_000, 1)
        assert (packed.coverage, packed.left_out) == (Coverage.NONE, ("engine/core.py",))

    @pytest.mark.slow
    def test_the_model_and_the_reader_are_told_of_a_cut(self) -> None:
        file = parse_file(item(3 * MAX_PATCH_LINES, "+x"))
        packed = pack_diff([file], 90_000, 1)
        assert f"[the rest of this file is not shown: {2 * MAX_PATCH_LINES + 1} changed lines]" in packed.text
        assert (packed.coverage, packed.left_out) == (Coverage.CLIPPED, ("engine/core.py",))


class TestClone:
    def test_a_message_of_any_length_is_cut_while_it_is_read(self) -> None:
        pieces = [b"a" * 40 + b"\0" + b"1772308800\0Ada\0Title (#1)\n", *[b"x" * 65_536] * 400, b"\0"]
        tracemalloc.start()
        try:
            (commit,) = parse_commits(pieces)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert commit.message.startswith("Title (#1)")
        assert peak < 2 * MEGABYTE

    @pytest.mark.parametrize("seconds", ["²", "9" * 4_301, "\u0661"])
    def test_a_time_that_python_does_not_read_stops_nothing(self, seconds: str) -> None:
        (commit,) = parse_commits([f"{'a' * 40}\0{seconds}\0Ada\x1b\0One\0".encode()])
        assert (commit.author, commit.message) == ("Ada", "One")


class TestAnswers:
    """An answer that is not one ends in a sentence, and what is asked for again may be one."""

    @pytest.fixture
    def github(self, github: ScriptedGitHub) -> ScriptedGitHub:
        github.add(REPO, *(record(number, merged_at=NOON) for number in range(1, 120)))
        return github

    def test_a_list_that_begins_again_and_again_ends(self, github: ScriptedGitHub) -> None:
        first: list[dict[str, Any]] = []

        def again(_number: int, body: dict[str, Any]) -> None:
            first.append(body["data"]["repository"]["pullRequests"]["pageInfo"])
            body["data"]["repository"]["pullRequests"]["pageInfo"] = first[0]

        github.after = again
        with pytest.raises(GitHubUnavailable, match="a list breaks off"):
            github.pulls().list_merged(REPOSITORY, DAY)

    @pytest.mark.parametrize("page", [None, {}, {"hasNextPage": True, "endCursor": None}, {"hasNextPage": None}])
    def test_a_list_that_breaks_off_is_not_taken_for_whole(self, github: ScriptedGitHub, page: Any) -> None:
        def break_page(_number: int, body: dict[str, Any]) -> None:
            body["data"]["repository"]["pullRequests"]["pageInfo"] = page

        github.after = break_page
        with pytest.raises(GitHubUnavailable, match="a list breaks off"):
            github.pulls().list_merged(REPOSITORY, DAY)

    def test_a_commit_that_names_what_is_not_there_does_not_end_the_day(self, github: ScriptedGitHub) -> None:
        def stranger(number: int, body: dict[str, Any]) -> None:
            if number == 1:
                commits = body["data"]["repository"]["defaultBranchRef"]["target"]["history"]["nodes"]
                named = commits[0]["associatedPullRequests"]["nodes"]
                named.append({**named[0], "number": 99_999})

        github.after = stranger
        day_merges = github.pulls().list_merged(REPOSITORY, DAY)
        assert len(day_merges.pulls) == 119
        assert "possibly incomplete" in day_merges.caveat
