"""The tools over what merges change for others, and for the profiles that the operator shows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Annotated

from pydantic import Field

from bot.errors import UsageError
from bot.features.profiles.scanning import find_pin
from bot.features.questions import tools as answers
from bot.features.questions.reading import ReadingSession
from bot.features.questions.tools import ProfileArguments, WordList
from bot.features.touches import service as touching
from bot.features.touches.contracts import build_contract_list, list_own_merges, read_contracts
from bot.features.touches.requests import BrokeRequest, ContractRequest, UpgradeRequest
from bot.features.touches.terminal import format_suspects
from bot.features.touches.upgrade_view import render_upgrade
from bot.mcp.declaration import (
    Days,
    ItemList,
    NumberInPlaceOfDays,
    ProfileName,
    RepositoryName,
    Title,
    agent_tool,
)
from bot.platform.models.tools import ToolName
from bot.platform.pulls.filters import Filters
from bot.text import format_count
from impact.contract.models import ChangeKind, MergeContract, cover_contracts, name_merge
from impact.coverage import CoveredList
from impact.documents import ChangeRow, CommitRow, MigrationRow, list_commit_rows
from impact.touches.models import JudgedCommit

# touches of a merge, and uses of each
_MAX_MIGRATIONS, _MAX_SHOWN = 3, 10
# a traceback is pasted as it is
_MAX_TRACEBACK, _MAX_ERROR_INPUT = 100_000, 110_000


# --- what merges change for others


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
    by_commit = {each.commit: each for each in contracts}

    hits = report.touching.derive(lambda merges: (JudgedCommit(each, by_commit[each.commit]) for each in merges))
    items = list_commit_rows(hits, {}, _MAX_SHOWN)
    return ItemList(f"{about}{''.join(f'; {note}' for note in merged.notes)}", items)


@agent_tool(
    "pending",
    "List what waits since a team's pin",
    "What touches a team's own code since the commit that its tree pins, and was neither closed nor reverted: "
    "each such merge as the tool touches gives it.",
    item=CommitRow,
    needs="profiles",
)
def list_pending(session: ReadingSession, profile: ProfileName = "") -> ItemList:
    app = session.app
    entry = touching.find_entry(app, profile)
    scanned = app.profiles.require_scanned(entry)
    if entry.pin is None:
        raise UsageError(f"The tree of {entry.name} pins no merge of {entry.upstream} that is known.")
    pending, report, _, contracts = touching.judge_pending(app, entry, scanned, entry.pin)
    by_commit = {each.commit: each for each in contracts}
    hits = report.touching.derive(lambda merges: (JudgedCommit(each, by_commit[each.commit]) for each in merges))
    about = (
        f"what waits for the profile {entry.name} among {format_count(pending.merges, 'merge')} of "
        f"{entry.upstream} since its pin {pending.pin} ({format_count(pending.days, 'day')} ago); {report.judges}"
    )
    return ItemList(about, list_commit_rows(hits, {}, _MAX_SHOWN))


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
