"""What people read in a digest: in the channel, in its thread, and after it was posted.

The headings and labels of the report stand in report.py, because they are its format: other tools read them, and
the pattern beside them keeps external text from imitating them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from datetime import timedelta

from bot.domain.conversations.commands import DigestRequest
from bot.domain.digest.models import Digest
from bot.domain.history.pull_outcomes import MergeOutcome
from bot.domain.pull_requests.models import PullRequest
from bot.domain.review.models import ReviewCoverage
from bot.domain.risk.assessment import Risk, RiskBand
from bot.domain.text.strings import format_count
from bot.domain.time.date_range import Span
from bot.domain.time.day import LocalDay

# titles


def format_headline(digest: Digest) -> str:
    """Format name, date and count, such as ``vLLM · Saturday 28 February 2026 · 18 merged``."""
    date = f"{digest.day.date:%A} {digest.day.date.day} {digest.day.date:%B %Y}"
    return f"{digest.name} · {date}{digest.zone_note} · {format_merge_count(digest)}"


def format_merge_count(digest: Digest) -> str:
    """Format ``18 merged`` or ``nothing merged``; ``4 of 18 merged`` if a view hides some."""
    if not digest.merged_count:
        return "nothing merged"
    return (
        f"{len(digest.entries)} of {digest.merged_count:,} merged"
        if digest.view
        else f"{digest.merged_count:,} merged"
    )


def format_available_days(*, available: int, all_days: int) -> str:
    """Return on how many of the days a digest of several days is based."""
    return f" · {available} of {all_days} days available"


def format_thread_date(date: dt.date) -> str:
    """Format the day of a message in a thread of several days, such as ``Saturday 28 February``."""
    return f"{date:%A} {date.day} {date:%B}"


def format_short_date(date: dt.date) -> str:
    """Format a date in a list, such as ``Sat 28 Feb``."""
    return f"{date:%a} {date.day} {date:%b}"


def format_part(place: int) -> str:
    """Return the name of a message of the thread."""
    return f"Part {place}"


def format_report_title(date: str, *, is_full: bool) -> str:
    """Return the title of the file; ``date`` is a day or a span."""
    return f"{'Full report' if is_full else 'Report'} of {date}"


DAYS_TITLE = "Day by day"
OUTCOMES_TITLE = "Already reverted or repaired"
SECOND_LOOK_TITLE = "Worth a second look"
ACTIONS_TITLE = "May need action"

# the overview

WITHOUT_MODEL = " (without the model)"
NOTHING_MERGED = "Nothing was merged."


def format_areas(areas: Sequence[tuple[str, int]], trivial: int) -> str:
    """Return the areas with most merges, and how many merges are trivial; empty if there are none."""
    names = ", ".join(f"{area} ({count})" for area, count in areas)
    most = [f"Most of it in {names}."] if names else []
    rest = [f"{format_count(trivial, 'pull request')} changed no product code."] if trivial else []
    return " ".join((*most, *rest))


def format_fallback_note(reason: str, *, is_alone: bool) -> str:
    """Return why no model wrote the overview; ``is_alone`` if that holds for the summaries too."""
    what = "this digest contains only facts" if is_alone else "this paragraph contains only facts"
    return f"Without the model ({reason}): {what}."


# outcomes

OUTCOMES_ELSEWHERE = ", in the thread"
TAKES_BACK_EARLIER = ", which reverts an earlier change"
ITSELF_REVERTED = ", which was itself reverted"
WAS_ITSELF_REVERTED = " was itself reverted"
LISTED_ABOVE = ". It was listed above as worth a second look."


def format_elapsed_time(elapsed: timedelta) -> str:
    """Format how long a change stood, for people: ``40 minutes``, ``1.4 h``, ``12 days``."""
    minutes = max(1, round(elapsed / timedelta(minutes=1)))
    if minutes < 60:
        return format_count(minutes, "minute")
    return f"{minutes / 60:.1f} h" if minutes < 47.9 * 60 else format_count(round(minutes / 60 / 24), "day")


def format_outcome(outcome: MergeOutcome) -> str:
    """Return what became of a change and when, such as ``reverted after 1.4 h by``; what undid it follows."""
    return f"{outcome.kind} after {format_elapsed_time(outcome.lifetime)} by"


def format_outcome_fact(outcome: MergeOutcome) -> str:
    """Return an outcome among the facts of a change, such as ``reverted after 1.4 h by #9``."""
    return f"{format_outcome(outcome)} #{outcome.by.number}{format_undone(outcome)}"


def format_outcome_reply(outcome: MergeOutcome) -> str:
    """Return an outcome as the text of a notification."""
    return f"#{outcome.pull.number} was {format_outcome(outcome)} #{outcome.by.number}"


def format_undone(outcome: MergeOutcome) -> str:
    """Return that what undid a change was itself reverted; empty if it stands."""
    return "" if outcome.stands else ITSELF_REVERTED


# a second look

NOTHING_STANDS_OUT = "Nothing stands out for a second look."
NO_REASON = "no risk rule matched"
REDUCED_LIST_NOTE = "at most one: lists here were no better than chance, see /prrisks score"
NO_HISTORY = "no history yet"
# between a pull request and what is said of it
SAID_OF = " — "
# a colour for those who see it; its word stands beside it for everybody
_MARKS = {
    RiskBand.NO_PRODUCT: "⚪",
    RiskBand.LOW: "⚪",
    RiskBand.MIDDLE: "🟡",
    RiskBand.HIGH: "🟠",
    RiskBand.HIGHEST: "🔴",
}
# before the numbers of the earlier attempts of a change, and around that of a revert
LANDS_AGAIN = "; lands again "
REVERTED_BY, REVERTED_BY_END = " (reverted by ", ")"


def format_band(risk: Risk, *, tells_history: bool = True) -> str:
    """Format the band with its mark, such as ``🔴 highest risk``, and whether the files have no history yet."""
    history = f", {NO_HISTORY}" if tells_history and risk.without_history else ""
    return f"{_MARKS[risk.band]} {risk.band.label} risk{history}"


# the rest of a list


def format_more(count: int, elsewhere: str = "") -> str:
    """Return how many more there are; ``elsewhere`` says where."""
    return f"and {count} more{elsewhere}"


def format_more_actions(count: int) -> str:
    """Return how many more actions there are; their numbers follow."""
    return f"{format_more(count)}: "


def format_numbers(numbers: Sequence[int], limit: int) -> str:
    """Return the first ``limit`` numbers of pull requests, and how many more there are."""
    rest = f" {format_more(len(numbers) - limit)}" if len(numbers) > limit else ""
    return ", ".join(f"#{number}" for number in numbers[:limit]) + rest


# the facts of a change in the thread


def format_merge_fact(pull: PullRequest, day: LocalDay) -> str:
    """Return author, time and who merged; the time is that of the digest's zone."""
    return f"{pull.author.login}, merged {day.to_local_time(pull.merge_time):%H:%M} by {pull.merged_by.login}"


# the coverage line

FULL_DIFFS = "all from full diffs"


def format_view(digest: Digest) -> str:
    """Return how many pull requests the view shows, and its filters."""
    return f"{len(digest.entries)} of {digest.merged_count:,} shown: {digest.view}"


def format_read(*, read: int, total: int) -> str:
    """Return how many of how many were read."""
    return f"{read} of {total} read"


def format_substantial(*, substantial: int, trivial: int) -> str:
    """Return how many are substantial and how many trivial."""
    return f"{substantial} substantial, {trivial} trivial"


def format_partial_diffs(numbers: str) -> str:
    """Return which summaries were not written from full diffs."""
    return f"not from full diffs: {numbers}"


def format_facts_only(numbers: str, reason: str = "") -> str:
    """Return which pull requests are shown by their facts alone, and why if ``reason`` is given."""
    return f"facts only{f' because {reason}' if reason else ''}: {numbers}"


def format_no_overview(reason: str) -> str:
    """Return why there is no overview."""
    return f"no overview because {reason}"


def format_unreadable(numbers: str) -> str:
    """Return which pull requests could not be read."""
    return f"could not be read: {numbers}"


def format_reviewed(coverage: ReviewCoverage) -> str:
    """Return how many were read a second time, for bugs, of those that should be, and why it stopped."""
    stop = f" (stopped because {coverage.stop})" if coverage.stop else ""
    return f"second reading of {coverage.reviewed:,} of {coverage.eligible:,}{stop}"


def format_cached(count: int) -> str:
    """Return how many summaries were written before."""
    return f"{count} from cache"


def format_cost(cost: float | None) -> str:
    """Format a cost in US dollars; None if it is unknown."""
    if cost is None:
        return "cost unknown"
    if cost == 0:
        return "no model cost"
    return f"${cost:.2f}" if cost >= 0.005 else "under $0.01"


# a digest whose messages were edited, or whose file is missing

MOVED_NOTE = "This text is now part of the messages above."


def format_unattached(reason: str) -> str:
    """Return that the report is missing; ``reason`` is a sentence."""
    return f"The report was not attached. {reason}"


# days that were never posted


def format_skipped_days(skipped: Span, request: DigestRequest) -> str:
    """Return which days were never posted; ``request`` is for those of them that can still be had."""
    return f"Skipped because I was offline for too long: {skipped.title}. To see it: /prdigest {request}"
