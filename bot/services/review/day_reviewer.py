"""Reviews of a day: the riskiest pull requests first, side by side, within a budget and the time of the digest."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace

from bot.domain.digest.models import Entry
from bot.domain.errors import BudgetExceeded, ModelBusy, ModelRequestRejected, PrdigestError
from bot.domain.operations.usage import BudgetRefusal
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.pull_requests.path_classes import PathClasses
from bot.domain.review.eligibility import should_review
from bot.domain.review.models import NO_REVIEWS, BugReview, ReviewCoverage
from bot.domain.text.strings import format_count
from bot.platform import deadlines
from bot.platform.costs import Budget
from bot.platform.store.spending import BudgetHold
from bot.services.operations.worker_threads import DeadlineExecutor
from bot.services.review.conversation import ReviewCost
from bot.services.review.kept_reviews import BugReviews
from bot.services.summaries.reader import log_defect

log = logging.getLogger(__name__)

# seconds for all reviews of a day: 20 reviews of a minute take three minutes, eight at a time
_MAX_SECONDS = 240.0
# of the time that the work has left: further days, the overview and Slack need the rest
_TIME_SHARE = 0.25
# seconds: with less, no review would come to an end
_MIN_SECONDS = 15.0
# reviews that fail in a row before the first one that does not
_MAX_FAILURES = 3
NO_TIME = "there was no time for them"
STORE_AWAY = "the store did not answer"
DEFECT = "a defect, which is logged"


@dataclass
class _DayProgress:
    """The reviews of a day so far. ``stop`` is the first reason, as a clause, why no further one begins."""

    waiting: deque[Entry]
    reviews: dict[int, BugReview] = field(default_factory=dict)
    costs: list[ReviewCost] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    stop: str = ""

    def describe_stop(self) -> str:
        """Return why not all were reviewed, as a clause; empty if all were."""
        if self.stop or not self.failures:
            return self.stop
        return f"{format_count(len(self.failures), 'review')} failed ({self.failures[0]})"

    def sum_costs(self) -> float | None:
        """Return the cost in US dollars, None if a price is unknown."""
        dollars = [cost.dollars for cost in self.costs]
        return None if None in dollars else sum(each for each in dollars if each is not None)


class DayReviewer:
    """Reviewer of the pull requests of a day; ``workers`` at a time."""

    def __init__(self, reviews: BugReviews, budget: Budget, workers: int) -> None:
        self._reviews = reviews
        self._budget = budget
        self._workers = workers

    def review_entries(
        self, repository: Repository, entries: tuple[Entry, ...], classes: PathClasses
    ) -> tuple[tuple[Entry, ...], ReviewCoverage]:
        """Return the entries with their reviews, and how many there are of those that should be.

        The entries have their patches. The riskiest are reviewed first. A review that fails, or that the budget
        or the time does not allow, is missing and logged.
        """
        eligible = [
            entry
            for entry in entries
            if should_review(entry.pull, entry.risk, classes) and not entry.summary.is_unread
        ]
        eligible.sort(key=lambda entry: -entry.risk.points)
        progress = _DayProgress(deque())
        try:
            self._take_kept(eligible, progress)
            with deadlines.bound_work(min(_MAX_SECONDS, _TIME_SHARE * deadlines.get_seconds_left())):
                self._review_waiting(progress)
        except PrdigestError as error:
            log.warning("reviews of %s end: %s", repository, error)
            progress.stop = progress.stop or STORE_AWAY
        except Exception:
            log.exception("a defect in the reviews of %s", repository)
            progress.stop = progress.stop or DEFECT
        coverage = ReviewCoverage(
            len(eligible), len(progress.reviews), progress.describe_stop(), progress.sum_costs()
        )
        if coverage.stop:
            log.info("%d of %d reviews of %s: %s", coverage.reviewed, coverage.eligible, repository, coverage.stop)
        return _add_reviews(entries, progress.reviews), coverage

    def _take_kept(self, eligible: Iterable[Entry], progress: _DayProgress) -> None:
        for entry in eligible:
            kept = self._reviews.get_cached_review(entry.pull)
            if kept:
                progress.reviews[entry.number] = kept
            else:
                progress.waiting.append(entry)

    def _review_waiting(self, progress: _DayProgress) -> None:
        """Review what waits, until all is done or something stops it.

        What the budget refuses while reviews run is tried again once one has ended: they cost less than they
        reserve.
        """
        running: dict[Future[BugReview], Entry] = {}
        with DeadlineExecutor(self._workers, "reviews") as crew:
            while progress.waiting or running:
                if deadlines.get_seconds_left() < _MIN_SECONDS and progress.waiting:
                    progress.stop = progress.stop or NO_TIME
                refused = self._start_reviews(crew, running, progress)
                if not running:
                    if refused:
                        progress.stop = progress.stop or BudgetRefusal.REVIEWS_USED.clause
                    return
                done, _ = wait(running, deadlines.get_seconds_left(), FIRST_COMPLETED)
                if not done:
                    progress.stop = progress.stop or NO_TIME
                    return
                for future in done:
                    self._note_result(running.pop(future), future, progress)

    def _start_reviews(
        self, crew: DeadlineExecutor, running: dict[Future[BugReview], Entry], progress: _DayProgress
    ) -> bool:
        """Start a review for each free worker; return whether the budget refused one.

        Raises StoreUnavailable.
        """
        while progress.waiting and len(running) < self._workers and not progress.stop:
            entry = progress.waiting[0]
            cost = self._reviews.reviewer.model.start_cost(entry.pull)
            hold = self._budget.reserve_review(cost.reserved)
            if hold is None:
                return True
            progress.waiting.popleft()
            progress.costs.append(cost)
            running[crew.submit(self._review_entry, entry, hold, cost)] = entry
        return False

    def _review_entry(self, entry: Entry, hold: BudgetHold, cost: ReviewCost) -> BugReview:
        try:
            return self._reviews.review_pull_request(entry.pull, cost).review
        finally:
            self._budget.settle_cost(hold, cost.cautious_dollars)

    def _note_result(self, entry: Entry, future: Future[BugReview], progress: _DayProgress) -> None:
        """Note a review or its failure. Without budget or model, no further one begins."""
        try:
            progress.reviews[entry.number] = future.result(0)
        except BudgetExceeded as error:
            progress.stop = progress.stop or str(error)
        except (ModelBusy, ModelRequestRejected) as error:
            progress.failures.append(str(error))
            # a model that is away is not waited for once more for each of the others
            if len(progress.failures) >= _MAX_FAILURES and not progress.reviews:
                progress.stop = progress.stop or str(error)
        except PrdigestError as error:
            log.info("no review of %s#%d: %s", entry.pull.repository, entry.number, error)
            progress.failures.append(str(error))
        except Exception as error:
            log_defect(entry.pull, error)
            progress.failures.append(DEFECT)


class KeptReviewer:
    """Reviewer that adds only the reviews that ``get_review`` knows: for previews, reports and samples."""

    def __init__(self, get_review: Callable[[PullRequest], BugReview | None]) -> None:
        self._get_review = get_review

    def review_entries(
        self, repository: Repository, entries: tuple[Entry, ...], classes: PathClasses
    ) -> tuple[tuple[Entry, ...], ReviewCoverage]:
        """Return the entries with their known reviews; none is missed."""
        try:
            kept = {entry.number: self._get_review(entry.pull) for entry in entries}
        except PrdigestError as error:
            log.warning("no reviews of %s: %s", repository, error)
            return entries, NO_REVIEWS
        reviews = {number: review for number, review in kept.items() if review}
        return _add_reviews(entries, reviews), ReviewCoverage(len(reviews), len(reviews))


def _add_reviews(entries: Iterable[Entry], reviews: dict[int, BugReview]) -> tuple[Entry, ...]:
    return tuple(replace(entry, review=reviews.get(entry.number)) for entry in entries)
