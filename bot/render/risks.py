"""The answer to ``/prrisks``: first what was taken back, then what deserves a second look."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from bot.domain.risks import RiskList, TakenBack
from bot.domain.texts import plural
from bot.ports import Post
from bot.render.lead import MEASURED, named, second_look
from bot.render.mrkdwn import escape
from bot.render.rich import Block, Element, block, bullets, context, header, section, text

_MOST_TAKEN_BACK = 8
_MOST_NAMED = 6
# ten entries with reasons and claims of this length and eight pairs stay below 9,000 characters
_REASONS = 180


def risks_post(found: RiskList) -> Post:
    """The list as a message."""
    title = f"Risky changes · {found.name} · {found.span.title} · {_count(found)}"
    blocks = [header(title), *_taken_back(found), *_riskiest(found), *_notes(found)]
    return Post(escape(title), tuple(blocks))


def _count(found: RiskList) -> str:
    if not found.merged:
        return "nothing merged"
    return f"{found.matching:,} of {found.merged:,} merged" if found.filters else f"{found.merged:,} merged"


def _taken_back(found: RiskList) -> Iterator[Block]:
    items = [_pair(pair) for pair in found.taken_back]
    items += [[*named(pull), text(", which takes back a change of an earlier day")] for pull in found.older]
    if len(items) > _MOST_TAKEN_BACK:
        rest = len(items) - _MOST_TAKEN_BACK + 1
        items[_MOST_TAKEN_BACK - 1 :] = [[text(f"and {rest} more: ask for fewer days to see them")]]
    if items:
        yield block(section([text("Already reverted or repaired", bold=True)]), bullets(items))


def _pair(pair: TakenBack) -> list[Element]:
    how = "repaired" if pair.is_repair else "reverted"
    return [*named(pair.pull), text(f", {how} after {_duration(pair.lasted)} by "), *named(pair.by)]


def _duration(lasted: timedelta) -> str:
    hours = lasted / timedelta(hours=1)
    if hours < 1:
        return plural(max(1, round(hours * 60)), "minute")
    return f"{hours:.1f} h" if hours < 48 else plural(round(hours / 24), "day")


def _riskiest(found: RiskList) -> Iterator[Block]:
    known = {entry.number: entry.pull.url for entry in found.riskiest}
    if known:
        title = [text("Worth a second look", bold=True), text(f" ({MEASURED})", italic=True)]
        yield block(section(title), bullets(second_look(entry, known, _REASONS) for entry in found.riskiest))
    elif found.filters and found.merged and not found.matching:
        yield block(section([text(f"No pull request of these days fits {found.filters}.")]))
    elif found.merged:
        yield block(section([text("Nothing else stands out." if found.taken_back else "Nothing stands out.")]))


def _notes(found: RiskList) -> Iterator[Block]:
    """What the list does not cover."""
    numbers = [f"#{number}" for number in found.unread[:_MOST_NAMED]]
    more = f" and {len(found.unread) - _MOST_NAMED} more" if len(found.unread) > _MOST_NAMED else ""
    notes = [
        *([found.filters] if found.filters else []),
        *([f"not read: {', '.join(numbers)}{more}"] if numbers else []),
        *dict.fromkeys(found.doubts),
    ]
    if notes:
        yield context(" · ".join(notes))
