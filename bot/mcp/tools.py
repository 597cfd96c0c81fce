"""The tools, in the order in which clients list them: those of answers in Slack, then those of agents alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated

from pydantic import Field

from bot.dates import Span
from bot.errors import UsageError
from bot.features.digest.service import render_kept_report
from bot.features.merges.outcomes import MergeOutcome, RevertIndex
from bot.features.merges.timeline import MergeList
from bot.features.merges.view import format_end
from bot.features.questions.reading import ReadingSession
from bot.features.questions.tools import SHARED_TOOLS
from bot.features.summaries.service import get_cached_entry
from bot.mcp import clone_tools, touch_tools
from bot.mcp.declaration import (
    Days,
    FilePath,
    Item,
    ItemList,
    LastLine,
    Line,
    NumberInPlaceOfDays,
    RepositoryName,
    Title,
    agent_tool,
    share_tool,
)
from bot.platform.models.tools import ToolName
from bot.platform.pulls.models import PullRequest, Reference, remove_duplicates
from bot.platform.source.reading import select_lines
from bot.text import format_count
from impact.contract.models import name_merge
from impact.coverage import CoveredList
from impact.history.outcomes import find_outcomes
from impact.history.reverts import WATCH_WINDOW
from impact.repository import Repository
from impact.text.strings import truncate_text

_MAX_LINE_LENGTH = 2_000


@agent_tool(
    "file_at_commit",
    "Read a file at a commit",
    "Up to 200 lines of a file as it is at a commit: from a line on, or around a name.",
)
def read_file_at_commit(
    session: ReadingSession,
    *,
    commit: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{7,40}$", description="hash, 7 to 40 digits")],
    repository: RepositoryName = "",
    path: FilePath,
    first: Line = 1,
    last: LastLine = 0,
    around: Annotated[str, Field(max_length=200, description="a name, in place of lines")] = "",
) -> str:
    asked, files = session.parse_repository(repository), session.app.code.files
    path, commit = path.strip(), commit.lower()
    if files is None:
        raise UsageError("Files can't be read here: read the diff of a pull request.")
    file = files.read_files(asked, commit, [path])[path]
    where = f"{path} of {asked} at {commit[:10]}"
    if file.problem:
        raise UsageError(f"{where} can't be shown: {file.problem}.")
    numbers, head = select_lines(file, first, last, around)
    lines = (f"{number}: {truncate_text(file.lines[number - 1], _MAX_LINE_LENGTH)}" for number in numbers)
    return "\n".join([f"{where}, {format_count(len(file.lines), 'line')}; {head}", *lines])


@agent_tool(
    "day_report",
    "Read the reports of days",
    "The report of each of some days: every merged pull request with its summary, risk and files, as posted "
    "with the digest. A day has one once its digest was made.",
)
def read_reports(session: ReadingSession, days: Days = "", repository: RepositoryName = "") -> str:
    """Return the reports, the latest first. Raises UsageError if there is none."""
    app, asked, span = session.app, session.parse_repository(repository), session.parse_days(days)
    reports, missing = [], []
    for day in reversed(span.days):
        try:
            reports.append(render_kept_report(app, asked, day, app.name_repository(asked)))
        except UsageError as error:
            missing.append(error)
    if not reports:
        raise missing[0]
    return "\n".join([*(str(error) for error in missing), *reports])


def _list_asked(session: ReadingSession, asked: Repository, number: int, days: str) -> tuple[MergeList, str]:
    """Return one pull request, or those that were merged in some days, and what they are."""
    if number:
        return MergeList((session.fetch_facts(asked, number),), ()), f"#{number} of {asked}"
    span = session.parse_days(days)
    listed = session.list_merges(asked, span)
    return listed, f"{format_count(len(listed.pulls), 'pull request')} of {asked}, merged {span}"


class OutcomeItem(Item):
    """A merge that a later one reverted or repaired."""

    number: int
    title: Title
    outcome: str = Field(description="reverted, reverted in part, or repaired")
    by: int = Field(description="the later pull request")
    by_title: Title
    at: str = Field(description="when that was merged, UTC")
    stands: bool = Field(description="false if the later one was itself reverted")


@agent_tool(
    "outcomes",
    "List what became of merges",
    "What became of merges: which were reverted or repaired, by which later one, and whether that still "
    "stands. Of one pull request, or of all that were merged in some days.",
    item=OutcomeItem,
)
def list_outcomes(
    session: ReadingSession, number: NumberInPlaceOfDays = 0, days: Days = "", repository: RepositoryName = ""
) -> ItemList:
    """List the outcomes of pull requests, and those that they are for others, as far as merges are known."""
    asked, today = session.parse_repository(repository), session.today
    listed, about = _list_asked(session, asked, number, days)
    if number and not listed.pulls[0].is_merged:
        raise UsageError(f"#{number} was not merged: nothing can have become of it.")
    day = listed.pulls[0].merge_time.astimezone(today.zone).date() if number else today.date
    span = Span(day, day, today.zone) if number else session.parse_days(days)
    numbers = {pull.number for pull in listed.pulls}
    last = min(today.date, span.last + WATCH_WINDOW)
    until = Span(span.first, max(last, span.last), span.zone)
    merged = session.list_merges(asked, until)
    recorded = session.read_history(asked, span.days[0].start - WATCH_WINDOW, today.end + timedelta(1))

    def describe(outcome: MergeOutcome) -> Iterator[OutcomeItem]:
        yield OutcomeItem(
            number=outcome.pull.number,
            title=outcome.pull.title,
            outcome=str(outcome.kind),
            by=outcome.by.number,
            by_title=outcome.by.title,
            at=f"{outcome.by.merge_time:%Y-%m-%dT%H:%MZ}",
            stands=outcome.stands,
        )

    outcomes = find_outcomes(RevertIndex(remove_duplicates([*merged.pulls, *recorded])))
    asked_for = (each for each in outcomes if not numbers.isdisjoint((each.pull.number, each.by.number)))
    covered = CoveredList(tuple(asked_for), merged.coverage)
    items = covered.derive_each("merges", lambda each: name_merge(each.pull.number), describe)
    notes = "".join(f"; {note}" for note in merged.notes)
    about = f"{about}, by merges until {until.last} and those recorded since{notes}"
    return ItemList(about, items)


class FindingItem(Item):
    """A bug that the AI bug review found in a merge."""

    number: int
    title: Title
    status: str = Field(description="confirmed in the code, or possible")
    certainty: str
    consequence: str
    trigger: str = Field(description="the input or set-up that makes it fail")
    affected: str
    advice: str
    path: str = Field(description="of the line that it rests on; empty without proof")
    line: int
    ended: str = Field(description="what closed it, as in: Repaired by #9. Empty while it is open")


@agent_tool(
    "bug_findings",
    "List bugs found in merges",
    "Which bugs the AI bug review found in merges: what goes wrong, when, who notices it, how far it was checked, "
    "and which later merge repaired it. Of one pull request or of days. None is found where nothing was reviewed.",
    item=FindingItem,
)
def list_findings(
    session: ReadingSession, number: NumberInPlaceOfDays = 0, days: Days = "", repository: RepositoryName = ""
) -> ItemList:
    asked = session.parse_repository(repository)
    listed, about = _list_asked(session, asked, number, days)
    kept = {pull.number: get_cached_entry(session.app, Reference(asked, pull.number)) for pull in listed.pulls}
    reviewed = {number: entry for number, entry in kept.items() if entry and entry.review}

    def describe(pull: PullRequest) -> Iterator[FindingItem]:
        for finding in reviewed[pull.number].findings if pull.number in reviewed else ():
            yield FindingItem(
                number=pull.number,
                title=pull.title,
                status=finding.status,
                certainty=finding.certainty,
                consequence=finding.consequence,
                trigger=finding.trigger,
                affected=finding.affected,
                advice=finding.advice,
                path=finding.evidence.path if finding.evidence else "",
                line=finding.evidence.line if finding.evidence else 0,
                ended=format_end(finding),
            )

    merged = CoveredList(listed.pulls, listed.coverage)
    items = merged.derive_each("merges", lambda each: name_merge(each.number), describe)
    return ItemList(f"bugs found in {about}; {len(reviewed)} of {len(kept)} were reviewed", items)


_TITLES_OF_SHARED = {
    ToolName.LIST_PULL_REQUESTS: "List merged pull requests",
    ToolName.SEARCH: "Search diffs and texts",
    ToolName.PULL_REQUEST: "Describe a pull request",
    ToolName.READ_DIFF: "Read a diff or parts of it",
    ToolName.TAKEN_BACK: "List what was reverted",
    ToolName.READ_FILE: "Read a file after a pull request",
    ToolName.FIND_USES: "Find the uses of a name",
    ToolName.READ_DISCUSSION: "Read a discussion",
    ToolName.WHERE_IS: "Find the tags and pins of a merge",
}
TOOLS = (
    *(share_tool(name, title, *SHARED_TOOLS[name]) for name, title in _TITLES_OF_SHARED.items()),
    # of agents alone
    read_file_at_commit,
    read_reports,
    list_outcomes,
    list_findings,
    touch_tools.list_contract_changes,
    touch_tools.find_suspects,
    touch_tools.list_touches,
    touch_tools.list_pending,
    touch_tools.find_profile_uses,
    touch_tools.plan_way,
    clone_tools.judge_commits,
    clone_tools.guide_commit,
    clone_tools.list_uses,
)
