"""What became of merges after their digest was posted: behind the lines of their pull requests, once in a reply.

A message that would become too long stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.view import format_outcome, format_undone, render_outcome
from bot.features.touches.decisions import extend_lines, replace_blocks
from bot.platform.slack.blocks import Element, escape_mrkdwn, make_block, make_link, make_section, make_text
from bot.platform.slack.messages import Post


def add_outcomes(
    message: Mapping[str, Any], outcomes: Sequence[MergeOutcome], stated_marks: Collection[str] = ()
) -> dict[str, Any]:
    """Return a posted message with the outcomes of the pull requests that it lists.

    ``stated_marks`` are the marks of the outcomes that its lines already state; of these only what is new is
    added.
    """
    by_address: dict[str, list[Element]] = {}
    for outcome in outcomes:
        link = make_link(outcome.by.url, f"#{outcome.by.number}")
        if outcome.pair_key in stated_marks and not outcome.stands:
            elements = [make_text(" — "), link, make_text(" was itself reverted")]
        else:
            undone = format_undone(outcome)
            elements = [make_text(" —"), make_text(f" {format_outcome(outcome)} ", bold=True), link]
            elements += [make_text(undone)] if undone else []
        by_address.setdefault(outcome.pull.url, []).extend(elements)
    blocks = extend_lines(message["blocks"], lambda first: by_address.get(first.get("url", ""), ()))
    return replace_blocks(message, blocks)


def render_outcome_reply(outcome: MergeOutcome, *, was_listed: bool) -> Post:
    """Render the reply that a thread gets once for an outcome."""
    text = f"#{outcome.pull.number} was {format_outcome(outcome)} #{outcome.by.number}"
    end = make_text(". It was listed above as worth a second look." if was_listed else ".")
    return Post(escape_mrkdwn(text), (make_block(make_section([*render_outcome(outcome), end])),))
