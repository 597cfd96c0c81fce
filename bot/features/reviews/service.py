"""Reviews of merged pull requests: each is made once, kept, and within a budget and the time of a digest."""

from __future__ import annotations

import hashlib
import logging
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace

from bot.app import App
from bot.errors import BudgetExceeded, ModelBusy, ModelRequestRejected, PrdigestError
from bot.features.merges.neighbors import NO_NEIGHBORS, find_neighbors
from bot.features.merges.review import BugReview, ReviewCoverage, should_review
from bot.features.merges.summary import log_defect
from bot.features.merges.view import Entry
from bot.features.reviews.reading import MAX_DIFF_TOKENS, REVIEW_VERSION, ReviewCost, Reviewer, ReviewResult
from bot.platform import deadlines
from bot.platform.pulls.models import PullRequest, Reference
from bot.platform.pulls.paths import PathClasses
from bot.platform.store.spending import BudgetHold
from bot.platform.store.tables import Table
from bot.platform.worker_threads import DeadlineExecutor
from bot.text import format_count
from bot.usage import BudgetRefusal
from impact.repository import Repository

log = logging.getLogger(__name__)

# seconds for all reviews of a day: 35 reviews of a minute take five minutes, eight at a time
_MAX_SECONDS = 300.0
# of the time that the work has left: further days, the overview and Slack need the rest
_TIME_SHARE = 0.25
_MIN_SECONDS = 15.0  # with less, no review would come to an end
_MAX_FAILURES = 3  # in a row, before the first review that does not fail
NO_TIME = "there was no time for them"
STORE_AWAY = "the store did not answer"
DEFECT = "a defect, which is logged"

REVIEWS = Table(
    "review:{version}:{reference}:{commit}",
    ReviewResult,
    "a review of a pull request for bugs",
    days=90,  # as long as the summaries that it stands beside
    survives_reset=True,
    counted_as="reviews",
)


# --- what is kept


def find_reviewer(app: App) -> Reviewer | None:
    """Return who reviews; None without a model or a budget. What stands in for a model reviews nothing."""
    settings = app.settings
    if app.chat is None or app.sources.stands_in or not settings.prdigest_review_budget:
        return None
    return Reviewer(
        app.chat,
        settings.prdigest_answer_model,
        app.provider.prices,
        min(settings.prdigest_diff_tokens, MAX_DIFF_TOKENS),
        app.code,
        app.sleep,
        app.paths.get_path_classes,
    )


def get_review(app: App, pull: PullRequest) -> BugReview | None:
    """Return the review of a pull request if it is merged and has one; none is made here."""
    if not pull.is_merged:
        return None
    reviewer = find_reviewer(app)
    if reviewer is None:
        return app.sources.get_written_review(pull)
    kept = app.cached.get(REVIEWS, *build_key(reviewer, pull))
    return kept.review if kept else None


def review_once(app: App, reviewer: Reviewer, pull: PullRequest, cost: ReviewCost, use: str = "") -> ReviewResult:
    """Return the kept review of a merged pull request whose files are loaded, or review it now.

    One process reviews it at a time: the next one takes what the first one kept. What is kept for another ``use``
    is another review. Raises what :meth:`Reviewer.review` raises.
    """
    key = build_key(reviewer, pull, use)

    def review() -> ReviewResult:
        # an evaluation must not learn from the record what became of a merge
        return reviewer.review(pull, cost, NO_NEIGHBORS if use else find_neighbors(app, pull))

    return app.cached.remember(REVIEWS, review, *key)


def build_key(reviewer: Reviewer, pull: PullRequest, use: str = "") -> tuple[str, Reference, str]:
    classes = reviewer.classes_of(pull.repository)
    made_with = f"{use}{reviewer.model} {REVIEW_VERSION} {reviewer.diff_tokens} {classes.fingerprint}"
    version = hashlib.sha256(made_with.encode()).hexdigest()[:12]
    return version, Reference(pull.repository, pull.number), pull.commit


# --- the reviews of a day


@dataclass
class _Day:
    """The reviews of a day so far. ``stop`` is the first reason, as a clause, why no further one begins."""

    waiting: deque[Entry]
    reviews: dict[int, BugReview] = field(default_factory=dict)
    costs: list[ReviewCost] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    stop: str = ""

    def end(self, why: str) -> None:
        self.stop = self.stop or why


def add_kept_reviews(
    entries: tuple[Entry, ...], find: Callable[[PullRequest], BugReview | None]
) -> tuple[tuple[Entry, ...], ReviewCoverage]:
    """Return the entries with the reviews that exist; none is missed. For previews, reports and samples."""
    try:
        reviews = {entry.number: find(entry.pull) for entry in entries}
    except PrdigestError as error:
        log.warning("no reviews: %s", error)
        return entries, ReviewCoverage(len(entries), 0, str(error).rstrip("."))
    count = sum(review is not None for review in reviews.values())
    return _add_reviews(entries, reviews), ReviewCoverage(count, count)


def review_entries(
    app: App, repository: Repository, entries: tuple[Entry, ...], classes: PathClasses
) -> tuple[tuple[Entry, ...], ReviewCoverage]:
    """Return the entries with their reviews, and how many there are of those that should be.

    The entries have their patches. The riskiest are reviewed first, larger ones
    before smaller ones, side by side. A review that fails, or that the
    budget or the time does not allow, is missing and logged.
    """
    reviewer = find_reviewer(app)
    if reviewer is None:
        return add_kept_reviews(entries, lambda pull: get_review(app, pull))
    eligible = [
        entry
        for entry in entries
        if should_review(entry.pull, entry.risk, classes) and not entry.summary.is_unread
    ]
    eligible.sort(key=lambda entry: (-entry.risk.points, -entry.pull.changed_lines))
    day = _Day(deque())
    try:
        for entry in eligible:
            if kept := get_review(app, entry.pull):
                day.reviews[entry.number] = kept
            else:
                day.waiting.append(entry)
        with deadlines.bound_work(min(_MAX_SECONDS, _TIME_SHARE * deadlines.get_seconds_left())):
            _review_waiting(app, reviewer, day)
    except PrdigestError as error:
        log.warning("reviews of %s end: %s", repository, error)
        day.end(STORE_AWAY)
    except Exception:
        log.exception("a defect in the reviews of %s", repository)
        day.end(DEFECT)
    stop = day.stop
    if day.failures and not stop:
        stop = f"{format_count(len(day.failures), 'review')} failed ({day.failures[0]})"
    dollars = [cost.dollars for cost in day.costs]
    cost = None if None in dollars else sum(each for each in dollars if each is not None)
    if stop:
        log.info("%d of %d reviews of %s: %s", len(day.reviews), len(eligible), repository, stop)
    return _add_reviews(entries, day.reviews), ReviewCoverage(len(eligible), len(day.reviews), stop, cost)


def _review_waiting(app: App, reviewer: Reviewer, day: _Day) -> None:
    """Review what waits. What the budget refuses meanwhile is tried again: reviews cost less than they reserve."""
    running: dict[Future[BugReview], Entry] = {}
    with DeadlineExecutor(app.settings.prdigest_concurrency, "reviews") as crew:
        while day.waiting or running:
            if deadlines.get_seconds_left() < _MIN_SECONDS and day.waiting:
                day.end(NO_TIME)
            is_refused = _start_reviews(app, reviewer, crew, running, day)
            if not running:
                if is_refused:
                    day.end(BudgetRefusal.REVIEWS_USED.clause)
                return
            done, _ = wait(running, deadlines.get_seconds_left(), FIRST_COMPLETED)
            if not done:
                day.end(NO_TIME)
                return
            for future in done:
                _note_result(running.pop(future), future, day)


def _start_reviews(
    app: App, reviewer: Reviewer, crew: DeadlineExecutor, running: dict[Future[BugReview], Entry], day: _Day
) -> bool:
    """Start a review for each free worker; return whether the budget refused one. Raises StoreUnavailable."""
    while day.waiting and len(running) < app.settings.prdigest_concurrency and not day.stop:
        entry = day.waiting[0]
        cost = reviewer.start_cost(entry.pull)
        hold = app.budget.reserve_review(cost.reserved)
        if hold is None:
            return True
        day.waiting.popleft()
        day.costs.append(cost)
        running[crew.submit(_review_entry, app, reviewer, entry, hold, cost)] = entry
    return False


def _review_entry(app: App, reviewer: Reviewer, entry: Entry, hold: BudgetHold, cost: ReviewCost) -> BugReview:
    try:
        return review_once(app, reviewer, entry.pull, cost).review
    finally:
        app.budget.settle_cost(hold, cost.cautious_dollars)


def _note_result(entry: Entry, future: Future[BugReview], day: _Day) -> None:
    """Note a review or its failure. Without budget or model, no further one begins."""
    try:
        day.reviews[entry.number] = future.result(0)
    except BudgetExceeded as error:
        day.end(str(error))
    except (ModelBusy, ModelRequestRejected) as error:
        day.failures.append(str(error))
        # a model that is away is not waited for once more for each of the others
        if len(day.failures) >= _MAX_FAILURES and not day.reviews:
            day.end(str(error))
    except PrdigestError as error:
        log.info("no review of %s#%d: %s", entry.pull.repository, entry.number, error)
        day.failures.append(str(error))
    except Exception as error:
        log_defect(entry.pull, error)
        day.failures.append(DEFECT)


def _add_reviews(entries: tuple[Entry, ...], reviews: Mapping[int, BugReview | None]) -> tuple[Entry, ...]:
    return tuple(replace(entry, review=reviews.get(entry.number)) for entry in entries)
