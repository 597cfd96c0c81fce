"""What became of pull requests after their digest was posted: written behind their lines, and as a reply."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from bot.domain.history.outcomes import TakenBack
from bot.ports import Post
from bot.render.blocks.message_limits import MOST_CHARACTERS
from bot.render.blocks.mrkdwn import escape
from bot.render.blocks.rich_text import Element, block, characters, link, section, text
from bot.render.digest.parts import duration, pair

# Slack has refused messages from 11,300 characters on; what was posted has up to 9,000
_MOST = MOST_CHARACTERS + 1_500


def amended(
    message: Mapping[str, Any], outcomes: Sequence[TakenBack], told: Collection[str] = ()
) -> dict[str, Any]:
    """A message as it was posted, with what became of the pull requests that it has lines of.

    ``told`` are the marks of the outcomes that its lines told of, of which only what is new is written. The same
    message where it has none, or would become too long.
    """
    by_address: dict[str, list[Element]] = {}
    for found in outcomes:
        is_told = found.mark in told and not found.stands
        by_address.setdefault(found.pull.url, []).extend(_undone(found) if is_told else _behind(found))
    blocks = [_amended(block, by_address) for block in message["blocks"]]
    return {**message, "blocks": blocks} if characters(blocks) <= _MOST else dict(message)


def outcome_reply(found: TakenBack, *, was_listed: bool) -> Post:
    """What a thread is told, once."""
    line = pair(found)
    line += [text(". It was listed above as worth a second look.")] if was_listed else [text(".")]
    spoken = f"#{found.pull.number} was {found.fate} after {duration(found.lasted)} by #{found.by.number}"
    return Post(escape(spoken), (block(section(line)),))


def _behind(found: TakenBack) -> list[Element]:
    undone = ", which was itself reverted" if not found.stands else ""
    said = f" {found.fate} after {duration(found.lasted)} by "
    return [text(" —"), text(said, bold=True), link(found.by.url, f"#{found.by.number}"), *_plain(undone)]


def _undone(found: TakenBack) -> list[Element]:
    """Of what the line says was taken back."""
    return [text(" — "), link(found.by.url, f"#{found.by.number}"), text(" was itself reverted")]


def _plain(content: str) -> Iterable[Element]:
    return [text(content)] if content else []


def _amended(node: Any, by_address: Mapping[str, Sequence[Element]]) -> Any:
    """The items of lists that begin with the link of a pull request get what became of it at their end."""
    if isinstance(node, list):
        return [_amended(each, by_address) for each in node]
    if not isinstance(node, Mapping):
        return node
    if node.get("type") != "rich_text_list":
        return {name: _amended(value, by_address) for name, value in node.items()}
    return {**node, "elements": [_item(item, by_address) for item in node["elements"]]}


def _item(item: Mapping[str, Any], by_address: Mapping[str, Sequence[Element]]) -> dict[str, Any]:
    elements = list(item["elements"])
    address = elements[0].get("url", "") if elements else ""
    return {**item, "elements": [*elements, *by_address.get(address, ())]}
