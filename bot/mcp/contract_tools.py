"""The tools over what merges change for others: contract changes, and the causes of an error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel, Field

from bot.domain.errors import UsageError
from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.filters import Filters
from bot.domain.text.strings import format_count
from bot.features.touches import service
from bot.features.touches.contracts import build_contract_list, read_contracts
from bot.features.touches.requests import BrokeRequest, ContractRequest
from bot.features.touches.terminal import format_suspects
from bot.mcp.arguments import ContractArguments, SuspectArguments
from bot.mcp.declaration import ItemList, ToolContext
from bot.mcp.paging import list_unread, shorten
from impact.contract.models import ChangeKind, ContractChange, MergeContract, Migration

_MAX_TITLE, _MAX_LINE, _MAX_NAME = 200, 500, 300
_MAX_MIGRATIONS = 3


class MigrationItem(BaseModel):
    """A line of upstream's own code before and after."""

    path: str
    line: int
    before: str
    after: str


class ChangeItem(BaseModel):
    """A change of a name that others depend on."""

    name: str = Field(description="full dotted name of code; else what users write")
    subject: str = Field(description="function, class, flag, environment variable and so on")
    kind: str = Field(description="removed, moved, renamed, signature, default, added and so on")
    before: str
    after: str
    new_name: str = Field(description="where it was moved or what it is called now; else empty")
    path: str
    line: int
    is_old_line: bool = Field(description="the line counts in the file before the merge")


class ContractItem(ChangeItem):
    """The change with its merge, and how upstream changed its own callers."""

    number: int
    title: str
    commit: str
    migrations: list[MigrationItem]


def list_changes(context: ToolContext, arguments: ContractArguments) -> ItemList:
    """List contract changes of a merge, or of those of some days."""
    repository = context.session.parse_repository(arguments.repository)
    filters = Filters(paths=arguments.paths)
    if arguments.number:
        pull = context.session.get_entry(repository, arguments.number).pull
        if not pull.is_merged:
            raise UsageError(f"#{pull.number} was not merged: read its diff.")
        contracts = read_contracts(context.sources.app, [pull] if filters.is_match(pull) else [])
        about, caveats = f"#{pull.number} of {repository}", ""
    else:
        request = ContractRequest(repository, context.session.parse_days(arguments.days), filters)
        listed = build_contract_list(context.sources.app, request)
        contracts = listed.contracts
        about = f"{format_count(listed.merged, 'merge')} of {repository}, {request.span}"
        caveats = "".join(f"; {caveat}" for caveat in listed.caveats)
    items = [*_build_items(contracts, arguments.name.strip().casefold())]
    unread = [file for contract in contracts for file in contract.unread]
    return ItemList(f"contract changes of {about}{caveats}{list_unread(unread, 'files')}", items)


def find_suspects(context: ToolContext, arguments: SuspectArguments) -> str:
    """Find the merges that explain an error."""
    session = context.session
    request = BrokeRequest.build(
        session.parse_repository(arguments.repository), arguments.traceback, arguments.since, session.today
    )
    return format_suspects(service.find_suspects(context.sources.app, request))


def _build_items(contracts: Iterable[MergeContract], name: str) -> Iterator[ContractItem]:
    """Yield the changes whose name has a part; what is the same from outside is left out."""
    for contract in contracts:
        for change in contract.changes:
            if change.kind is not ChangeKind.BEHAVIOUR and name in change.name.casefold():
                yield ContractItem(
                    **describe_change(change),
                    number=contract.number,
                    title=shorten(contract.title, _MAX_TITLE),
                    commit=contract.commit,
                    migrations=[*_build_migrations(contract.migrations.get(change.name, ()))],
                )


def _build_migrations(migrations: Iterable[Migration]) -> Iterator[MigrationItem]:
    for migration in tuple(migrations)[:_MAX_MIGRATIONS]:
        before, after = (shorten(side, _MAX_LINE) for side in (migration.before, migration.after))
        yield MigrationItem(path=migration.path, line=migration.line, before=before, after=after)


def describe_change(change: ContractChange) -> dict[str, Any]:
    """Return the fields of a :class:`ChangeItem`."""
    return {
        "name": shorten(change.name, _MAX_NAME),
        "subject": str(change.subject),
        "kind": str(change.kind),
        "before": shorten(change.before, _MAX_LINE),
        "after": shorten(change.after, _MAX_LINE),
        "new_name": shorten(change.new_name, _MAX_NAME),
        "path": shorten(change.path, _MAX_NAME),
        "line": change.line,
        "is_old_line": change.side is DiffSide.OLD,
    }
