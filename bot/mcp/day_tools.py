"""The tools over days: reports, and what became of merges."""

from __future__ import annotations

from datetime import timedelta

from pydantic import BaseModel, Field

from bot.domain.errors import UsageError
from bot.domain.history.pull_outcomes import MergeOutcome, RevertIndex
from bot.domain.pull_requests.models import Repository, remove_duplicates
from bot.domain.text.strings import format_count
from bot.domain.time.date_range import Span
from bot.mcp.arguments import OutcomeArguments, ReportArguments
from bot.mcp.declaration import ItemList, ToolContext
from bot.mcp.paging import shorten
from impact.history.outcomes import find_outcomes
from impact.history.reverts import WATCH_WINDOW

_MAX_TITLE = 200


class OutcomeItem(BaseModel):
    """A merge that a later one reverted or repaired."""

    number: int
    title: str
    outcome: str = Field(description="reverted, reverted in part, or repaired")
    by: int = Field(description="the later pull request")
    by_title: str
    at: str = Field(description="when that was merged, UTC")
    stands: bool = Field(description="false if the later one was itself reverted")


def render_reports(context: ToolContext, arguments: ReportArguments) -> str:
    """Return the reports of some days. Raises UsageError if none of them has one."""
    session, sources = context.session, context.sources
    repository, span = session.parse_repository(arguments.repository), session.parse_days(arguments.days)
    reports, missing = [], []
    for day in reversed(span.days):
        try:
            reports.append(sources.render_report(repository, day, sources.name_of(repository)))
        except UsageError as error:
            missing.append(error)
    if not reports:
        raise missing[0]
    return "\n".join([*(str(error) for error in missing), *reports])


def list_outcomes(context: ToolContext, arguments: OutcomeArguments) -> ItemList:
    """List what became of a merge, or of those of some days."""
    repository = context.session.parse_repository(arguments.repository)
    if arguments.number:
        return _list_outcomes_of_one(context, repository, arguments.number)
    span = context.session.parse_days(arguments.days)
    numbers = {pull.number for pull in context.session.list_merges(repository, span).pulls}
    about = f"{format_count(len(numbers), 'pull request')} of {repository}, merged {span}"
    return _list_outcomes(context, repository, span, numbers, about)


def _list_outcomes_of_one(context: ToolContext, repository: Repository, number: int) -> ItemList:
    pull = context.session.fetch_facts(repository, number)
    if not pull.is_merged:
        raise UsageError(f"#{number} was not merged: nothing can have become of it.")
    zone = context.session.today.zone
    day = pull.merge_time.astimezone(zone).date()
    return _list_outcomes(context, repository, Span(day, day, zone), {number}, f"#{number} of {repository}")


def _list_outcomes(
    context: ToolContext, repository: Repository, span: Span, numbers: set[int], about: str
) -> ItemList:
    """List the outcomes of, or by, pull requests that were merged in some days, as far as merges are known."""
    session = context.session
    last = min(session.today.date, span.last + WATCH_WINDOW)
    until = Span(span.first, max(last, span.last), span.zone)
    merged = session.list_merges(repository, until)
    recorded = session.read_history(
        repository, span.days[0].start - WATCH_WINDOW, session.today.end + timedelta(1)
    )
    known = remove_duplicates([*merged.pulls, *recorded])
    outcomes = find_outcomes(RevertIndex(known))
    items = [_build_item(each) for each in outcomes if not numbers.isdisjoint((each.pull.number, each.by.number))]
    caveats = "".join(f"; {caveat}" for caveat in merged.caveats)
    return ItemList(f"{about}, by merges until {until.last} and those recorded since{caveats}", items)


def _build_item(outcome: MergeOutcome) -> OutcomeItem:
    return OutcomeItem(
        number=outcome.pull.number,
        title=shorten(outcome.pull.title, _MAX_TITLE),
        outcome=str(outcome.kind),
        by=outcome.by.number,
        by_title=shorten(outcome.by.title, _MAX_TITLE),
        at=f"{outcome.by.merge_time:%Y-%m-%dT%H:%MZ}",
        stands=outcome.stands,
    )
