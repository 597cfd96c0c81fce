"""What a team said about hits, in messages that were posted: behind a hit in a list, and below its buttons."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bot.features.touches.lines import SECTION_ID, TouchDecision, name_verdict, name_verdict_row
from bot.platform.slack.blocks import (
    MAX_CHARACTERS,
    Block,
    Element,
    count_characters,
    make_block,
    make_instant,
    make_section,
    make_text,
)
from bot.platform.store.forgotten_ids import FORGOTTEN_USER

# Slack has refused messages from 11,300 characters on; what was posted has up to 9,000
_MAX_CHARACTERS = MAX_CHARACTERS + 1_500
# the blocks of decisions, which a later edit replaces
_MARK = "said-"
_NUMBER = re.compile(r"#(\d{1,9})\b")


def add_decisions(message: Mapping[str, Any], decisions: Mapping[int, TouchDecision]) -> dict[str, Any]:
    """Return a posted message with what was said about its hits, by the numbers of their pull requests."""

    def describe(first: Element) -> Sequence[Element]:
        number = _NUMBER.fullmatch(str(first.get("text", "")))
        decision = decisions.get(int(number[1])) if number else None
        return [make_text(" — "), make_text(name_verdict(decision.verdict), bold=True)] if decision else ()

    rows = {name_verdict_row(number): number for number in decisions}
    blocks: list[Block] = []
    for block in message["blocks"]:
        block_id = str(block.get("block_id", ""))
        # what an earlier edit of this message added
        if block_id.startswith(_MARK):
            continue
        blocks.append(extend_lines(block, describe) if block_id == SECTION_ID else block)
        if (number := rows.get(block_id)) is not None:
            decision = decisions[number]
            user: Element = {"type": "user", "user_id": decision.by}
            elements = [
                make_text("somebody") if decision.by == FORGOTTEN_USER else user,
                make_text(" said: "),
                make_text(name_verdict(decision.verdict), bold=True),
                make_text(", "),
                make_instant(decision.at),
            ]
            blocks.append({**make_block(make_section(elements)), "block_id": f"{_MARK}{number}"})
    return replace_blocks(message, blocks)


def extend_lines(node: Any, describe: Callable[[Element], Sequence[Element]]) -> Any:
    """Return blocks with what ``describe`` returns for the first element of a line at the end of each line."""
    if isinstance(node, list):
        return [extend_lines(each, describe) for each in node]
    if not isinstance(node, Mapping):
        return node
    if node.get("type") != "rich_text_list":
        return {name: extend_lines(value, describe) for name, value in node.items()}
    lines = [
        {**line, "elements": [*line["elements"], *describe((line["elements"] or [{}])[0])]}
        for line in node["elements"]
    ]
    return {**node, "elements": lines}


def replace_blocks(message: Mapping[str, Any], blocks: list[Block]) -> dict[str, Any]:
    """Return a posted message with other blocks; unchanged if it would become too long."""
    return {**message, "blocks": blocks} if count_characters(blocks) <= _MAX_CHARACTERS else dict(message)
