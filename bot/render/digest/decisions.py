"""What a team said about hits, in the messages that were posted: behind a hit in the lead, below its buttons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from bot.domain.keyspace.forgotten_ids import FORGOTTEN_USER
from bot.domain.touches.decisions import TouchDecision
from bot.render.blocks.message_limits import MAX_CHARACTERS
from bot.render.blocks.rich_text import Block, Element, count_characters, make_block, make_section, make_text
from bot.render.digest import touch_sentences as sentences
from bot.render.digest.hits import name_verdict_row
from bot.render.digest.touches import SECTION_ID
from bot.render.subscriptions.incidents import render_instant

# Slack has refused messages from 11,300 characters on; what was posted has up to 9,000
_MAX_CHARACTERS = MAX_CHARACTERS + 1_500
_MARK = "said-"
_NUMBER = re.compile(r"#(\d{1,9})\b")


def add_decisions(message: Mapping[str, Any], decisions: Mapping[int, TouchDecision]) -> dict[str, Any]:
    """Return a posted message with what was said about its hits, by the numbers of their pull requests.

    It is returned unchanged if it has none of them, or would become too long.
    """
    blocks = [each for block in message["blocks"] for each in _amend_block(block, decisions)]
    return {**message, "blocks": blocks} if count_characters(blocks) <= _MAX_CHARACTERS else dict(message)


def _amend_block(block: Block, decisions: Mapping[int, TouchDecision]) -> Iterator[Block]:
    """Yield a block, with what was said about its hits in it or below it."""
    if block.get("block_id") == SECTION_ID:
        yield {**block, "elements": [_amend_list(part, decisions) for part in block["elements"]]}
        return
    # what an earlier edit of this message added
    if str(block.get("block_id", "")).startswith(_MARK):
        return
    yield block
    for number, decision in decisions.items():
        if block.get("block_id") == name_verdict_row(number):
            yield {**make_block(make_section(_render_decision(decision))), "block_id": f"{_MARK}{number}"}


def _amend_list(part: Element, decisions: Mapping[int, TouchDecision]) -> Element:
    """Return a list whose items that begin with the number of a hit end with what was said about it."""
    if part["type"] != "rich_text_list":
        return part
    return {**part, "elements": [_amend_item(item, decisions) for item in part["elements"]]}


def _amend_item(item: Element, decisions: Mapping[int, TouchDecision]) -> Element:
    first = item["elements"][0] if item["elements"] else {}
    number = _NUMBER.fullmatch(str(first.get("text", "")))
    decision = decisions.get(int(number[1])) if number else None
    if decision is None:
        return item
    words = make_text(sentences.name_verdict(decision.verdict), bold=True)
    return {**item, "elements": [*item["elements"], make_text(" — "), words]}


def _render_decision(decision: TouchDecision) -> list[Element]:
    """Return who said what, and when."""
    user: Element = {"type": "user", "user_id": decision.by}
    return [
        make_text(sentences.FORGOTTEN_PERSON) if decision.by == FORGOTTEN_USER else user,
        make_text(sentences.SAID_DECISION),
        make_text(sentences.name_verdict(decision.verdict), bold=True),
        make_text(", "),
        render_instant(decision.at),
    ]
