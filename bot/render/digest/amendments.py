"""Outcomes of pull requests after their digest was posted: an edit of their lines, and a reply in the thread."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from bot.domain.history.pull_outcomes import MergeOutcome
from bot.ports import Post
from bot.render.blocks.message_limits import MAX_CHARACTERS
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import Element, count_characters, make_block, make_link, make_section, make_text
from bot.render.digest import sentences
from bot.render.digest.shared_parts import render_outcome

# Slack has refused messages from 11,300 characters on; what was posted has up to 9,000
_MAX_CHARACTERS = MAX_CHARACTERS + 1_500


def add_outcomes(
    message: Mapping[str, Any], outcomes: Sequence[MergeOutcome], stated_marks: Collection[str] = ()
) -> dict[str, Any]:
    """Return a posted message with the outcomes of the pull requests that it lists.

    ``stated_marks`` are the marks of the outcomes that its lines already state; of these only what is new is
    added. The message is returned unchanged if it has none of them, or would become too long.
    """
    by_address: dict[str, list[Element]] = {}
    for outcome in outcomes:
        is_stated = outcome.pair_key in stated_marks and not outcome.stands
        by_address.setdefault(outcome.pull.url, []).extend(
            _render_undone_revert(outcome) if is_stated else _render_outcome(outcome)
        )
    blocks = [_amend_node(block, by_address) for block in message["blocks"]]
    return {**message, "blocks": blocks} if count_characters(blocks) <= _MAX_CHARACTERS else dict(message)


def render_outcome_reply(outcome: MergeOutcome, *, was_listed: bool) -> Post:
    """Render the reply that a thread gets once for an outcome."""
    line = [*render_outcome(outcome), make_text(sentences.LISTED_ABOVE if was_listed else ".")]
    return Post(escape_mrkdwn(sentences.format_outcome_reply(outcome)), (make_block(make_section(line)),))


def _render_outcome(outcome: MergeOutcome) -> list[Element]:
    """Return an outcome as the end of a line."""
    return [
        make_text(" —"),
        make_text(f" {sentences.format_outcome(outcome)} ", bold=True),
        make_link(outcome.by.url, f"#{outcome.by.number}"),
        *_make_optional_text(sentences.format_undone(outcome)),
    ]


def _render_undone_revert(outcome: MergeOutcome) -> list[Element]:
    """Return that a revert which the line already states was itself reverted."""
    return [
        make_text(" — "),
        make_link(outcome.by.url, f"#{outcome.by.number}"),
        make_text(sentences.WAS_ITSELF_REVERTED),
    ]


def _make_optional_text(content: str) -> Iterable[Element]:
    """Return the text as an element, none if it is empty."""
    return [make_text(content)] if content else []


def _amend_node(node: Any, by_address: Mapping[str, Sequence[Element]]) -> Any:
    """Return the node with outcomes added to those items of lists that begin with the link of a pull request."""
    if isinstance(node, list):
        return [_amend_node(each, by_address) for each in node]
    if not isinstance(node, Mapping):
        return node
    if node.get("type") != "rich_text_list":
        return {name: _amend_node(value, by_address) for name, value in node.items()}
    return {**node, "elements": [_amend_item(item, by_address) for item in node["elements"]]}


def _amend_item(item: Mapping[str, Any], by_address: Mapping[str, Sequence[Element]]) -> dict[str, Any]:
    """Return a list item with the outcomes of its pull request."""
    elements = list(item["elements"])
    address = elements[0].get("url", "") if elements else ""
    return {**item, "elements": [*elements, *by_address.get(address, ())]}
