"""The tools over what merges change for others, and for the profiles that the operator shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from bot.errors import UsageError
from bot.features.questions import tools as answers
from bot.features.questions.reading import ReadingSession
from bot.features.questions.tools import ProfileArguments, WordList
from bot.features.touches import service as touching
from bot.features.touches.contracts import build_contract_list, list_own_merges, read_contracts
from bot.features.touches.requests import BrokeRequest, ContractRequest, UpgradeRequest
from bot.features.touches.terminal import format_suspects
from bot.features.touches.upgrade import find_pin, plan_upgrade
from bot.features.touches.upgrade_view import render_upgrade
from bot.mcp.declaration import (
    CodeLine,
    Days,
    Item,
    ItemList,
    Name,
    NumberInPlaceOfDays,
    ProfileName,
    RepositoryName,
    Text,
    Title,
    agent_tool,
)
from bot.platform.models.tools import ToolName
from bot.platform.pulls.filters import Filters
from bot.text import format_count
from impact.contract.models import ChangeKind, ContractChange, MergeContract, cover_contracts, name_merge
from impact.coverage import CoveredList, cover_defects
from impact.errors import attempt
from impact.source.models import DiffSide
from impact.touches.models import MergeTouches, Touch

_MAX_MIGRATIONS, _MAX_TOUCHES, _MAX_USES = 3, 10, 10
# a traceback is pasted as it is
_MAX_TRACEBACK, _MAX_ERROR_INPUT = 100_000, 110_000


# --- what merges change for others


class MigrationItem(Item):
    """A line of upstream's own code before and after."""

    path: str
    line: int
    before: CodeLine
    after: CodeLine


class ChangeItem(Item):
    """A change of a name that others depend on."""

    name: Name = Field(description="full dotted name of code; else what users write")
    subject: str = Field(description="function, class, flag, environment variable and so on")
    kind: str = Field(description="removed, moved, renamed, signature, default, added and so on")
    before: CodeLine
    after: CodeLine
    new_name: Name = Field(description="where it was moved or what it is called now; else empty")
    path: Name
    line: int
    is_old_line: bool = Field(description="the line counts in the file before the merge")


def _describe_change(change: ContractChange) -> dict[str, Any]:
    """Return the fields of a :class:`ChangeItem`."""
    names = ChangeItem.model_fields.keys() - {"is_old_line"}
    return {name: getattr(change, name) for name in names} | {"is_old_line": change.side is DiffSide.OLD}


class ContractItem(ChangeItem):
    """The change with its merge, and how upstream changed its own callers."""

    number: int
    title: Title
    commit: str
    migrations: list[MigrationItem]


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
            **_describe_change(change),
            number=contract.number,
            title=contract.title,
            commit=contract.commit,
            migrations=[*map(MigrationItem.model_validate, contract.migrations.get(change.name, ()))][
                :_MAX_MIGRATIONS
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


class UseItem(Item):
    """A line of the team's tree."""

    path: Name
    line: int
    kind: str = Field(description="how the line uses the name")
    name: Text
    text: Text


class TouchItem(ChangeItem):
    """A change and the uses that it concerns."""

    level: str = Field(description="breaks, stops silently, may break, or touches")
    reason: Text
    action: Text = Field(description="what to do; empty where nothing is known")
    uses: list[UseItem]
    more_uses: int


class HitItem(Item):
    """A merge that touches the profile."""

    number: int
    title: Title
    commit: str
    level: str
    touches: list[TouchItem]
    more_touches: int


@agent_tool(
    "touches",
    "List what touches a team's code",
    "What the merges of some days do to a team's own code: each merge that breaks, may break or touches it. "
    "Each has the changed name, the reason, what to do, and the team's files and lines that use it.",
    item=HitItem,
    needs_profiles=True,
)
def list_touches(session: ReadingSession, days: Days = "", profile: ProfileName = "") -> ItemList:
    """List what touches a team's code, the strongest first. It does not count as shown to the team."""
    app = session.app
    entry, span = touching.find_entry(app, profile), session.parse_days(days)
    merged = list_own_merges(app, entry.upstream, span)
    report, _ = touching.judge_merges(app, entry.name, merged.pulls, merged.coverage)
    about = (
        f"what touches the profile {entry.name} among {format_count(report.merges, 'merge')} of {entry.upstream}, "
        f"{span}, judged by code against {format_count(report.uses, 'use')}"
    )

    unread: list[str] = []

    def describe(merge: MergeTouches) -> Iterator[HitItem]:
        yield HitItem(
            number=merge.number,
            title=merge.title,
            commit=merge.commit,
            level=merge.level.label,
            touches=[_build_touch(touch, unread) for touch in merge.touches[:_MAX_TOUCHES]],
            more_touches=max(len(merge.touches) - _MAX_TOUCHES, 0),
        )

    items = report.touching.derive_each("merges", lambda each: name_merge(each.number), describe)
    items = replace(
        items, coverage=items.coverage + cover_defects("files of your code", [*dict.fromkeys(unread)], 0)
    )
    return ItemList(f"{about}{''.join(f'; {note}' for note in merged.notes)}", items)


def _build_touch(touch: Touch, unread: list[str]) -> TouchItem:
    """Build an item; ``unread`` gets the paths of uses that meet a defect."""
    shown = {use: attempt(use.path, UseItem.model_validate, use) for use in touch.uses[:_MAX_USES]}
    unread += [use.path for use, item in shown.items() if item is None]
    return TouchItem(
        **_describe_change(touch.change),
        level=touch.level.label,
        reason=touch.tell(touch.use),
        action=touch.action,
        uses=[item for item in shown.values() if item],
        more_uses=max(len(touch.uses) - _MAX_USES, 0),
    )


@agent_tool(
    ToolName.FIND_PROFILE_USES,
    "Find a name in a team's code",
    "Where a team's own code uses something of the repository: the lines that use a name, or those of a file "
    "of theirs, with their place.",
    needs_profiles=True,
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
    needs_profiles=True,
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
    return render_upgrade(plan_upgrade(app, merge, entry), f"{app.repositories.web}/{entry.upstream}", pin)
