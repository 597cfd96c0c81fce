"""The tools over the profiles that the operator shows: touches, uses, and the way to a later commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic import BaseModel, Field

from bot.domain.text.strings import format_count
from bot.features.questions.tools import search_profile
from bot.features.touches.contracts import list_merges
from bot.features.touches.requests import UpgradeRequest
from bot.features.touches.service import find_entry, judge_merges
from bot.features.touches.upgrade import find_pin, plan_upgrade
from bot.features.touches.upgrade_view import render_upgrade
from bot.mcp.arguments import ProfileUseArguments, TouchArguments, UpgradeArguments
from bot.mcp.contract_tools import ChangeItem, describe_change
from bot.mcp.declaration import ItemList, ToolContext
from bot.mcp.paging import list_unread, shorten
from impact.profile.models import Use
from impact.touches.models import MergeTouches, Touch

_MAX_TITLE, _MAX_TEXT, _MAX_PATH = 200, 240, 300
_MAX_TOUCHES, _MAX_USES = 10, 10


class UseItem(BaseModel):
    """A line of the team's tree."""

    path: str
    line: int
    kind: str = Field(description="how the line uses the name")
    name: str
    text: str


class TouchItem(ChangeItem):
    """A change and the uses that it concerns."""

    level: str = Field(description="breaks, may break, or touches")
    reason: str
    action: str = Field(description="what to do; empty where nothing is known")
    uses: list[UseItem]
    more_uses: int


class HitItem(BaseModel):
    """A merge that touches the profile."""

    number: int
    title: str
    commit: str
    level: str
    touches: list[TouchItem]
    more_touches: int


def list_touches(context: ToolContext, arguments: TouchArguments) -> ItemList:
    """List what touches a team's code, the strongest first. It does not count as shown to the team."""
    app = context.sources.app
    entry, span = find_entry(app, arguments.profile), context.session.parse_days(arguments.days)
    merged = list_merges(app, entry.upstream, span)
    report, _ = judge_merges(app, entry.name, merged.pulls)
    about = (
        f"{len(report.touching)} of {format_count(report.merges, 'merge')} of {entry.upstream}, {span}, "
        f"touch the profile {entry.name}, judged by code against {format_count(report.uses, 'use')}"
    )
    caveats = "".join(f"; {caveat}" for caveat in merged.caveats)
    items = [_build_hit(merge) for merge in report.touching]
    return ItemList(f"{about}{caveats}{list_unread(report.unread, 'changed files')}", items)


def find_profile_uses(context: ToolContext, arguments: ProfileUseArguments) -> str:
    """Find the uses of a name in a team's tree."""
    app = context.sources.app
    profile = app.profiles.require_scanned(find_entry(app, arguments.profile))
    return search_profile(context.session, profile, arguments)


def render_upgrade_plan(context: ToolContext, arguments: UpgradeArguments) -> str:
    """Plan the way from a pin to the newest commit."""
    app = context.sources.app
    entry, start = find_entry(app, arguments.profile), UpgradeRequest.parse(arguments.start).start
    pin = find_pin(app, entry.upstream, start, app.profiles.require_scanned(entry))
    plan = plan_upgrade(app, pin.merge, entry)
    return render_upgrade(plan, f"{app.repositories.web}/{entry.upstream}", pin.name)


def _build_hit(merge: MergeTouches) -> HitItem:
    return HitItem(
        number=merge.number,
        title=shorten(merge.title, _MAX_TITLE),
        commit=merge.commit,
        level=_name_level(merge),
        touches=[*_build_touches(merge.touches[:_MAX_TOUCHES])],
        more_touches=max(len(merge.touches) - _MAX_TOUCHES, 0),
    )


def _build_touches(touches: Iterable[Touch]) -> Iterator[TouchItem]:
    for touch in touches:
        yield TouchItem(
            **describe_change(touch.change),
            level=_name_level(touch),
            reason=shorten(touch.reason, _MAX_TEXT),
            action=shorten(touch.action, _MAX_TEXT),
            uses=[_build_use(use) for use in touch.uses[:_MAX_USES]],
            more_uses=max(len(touch.uses) - _MAX_USES, 0),
        )


def _build_use(use: Use) -> UseItem:
    return UseItem(
        path=shorten(use.path, _MAX_PATH),
        line=use.line,
        kind=str(use.kind),
        name=shorten(use.name, _MAX_TEXT),
        text=shorten(use.text, _MAX_TEXT),
    )


def _name_level(judged: MergeTouches | Touch) -> str:
    return judged.level.name.lower().replace("_", " ")
