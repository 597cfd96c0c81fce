"""The way to a later commit as a message: where to stop, and what to adapt in each file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bot.domain.contract.models import ChangeKind
from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from bot.domain.text.words import truncate_words
from bot.domain.touches.models import TouchLevel
from bot.domain.touches.upgrade import FileWork, StoppingPoint, UpgradeItem, UpgradePlan
from bot.ports import Post
from bot.render.blocks.message_limits import choose_fitting_blocks
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import (
    Block,
    Element,
    make_block,
    make_bullets,
    make_context,
    make_header,
    make_link,
    make_prose,
    make_section,
    make_text,
)
from bot.render.blocks.sentences import UNNAMED

_HASH_LENGTH = 10
_NOTHING = "Nothing on the way touches what {} uses."
_STOPS_TITLE = "Stopping points: each is the last commit before something breaks"
_DEPRECATIONS_TITLE = "Deprecated, and used by us"
_WHOLE_PLAN = "The whole checklist, with all lines: prdigest upgrade on a clone"
_LEVELS = {TouchLevel.BREAKS: "breaks us", TouchLevel.MAY_BREAK: "may break us", TouchLevel.TOUCHES: "touches us"}
_MAX_NAME, _MAX_PATH, _MAX_TITLE = 90, 90, 60


@dataclass(frozen=True, slots=True)
class _Limits:
    """How many stops, files, and items of a file are shown, and how many words of a reason."""

    stops: int
    files: int
    items: int
    words: int


# what is tried until a message fits
_VERSIONS = (_Limits(10, 15, 4, 14), _Limits(8, 10, 3, 10), _Limits(5, 6, 2, 8), _Limits(3, 3, 1, 6))


def render_upgrade_post(plan: UpgradePlan, url: str) -> Post:
    """Render a plan as a message. ``url`` is the address of the upstream repository."""
    profile = truncate_text(collapse_lines(plan.profile), 40)
    title = f"Upgrade {profile} · {plan.start[:_HASH_LENGTH]} to {plan.end[:_HASH_LENGTH]}"
    blocks = choose_fitting_blocks(_render_blocks(title, plan, url, limits) for limits in _VERSIONS)
    return Post(escape_mrkdwn(title), tuple(blocks))


def _render_blocks(title: str, plan: UpgradePlan, url: str, limits: _Limits) -> list[Block]:
    return [
        make_header(title),
        make_block(make_section([make_text(_count(plan))])),
        *_render_stops(plan, url, limits),
        *_render_files(plan, url, limits),
        *_render_deprecations(plan, url, limits),
        make_context(_format_notes(plan)),
    ]


def _count(plan: UpgradePlan) -> str:
    if not plan.files:
        return f"{format_count(plan.merges, 'merge')}. {_NOTHING.format(collapse_lines(plan.profile))}"
    parts = [f"{plan.count_changes(level)} {word}" for level, word in _LEVELS.items()]
    return f"{format_count(plan.merges, 'merge')}; of what is different at their end, {', '.join(parts)}."


def _render_stops(plan: UpgradePlan, url: str, limits: _Limits) -> Iterator[Block]:
    if plan.stops:
        items = [_render_stop(stop, url) for stop in plan.stops[: limits.stops]]
        yield _make_list(_STOPS_TITLE, items, len(plan.stops) - limits.stops)


def _render_stop(stop: StoppingPoint, url: str) -> list[Element]:
    title = truncate_text(collapse_lines(stop.title), _MAX_TITLE)
    return [
        make_link(f"{url}/commit/{stop.commit}", stop.commit[:_HASH_LENGTH]),
        make_text(" before "),
        *_render_number(stop.number, url),
        make_text(f" {title}"),
    ]


def _render_files(plan: UpgradePlan, url: str, limits: _Limits) -> Iterator[Block]:
    for work in plan.files[: limits.files]:
        items = [_render_item(item, url, limits) for item in work.items[: limits.items]]
        yield _make_list(_shorten_path(work), items, len(work.items) - limits.items)


def _shorten_path(work: FileWork) -> str:
    path = collapse_lines(work.path) or UNNAMED
    return path if len(path) <= _MAX_PATH else f"…{path[-_MAX_PATH:]}"


def _render_item(item: UpgradeItem, url: str, limits: _Limits) -> list[Element]:
    change = item.net.change
    target = change.new_name if change.kind in (ChangeKind.MOVED, ChangeKind.RENAMED) else ""
    reason = truncate_words(collapse_lines(item.touch.action or item.touch.reason), limits.words)
    return [
        make_text(f"{_LEVELS[item.level]}, line {item.uses[0].line}: ", bold=item.level is TouchLevel.BREAKS),
        _make_name(change.name),
        make_text(f" {change.kind}"),
        *([make_text(" to "), _make_name(target)] if target else []),
        make_text(" ("),
        *_render_number(item.net.last_merge.number, url),
        make_text(")"),
        *([make_text(": "), *make_prose(reason, {}, 200)] if reason else []),
    ]


def _make_name(name: str) -> Element:
    """Return a name as code. One of which nothing is visible has words in its place, as Slack refuses none."""
    return make_text(truncate_text(collapse_lines(name), _MAX_NAME) or UNNAMED, code=True)


def _render_deprecations(plan: UpgradePlan, url: str, limits: _Limits) -> Iterator[Block]:
    items = [
        [
            _make_name(used.entry.name),
            make_text(f" {truncate_text(collapse_lines(used.entry.when), 40)} (".replace("  ", " ")),
            *_render_number(used.entry.number, url),
            make_text(")"),
        ]
        for used in plan.deprecations[: limits.files]
    ]
    if items:
        yield _make_list(_DEPRECATIONS_TITLE, items, len(plan.deprecations) - limits.files)


def _render_number(number: int, url: str) -> list[Element]:
    if number <= 0:
        return [make_text("a direct commit")]
    return [make_link(f"{url}/pull/{number}", f"#{number}")]


def _format_notes(plan: UpgradePlan) -> str:
    notes = [_WHOLE_PLAN]
    if plan.undone:
        notes.insert(
            0,
            f"{format_count(plan.undone, 'name')} taken back on the way, or in what is new or gone",
        )
    if plan.unread:
        notes.insert(0, f"{format_count(len(plan.unread), 'file')} not read")
    return " · ".join(notes)


def _make_list(title: str, items: list[list[Element]], rest: int) -> Block:
    more = [[make_text(f"and {rest} more")]] if rest > 0 else []
    return make_block(make_section([make_text(title, bold=True)]), make_bullets([*items, *more]))
