from datetime import timedelta
from typing import Any

import pytest

from impact.history.merges import ClonedMerge
from impact.history.reverts import Revert, RevertIndex, is_revert
from impact.testing.checks import check_rows
from tests.merges import NOON, pull

COUNT = "Count requests once, and only where they come from"
CACHE = "Cache the answers of the planner"
SHA, OTHER_SHA = "a1b2c3d4e5f60718293a4b5c6d7e8f9001122334", "0099887766554433221100ffeeddccbbaa998877"


def make_merge(number: int, title: str = "", body: str = "", **fields: Any) -> ClonedMerge:
    """Higher numbers are merged later."""
    fields = {"merged_at": NOON + timedelta(minutes=number), "merge_commit": f"{number:07x}" + "f" * 33, **fields}
    return pull(number, title=title or f"Change number {number}", body=body, **fields)


EARLIER = (
    make_merge(5, COUNT, merge_commit=SHA),
    make_merge(6, f"{CACHE} (#6)", merge_commit=OTHER_SHA),
    make_merge(7, "Use a pool of threads"),
    make_merge(8, "Fix crash (#77)"),
)


def taken_back(title: str = "Undo", body: str = "", message: str = "") -> list[tuple[int, bool]]:
    by = make_merge(99, title, body, commit_message=message)
    return [(revert.number, revert.is_partial) for revert in RevertIndex([by, *EARLIER]).reverts]


TITLES = [
    f'Revert "{COUNT}"',
    f"Revert \u201c{COUNT}\u201d (#5)",
    f"Revert '{COUNT}'",
    f'Revert "{COUNT} (#5)"',
    'Revert "Another title by then (#5)"',
    'Revert "Another title by then #5"',
    f'Revert   "{COUNT.upper()}"',
    f'Revert "{COUNT.replace(" ", "  ")}"',
    f'Revert "`{COUNT}`"',
    f'Revert "{COUNT}',
    f'Revert "{COUNT[:35]}\u2026',
    f'Revert "{COUNT[:35]}\u2026"',
    f'Revert "{COUNT[:35]}..."',
    f'Revert "{COUNT}" for it broke main',
    f'Revert "{COUNT}" (#99)',
    f'Revert #5 "{COUNT}" (#7)',
    f"Revert {COUNT}",
    f"Revert: {COUNT}",
    f"revert: {COUNT}",
    f"revert(core): {COUNT} (#5)",
    f"[Revert] {COUNT}",
    f'[CI][Revert] "{COUNT}"',
    f'\U0001f6a8 [Hotfix] fix(core)!: revert "{COUNT}"',
    f'Core: Revert "{COUNT}"',
    f'Fix CI: Revert "{COUNT}"',
    f'Backout "{COUNT}"',
    f'Back out "{COUNT}"',
    "Rollback PR-5.",
    "Roll back #5",
    "Back out #5",
    "Undo #5",
    "Reverting #5",
    "Revert of #5",
    "Revert PR 5",
    "Revert PR #5: restore the counter of old",
    "Revert pull request #5 from octo/counter",
    "Revert changes from #5",
    "Revert the change made in #5",
    "Revert https://github.com/octo/engine/pull/5",
    f"Revert {SHA[:9]}",
    f"Revert commit {SHA}",
    "Revert scheduler rewrite (#5)",
    "Revert scheduler rewrite #5",
    "Fix OOM and revert #5",
    "Fix OOM (reverts #5)",
    "Fix OOM by reverting #5",
    "Temporarily revert #5",
    "Revert #5 temporarily",
]
BODIES = [
    "This PR reverts #5.",
    "This PR revert #5.",
    "This pull request reverts the changes of #5 because it broke the build.",
    "It broke main. Reverts #5.",
    "The build fails, so this reverts #5",
    "- Reverts octo/engine#5",
    "1. Reverts octo/engine#5",
    "**Reverts #5**",
    "## Summary\nRevert #5",
    "Summary: revert #5",
    "This is a revert of #5",
    "This is a clean revert of #5",
    "Clean revert of #5",
    "We revert #5 here",
    "I'm reverting #5",
    "Rolls back #5",
    "Backs out #5",
    "Reverts https://github.com/octo/engine/pull/5",
    "Reverts [#5](https://github.com/octo/engine/pull/5)",
    "Reverts [the counter](https://github.com/octo/engine/pull/5/files)",
    f"This reverts commit `{SHA}`.",
    f"This reverts commit\n{SHA}.",
    f"This reverts commit {SHA}, reversing\nchanges made to 00000aaaa.",
    f"Reverts octo/engine@{SHA[:10]}",
    f"Reverts https://github.com/octo/engine/commit/{SHA}",
    "Reverts #5 (see #6)",
    "Reverts #5, see #6",
    "Reverts #5 but not #6",
    "Reverts #5, #6 is fine",
    "Reverts #5\n\n#6 follows",
    "Reverts #5\n- #6 follows",
    "```\ncode\n```\nReverts #5",
    "> It is slow.\n\nReverts #5",
    "Rollback plan:\n- none\n## What\nReverts #5",
]


@check_rows(TITLES)
def test_a_title_names_what_it_takes_back(title: str) -> None:
    assert taken_back(title) == [(5, False)]
    assert is_revert(make_merge(99, title))


@check_rows(BODIES)
def test_a_description_names_what_it_takes_back(body: str) -> None:
    assert taken_back(body=body) == [(5, False)]
    assert is_revert(make_merge(99, body=body))


@check_rows(
    [
        ("Revert #5 and #6", ""),
        ("Revert #5, #6", ""),
        ("Revert PRs #5 & #6", ""),
        ("Revert #5 #6 after the rebase", ""),
        (f'Revert "{COUNT}" and "{CACHE}"', ""),
        (f'Revert "{COUNT}"', "Reverts octo/engine#5\nReverts octo/engine#6"),
        ("Revert #5", "This reverts #6 as well"),
        ("Undo", "Reverts #5, #6"),
        ("Undo", "Reverts #5 and octo/engine#6."),
        ("Undo", "- Reverts #5\n- Reverts #6"),
        ("Undo", "This reverts:\n- #5\n- #6"),
        ("Undo", "This reverts the following PRs:\n\n* #5\n* #6\n"),
        ("Undo", 'Reverts #5 ("Count") and #6 ("Cache")'),
        ("Undo", f"This reverts commits {SHA[:8]} and {OTHER_SHA[:9]}"),
        ("Undo", f"This reverts commits:\n\n* {SHA}\n* {OTHER_SHA}\n"),
        ("Undo", f"This reverts commit {SHA}.\nThis reverts commit {OTHER_SHA}."),
    ]
)
def test_one_may_take_back_several(title: str, body: str) -> None:
    assert taken_back(title, body) == [(5, False), (6, False)]


def test_three_of_a_list_are_three() -> None:
    assert taken_back(body="Reverts #5, #6 and #7") == [(5, False), (6, False), (7, False)]


@check_rows(
    [
        ("Partially revert #5", ""),
        ("Partial revert of #5", ""),
        ("[BugFix] Partial revert of #5 (the queue)", ""),
        ("[Partial revert] #5", ""),
        (f"[Partial revert] {COUNT}", ""),
        (f'Partially revert "{COUNT}"', ""),
        (f'Revert "{COUNT}" (partially)', ""),
        ("Revert part of #5", ""),
        ("Revert the counter part of #5", ""),
        ("[Bugfix] Revert the queue part of change in #5", ""),
        ("[Bugfix] Revert the queue from #5", ""),
        ("Revert #5 partially", ""),
        ("Revert #5 (partial)", ""),
        ("Fix X; partially revert #5", ""),
        ("Revert back to a set instead of the list from #5", ""),
        ("Undo", "This partially reverts #5"),
        ("Undo", "Reverts a small part of #5."),
        ("Undo", "Reverts the scheduler changes of #5"),
        ("Undo", "Reverts erroneous changes #5 did"),
        ("Undo", "This is a partial revert of #5."),
        ("Undo", "Reverts the queue to what it was before #5"),
        ("Undo", f"Partially reverts commit {SHA}"),
        # GitHub's button says that it reverts, whatever was edited
        ("Partial revert of #5", "Reverts octo/engine#5"),
        (f'Partially revert "{COUNT}"', f"This reverts commit {SHA}."),
    ]
)
def test_a_part_may_be_taken_back(title: str, body: str) -> None:
    assert taken_back(title, body) == [(5, True)]
    assert is_revert(make_merge(99, title, body))


@check_rows(
    [
        ("Revert to the old counter (#5)", ""),
        ("Revert back to version 1.2 (#5)", ""),
        ("Revert max_size to 8 (#5)", ""),
        ("[V1] Revert the default size to 8 of old (#5)", ""),
        ("Don't revert #5", ""),
        ("How to revert #5", ""),
        ("Fix what the revert of #5 broke", ""),
        ("Revert the fix for #5", ""),
        ("Revert X, see #5", ""),
        ("Revert X because of #5", ""),
        ("Revert X (fixes #5)", ""),
        ("Add a revert button (closes #5)", ""),
        ("Revert button (closes #5)", ""),
        ("Reverted by #5", ""),
        ('Revert "Count requests', ""),
        ('Revert "Count requests once\u2026"', ""),
        ("Undo", "This does not revert #5"),
        ("Undo", "This works without reverting #5"),
        ("Undo", "Instead of reverting #5 we fix it"),
        ("Undo", "#5 can be reverted"),
        ("Undo", "If this breaks, revert #5"),
        ("Undo", "Revert #5 if this fails"),
        ("Undo", "We may revert #5"),
        ("Undo", "#7 will revert #5 later"),
        ("Undo", "Reverted by #5"),
        ("Undo", "Reverted in #5"),
        ("Undo", "It was reverted in #5"),
        ("Undo", "This revert of #5 was wrong"),
        ("Undo", "Reverts issue #5"),
        ("Undo", "Reverts to the behaviour of #5"),
        ("Undo", "Undo the last step, #5"),
        ("Undo", "Reverts #55"),
        ("Release 2.0", "- Revert scheduler rewrite (#5)"),
        ("Release 2.0", "* Revert scheduler changes by @ada in https://github.com/octo/engine/pull/5"),
        ("Release 2.0", f'* Revert "{COUNT}" by @ada in https://github.com/octo/engine/pull/5'),
        ("Undo", "Reverts other/engine#5"),
        ("Undo", "Reverts https://github.com/other/engine/pull/5"),
        ("Undo", "Reverts [#5](https://github.com/other/engine/pull/5)"),
        ("Undo", "Reverts https://github.com/octo/engine/issues/5"),
        ("Undo", f"Reverts other/engine@{SHA}"),
        ("Undo", "```\nReverts #5\n```"),
        ("Undo", "~~~ text\nReverts #5\n```\nReverts #5"),
        ("Undo", "````\n```\nReverts #5\n````"),
        ("Undo", "<!-- Reverts #5 -->"),
        ("Undo", ">Reverts #5\n> Reverts #5"),
        ("Undo", "## Rollback plan\n\nRevert #5\n"),
        ("Undo", "Rollback plan:\n- Revert #5"),
        ("Undo", "Rollback plan: revert #5"),
        ("Undo", "**How to revert**\n\nRevert #5"),
    ]
)
def test_what_only_looks_like_it_takes_nothing_back(title: str, body: str) -> None:
    assert taken_back(title, body) == []


def test_the_number_in_a_quoted_title_may_be_an_issue_of_old() -> None:
    pulls = [make_merge(5, "Pool"), make_merge(8, "Fix crash (#5)"), make_merge(9, 'Revert "Fix crash (#5)"')]
    assert RevertIndex(pulls).reverts == (Revert(8, 9),)


def test_of_equal_titles_the_last_before_is_meant() -> None:
    pulls = [
        make_merge(1, "Bump"),
        make_merge(3, "Bump (#3)"),
        make_merge(5, 'Revert "Bump"'),
        make_merge(7, "Bump"),
    ]
    assert RevertIndex(pulls).reverts == (Revert(3, 5),)


def test_a_cut_title_that_two_changes_begin_with_means_neither() -> None:
    cut = f'Revert "{COUNT[:35]}\u2026"'
    assert RevertIndex([make_merge(5, COUNT), make_merge(6, COUNT + ", again"), make_merge(9, cut)]).reverts == ()
    assert RevertIndex([make_merge(5, COUNT), make_merge(6, COUNT), make_merge(9, cut)]).reverts == (Revert(6, 9),)
    assert RevertIndex([make_merge(5, COUNT), make_merge(10, COUNT + ", again"), make_merge(9, cut)]).reverts == (
        Revert(5, 9),
    )


def test_two_commits_that_begin_alike_are_not_told_apart() -> None:
    pulls = [make_merge(5, merge_commit="abcdef01" + "1" * 32), make_merge(6, merge_commit="abcdef02" + "1" * 32)]
    assert RevertIndex([*pulls, make_merge(9, body="This reverts commit abcdef0.")]).reverts == ()
    assert RevertIndex([*pulls, make_merge(9, body="This reverts commit abcdef02.")]).reverts == (Revert(6, 9),)


@pytest.mark.parametrize(
    "message",
    [
        f"Undo (#99)\n\nThis reverts commit {SHA}.",
        f'Revert "x"\r\n\r\nThis reverts commit {SHA}.\r\n',
        "Undo (#99)\n\nReverts octo/engine#5",
        f'Undo (#99)\n\n* Revert "foo"\n\nThis reverts commit {SHA}.\n\n* Add tests',
        "Undo (#99)\n\n* Undo\n\nReverts octo/engine#5\n\n* Add tests",
    ],
)
def test_the_message_of_the_merge_commit_may_say_it(message: str) -> None:
    assert taken_back(message=message) == [(5, False)]


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(f'x (#99)\n\n* Revert "{COUNT}"\n\n* tests', id="a-title"),
        pytest.param('x (#99)\n\n* Revert "wip"\n\nThis reverts commit 1234567.', id="a-commit-of-its-branch"),
        pytest.param("x (#99)\n\nReverts #5", id="a-number-alone"),
        pytest.param("Revert #5", id="its-first-line"),
        pytest.param("x (#99)\n\nReverts other/engine#5", id="another-repository"),
        pytest.param(f"x (#99)\n\nBuilds on {SHA}", id="a-commit-alone"),
        pytest.param(
            f'x\n\n* Revert "a"\n\nThis reverts commit {SHA}.\n\n* Reapply "a"\n\nThis reverts commit 12345678.',
            id="taken-back-in-the-same-branch",
        ),
        pytest.param(
            f'x (#99)\n\n* Revert "a"\n\nThis reverts commit {SHA}.\n\n* Revert "Revert "a""',
            id="by-a-second-revert",
        ),
    ],
)
def test_other_words_of_the_message_take_nothing_back(message: str) -> None:
    assert taken_back(message=message) == []


def test_a_commit_of_the_own_branch_makes_no_revert() -> None:
    message = 'x (#99)\n\n* Revert "wip"\n\nThis reverts commit 1234567.\n\n* tests'
    assert not is_revert(make_merge(99, "Count once", commit_message=message))


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Remove temporary workaround from #5", ""),
        ("Revert temporary pin of the parser (#5)", ""),
        ("Revert temporary pin of the parser (#5)", "Reverts octo/engine#5"),
        ("Revert the temporary pin of the parser", "Reverts octo/engine#5"),
        ("Undo", "This reverts the temporary change of #5 now that the parser is fixed."),
        ("Undo", "This reverts the workaround of #5.\nReverts octo/engine#5"),
    ],
)
def test_the_end_of_what_was_temporary_is_no_revert(title: str, body: str) -> None:
    assert taken_back(title, body) == []
    assert not is_revert(make_merge(99, title, body))


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Temporarily disable the cache", ""),
        ("[Temp] Use the old parser", ""),
        ("Pin the parser (temporary)", ""),
        ("[CI] Temporary workaround for the runner", ""),
        ("Workaround until the parser is fixed", ""),
        ("Use the old parser, to be reverted", ""),
        ("Use the old parser", "This is temporary."),
        ("Use the old parser", "This is only a temporary change."),
        ("Use the old parser", "This PR temporarily pins it."),
        ("Use the old parser", "Temporarily pins it."),
        ("Use the old parser", "A workaround until 2.0 is out"),
        ("Use the old parser", "It will be reverted once 2.0 is out"),
        ("Use the old parser", "To be reverted when 2.0 is out"),
    ],
)
def test_what_was_meant_to_go_was_not_taken_back(title: str, body: str) -> None:
    assert (
        RevertIndex(
            [make_merge(5, title, body), make_merge(9, f'Revert "{title}"', "Reverts octo/engine#5")]
        ).reverts
        == ()
    )


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Clean temporary files once", ""),
        ("Use a temporary folder", "It makes a temporary folder."),
        ("Temporal attention", ""),
        ("Use the old parser", "The queue is temporarily full at times. This can be reverted."),
        ("Use the old parser", "```\nthis is temporary\n```"),
        ("Use the old parser", "<!-- this is temporary -->"),
    ],
)
def test_what_only_speaks_of_temporary_things_was_taken_back(title: str, body: str) -> None:
    assert RevertIndex([make_merge(5, title, body), make_merge(9, f'Revert "{title}"')]).reverts == (Revert(5, 9),)


def test_a_revert_is_never_meant_to_go() -> None:
    pulls = [
        make_merge(5, COUNT),
        make_merge(6, "Temporarily revert #5"),
        make_merge(9, 'Revert "Temporarily revert #5"'),
    ]
    assert RevertIndex(pulls).reverts == (Revert(5, 6), Revert(6, 9))


@check_rows(
    [
        "Reland #5",
        f'Reland "{COUNT}"',
        f'Reapply "{COUNT}"',
        f"[Reland] {COUNT}",
        f"[Core][re-land] {COUNT}",
        f"Fix and reapply {COUNT}",
        f"[unrevert] {COUNT}",
        f"[Core] UNREVERT {COUNT}",
    ],
    ["", "Reverts octo/engine#6", f"This reverts commit {SHA}.", 'Was: Revert "A"'],
)
def test_what_lands_again_takes_nothing_back(title: str, body: str) -> None:
    assert taken_back(title, body) == []
    assert not is_revert(make_merge(99, title, body))


@pytest.mark.parametrize(
    ("title", "message", "expected"),
    [
        pytest.param('Revert "Merge pull request #5 from octo/count"', "", [5], id="git-of-a-merge"),
        pytest.param(
            "Revert the counter", "Merge pull request #99 from octo/revert-5-count", [5], id="the-button"
        ),
        pytest.param(
            "Revert the counter", "Merge pull request #99 from octo/revert-7-revert-5-count", [7], id="of-a-revert"
        ),
        pytest.param("Count once more", "Merge pull request #99 from octo/revert-5-count", [], id="another-use"),
        pytest.param("Reland the counter", "Merge pull request #99 from octo/revert-5-count", [], id="reland"),
        pytest.param("Revert the counter", "Merge pull request #99 from octo/convert-5-count", [], id="no-revert"),
        pytest.param("Revert the counter", "Merge branch octo/revert-5-count", [], id="no-pull-request"),
    ],
)
def test_merges_name_what_they_take_back_by_their_branch(title: str, message: str, expected: list[int]) -> None:
    known = [
        make_merge(5, "Add a counter"),
        make_merge(7, "Take it back"),
        make_merge(99, title, commit_message=message),
    ]
    assert [revert.number for revert in RevertIndex(known).reverts] == expected
