"""The way to a later commit as a message: how much it is, where to stop, and what comes first.

The file in its thread has the whole checklist.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from bot.domain.text.words import truncate_words
from bot.ports import Attachment, Post
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
from bot.render.digest.touches import NEWS_TITLE, format_kind, shorten_name
from bot.render.touches.sentences import COUNTED_LEVELS, format_free_way, name_change_level
from bot.render.touches.upgrade import render_upgrade
from impact.contract.models import ChangeKind
from impact.source.revisions import is_tag
from impact.touches.models import TouchLevel
from impact.touches.upgrade import FileWork, StoppingPoint, UpgradeItem, UpgradePlan

_HASH_LENGTH = 10
_STOPS_TITLE = ": the last commits before something breaks"
_MAX_NAME, _MAX_PATH, _MAX_TITLE = 90, 90, 60


@dataclass(frozen=True, slots=True)
class _Limits:
    """How many stops, files, and items of a file are shown, and how many words of a reason."""

    stops: int
    files: int
    items: int
    words: int


# what is tried until a message fits
_VERSIONS = (_Limits(4, 3, 2, 14), _Limits(3, 3, 1, 8), _Limits(2, 2, 1, 6))


def render_upgrade_post(plan: UpgradePlan, url: str, pin: str = "") -> Post:
    """Render a plan as a message. ``url`` is the address of the upstream repository, ``pin`` the start's name."""
    title = _format_title(plan, pin)
    blocks = choose_fitting_blocks(_render_blocks(title, plan, url, limits) for limits in _VERSIONS)
    return Post(escape_mrkdwn(title), tuple(blocks))


def render_upgrade_file(plan: UpgradePlan, url: str, pin: str = "") -> Attachment:
    """Render the whole checklist as Markdown."""
    start, end = plan.start[:_HASH_LENGTH], plan.end[:_HASH_LENGTH]
    title = f"Checklist: {_format_title(plan, pin)}"
    return Attachment(f"upgrade-{plan.profile}-{start}-{end}.md", title, render_upgrade(plan, url, pin))


def _format_title(plan: UpgradePlan, pin: str) -> str:
    profile = truncate_text(collapse_lines(plan.profile), 40)
    start = f"{pin} ({plan.start[:_HASH_LENGTH]})" if is_tag(pin) else plan.start[:_HASH_LENGTH]
    return f"Upgrade {profile} · {start} to {plan.end[:_HASH_LENGTH]}"


def _render_blocks(title: str, plan: UpgradePlan, url: str, limits: _Limits) -> list[Block]:
    return [
        make_header(title),
        make_block(make_section([make_text(_count(plan))])),
        *_render_stops(plan, url, limits),
        *_render_files(plan, url, limits),
        *_render_deprecations(plan, url, limits),
        *([make_context(notes)] if (notes := _format_notes(plan)) else []),
    ]


def _count(plan: UpgradePlan) -> str:
    if not plan.files:
        return f"{format_count(plan.merges, 'merge')}. {format_free_way(collapse_lines(plan.profile))}"
    counts = {word: plan.count_changes(level) for level, word in COUNTED_LEVELS.items()}
    parts = [f"{count:,} {word}" for word, count in counts.items() if count]
    files = sum(work.level > TouchLevel.TOUCHES for work in plan.files)
    where = f" To adapt: {format_count(files, 'file')} of ours." if files else ""
    return f"{format_count(plan.merges, 'merge')}. Of what they changed, {', '.join(parts)}.{where}"


def _render_stops(plan: UpgradePlan, url: str, limits: _Limits) -> Iterator[Block]:
    if plan.stops:
        items = [_render_stop(stop, url) for stop in plan.stops[: limits.stops]]
        yield _make_list(
            f"{format_count(len(plan.stops), 'stopping point')}{_STOPS_TITLE}",
            items,
            len(plan.stops) - limits.stops,
        )


def _render_stop(stop: StoppingPoint, url: str) -> list[Element]:
    title = truncate_text(collapse_lines(stop.title), _MAX_TITLE)
    return [
        make_link(f"{url}/commit/{stop.commit}", stop.commit[:_HASH_LENGTH]),
        make_text(" before "),
        *_render_number(stop.number, url),
        make_text(f" {title}"),
    ]


def _render_files(plan: UpgradePlan, url: str, limits: _Limits) -> Iterator[Block]:
    files = [work for work in plan.files if work.level > TouchLevel.TOUCHES] or list(plan.files)
    for work in files[: limits.files]:
        items = [_render_item(item, url, limits) for item in work.items[: limits.items]]
        yield _make_list(_shorten_path(work), items, len(work.items) - limits.items)
    if len(files) > limits.files:
        yield make_block(make_section([make_text(f"and {format_count(len(files) - limits.files, 'more file')}")]))


def _shorten_path(work: FileWork) -> str:
    path = collapse_lines(work.path) or UNNAMED
    return path if len(path) <= _MAX_PATH else f"…{path[-_MAX_PATH:]}"


def _render_item(item: UpgradeItem, url: str, limits: _Limits) -> list[Element]:
    change = item.net.change
    target = change.new_name if change.kind in (ChangeKind.MOVED, ChangeKind.RENAMED) else ""
    reason = truncate_words(collapse_lines(item.touch.action or item.touch.reason), limits.words)
    place = f"{name_change_level(item.level)}, line {item.uses[0].line}: "
    return [
        make_text(place, bold=item.level is TouchLevel.BREAKS),
        _make_name(shorten_name(change.name)),
        *([] if reason and not target else [make_text(f" {format_kind(change)}")]),
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
        yield _make_list(NEWS_TITLE, items, len(plan.deprecations) - limits.files)


def _render_number(number: int, url: str) -> list[Element]:
    if number <= 0:
        return [make_text("a direct commit")]
    return [make_link(f"{url}/pull/{number}", f"#{number}")]


def _format_notes(plan: UpgradePlan) -> str:
    notes = [f"{format_count(len(plan.unread), 'file')} not read"] if plan.unread else []
    if plan.undone:
        notes.append(f"{format_count(plan.undone, 'name')} taken back on the way, or in what is new or gone")
    return " · ".join(notes)


def _make_list(title: str, items: list[list[Element]], rest: int) -> Block:
    more = [[make_text(f"and {rest} more")]] if rest > 0 else []
    return make_block(make_section([make_text(title, bold=True)]), make_bullets([*items, *more]))
