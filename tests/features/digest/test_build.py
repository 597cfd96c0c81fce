from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from redis import Redis

from bot.app import App
from bot.dates import LocalDay, Span
from bot.errors import (
    GitHubUnavailable,
    PrdigestError,
    PullRequestNotFound,
    RateLimited,
    RepositoryNotFound,
    StoreUnavailable,
)
from bot.features.digest import service
from bot.features.digest.rules import Digest, DigestSpec
from bot.features.digest.service import build_digest, compose_messages
from bot.features.digest.view import render_digest, render_report
from bot.features.merges.requests import FULL_VIEW, DigestView, ViewLevel
from bot.features.merges.review import BugReview
from bot.features.merges.summary import ChangeType, Fallback, FallbackReason, build_fallback_summary
from bot.features.merges.timeline import DayContext, MergeTimeline
from bot.features.profiles.service import ENTRIES, PROFILES, PinnedMerge
from bot.features.reviews.service import add_kept_reviews
from bot.features.touches.contracts import keep_contract
from bot.features.touches.decisions import HITS, record_decision
from bot.features.touches.lines import HitKey, TouchDecision, TouchVerdict
from bot.platform import deadlines
from bot.platform.models import Model
from bot.platform.models.packing import Coverage
from bot.platform.pulls.models import Account, PullRequest, Reference
from bot.platform.pulls.paths import Filters
from bot.platform.pulls.sources import CountCheck
from bot.platform.store.connection import SHORT_TIMEOUTS, connect_server
from bot.platform.store.merge_records import HistoryStore
from bot.platform.store.tables import Store
from bot.platform.worker_threads import note_progress
from impact.contract.models import ContractClass
from impact.errors import READING_FAILED
from impact.repository import Repository
from impact.testing.clones import needs_git
from tests.emulators.claude.server import ClaudeEmulator, Refusal
from tests.features.touches.touched_days import change, contract
from tests.features.touches.worlds import ENTRY, PROFILE
from tests.helpers.apps import LoneDay, make_digest_app
from tests.helpers.builders import DAY, NOON, REPOSITORY, changed_file, finding, pairs, pull, summary
from tests.helpers.checks import closed_port
from tests.helpers.doubles import KnownPulls, ScriptedPulls, Summaries, SummaryResult
from tests.helpers.mirrors import put_mirror
from tests.platform.slack.accepted import read_post

Summarise = Callable[[PullRequest], SummaryResult]
Pulls = KnownPulls | ScriptedPulls
CORE, DOCS = (changed_file("engine/core.py"),), (changed_file("docs/a.md"),)
MUCH = (changed_file("engine/core.py", 900, 900),)
AWAY = GitHubUnavailable("GitHub is away.")
ADA, BOT = Account("ada-dev"), Account("renovate", is_bot=True)
FOUR = (
    pull(4, author=BOT, files=CORE),
    pull(3, author=ADA, files=DOCS, labels=("bug",)),
    pull(2, author=ADA, files=CORE),
    pull(1, author=Account("bob"), files=CORE, labels=("bug",)),
)
NO_BOTS = DigestView(Filters(not_authors=("bots",)))
# a pull request of the next day
LATER = replace(pull(9, title='Revert "Change number 2" (#2)', files=None), merged_at=DAY.end + timedelta(hours=3))


def build(
    pulls: Pulls,
    view: DigestView = FULL_VIEW,
    summarise: Summarise | None = None,
    workers: int = 4,
    progress: Callable[[int, int], None] = note_progress,
    of: LocalDay = DAY,
    **parts: Any,
) -> Digest:
    app = make_digest_app(pulls, summarise, workers, **parts)
    return build_digest(app, REPOSITORY, of, "Engine", view, progress=progress)


def make_pulls(*numbers: int) -> ScriptedPulls:
    return ScriptedPulls(tuple(pull(number, files=None) for number in numbers))


def day(*pulls: PullRequest, failing: Iterable[int] = ()) -> KnownPulls:
    return KnownPulls(pulls, {f"files {number}": AWAY for number in failing})


def summarise_by_files(each: PullRequest) -> SummaryResult:
    if each.files is None:
        return SummaryResult(build_fallback_summary(each, Fallback(FallbackReason.NO_FILES), Coverage.NONE))
    return SummaryResult(summary())


def list_numbers(made: Digest) -> list[int]:
    return [entry.number for entry in made.entries]


def reverting(number: int, other: int, **fields: Any) -> PullRequest:
    """A pull request that takes back another, merged later than any with a number above its own."""
    return pull(number, title=f"Revert #{other}", author=BOT, **fields)


# --- what it has


def test_a_digest_has_each_pull_request_in_order_with_its_files_risk_and_area() -> None:
    def summarise_slowly(each: PullRequest) -> SummaryResult:
        time.sleep(0.05 if each.number < 3 else 0)
        return SummaryResult(summary(), cost=0.5)

    pulls = make_pulls(1, 2, 3, 4, 5)
    pulls.files = (changed_file("engine/core.py", 500, 500),)
    made = build(pulls, summarise=summarise_slowly)
    assert list_numbers(made) == [1, 2, 3, 4, 5], "however long each takes"
    assert (made.name, made.day, made.repository) == ("Engine", DAY, REPOSITORY)
    assert (made.count, made.cost) == (CountCheck(5, "octo/engine on 2026-02-28"), 2.5)
    first = made.entries[0]
    assert (first.pull.files, first.area, first.risk.points > 0) == (pulls.files, "Engine and scheduling", True)


def test_the_mirror_is_updated_once_before_files_are_read() -> None:
    for pulls in (day(pull(7), pull(8)), day()):
        mirror = SimpleNamespace(update=lambda of, calls=pulls.calls: calls.append(f"update {of}"))
        build(pulls, sources=SimpleNamespace(source_mirror=mirror, source_search=None, source_versions=None))
        steps = [f"update {REPOSITORY}", "files 7", "files 8"] if pulls.pulls else []
        assert [*pulls.calls[:2], *sorted(pulls.calls[2:])] == ["day 2026-02-28", *steps]


@pytest.mark.parametrize(
    "error",
    [AWAY, PullRequestNotFound("It is gone."), RateLimited("Later.", 3_600.0)],
    ids=lambda error: type(error).__name__,
)
def test_a_pull_request_whose_files_fail_does_not_end_the_digest(error: PrdigestError) -> None:
    pulls = make_pulls(1, 2, 3)
    pulls.failing = {2: error}
    made = build(pulls)
    assert (list_numbers(made), [entry.number for entry in made.fallback_entries]) == ([1, 2, 3], [2])
    assert [entry.pull.files is None for entry in made.entries] == [False, True, False]


def test_progress_goes_from_nothing_to_all_in_the_callers_thread() -> None:
    seen: list[tuple[int, int, int]] = []
    build(make_pulls(*range(1, 21)), progress=lambda *done: seen.append((*done, threading.get_ident())))
    assert seen == [(done, 20, threading.get_ident()) for done in range(21)]


@pytest.mark.parametrize("error", [RepositoryNotFound("No such repository."), RateLimited("Later.", 60.0)])
def test_a_list_that_can_not_be_had_ends_it_and_nothing_is_recorded(error: PrdigestError) -> None:
    pulls, told = make_pulls(1), Told()
    pulls.refuses = error
    with pytest.raises(type(error)) as caught:
        build(pulls, timeline=told)
    assert (caught.value, told.pulls) == (error, [])


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), StoreUnavailable("The store is away."), RateLimited("Later.", 3_600.0)]
)
@pytest.mark.parametrize("is_of_caller", [False, True])
def test_after_an_error_what_has_not_begun_never_begins(error: BaseException, *, is_of_caller: bool) -> None:
    begun: list[int] = []

    def fail_at_third(each: PullRequest) -> SummaryResult:
        begun.append(each.number)
        time.sleep(0.02)
        if each.number == 3 and not is_of_caller:
            raise error
        return SummaryResult(summary())

    def fail_at_second(done: int, _all: int) -> None:
        if done == 2 and is_of_caller:
            raise error

    with pytest.raises(type(error)):
        build(make_pulls(*range(1, 101)), summarise=fail_at_third, workers=2, progress=fail_at_second)
    after = len(begun)
    assert after < 30
    time.sleep(0.1)
    assert len(begun) <= after + 2


# --- views


@pytest.mark.parametrize(
    ("view", "shown", "read"),
    [
        pytest.param(FULL_VIEW, [1, 2, 3, 4], [1, 2, 3, 4], id="all"),
        pytest.param(NO_BOTS, [1, 2, 3], [1, 2, 3], id="by-author"),
        pytest.param(DigestView(Filters(labels=("BUG",))), [1, 3], [1, 3], id="by-label"),
        pytest.param(DigestView(Filters(paths=("engine",))), [1, 2, 4], [1, 2, 3, 4], id="by-path"),
        pytest.param(
            DigestView(Filters(("docs",), ("Ada-Dev",))), [3], [2, 3], id="files-of-those-alone-that-may-fit"
        ),
        pytest.param(DigestView(Filters(authors=("nobody",))), [], [], id="none"),
        pytest.param(
            DigestView(only=ViewLevel.RISKY), [], [1, 2, 3, 4], id="what-weighs-enough-is-known-after-reading"
        ),
    ],
)
def test_a_view_reads_no_more_than_it_must(view: DigestView, shown: list[int], read: list[int]) -> None:
    pulls = day(*FOUR)
    made = build(pulls, view)
    assert list_numbers(made) == shown
    assert sorted(pulls.calls) == ["day 2026-02-28", *(f"files {number}" for number in read)]
    assert (made.view, made.hidden, made.merged_count) == (view, 4 - len(shown), 4)
    assert made.missing.gaps == []


def test_a_view_asks_the_model_of_what_fits_alone() -> None:
    model, seen = Summaries(), list[tuple[int, int]]()
    view = DigestView(Filters(paths=("docs",)), ViewLevel.SUBSTANTIAL)
    build(day(*FOUR), view, model, progress=lambda *done: seen.append(done))
    assert (model.numbers, seen) == ([3], [(0, 1), (1, 1)])


def test_reviews_come_before_the_view_selects_and_their_coverage_is_kept() -> None:
    middle = [changed_file("csrc/core.cu", 90, 30)]
    pulls = day(pull(3, files=middle), pull(2, files=middle), pull(1))

    def find_review(each: PullRequest) -> BugReview | None:
        return BugReview((finding(),) if each.number == 2 else ()) if each.number > 1 else None

    made = build(
        pulls,
        DigestView(only=ViewLevel.RISKY),
        review_entries=lambda _, entries, __: add_kept_reviews(entries, find_review),
    )
    assert (list_numbers(made), made.hidden) == ([2], 2)
    assert (made.review_coverage.eligible, made.review_coverage.reviewed) == (2, 2)


@pytest.mark.parametrize(
    ("pulls", "shown", "reverts"),
    [
        pytest.param([pull(9), reverting(8, 9)], [8, 9], [(9, 8)], id="what-took-it-back"),
        pytest.param([pull(9, author=BOT), pull(8, title="Revert #9")], [8, 9], [(9, 8)], id="what-it-took-back"),
        pytest.param([pull(9), reverting(8, 9), reverting(7, 8)], [7, 8, 9], [(8, 7), (9, 8)], id="a-chain"),
        pytest.param([pull(9), pull(8, author=BOT), reverting(7, 8)], [9], [], id="a-pair-that-does-not-fit"),
    ],
)
def test_what_was_taken_back_comes_with_what_did_so(
    pulls: list[PullRequest], shown: list[int], reverts: list[tuple[int, int]]
) -> None:
    made = build(day(*pulls), NO_BOTS)
    assert (list_numbers(made), pairs(made.outcomes)) == (shown, reverts)
    # what landed again is not said to be gone because a filter hides that
    assert made.reverted_numbers == ({8} if len(reverts) > 1 else {old for old, _ in reverts})


def test_a_trivial_pair_is_shown_also_if_one_half_is_of_another_day() -> None:
    trivial = Summaries(summary(type=ChangeType.TRIVIAL))
    substantial = DigestView(only=ViewLevel.SUBSTANTIAL)
    made = build(day(pull(9), reverting(8, 9), pull(7)), substantial, trivial)
    assert (list_numbers(made), made.hidden) == ([8, 9], 1)
    next_day = reverting(12, 9, merged_at=NOON + timedelta(days=1))
    earlier = pull(3, merged_at=NOON - timedelta(days=1))

    class Around(LoneDay):
        def load_day_context(self, _repository: Repository, _day: LocalDay, merged: Any) -> DayContext:
            return DayContext.from_pulls(merged, [next_day, earlier])

    made = build(day(pull(9), reverting(8, 3), pull(7)), substantial, trivial, timeline=Around())
    assert sorted(pairs(made.outcomes)) == [(3, 8), (9, 12)]
    assert (set(list_numbers(made)), made.hidden) == ({8, 9}, 1)


@pytest.mark.parametrize(
    ("view", "shown"),
    [
        pytest.param(DigestView(Filters(("engine",), not_authors=("bots",))), [1, 2, 3], id="path"),
        pytest.param(DigestView(Filters(("engine",)), ViewLevel.SUBSTANTIAL), [1, 2, 3, 4], id="substantial"),
        pytest.param(DigestView(Filters(("engine",)), ViewLevel.RISKY), [2, 3], id="risky-of-a-path"),
        pytest.param(DigestView(only=ViewLevel.RISKY), [2, 3], id="risky"),
    ],
)
def test_what_can_not_be_read_is_shown_rather_than_lost(view: DigestView, shown: list[int]) -> None:
    made = build(day(*FOUR, failing=[2, 3]), view, summarise_by_files)
    assert list_numbers(made) == shown
    assert made.gaps == ("facts alone of #2, #3 (its files could not be loaded)",)
    assert made.merged_count == 4


def test_the_count_of_a_view_is_that_of_the_day() -> None:
    pulls = day(*FOUR)
    pulls.counted["2026-02-28"] = 5
    made = build(pulls, DigestView(Filters(labels=("bug",))))
    assert made.gaps == ("possibly incomplete: the commits of main show 5 merges, not 4",)


# --- what came before the day, and since


class Told(LoneDay):
    def __init__(self) -> None:
        self.pulls: list[PullRequest] = []

    def record_merges(self, pulls: Sequence[PullRequest]) -> None:
        self.pulls.extend(pulls)


def timeline_of(pulls: KnownPulls, store: Redis) -> MergeTimeline:
    return MergeTimeline(lambda: HistoryStore(store), pulls.list_merged, lambda: DAY.end + timedelta(hours=9))


def test_what_was_reverted_before_the_digest_is_posted_is_said_and_not_listed(store: Redis) -> None:
    pulls = day(*(pull(number, files=MUCH) for number in (1, 2)), LATER)
    made = build(pulls, timeline=timeline_of(pulls, store))
    assert list_numbers(made) == [1, 2], "the revert is of the next day"
    assert (pairs(made.outcomes), made.count.counted, made.missing.gaps) == ([(2, 9)], 2, [])
    assert [entry.number for entry in made.riskiest_entries] == [1]
    lead_text = read_post(render_digest(made).lead)
    first, second = lead_text.index("Already reverted or repaired"), lead_text.index("Riskiest")
    assert "#2 Change number 2, reverted after" in lead_text[first:second]
    assert "#2 " not in lead_text[second : lead_text.index("Details")]


def test_a_revert_that_a_view_does_not_show_is_said_of_what_it_does(store: Redis) -> None:
    pulls = day(*FOUR, replace(LATER, author=BOT))
    timeline = timeline_of(pulls, store)
    assert pairs(build(pulls, NO_BOTS, timeline=timeline).outcomes) == [(2, 9)]
    hidden = build(pulls, DigestView(Filters(paths=("docs",))), timeline=timeline)
    assert (list_numbers(hidden), hidden.outcomes) == ([3], ())


def test_what_reverts_an_earlier_day_names_what_it_took_back(store: Redis) -> None:
    old = pull(200, title="Count once", merged_at=DAY.start - timedelta(days=20))
    HistoryStore(store).record_merges([old])
    pulls = day(pull(9, title='Revert "Count once" (#200)'), pull(8, title='Revert "Lost long ago" (#3)'))
    made = build(pulls, timeline=timeline_of(pulls, store))
    assert (pairs(made.outcomes), [each.number for each in made.older_reverts]) == ([(200, 9)], [8])


def test_the_rules_look_back_at_what_earlier_digests_recorded(store: Redis) -> None:
    before = LocalDay(DAY.date - timedelta(days=1), DAY.zone)
    HistoryStore(store).record_merges([pull(1, merged_at=DAY.start - timedelta(days=100), files=CORE)])
    fix = pull(2, title="Fix the counter", merged_at=before.start + timedelta(hours=9), files=CORE)
    pulls = day(fix, pull(3, files=CORE), pull(4, files=DOCS))
    timeline = timeline_of(pulls, store)
    build(pulls, of=before, timeline=timeline)
    core, docs = build(pulls, timeline=timeline).entries
    assert [rule.rule for rule in core.risk.fired if rule.rule == "fixes"] == ["fixes"]
    assert "fixes" not in [rule.rule for rule in docs.risk.fired]
    assert [entry.risk.without_history for entry in (core, docs)] == [False, False]


def test_without_the_store_a_digest_is_without_history_and_whole(caplog: pytest.LogCaptureFixture) -> None:
    pulls = day(pull(1, files=MUCH), pull(2, files=MUCH), LATER)
    away = connect_server(f"redis://127.0.0.1:{closed_port()}", timeouts=SHORT_TIMEOUTS)
    made = build(pulls, timeline=timeline_of(pulls, away))
    assert [entry.risk.without_history for entry in made.entries] == [True, True]
    assert (pairs(made.outcomes), made.missing.gaps) == ([(2, 9)], [])
    assert "🔴 highest risk, fix history not loaded" in read_post(render_digest(made).lead)
    assert "history is not recorded" in caplog.text


def test_a_next_day_that_can_not_be_had_is_a_gap(store: Redis) -> None:
    pulls = day(*FOUR, LATER)
    pulls.failing["day 2026-03-01"] = AWAY
    timeline = timeline_of(pulls, store)
    made = build(pulls, timeline=timeline)
    assert made.missing.gaps == ["what was reverted since (GitHub is away)"]
    assert (made.merged_count, made.outcomes) == (4, ())
    pulls.failing.clear()
    mended = build(pulls, timeline=timeline)
    assert (mended.missing.gaps, pairs(mended.outcomes)) == ([], [(2, 9)])


def test_all_that_was_merged_is_recorded_and_what_was_read_with_its_files() -> None:
    told = Told()
    build(day(*FOUR), DigestView(Filters(labels=("bug",))), timeline=told)
    files = {each.number: each.files is not None for each in told.pulls}
    assert files == {4: False, 3: True, 2: False, 1: True}


@pytest.mark.parametrize(
    ("sizes", "usual", "sparing"),
    [
        # 240 lines are of the list, 700 and more of its highest band
        pytest.param((240, 900, 700, 300), [2, 3, 4], [2], id="one-of-the-highest-band"),
        pytest.param((240, 300, 1), [2, 1], [], id="none-where-none-is-of-it"),
    ],
)
def test_lists_that_found_no_more_than_chance_are_spared(
    sizes: tuple[int, ...], usual: list[int], sparing: list[int]
) -> None:
    files = [(changed_file("engine/core.py", added),) for added in sizes]
    pulls = day(*(pull(n, title="Rename things", files=each) for n, each in enumerate(files, 1)))
    for is_reduced, listed in ((False, usual), (True, sparing)):
        track_record = SimpleNamespace(is_reduced=lambda repository, answer=is_reduced: answer)
        made = build(pulls, is_list_reduced=track_record.is_reduced)
        assert [entry.number for entry in made.riskiest_entries] == listed


# --- with a profile


UNDONE = tuple(
    pull(number, merge_commit=f"{number:040x}", **fields)
    for number, fields in ((4, {"files": CORE}), (3, {"title": "Revert #4"}), (2, {"files": DOCS}), (1, {}))
)
ALL, TOUCHING = DigestView(profile="ascend"), DigestView(only=ViewLevel.TOUCHING, profile="ascend")
TOUCHED = {
    "a profile hides nothing": (ALL, [2], [1, 2, 3, 4], [1, 2, 3, 4]),
    "only what touches is read": (TOUCHING, [2], [2], [2]),
    "a revert belongs to it": (TOUCHING, [4], [3, 4], [3, 4]),
    "nothing touches": (TOUCHING, [], [], []),
    # what breaks callers is hidden by no band
    "what touches or breaks is shown besides risks": (
        replace(ALL, only=ViewLevel.RISKY),
        [1],
        [1, 2, 3, 4],
        [1, 2, 3, 4],
    ),
}


def build_touched(store: Redis, view: DigestView, *touching: int) -> tuple[Digest, list[int], App]:
    """The digest of four merges, some of which remove what a team calls, and which of them the model read."""
    model = Summaries()
    app = make_digest_app(
        day(*UNDONE),
        model,
        tables=Store(store),
        sources=SimpleNamespace(source_mirror=None, source_search=None, source_versions=None),
    )
    app.tables.put_field(ENTRIES, "ascend", ENTRY)
    app.tables.put(PROFILES, PROFILE, "ascend")
    for each in UNDONE:
        name = "engine.core.stop" if each.number in touching else "engine.core.other"
        removed = change(name=name, subject=ContractClass.FUNCTION)
        keep_contract(app, each, contract(each.number, removed))
    return build_digest(app, REPOSITORY, DAY, "Engine", view), sorted(model.numbers), app


@pytest.mark.parametrize(("view", "touching", "shown", "read"), TOUCHED.values(), ids=TOUCHED)
def test_a_view_of_what_touches(
    store: Redis, view: DigestView, touching: list[int], shown: list[int], read: list[int]
) -> None:
    made, summarised, app = build_touched(store, view, *touching)
    assert (sorted(list_numbers(made)), summarised, made.merged_count) == (shown, read, 4)
    assert made.touches is not None
    assert [hit.number for hit in made.touches.touching.ignore_coverage()] == touching
    assert sorted(each.number for each in made.contracts) == shown
    hits = app.tables.list_fields(HITS, "ascend").values()
    assert [hit.key.reference.number for hit in hits] == touching, "they are recorded as shown"


BREAKING = DigestView(only=ViewLevel.BREAKING)


@pytest.mark.parametrize(
    ("view", "shown", "read"),
    [
        pytest.param(BREAKING, [2], [2], id="what breaks callers alone is read"),
        pytest.param(DigestView(only=ViewLevel.RISKY), [2, 3, 4], [1, 2, 3, 4], id="no band hides it"),
    ],
)
def test_a_view_of_what_breaks_callers(store: Redis, view: DigestView, shown: list[int], read: list[int]) -> None:
    model, sources = Summaries(), SimpleNamespace(source_mirror=None, source_search=None, source_versions=None)
    app = make_digest_app(day(*UNDONE), model, tables=Store(store), sources=sources)
    for each in UNDONE:
        removed = change(name="engine.core.stop", subject=ContractClass.FUNCTION)
        keep_contract(app, each, contract(each.number, *([removed] if each.number == 2 else [])))
    made = build_digest(app, REPOSITORY, DAY, "Engine", view)
    assert (sorted(list_numbers(made)), sorted(model.numbers), made.merged_count) == (shown, read, 4)
    assert [merge.number for merge in made.breaking] == [2]


def test_without_files_a_digest_says_that_it_can_not_tell_what_breaks() -> None:
    made = build(day(pull(1, files=CORE)))
    assert "1 of 1 changed files (the demo has no source files)" in made.coverage.gaps


def test_what_filters_leave_out_is_not_judged_and_without_a_profile_nothing_is(store: Redis) -> None:
    made, _, _ = build_touched(store, DigestView(Filters(("docs",)), profile="ascend"), 1, 2)
    assert made.touches is not None
    assert (made.touches.merges, list_numbers(made)) == (1, [2])
    made, _, _ = build_touched(store, FULL_VIEW, 1)
    assert made.touches is None


@pytest.mark.parametrize("view", [DigestView(profile="away"), DigestView(only=ViewLevel.TOUCHING, profile="away")])
def test_a_report_that_is_missing_is_a_gap_that_may_close_later(store: Redis, view: DigestView) -> None:
    made, _, _ = build_touched(store, view, 1)
    assert (made.touches, len(made.entries)) == (None, 0 if view.only else 4)
    assert made.missing.gaps == made.coverage.gaps
    assert made.gaps == (f"{made.missing.gaps[0]} could not be read",)
    assert made.missing.gaps[0].startswith("what touches away (")


TEAM = Repository("octo", "plugin")
OF_DAY = DigestSpec("C1", REPOSITORY, Span(DAY.date, DAY.date, DAY.zone), ALL)


def compose_touched(store: Redis, root: Path | None, source: Repository | None = TEAM, days: int = 1) -> str:
    """What a digest with two hits, of its first and its last day, says, of a bot with mirrors there."""
    _, _, app = build_touched(store, ALL, 1, 2)
    app.settings = app.settings.model_copy(update={"prdigest_mirror": root or Path("off")})
    app.tables.put_field(ENTRIES, "ascend", replace(ENTRY, source=source))
    back, pulls = timedelta(days - 1), cast("Any", app.pulls)
    pulls.pulls = [replace(each, merged_at=NOON - back * (each.number == 1)) for each in UNDONE]
    made = compose_messages(app, replace(OF_DAY, span=replace(OF_DAY.span, first=DAY.date - back)))
    assert "adapted" not in read_post(made.lead)
    text = "\n".join(map(read_post, made.thread))
    assert text.count("breaks us") == 2
    return "\n".join(line for line in text.split("\n") if "adapted" in line)


UNREAD = "How you adapted before was not read: "
NO_MIRROR = f"{UNREAD}the mirror of {REPOSITORY} can't be used: there is no mirror yet"


@pytest.mark.parametrize(
    ("has_mirrors", "source", "note"),
    [
        pytest.param(False, TEAM, "", id="a bot without mirrors has none"),
        pytest.param(True, None, "", id="a profile from a file has none"),
        pytest.param(True, TEAM, NO_MIRROR, id="a mirror that should be there"),
    ],
)
def test_that_the_history_of_a_team_was_not_read_is_said_once_where_there_is_one(
    store: Redis, tmp_path: Path, *, has_mirrors: bool, source: Repository | None, note: str
) -> None:
    assert compose_touched(store, tmp_path / "mirrors" if has_mirrors else None, source) == note


@pytest.mark.parametrize(
    ("error", "reason"),
    [(StoreUnavailable("The store is away."), "The store is away"), (KeyError("defect"), READING_FAILED)],
)
def test_no_digest_fails_for_the_history_of_a_team(
    store: Redis, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(service, "read_hit_lessons", fail)
    assert compose_touched(store, None, days=2) == f"{UNREAD}{reason}"


@needs_git
@pytest.mark.slow
def test_no_digest_waits_for_a_git_that_comes_to_no_end(
    store: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (REPOSITORY, TEAM):
        put_mirror(tmp_path / "mirrors", str(name), [{"engine/core.py": b"def run():\n    return 1\n"}])
    (tmp_path / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    began = time.monotonic()
    with deadlines.bound_work(6.0):
        assert compose_touched(store, tmp_path / "mirrors") == f"{UNREAD}reading the mirrors took too long"
    assert time.monotonic() - began < 30.0


# --- with the model on the loopback


def with_model(pulls: ScriptedPulls, model: Model, store: Redis, workers: int = 4) -> Digest:
    return build(pulls, workers=workers, model=model, cached=Store(store))


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 4])
def test_no_more_than_the_workers_ask_at_a_time(
    claude: ClaudeEmulator, model: Model, store: Redis, workers: int
) -> None:
    claude.latency = 0.05
    made = with_model(make_pulls(*range(1, 13)), model, store, workers)
    assert claude.in_flight_peak == workers
    assert (len(claude.requests), len(made.fallback_entries)) == (13, 0)
    assert claude.problems == []


def test_a_day_without_merges_makes_no_call_and_a_second_digest_of_a_day_none_either(
    claude: ClaudeEmulator, model: Model, store: Redis
) -> None:
    made = with_model(make_pulls(), model, store)
    assert (made.entries, made.overview.text, claude.requests) == ((), "Nothing was merged.", [])
    assert made.cost == 0.0
    with_model(make_pulls(1, 2, 3), model, store)
    again = with_model(make_pulls(1, 2, 3), model, store)
    assert (len(claude.requests), again.cost) == (4, 0.0)
    assert all(entry.from_cache for entry in again.entries)


def test_a_refused_summary_leaves_the_others(claude: ClaudeEmulator, model: Model, store: Redis) -> None:
    claude.script(Refusal())
    made = with_model(make_pulls(1, 2, 3), model, store, 1)
    assert (len(made.entries), len(made.fallback_entries), made.overview.fallback) == (3, 1, None)


def test_only_what_waits_is_read_and_without_a_pin_nobody_can_tell(store: Redis) -> None:
    pending = DigestView(only=ViewLevel.PENDING, profile="ascend")
    made, read, app = build_touched(store, pending, 1, 2)
    assert (made.entries, read) == ((), [])
    assert made.coverage.gaps == ["what touches ascend (ascend names no commit that is known)"]
    app.tables.put_field(ENTRIES, "ascend", replace(ENTRY, pin=PinnedMerge("v1", "f" * 40, NOON - timedelta(9))))
    decision = TouchDecision(HitKey(Reference(REPOSITORY, 1)), TouchVerdict.NOT_US, "U0ADA", NOON)
    record_decision(app, "ascend", decision)
    made = build_digest(app, REPOSITORY, DAY, "Engine", pending)
    assert [entry.number for entry in made.entries] == [2]
    record_decision(app, "ascend", replace(decision, key=HitKey(Reference(REPOSITORY, 2))))
    made = build_digest(app, REPOSITORY, DAY, "Engine", pending)
    assert (made.entries, made.says_of_touches, made.coverage.gaps) == ((), False, [])
    assert "nothing that waits" in render_report(made)
