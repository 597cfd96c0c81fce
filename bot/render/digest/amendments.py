"""Outcomes of pull requests after their digest was posted: an edit of their lines, and a reply in the thread."""

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


def add_outcomes(
    message: Mapping[str, Any], outcomes: Sequence[TakenBack], stated_marks: Collection[str] = ()
) -> dict[str, Any]:
    """Return a posted message with the outcomes of the pull requests that it lists.

    ``stated_marks`` are the marks of the outcomes that its lines already state; of these only what is new is
    added. The message is returned unchanged if it has none of them, or would become too long.
    """
    by_address: dict[str, list[Element]] = {}
    for outcome in outcomes:
        is_stated = outcome.mark in stated_marks and not outcome.stands
        by_address.setdefault(outcome.pull.url, []).extend(_undone(outcome) if is_stated else _behind(outcome))
    blocks = [_amended(block, by_address) for block in message["blocks"]]
    return {**message, "blocks": blocks} if characters(blocks) <= _MOST else dict(message)


def outcome_reply(outcome: TakenBack, *, was_listed: bool) -> Post:
    """Render the reply that a thread gets once for an outcome."""
    line = pair(outcome)
    line += [text(". It was listed above as worth a second look.")] if was_listed else [text(".")]
    elapsed = duration(outcome.lasted)
    fallback = f"#{outcome.pull.number} was {outcome.fate} after {elapsed} by #{outcome.by.number}"
    return Post(escape(fallback), (block(section(line)),))


def _behind(outcome: TakenBack) -> list[Element]:
    """Return an outcome as the end of a line."""
    undone = ", which was itself reverted" if not outcome.stands else ""
    label = f" {outcome.fate} after {duration(outcome.lasted)} by "
    return [text(" —"), text(label, bold=True), link(outcome.by.url, f"#{outcome.by.number}"), *_plain(undone)]


def _undone(outcome: TakenBack) -> list[Element]:
    """Return that a revert which the line already states was itself reverted."""
    return [text(" — "), link(outcome.by.url, f"#{outcome.by.number}"), text(" was itself reverted")]


def _plain(content: str) -> Iterable[Element]:
    """Return the text as an element, none if it is empty."""
    return [text(content)] if content else []


def _amended(node: Any, by_address: Mapping[str, Sequence[Element]]) -> Any:
    """Return the node with outcomes added to those items of lists that begin with the link of a pull request."""
    if isinstance(node, list):
        return [_amended(each, by_address) for each in node]
    if not isinstance(node, Mapping):
        return node
    if node.get("type") != "rich_text_list":
        return {name: _amended(value, by_address) for name, value in node.items()}
    return {**node, "elements": [_item(item, by_address) for item in node["elements"]]}


def _item(item: Mapping[str, Any], by_address: Mapping[str, Sequence[Element]]) -> dict[str, Any]:
    """Return a list item with the outcomes of its pull request."""
    elements = list(item["elements"])
    address = elements[0].get("url", "") if elements else ""
    return {**item, "elements": [*elements, *by_address.get(address, ())]}
