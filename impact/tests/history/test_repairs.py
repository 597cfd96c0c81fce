from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impact.history.merges import ClonedMerge
from impact.history.outcomes import Repair, find_repairs
from impact.history.reverts import RevertIndex
from impact.repository import Repository
from impact.testing.checks import check_rows
from tests.merges import NOON, pull


def make_merge(number: int, title: str = "Count requests once", body: str = "", **fields: Any) -> ClonedMerge:
    """Higher numbers are merged later."""
    return pull(number, title=title, body=body, **{"merged_at": NOON + timedelta(minutes=number), **fields})


CAUSE = make_merge(5)


def list_repaired_numbers(title: str, body: str) -> list[int]:
    """What a pull request that is merged after 5 and 50 repairs of them."""
    return [
        repair.number for repair in find_repairs(RevertIndex([make_merge(99, title, body), make_merge(50), CAUSE]))
    ]


@check_rows(
    {
        "regression-from": "Fixes a regression from #5.",
        "regressed-in": "This regressed in #5",
        "broken-by": "Broken by #5",
        "broke-in": "It broke in #5",
        "two-words-of-blame": "The breakage was introduced by #5",
        "introduced-in": "a bug introduced in #5",
        "caused-by-pr": "caused by PR #5",
        "caused-by-the-pull-request": "caused by the pull request #5",
        "failing-since": "tests are failing since #5",
        "failures-after": "failures after #5",
        "due-to": "The problem is due to #5",
        "issue-of": "Fix the issue of #5",
        "capitals": "REGRESSION FROM #5",
        "over-lines": "broken\nby\n#5",
        "over-lines-of-windows": "introduced in\r\n#5",
        "words-between": "a bug, 'as it were', from #5",
        "emphasis": "**bug** from #5",
        "with-its-repository": "bug from octo/engine#5",
        "with-its-repository-in-another-case": "bug from Octo/ENGINE#5",
        "address": "bug from https://github.com/octo/engine/pull/5",
        "address-of-a-part": "bug from https://github.com/octo/engine/pull/5/files#r1",
        "after-an-issue": "Fixes #77, a regression from #5",
    }
)
def test_a_repair_blames_what_it_repairs(body: str) -> None:
    assert list_repaired_numbers("Fix the counter", body) == [5]


def test_blame_in_the_title_counts() -> None:
    assert list_repaired_numbers("[Bugfix] Fix regression from #5", "") == [5]


@check_rows(
    {
        "nothing": "",
        "fixes": "fixes #5",
        "fix": "Fix #5",
        "closes": "Closes #5, resolves #5",
        "an-issue": "Fixes issue #5",
        "a-bug": "Fixes bug #5",
        "fixes-with-its-repository": "fixes octo/engine#5",
        "fixes-the-address-of-an-issue": "fixes https://github.com/octo/engine/issues/5",
        "an-issue-is-no-cause": "a bug from https://github.com/octo/engine/issues/5",
        "a-number": "See #5",
        "follow-up": "Follow-up of #5",
        "no-blame": "As in #5",
        "another-sentence": "It is broken. From #5 on we count.",
        "far-away": "The bug " + "is very old and " * 4 + "is from #5",
        "part-of-a-word": "debug from #5",
        "a-number-that-is-not-there": "regression from #77",
        "another-owner": "regression from other/engine#5",
        "another-repository": "regression from octo/other#5",
        "a-longer-name": "regression from octo/engine2#5",
        "half-a-name": "regression from engine#5",
        "a-path": "regression from x/octo/engine#5",
        "another-address": "regression from https://github.com/octo/other/pull/5",
        "another-host": "regression from https://evil.example/octo/engine/pull/5",
        "a-hint-of-a-template": "<!-- regression from #5 -->",
        "an-open-hint": "<!-- regression from #5",
        "not-caused": "The bug was not caused by #5",
        "no-regression": "This is not a regression from #5",
        "fixed-by": "The same bug was fixed by #5 for others",
        "solved-in": "The problem was solved in #5 for others",
        "reported-in": "A bug reported in #5",
        "another-paragraph": "### Problem\n\nAs in #5, we count twice",
    }
)
def test_what_blames_nobody_is_no_repair(body: str) -> None:
    assert list_repaired_numbers("Fix the counter", body) == []


def test_a_longer_number_is_another() -> None:
    assert list_repaired_numbers("Fix", "regression from #50") == [50]


def test_a_number_of_more_digits_than_there_are_names_nothing() -> None:
    cause = make_merge(123_456_789, merged_at=NOON)
    assert find_repairs(RevertIndex([make_merge(99, "Fix", "regression from #1234567890"), cause])) == ()


@check_rows(
    [
        ("Fix the counter", [5]),
        ("fixes", [5]),
        ("Fixed the counter", [5]),
        ("Fixing the counter", [5]),
        ("[Bugfix][Core] Count once", [5]),
        ("Bug fix: count once", [5]),
        ("bug-fix", [5]),
        ("[HotFix] Count once", [5]),
        ("hot-fix", [5]),
        ("Repair the counter", [5]),
        ("Restore the counter", [5]),
        ("Unbreak main", [5]),
        ("Regression in the counter", [5]),
        ("Count once", []),
        ("Prefix caching", []),
        ("Add fixtures", []),
        ("Suffixes", []),
        ("", []),
    ]
)
def test_only_a_title_that_speaks_of_a_repair_makes_one(title: str, expected: list[int]) -> None:
    assert list_repaired_numbers(title, "regression from #5") == expected


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        pytest.param(-1, (Repair(5, 9),), id="before"),
        pytest.param(0, (), id="at-the-same-time"),
        pytest.param(1, (), id="after"),
    ],
)
def test_a_cause_was_merged_before_its_repair(minutes: int, expected: tuple[Repair, ...]) -> None:
    repair = make_merge(9, "Fix", "regression from #5", merged_at=NOON)
    cause = make_merge(5, merged_at=NOON + timedelta(minutes=minutes))
    assert find_repairs(RevertIndex([repair, cause])) == expected


def test_a_pull_request_does_not_repair_itself() -> None:
    assert find_repairs(RevertIndex([make_merge(9, "Fix", "regression from #9")])) == ()


def test_one_may_repair_several_and_names_each_once() -> None:
    body = "a bug from #6 and a regression from #5\n\nAgain: caused by #5"
    assert find_repairs(RevertIndex([make_merge(9, "Fix", body), make_merge(6), CAUSE])) == (
        Repair(5, 9),
        Repair(6, 9),
    )


def test_several_may_repair_one() -> None:
    pulls = [make_merge(number, "Fix", "broken by #5") for number in (9, 8)]
    assert find_repairs(RevertIndex([*pulls, CAUSE])) == (Repair(5, 9), Repair(5, 8))


def test_a_repair_may_itself_need_one() -> None:
    pulls = [make_merge(9, "Fix", "broken by #8"), make_merge(8, "Fix", "broken by #5"), CAUSE]
    assert find_repairs(RevertIndex(pulls)) == (Repair(8, 9), Repair(5, 8))


def test_the_repository_of_the_repair_is_its_own() -> None:
    other = Repository("acme", "web")
    pulls = [make_merge(9, "Fix", "broken by acme/web#5", repository=other), make_merge(5, repository=other)]
    assert find_repairs(RevertIndex(pulls)) == (Repair(5, 9),)


words = st.sampled_from(
    "Fix fixes bug regression from by in the PR #1 #2 #3 octo/engine#1 other/engine#2 <!-- --> \n , .".split(" ")
)
wild = st.lists(words | st.text(st.characters(), max_size=6), max_size=12).map(" ".join)


@given(st.lists(st.tuples(wild, wild), min_size=1, max_size=4))
def test_whatever_is_written_both_halves_are_there_and_in_order(texts: list[tuple[str, str]]) -> None:
    repairs = find_repairs(RevertIndex([make_merge(at, title, body) for at, (title, body) in enumerate(texts, 1)]))
    assert all(1 <= repair.number < repair.by <= len(texts) for repair in repairs)
    assert len(set(repairs)) == len(repairs)


@check_rows(
    [
        "[Bugfix] Fix a seed of None introduced in #5",
        "forward fix PR 5, restore the build",
        "[Bugfix] Bring back the fallback removed in #5, but only here",
        "Fixing the test failures caused by PR#5",
        "Fix the name after a change of name in PR #5",
        "fix redefinition in #5",
        "[Misc] Fix backward compatibility from #5",
        "Fix rocm build caused by #5",
        "Fix for the import error from #5",
        "Fix the accuracy cause by #5",
        "Fix issues from #5",
        "[FIX] Patch the script (fix for #5)",
        "[Bugfix] Fix the kernel after #5",
        "Fix regression on pooling from PR#5",
        "Hotfix for #5",
        "Unbreak main after #5",
        "Fix conflict with #5",
    ]
)
def test_the_title_of_a_fix_may_name_its_cause(title: str) -> None:
    assert list_repaired_numbers(title, "") == [5]


@check_rows(
    [
        "Fix #5",
        "Fixes #5 for good",
        "Fix the counter (#5)",
        "Fix the crash reported in #5",
        "Fix the counter as in #5",
        "Fix the counter, like #5",
        "Fix the rest, following the fix in #5",
        "Fix the counter, see #5",
        "Port the fix from #5",
        "Cherry-pick the fix from #5",
        "Fix the docs, not broken by #5",
        "Fix a typo in #5",
        "Fix nits from #5",
        "Fix pre-commit after #5",
        "Count once after #5",
    ]
)
def test_other_titles_blame_nobody(title: str) -> None:
    assert list_repaired_numbers(title, "") == []


@check_rows(
    [
        "#5 broke the build on macOS.",
        "PR #5 accidentally removed the check.",
        "octo/engine#5 introduced a subtle regression.",
        "#5 has caused crashes since Monday.",
        "Follow-up fix for #5",
        "A follow up bugfix: hot-fix for #5",
        "Post-merge fix of #5.",
        "Fallout from #5",
        "An oversight in #5",
        "This was overlooked in #5",
        "The tests fail since #5",
        "It fails because of #5",
        "It has been broken when #5 was merged",
        "Culprit: #5",
        "The offending PR is #5",
        "git bisect points to #5",
        "Bisected to #5.",
        "The check was mistakenly dropped in #5",
        "Broken by [#5](https://github.com/octo/engine/pull/5)",
        "regression introduced in `#5`",
        "The op is not supported any more, a regression from #5",
    ]
)
def test_a_cause_is_named_in_many_ways(body: str) -> None:
    assert list_repaired_numbers("Fix the counter", body) == [5]


@check_rows(
    [
        "Neither broken by #5 nor by others",
        "It isn't caused by #5",
        "This was never broken by #5",
        "It is not really a regression from #5",
        "This does not fix the bug from #5",
        "I wonder if #5 broke it",
        "Fix failing tests skipped in #5",
        "The same problem as in #5",
        "A problem found in #5",
        "A bug similar to the one in #5",
        "#5 introduced the counter",
        "#5 did not break it",
        "#5 was broken by somebody",
        "Unrelated to #5",
        "After #5 we count once",
        "> regression from #5",
        "```\nregression from #5\n```",
        "regression from [#5](https://github.com/octo/other/pull/5)",
    ]
)
def test_other_words_blame_nobody(body: str) -> None:
    assert list_repaired_numbers("Fix the counter", body) == []


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Fix compatibility between #5 and #50", ""),
        ("Fix incompatibility between #5 and #50", ""),
        ("Fix the counter", "A regression from #5 and #50."),
        ("Fix the counter", "Broken by #5, #50"),
    ],
)
def test_two_may_have_broken_it_together(title: str, body: str) -> None:
    assert list_repaired_numbers(title, body) == [5, 50]


def test_the_next_of_a_sentence_is_not_blamed_with_the_first() -> None:
    assert list_repaired_numbers("Fix the counter", "Broken by #5, #50 is fine") == [5]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Fix the counter (#99)\n\n* A regression from #5", [5]),
        ("Fix the counter after #5", []),
        ("Fix the counter (#99)\n\nSee #5", []),
    ],
)
def test_the_message_of_the_merge_commit_may_blame(message: str, expected: list[int]) -> None:
    repair = make_merge(99, "Fix the counter", commit_message=message)
    assert [detected_repair.number for detected_repair in find_repairs(RevertIndex([repair, CAUSE]))] == expected


@pytest.mark.parametrize("title", ["Fix the counter: revert #5", "[Bugfix] Revert the queue part of #5"])
def test_who_takes_back_does_not_repair(title: str) -> None:
    assert list_repaired_numbers(title, "It was broken by #5.") == []
