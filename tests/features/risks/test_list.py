"""What may hurt in some days: which pull requests are listed, which were taken back, and what it takes to know."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from redis import Redis

from bot.dates import LocalDay, Span
from bot.errors import GitHubUnavailable, PrdigestError, RateLimited, RepositoryNotFound, StoreUnavailable
from bot.features.merges.outcomes import RevertIndex
from bot.features.merges.requests import RisksRequest
from bot.features.merges.review import BugReview
from bot.features.risks.service import build_list
from bot.features.risks.view import RiskList, render_risk_list
from bot.features.summaries.service import refresh_summary
from bot.platform.models import Model
from bot.platform.pulls.models import Account, PullRequest
from bot.platform.pulls.paths import NO_FILTERS, Filters
from impact.history.outcomes import OutcomeKind
from impact.repository import Repository
from tests.emulators.claude.server import ClaudeEmulator, summary_answer
from tests.helpers.apps import NO_NEARBY, make_reading_app
from tests.helpers.builders import DAY, FOUND_QUOTE, NOON, REPOSITORY, changed_file, finding, pull
from tests.helpers.doubles import KnownPulls, MemoryStore, ScriptedModel, Summaries
from tests.platform.slack.accepted import read_post

HEAVY = (changed_file("engine/core.py", 500, 500),)
LIGHT = (changed_file("engine/core.py", 5, 1),)


def make_merge(number: int, days: float = 0, **fields: Any) -> PullRequest:
    """A merge whose files the rules list as risky, so many days after the noon of DAY."""
    merge = pull(number, files=HEAVY, merged_at=NOON + timedelta(days=days, seconds=number))
    return replace(merge, **fields)


def reverting(number: int, of: int, days: float) -> PullRequest:
    return make_merge(number, days, title=f'Revert "Change number {of}" (#{of})')


def after(days: int) -> LocalDay:
    return LocalDay(DAY.date + timedelta(days=days), DAY.zone)


def span(first: int = 0, last: int = 0) -> Span:
    return Span(after(first).date, after(last).date, DAY.zone)


def ask(
    pulls: KnownPulls,
    request: RisksRequest,
    today: int = 30,
    model: Model | None = None,
    workers: int = 4,
    store: Redis | None = None,
    **parts: Any,
) -> RiskList:
    app = make_reading_app(pulls, model or Summaries(), store, get_today=lambda: after(today), **parts)
    app.settings = app.settings.model_copy(update={"prdigest_concurrency": workers})
    return build_list(app, request)


def build(
    *merges: PullRequest,
    days: Span | None = None,
    filters: Filters = NO_FILTERS,
    top: int | None = None,
    today: int = 30,
) -> RiskList:
    return ask(KnownPulls(merges), RisksRequest(REPOSITORY, days or span(), filters, top), today)


def list_numbers(risk_list: RiskList) -> list[int]:
    return [entry.number for entry in risk_list.riskiest.ignore_coverage()]


def pairs(risk_list: RiskList) -> list[tuple[int, int, bool]]:
    return [(pair.pull.number, pair.by.number, pair.kind is OutcomeKind.REPAIRED) for pair in risk_list.taken_back]


# --- what is listed


def test_a_list_has_its_name_days_and_counts() -> None:
    risk_list = build(
        make_merge(1),
        make_merge(2),
        make_merge(3, files=LIGHT),
        make_merge(4, days=1),
        filters=Filters(authors=("ADA-dev",)),
    )
    assert (risk_list.name, risk_list.span, risk_list.filters) == ("Engine", span(), "author:ADA-dev")
    assert (risk_list.merged, risk_list.matching, risk_list.notes) == (3, 3, ())
    assert list_numbers(risk_list) == [2, 1]


def test_a_day_without_merges_is_an_empty_list() -> None:
    empty = build()
    assert empty == RiskList("Engine", span(), "", 0, 0, (), (), replace(empty.riskiest, _items=()))


def test_the_riskiest_come_first_whatever_their_time() -> None:
    hot = make_merge(1, title="Faster kernel")
    calm = make_merge(3, title="Fix typo", files=(changed_file("engine/core.py", 90, 900),))
    assert list_numbers(build(hot, make_merge(2), calm)) == [1, 2]


@pytest.mark.parametrize(
    ("top", "expected"), [(1, [6]), (3, [6, 5, 4]), (5, [6, 5, 4, 3, 2]), (10, [6, 5, 4, 3, 2, 1])]
)
def test_no_more_than_the_top_are_listed(top: int, expected: list[int]) -> None:
    sized = [make_merge(n, files=(changed_file("engine/core.py", 500 + n, 500),)) for n in range(1, 7)]
    resized = [replace(merge, additions=500 + merge.number) for merge in sized]
    assert list_numbers(build(*resized, top=top)) == expected


WHO: dict[int, dict[str, Any]] = {
    1: {"author": Account("ada-dev"), "labels": ("bug",), "files": (changed_file("vllm/v1/core.py", 500, 500),)},
    2: {"author": Account("Bob"), "labels": ("Bug", "v1"), "files": (changed_file("vllm/core.py", 500, 500),)},
    3: {"author": Account("bob"), "labels": (), "files": (changed_file("csrc/moe/top.cu", 500, 500),)},
}
FITTING = [
    (NO_FILTERS, {1, 2, 3}),
    (Filters(paths=("vllm/v1",)), {1}),
    (Filters(paths=("vllm",)), {1, 2}),
    (Filters(paths=("*.cu",)), {3}),
    (Filters(paths=("csrc/**/top.cu", "vllm/v1/")), {1, 3}),
    (Filters(paths=("docs",)), set[int]()),
    (Filters(authors=("BOB",)), {2, 3}),
    (Filters(authors=("bob", "ada-dev")), {1, 2, 3}),
    (Filters(authors=("eve",)), set[int]()),
    (Filters(labels=("bug",)), {1, 2}),
    (Filters(labels=("v1", "v2")), {2}),
    (Filters(paths=("vllm",), authors=("bob",), labels=("bug",)), {2}),
    (Filters(paths=("vllm/v1",), authors=("bob",)), set[int]()),
]


@pytest.mark.parametrize(("filters", "expected"), FITTING, ids=str)
def test_only_those_that_fit_the_filters_are_listed(filters: Filters, expected: set[int]) -> None:
    risk_list = build(*(make_merge(number, **fields) for number, fields in WHO.items()), filters=filters)
    assert set(list_numbers(risk_list)) == expected
    assert (risk_list.merged, risk_list.matching) == (3, len(expected))


def test_what_does_not_fit_by_author_or_label_is_not_read() -> None:
    pulls = KnownPulls(tuple(make_merge(number, **fields) for number, fields in WHO.items()))
    request = RisksRequest(REPOSITORY, span(), Filters(authors=("bob",), labels=("bug",)))
    ask(pulls, request, 30)
    assert {call for call in pulls.calls if call.startswith("files")} == {"files 2"}


def test_another_repository_is_not_looked_at() -> None:
    assert build(make_merge(1, repository=Repository("octo", "other"))).merged == 0


@pytest.mark.parametrize(
    ("title", "path", "listed"),
    [
        ("Repair #1: count once", "engine/core.py", []),
        ("Repair #1: count once", "engine/other.py", [1]),
        ('Revert "Change number 1" (#1)', "engine/other.py", []),
    ],
)
def test_a_bug_is_closed_by_what_repairs_or_reverts_it(title: str, path: str, listed: list[int]) -> None:
    """The repair of another file than that of its line leaves it open."""
    review = BugReview((finding(evidence=FOUND_QUOTE),))
    merges = (
        make_merge(1),
        make_merge(2, days=0.1, title=title, body="Fixes a bug of #1.", files=(changed_file(path, 5, 1),)),
    )
    sources = SimpleNamespace(
        source_versions=None,
        source_search=None,
        stands_in="",
        get_written_review=lambda pull: review if pull.number == 1 else None,
    )
    risk_list = ask(KnownPulls(merges), RisksRequest(REPOSITORY, span()), sources=sources)
    assert [number for number in list_numbers(risk_list) if number == 1] == listed
    assert [pair.pull.number for pair in risk_list.taken_back] == [1]


def test_existing_reviews_move_the_list_and_are_shown() -> None:
    confirmed, nothing = BugReview((finding(),)), BugReview(refuted=2)
    reviews = {1: confirmed, 3: nothing}
    middle = (changed_file("csrc/core.cu", 90, 30),)
    pulls = KnownPulls((make_merge(1, files=middle), make_merge(2, files=middle), make_merge(3), make_merge(4)))

    def build_reviewed(get_review: Callable[[PullRequest], BugReview | None]) -> RiskList:
        sources = SimpleNamespace(
            source_versions=None, source_search=None, stands_in="", get_written_review=get_review
        )
        return ask(pulls, RisksRequest(REPOSITORY, span(), top=4), sources=sources)

    plain, reviewed_list = build_reviewed(lambda pull: None), build_reviewed(lambda pull: reviews.get(pull.number))
    assert (list_numbers(plain), [entry.number for entry in plain.below]) == ([4, 3], [2, 1])
    assert (list_numbers(reviewed_list), [entry.number for entry in reviewed_list.below]) == ([1, 4], [3, 2])
    assert [entry.review for entry in (*reviewed_list.riskiest.ignore_coverage(), *reviewed_list.below)] == [
        confirmed,
        None,
        nothing,
        None,
    ]
    assert "Fails when a request has no tokens" in read_post(render_risk_list(reviewed_list))


def test_a_span_of_days_is_one_list() -> None:
    merges = [make_merge(n, days=n - 3) for n in range(1, 6)]
    assert list_numbers(build(*merges, days=span(-1, 1))) == [4, 3, 2]


def test_what_was_recorded_gives_files_and_the_list_of_the_day_the_whole_description() -> None:
    model = ScriptedModel.of(json.dumps(summary_answer()))
    whole = make_merge(2, 0.1, title="Fix it", body=f"{'Long. ' * 300} Fixes a regression introduced by #1.")
    pulls = KnownPulls((make_merge(1), whole))
    recorded = (make_merge(1, body="Short."), replace(whole, body="Long."))
    timeline = SimpleNamespace(
        read_merges_or_none=lambda *_: recorded, index_pulls=RevertIndex, load_nearby=lambda _: NO_NEARBY
    )
    risk_list = ask(pulls, RisksRequest(REPOSITORY, span()), model=model, timeline=timeline)
    assert pairs(risk_list) == [(1, 2, True)]
    assert ["Long. Long. Long. " in prompt.user for prompt in model.prompts] == [True]


# --- what was taken back


TAKEN_BACK: dict[str, tuple[float, list[tuple[int, int, bool]]]] = {
    "within the day": (0.1, [(1, 9, False)]),
    "the next day": (1, [(1, 9, False)]),
    "on the seventh day after": (7, [(1, 9, False)]),
    "on the eighth day after": (8, []),
}


@pytest.mark.parametrize(("days", "expected"), TAKEN_BACK.values(), ids=TAKEN_BACK)
def test_a_revert_counts_within_the_days_and_the_week_after(
    days: float, expected: list[tuple[int, int, bool]]
) -> None:
    risk_list = build(make_merge(1), reverting(9, 1, days))
    assert pairs(risk_list) == expected
    assert (1 in list_numbers(risk_list)) == (not expected)


@pytest.mark.parametrize(("days", "expected"), TAKEN_BACK.values(), ids=TAKEN_BACK)
def test_a_repair_counts_likewise(days: float, expected: list[tuple[int, int, bool]]) -> None:
    repair = make_merge(9, days, title="Fix retries", body="Fixes a regression introduced by #1.", files=LIGHT)
    risk_list = build(make_merge(1), repair)
    assert pairs(risk_list) == [(number, by, True) for number, by, _ in expected]
    assert (1 in list_numbers(risk_list)) == (not expected)


@pytest.mark.parametrize(("today", "last"), [(0, 0), (1, 1), (6, 6), (7, 7), (8, 7), (300, 7)])
def test_no_day_after_today_is_asked_for(today: int, last: int) -> None:
    pulls = KnownPulls((make_merge(1),))
    ask(pulls, RisksRequest(REPOSITORY, span(-1)), today)
    asked = sorted(call for call in pulls.calls if call.startswith("day"))
    assert asked == [f"day {after(n).date}" for n in range(-1, last + 1)]


def test_the_merges_of_the_week_after_are_neither_counted_nor_read_nor_listed() -> None:
    pulls = KnownPulls((make_merge(1), make_merge(2, days=1), make_merge(3, days=2), reverting(4, 2, 3)))
    risk_list = ask(pulls, RisksRequest(REPOSITORY, span()), 30)
    assert (risk_list.merged, risk_list.matching, list_numbers(risk_list), pairs(risk_list), risk_list.older) == (
        1,
        1,
        [1],
        [],
        (),
    )
    assert "files 2" not in pulls.calls
    assert "files 4" not in pulls.calls


def test_a_revert_that_was_reverted_leaves_the_change_listed() -> None:
    again = make_merge(3, 2, title='Revert "Revert "Change number 1" (#1)" (#2)')
    risk_list = build(make_merge(1), reverting(2, 1, 1), again)
    assert (pairs(risk_list), list_numbers(risk_list)) == ([], [1])


def test_a_revert_of_the_days_that_was_reverted_is_named_as_taken_back() -> None:
    again = make_merge(3, 0.1, title='Revert "Revert "Change number 1" (#1)" (#2)')
    risk_list = build(make_merge(1), reverting(2, 1, 0.01), again)
    assert (pairs(risk_list), list_numbers(risk_list)) == ([(2, 3, False)], [1])


def test_a_change_that_was_reverted_is_not_called_repaired_too() -> None:
    repair = make_merge(2, 1, title="Fix retries", body="Fixes a bug caused by #1")
    assert pairs(build(make_merge(1), repair, reverting(3, 1, 2))) == [(1, 3, False)]


def test_a_revert_of_what_was_merged_before_the_days_is_older() -> None:
    risk_list = build(make_merge(1, -3), reverting(2, 1, 0), make_merge(3))
    assert ([each.number for each in risk_list.older], pairs(risk_list), list_numbers(risk_list)) == ([2], [], [3])


def test_what_was_taken_back_must_fit_the_filters_itself() -> None:
    cu, py = (changed_file("csrc/top.cu", 500, 500),), (changed_file("vllm/top.py", 500, 500),)
    merges = (make_merge(1, files=cu), make_merge(2, files=py), reverting(3, 1, 1), reverting(4, 2, 1))
    assert pairs(build(*merges, filters=Filters(paths=("csrc",)))) == [(1, 3, False)]
    older = (reverting(5, 90, 0), replace(reverting(6, 91, 0), files=cu))
    assert [each.number for each in build(*older, filters=Filters(paths=("csrc",))).older] == [6]


def test_how_long_a_change_lasted_is_known() -> None:
    (pair,) = build(make_merge(1), reverting(9, 1, 2)).taken_back
    assert pair.lifetime == timedelta(days=2, seconds=8)


# --- what could not be known


@pytest.mark.parametrize("error", [GitHubUnavailable("Away."), RateLimited("Later.", 60.0)])
def test_files_that_can_not_be_read_are_told_and_end_nothing(error: PrdigestError) -> None:
    pulls = KnownPulls((make_merge(1), make_merge(2), make_merge(3)), failing={"files 2": error})
    risk_list = ask(pulls, RisksRequest(REPOSITORY, span()), 30)
    assert (list_numbers(risk_list), risk_list.matching) == ([3, 1], 3)
    assert "1 of 3 merges' files (#2)" in risk_list.riskiest.coverage.gaps


def test_files_that_can_not_be_read_fit_no_path() -> None:
    pulls = KnownPulls((make_merge(1), make_merge(2)), failing={"files 2": GitHubUnavailable("Away.")})
    request = RisksRequest(REPOSITORY, span(), Filters(paths=("engine",)))
    risk_list = ask(pulls, request, 30)
    assert (list_numbers(risk_list), risk_list.matching, risk_list.merged) == ([1], 1, 2)


def test_files_that_can_not_be_read_are_told_with_a_path_too() -> None:
    pulls = KnownPulls((make_merge(1), make_merge(2)), failing={"files 2": GitHubUnavailable("Away.")})
    request = RisksRequest(REPOSITORY, span(), Filters(paths=("engine",)))
    assert "1 of 2 merges' files (#2)" in ask(pulls, request, 30).riskiest.coverage.gaps


def test_counts_that_differ_are_doubts_of_the_days_asked_for() -> None:
    counted = {str(after(0).date): 3, str(after(1).date): None, str(after(2).date): 9}
    pulls = KnownPulls((make_merge(1),), counted=counted)
    risk_list = ask(pulls, RisksRequest(REPOSITORY, span(0, 1)), 30)
    counts = (
        "2 of 3 merges in GitHub's list",
        "an independent count of the merges (the commits of main gave none)",
    )
    assert risk_list.riskiest.explain_gaps().startswith(f"I couldn't read {', '.join(counts)}")


@pytest.mark.parametrize("error", [RepositoryNotFound("No such repository."), RateLimited("Later.", 60.0)])
@pytest.mark.parametrize("day", [-1, 0, 3])
def test_a_day_that_can_not_be_had_ends_the_list_with_its_error(error: PrdigestError, day: int) -> None:
    pulls, summaries = KnownPulls((make_merge(1),), failing={f"day {after(day).date}": error}), Summaries()
    with pytest.raises(type(error)) as caught:
        ask(pulls, RisksRequest(REPOSITORY, span(-1)), model=summaries)
    assert (caught.value is error, summaries.numbers) == (True, [])
    assert not [call for call in pulls.calls if call.startswith("files")]


@pytest.mark.parametrize("error", [StoreUnavailable("The store is away."), KeyError("a defect")])
def test_after_an_error_what_has_not_begun_never_begins(error: Exception) -> None:
    pulls = KnownPulls(tuple(make_merge(n) for n in range(1, 101)), failing={"files 97": error}, latency=0.01)
    with pytest.raises(type(error)):
        ask(pulls, RisksRequest(REPOSITORY, span()), 0, workers=2)
    assert sum(call.startswith("files") for call in pulls.calls) < 40


# --- how many are listed


DAY_OF_FOUR = (
    make_merge(1),
    make_merge(2, files=LIGHT),
    make_merge(3),
    make_merge(4, files=(changed_file("docs/guide.md", 900, 3),)),
)


def below(risk_list: RiskList) -> list[int]:
    return [entry.number for entry in risk_list.below]


@pytest.mark.parametrize(
    ("top", "expected"),
    [
        (None, ([3, 1], [])),
        (1, ([3], [])),
        (2, ([3, 1], [])),
        (3, ([3, 1], [2])),
        (4, ([3, 1], [2, 4])),
        (10, ([3, 1], [2, 4])),
    ],
)
def test_top_lists_as_many_and_marks_those_below_the_bar(
    top: int | None, expected: tuple[list[int], list[int]]
) -> None:
    risk_list = build(*DAY_OF_FOUR, top=top)
    assert (list_numbers(risk_list), below(risk_list)) == expected
    assert (risk_list.top, risk_list.ranked) == (top, 4)


def test_without_top_five_are_listed_at_most() -> None:
    risk_list = build(*(make_merge(number) for number in range(1, 9)))
    assert (len(list_numbers(risk_list)), below(risk_list), risk_list.ranked) == (5, [], 8)


def test_what_was_taken_back_and_what_takes_back_is_not_ranked() -> None:
    risk_list = build(*DAY_OF_FOUR, reverting(9, 3, 0), make_merge(5, days=1), days=span(), top=10)
    assert (list_numbers(risk_list), below(risk_list), risk_list.ranked) == ([1], [2, 4], 3)


def test_top_ranks_what_fits_the_filters() -> None:
    risk_list = build(*DAY_OF_FOUR, filters=Filters(("docs/",)), top=10)
    assert (list_numbers(risk_list), below(risk_list), risk_list.ranked) == ([], [4], 1)


def test_lists_that_found_no_more_than_chance_rank_the_others_below() -> None:
    risk_list = ask(KnownPulls(DAY_OF_FOUR), RisksRequest(REPOSITORY, span(), top=3), lists_less=True)
    assert len(list_numbers(risk_list)) <= 1
    assert list_numbers(risk_list) + below(risk_list) == [3, 1, 2]


# --- what it takes


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 3])
def test_no_more_than_the_workers_work_at_a_time(workers: int) -> None:
    pulls = KnownPulls(tuple(make_merge(n) for n in range(1, 13)), latency=0.02)
    summaries = Summaries(latency=0.02)
    ask(pulls, RisksRequest(REPOSITORY, span(), top=10), 3, summaries, workers)
    assert (pulls.busy.peak, summaries.busy.peak) == (workers, workers)


@pytest.mark.slow
def test_only_what_is_listed_is_read_by_a_model(claude: ClaudeEmulator, model: Model, store: Redis) -> None:
    merges = [make_merge(n, files=HEAVY if n % 4 == 0 else LIGHT) for n in range(1, 25)]
    pulls = KnownPulls((*merges, reverting(30, 4, 1)))
    request = RisksRequest(REPOSITORY, span(), top=3)
    risk_list = ask(pulls, request, model=model, store=store)
    assert (set(list_numbers(risk_list)) <= {8, 12, 16, 20, 24}, len(list_numbers(risk_list))) == (True, 3)
    assert len(claude.requests) == 3
    again = ask(pulls, request, model=model, store=store)
    assert (list_numbers(again), len(claude.requests)) == (list_numbers(risk_list), 3)
    assert all(entry.from_cache for entry in again.riskiest.ignore_coverage())
    assert claude.problems == []


def test_an_entry_that_is_known_is_not_read_again() -> None:
    pulls, summaries, cached = KnownPulls((make_merge(1), make_merge(2))), Summaries(), MemoryStore()
    refresh_summary(make_reading_app(pulls, summaries, cached=cached), make_merge(1))
    risk_list = ask(pulls, RisksRequest(REPOSITORY, span()), 0, summaries, cached=cached)
    assert (summaries.numbers, list_numbers(risk_list)) == ([1, 2], [2, 1])


def test_what_is_only_assessed_holds_no_patches() -> None:
    (older,) = build(make_merge(1), reverting(2, 90, 0)).older
    assert [(file.path, file.patch) for file in older.files or ()] == [("engine/core.py", None)]


@pytest.mark.parametrize("moment", [DAY.start, DAY.end - timedelta(seconds=1)])
def test_the_first_and_the_last_moment_of_a_day_are_its_own(moment: datetime) -> None:
    merges = (
        make_merge(1, merged_at=moment),
        make_merge(2, merged_at=DAY.end),
        make_merge(3, merged_at=DAY.start - timedelta(0, 1)),
    )
    assert list_numbers(build(*merges)) == [1]


def test_what_went_into_another_branch_is_named_and_not_ranked() -> None:
    pulls = KnownPulls((make_merge(1), replace(make_merge(2), base="releases/v1.2")))
    made = ask(pulls, RisksRequest(REPOSITORY, span(), top=4))
    assert (made.merged, list_numbers(made), [each.number for each in made.below]) == (2, [1], [])
    assert "not judged: #2 (into releases/v1.2)" in made.notes
