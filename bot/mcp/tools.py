"""The tools, in the order in which clients list them: those of answers in Slack, then those of agents alone."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, timedelta
from functools import partial
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from bot.dates import Span
from bot.errors import TimeLimitExceeded, UsageError
from bot.features.digest.service import render_kept_report
from bot.features.merges.outcomes import MergeOutcome, RevertIndex
from bot.features.merges.timeline import MergeList
from bot.features.merges.view import format_end, format_outcome
from bot.features.profiles.scanning import find_pin
from bot.features.questions import tools as answers
from bot.features.questions.reading import ReadingSession
from bot.features.questions.tools import SHARED_TOOLS, ProfileArguments, WordList
from bot.features.releases import build_release, count_hits
from bot.features.summaries.service import get_cached_entry
from bot.features.touches import service as touching
from bot.features.touches.contracts import build_contract_list, list_own_merges, read_contracts
from bot.features.touches.requests import BrokeRequest, ContractRequest, UpgradeRequest
from bot.features.touches.team_history import read_lessons
from bot.features.touches.terminal import format_suspects
from bot.features.touches.upgrade_view import render_upgrade
from bot.mcp.declaration import (
    Days,
    FilePath,
    Item,
    ItemList,
    LastLine,
    Line,
    NumberInPlaceOfDays,
    ProfileName,
    RepositoryName,
    Title,
    agent_tool,
    share_tool,
)
from bot.platform import deadlines
from bot.platform.git.reading import open_clone_trees
from bot.platform.models.tools import ToolName
from bot.platform.pulls.models import PullRequest, Reference, remove_duplicates
from bot.platform.pulls.paths import Filters
from bot.platform.source.reading import select_lines
from bot.text import format_count
from impact.clones.kept_readings import find_kept_readings
from impact.clones.tree_scan import DownstreamTree, explain_uses, select_uses
from impact.clones.upstream_reader import JudgedRange, UpstreamReader
from impact.contract.models import ChangeKind, MergeContract, cover_contracts, name_merge
from impact.coverage import COMPLETE, Coverage, CoveredList, CoveredPart
from impact.documents import (
    ChangeRow,
    CommitRow,
    DeprecationRow,
    GuideRow,
    MigrationRow,
    Row,
    SpentRow,
    UseRow,
    describe_deprecation,
    list_commit_rows,
    list_guide_rows,
    list_spent_rows,
    list_use_rows,
)
from impact.history.outcomes import find_outcomes
from impact.history.reverts import WATCH_WINDOW
from impact.profile.models import UseKind
from impact.repository import Repository
from impact.text.strings import quote_input, truncate_text
from impact.touches.models import JudgedCommit, TouchReport

# touches of a merge, and uses of each
_MAX_MIGRATIONS, _MAX_SHOWN = 3, 10
# a traceback is pasted as it is
_MAX_TRACEBACK, _MAX_ERROR_INPUT = 100_000, 110_000


class ContractItem(ChangeRow):
    """The change with its merge, and how upstream changed its own callers."""

    number: int
    title: Title
    commit: str
    migrations: list[MigrationRow]


@agent_tool(
    "contract_changes",
    "List what merges change for others",
    "What merges change for those who build on the repository: functions, classes, flags, environment "
    "variables, endpoints and the like that were removed, moved, renamed or got another signature or default. "
    "Each has the line before and after, and how upstream changed its own callers. Of one pull request or of "
    "days.",
    item=ContractItem,
)
def list_contract_changes(
    session: ReadingSession,
    number: NumberInPlaceOfDays = 0,
    days: Days = "",
    repository: RepositoryName = "",
    paths: Annotated[WordList, Field(description="globs of changed files, as in .gitignore")] = (),
    name: Annotated[str, Field(max_length=200, description="a part of the changed name")] = "",
) -> ItemList:
    asked, filters = session.parse_repository(repository), Filters(paths=paths)
    if number:
        pull = session.get_entry(asked, number).pull
        if not pull.is_merged:
            raise UsageError(f"#{pull.number} was not merged: read its diff.")
        read = read_contracts(session.app, [pull] if filters.is_match(pull) else [])
        contracts, about, notes = CoveredList(read, cover_contracts(read)), f"#{pull.number} of {asked}", ""
    else:
        request = ContractRequest(asked, session.parse_days(days), filters)
        listed = build_contract_list(session.app, request)
        contracts = listed.contracts
        about = f"{format_count(listed.merged, 'merge')} of {asked}, {request.span}"
        notes = "".join(f"; {note}" for note in listed.notes)
    items = contracts.derive_each("merges", lambda each: name_merge(each.number), partial(_list_items, name=name))
    return ItemList(f"contract changes of {about}{notes}", items)


def _list_items(contract: MergeContract, name: str) -> Iterator[ContractItem]:
    """Yield the changes whose names hold a text, without those that are the same from outside."""
    yield from (
        ContractItem(
            **dict(ChangeRow.model_validate(change)),
            number=contract.number,
            title=contract.title,
            commit=contract.commit,
            migrations=[
                *map(MigrationRow.model_validate, contract.migrations.get(change.name, ())[:_MAX_MIGRATIONS])
            ],
        )
        for change in contract.changes
        if change.kind is not ChangeKind.BEHAVIOUR and name.strip().casefold() in change.name.casefold()
    )


@agent_tool(
    "suspects",
    "Find the merge behind an error",
    "Which merges explain an error, the likeliest first, each with the changed line that it rests on. Code "
    "compares the names in the error with what merges changed.",
    most_input=_MAX_ERROR_INPUT,
)
def find_suspects(
    session: ReadingSession,
    traceback: Annotated[
        str, Field(min_length=1, max_length=_MAX_TRACEBACK, description="the whole traceback, or its last line")
    ],
    since: Annotated[
        str,
        Field(
            pattern=r"^(?:[0-9a-f]{7,40}|\d{4}-\d\d-\d\d|\d{1,3}[dw])$",
            description="last commit or day that worked",
        ),
    ],
    repository: RepositoryName = "",
) -> str:
    request = BrokeRequest.build(session.parse_repository(repository), traceback, since, session.today)
    return format_suspects(touching.find_suspects(session.app, request))


# --- the profiles that the operator shows


@agent_tool(
    "touches",
    "List what touches a team's code",
    "What the merges of some days do to a team's own code: each merge that breaks, may break or touches it. "
    "Each has the changed name, the reason, what to do, and the team's files and lines that use it.",
    item=CommitRow,
    needs="profiles",
)
def list_touches(session: ReadingSession, days: Days = "", profile: ProfileName = "") -> ItemList:
    """List what touches a team's code, the strongest first. It does not count as shown to the team."""
    app = session.app
    entry, span = touching.find_entry(app, profile), session.parse_days(days)
    merged = list_own_merges(app, entry.upstream, span)
    report, contracts = touching.judge_merges(app, entry.name, merged.pulls, merged.coverage)
    about = (
        f"what touches the profile {entry.name} among {format_count(report.merges, 'merge')} of {entry.upstream}, "
        f"{span}, judged by code against {format_count(report.uses, 'use')}; {report.judges}"
    )
    return _list_hits(f"{about}{''.join(f'; {note}' for note in merged.notes)}", report, contracts)


def _list_hits(
    about: str, report: TouchReport, contracts: Iterable[MergeContract], **parts: CoveredList[Any]
) -> ItemList:
    by_commit = {each.commit: each for each in contracts}
    hits = report.touching.derive(lambda merges: (JudgedCommit(each, by_commit[each.commit]) for each in merges))
    return ItemList(about, list_commit_rows(hits, {}, _MAX_SHOWN), parts)


@agent_tool(
    "pending",
    "List what waits since a team's pin",
    "What touches a team's own code since the commit that its tree pins, and was neither closed nor reverted: "
    "each such merge as the tool touches gives it. Also which of the team's patches, overrides and copies of "
    "upstream's functions may go by now, each with why.",
    item=CommitRow,
    needs="profiles",
    may_go=SpentRow,
)
def list_pending(session: ReadingSession, profile: ProfileName = "") -> ItemList:
    app = session.app
    entry = touching.find_entry(app, profile)
    scanned = app.profiles.require_scanned(entry)
    if entry.pin is None:
        raise UsageError(f"The tree of {entry.name} pins no merge of {entry.upstream} that is known.")
    pending, report, contracts = touching.judge_pending(app, entry, scanned, entry.pin)
    about = (
        f"what waits for the profile {entry.name} among {format_count(pending.merges, 'merge')} of "
        f"{entry.upstream} since its pin {pending.pin} ({format_count(pending.days, 'day')} ago); {report.judges}"
    )
    return _list_hits(about, report, contracts, may_go=list_spent_rows(pending.spent))


class NamedItem(Item):
    """A merge, and why it is named."""

    pr: int
    title: Title
    why: str = Field(description="what is wrong with it and what became of it, or what it repairs")


@agent_tool(
    "release",
    "Say what a release means for a team",
    "What a tag of the repository means for a team's own code since its pin: each merge in it that touches that "
    "code, as the tool touches gives it. Also what ends in it, and what of the team's code may go. Then come what "
    "is known to be wrong in it, and the repairs that the team waits for and that it is the first to hold.",
    item=CommitRow,
    needs="profiles",
    ends=DeprecationRow,
    may_go=SpentRow,
    known_wrong=NamedItem,
    awaited=NamedItem,
)
def describe_release(
    session: ReadingSession,
    tag: Annotated[str, Field(max_length=100, description="such as v1.2.0; default: the last release")] = "",
    profile: ProfileName = "",
) -> ItemList:
    """Say what ``/prdigest release`` says. What somebody watches is told to that person alone, in Slack."""
    report = build_release(session.app, touching.find_entry(session.app, profile), tag.strip())
    wrong = [(each.pull, f"{format_outcome(each)} #{each.by.number}") for each in report.regressions]

    def list_named(pairs: Iterable[tuple[PullRequest, str]]) -> CoveredList[NamedItem]:
        return CoveredList(tuple(NamedItem(pr=pull.number, title=pull.title, why=why) for pull, why in pairs))

    return _list_hits(
        f"what {report.tag.name} of {report.entry.upstream} means for the profile {report.entry.name}. "
        f"{count_hits(report)} {report.touches.judges}",
        report.touches,
        report.contracts,
        ends=report.deprecations.derive(lambda ending: map(describe_deprecation, ending)),
        may_go=list_spent_rows(report.pending.spent),
        known_wrong=list_named([*wrong, *report.warnings]),
        awaited=list_named(report.awaited),
    )


@agent_tool(
    ToolName.FIND_PROFILE_USES,
    "Find a name in a team's code",
    "Where a team's own code uses something of the repository: the lines that use a name, or those of a file "
    "of theirs, with their place.",
    needs="profiles",
)
def find_profile_uses(
    session: ReadingSession,
    name: Annotated[str, ProfileArguments.model_fields["name"]],
    profile: ProfileName = "",
) -> str:
    profiles = session.app.profiles
    scanned = profiles.require_scanned(touching.find_entry(session.app, profile))
    return answers.search_profile(session, scanned, ProfileArguments(name=name))


class LessonItem(Row):
    """A commit in which the team adapted to a change of a name."""

    name: Title
    commit: str
    date: str
    subject: Title = Field(description="the team's own words")
    files: list[Title] = Field(description="its files that use the name, without tests")
    pr: int | None = Field(description="the pull request of upstream that changed the name; null: it names none")
    url: str


@agent_tool(
    "lessons",
    "Say how a team adapted to a name before",
    "In which commits a team adapted its own code to changes of a function, class or variable of the repository, "
    "the newest first. Each has its subject, the files, and the pull request that it followed if it names that.",
    item=LessonItem,
    needs="profiles",
)
def list_lessons(
    session: ReadingSession,
    name: Annotated[
        str, Field(min_length=1, max_length=200, description="a name or its last parts, as Scheduler.schedule")
    ],
    profile: ProfileName = "",
) -> ItemList:
    app, asked = session.app, name.strip()
    entry = touching.find_entry(app, profile)
    scanned = app.profiles.require_scanned(entry)
    if not scanned.explains:
        raise UsageError(f"The profile {entry.name} keeps its lines from models (explain: off).")
    known = dict.fromkeys(each for use in scanned.uses for each in (*use.definitions, use.name))
    names = [each for each in known if f".{each}".endswith(f".{asked}")]
    lessons = read_lessons(app, entry, scanned, names[:_MAX_SHOWN] or [asked])
    items = tuple(
        LessonItem(
            name=each,
            commit=lesson.commit,
            date=f"{lesson.committed_at:%Y-%m-%d}",
            subject=lesson.subject,
            files=[*lesson.paths[:_MAX_SHOWN]],
            pr=lesson.number or None,
            url=lessons.link(lesson),
        )
        for each, of_name in lessons.by_name.items()
        for lesson in of_name
    )
    gap = Coverage.of(CoveredPart("the history of your code", 1, 0, lessons.gap)) if lessons.gap else COMPLETE
    return ItemList(f"how {entry.name} adapted to {asked} before", CoveredList(items, gap))


@agent_tool(
    "upgrade_plan",
    "Plan the way to a later commit",
    "What a team has to do to move from a commit to the newest one, by its own files. A long way takes "
    "several calls: what was read is kept.",
    needs="profiles",
)
def plan_way(
    session: ReadingSession,
    start: Annotated[
        str, Field(max_length=100, description="commit or tag; default: what the team's tree pins")
    ] = "",
    profile: ProfileName = "",
) -> str:
    app = session.app
    entry = touching.find_entry(app, profile)
    commit = UpgradeRequest.parse(start).start
    pin, merge = find_pin(app, entry.upstream, commit, app.profiles.require_scanned(entry))
    plan = touching.plan_upgrade(app, merge, entry)
    return render_upgrade(plan, f"{app.repositories.web}/{entry.upstream}", pin)


# --- local clones

MAX_COMMITS = 500
# hashes of 40 characters, each with quotes and a comma
_MAX_INPUT = 25_000
# touches of a commit, and uses of each
_MAX_SHOWN_USES = 10
# seconds of a call that are left for what has no progress: to judge, and to say why lines stand there
_RESERVED = 10.0
# a reading takes all cores, so that two at a time would both take longer than a call may
_ONE_AT_A_TIME = threading.Lock()

Commit: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{7,40}$", description="hash, 7 to 40 digits")]
At: TypeAlias = Annotated[
    str, Field(pattern=r"^(?:[0-9a-f]{7,40})?$", description="commit of your clone; default: its newest one")
]
Base: TypeAlias = Annotated[
    str,
    Field(
        pattern=r"^(?:[0-9a-f]{7,40})?$",
        description="commit of upstream that your code stands on; default: the one before, or what it pins",
    ),
]
Clone: TypeAlias = Annotated[str, Field(max_length=100, description="name of a clone; default: the operator's")]
Kind: TypeAlias = Literal[tuple(kind.name.lower() for kind in UseKind)]  # type: ignore[valid-type]


@contextmanager
def _open_clones(
    session: ReadingSession, upstream: str, downstream: str, at: str
) -> Iterator[tuple[UpstreamReader, DownstreamTree]]:
    """Yield a reader of the one clone and the tree of the other. Raises UsageError, TimeLimitExceeded."""
    folders = {folder.name.removesuffix(".git"): folder for folder in session.app.settings.prdigest_mcp_clones}
    first, *others = folders
    ours = downstream or (others[0] if len(others) == 1 else "")
    for name in (upstream or first, ours):
        if name not in folders:
            raise UsageError(f"{quote_input(name)} is no clone that I may read: use {', '.join(folders)}.")
    if not _ONE_AT_A_TIME.acquire(timeout=min(deadlines.get_seconds_left(), threading.TIMEOUT_MAX)):
        raise TimeLimitExceeded("Another call reads the clones: try again in a minute.")
    kept = find_kept_readings(os.environ)

    def check_time(done: int, total: int) -> None:
        deadlines.get_limit().ending.raise_if_triggered()
        if deadlines.get_seconds_left() < _RESERVED and done < total:
            again = (
                "and keep them: ask again, and I go on from there" if kept else "and no more: name fewer commits"
            )
            raise TimeLimitExceeded(f"I have read {done:,} of {total:,} files or commits, {again}.")

    try:
        with ExitStack() as stack:
            trees = [stack.enter_context(open_clone_trees(folders[name])) for name in (upstream or first, ours)]
            now = session.app.now().astimezone(UTC)
            reader = UpstreamReader(trees[0], None, check_time, kept)
            yield reader, DownstreamTree(trees[1], ours, now, at)
    finally:
        _ONE_AT_A_TIME.release()


def _judge(reader: UpstreamReader, tree: DownstreamTree, names: Sequence[str], base: str) -> JudgedRange:
    line, until = reader.select_commits(names, MAX_COMMITS), deadlines.get_limit().end - _RESERVED
    return reader.judge(line, partial(reader.scan, tree), base, tree.trees, until)


@agent_tool(
    "judge_commits",
    "Judge commits by a team's code",
    "What commits of upstream do to the team's code at one of its commits, by local clones. Each has a row, and "
    "the level of those that do nothing is no. A level of null says that not all of a commit could be read. "
    "Pass either hashes or a range.",
    item=CommitRow,
    needs="clones",
    most_input=_MAX_INPUT,
)
def judge_commits(
    session: ReadingSession,
    commits: Annotated[Sequence[Commit], Field(max_length=MAX_COMMITS)] = (),
    range: Annotated[  # noqa: A002 (as clients read it)
        str,
        Field(
            pattern=r"^(?:[\w./+-]{1,100}\.\.[\w/+-][\w./+-]{0,99})?$", description="BASE..TARGET, without BASE"
        ),
    ] = "",
    at: At = "",
    base: Base = "",
    downstream: Clone = "",
    upstream: Clone = "",
) -> ItemList:
    if bool(commits) == bool(range):
        raise UsageError("Pass either commits or a range, such as 97f2f160fd..c9461e05a4.")
    with _open_clones(session, upstream, downstream, at) as (reader, tree):
        judged = _judge(reader, tree, commits or (range,), base)
        reasons = explain_uses(tree.trees, judged.profile.commit, judged.uses)
    profile = judged.profile
    rows = list_commit_rows(judged.commits, reasons, _MAX_SHOWN_USES)
    return ItemList(
        f"what commits of upstream after {judged.base[:10]} do to {profile.name} at {profile.commit[:10]}, judged "
        f"by code against {format_count(len(profile.uses), 'use')}. {judged.judges}",
        rows,
    )


@agent_tool(
    "commit_guide",
    "Say what adapting to a commit takes",
    "What adapting the team's code to one commit of upstream takes: what changed, the lines of the team and why "
    "they stand there. Also how upstream changed its own callers, what its description says on that, and tests "
    "on both sides.",
    item=GuideRow,
    needs="clones",
)
def guide_commit(
    session: ReadingSession,
    *,
    commit: Commit,
    at: At = "",
    base: Base = "",
    downstream: Clone = "",
    upstream: Clone = "",
) -> ItemList:
    with _open_clones(session, upstream, downstream, at) as (reader, tree):
        judged = _judge(reader, tree, (commit,), base)
        reasons = explain_uses(tree.trees, judged.profile.commit, judged.uses)
    guides = list_guide_rows(judged.commits, judged.profile, judged.messages, reasons)
    return ItemList(f"how to adapt {judged.profile.name} to {commit[:10]}. {judged.judges}", guides)


@agent_tool(
    "uses_by_kind",
    "List the uses of upstream by kind",
    "The lines of the team's code that use upstream, such as all that override or replace something of it. Each "
    "has why it stands there if a comment or docstring says so.",
    item=UseRow,
    needs="clones",
)
def list_uses(
    session: ReadingSession,
    kinds: Annotated[Sequence[Kind], Field(max_length=len(UseKind), description="default: all")] = (),
    name: Annotated[str, Field(max_length=300, description="a name of upstream, or a path of the team's")] = "",
    at: At = "",
    base: Base = "",
    downstream: Clone = "",
    upstream: Clone = "",
) -> ItemList:
    with _open_clones(session, upstream, downstream, at) as (reader, tree):
        profile = reader.scan(tree, reader.find_base(base))
        uses = select_uses(profile, [UseKind[kind.upper()] for kind in kinds], name)
        reasons = explain_uses(tree.trees, profile.commit, uses.ignore_coverage())
    about = f"the uses of upstream in {profile.name} at {profile.commit[:10]}"
    return ItemList(about, list_use_rows(uses, reasons))


# --- the tools in their order

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
    list_contract_changes,
    find_suspects,
    list_touches,
    list_pending,
    describe_release,
    find_profile_uses,
    list_lessons,
    plan_way,
    judge_commits,
    guide_commit,
    list_uses,
)
