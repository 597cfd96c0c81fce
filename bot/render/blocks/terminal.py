"""Slack messages and summaries as plain text, for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bot.domain.digest.models import Entry
from bot.domain.risk.assessment import Risk
from bot.domain.text.redaction import without_secrets
from bot.domain.text.strings import plural, printable
from bot.ports import Post
from bot.render.summaries.facts import merge_state


def message(post: Post) -> str:
    """A message as a person would read it, links as their labels, without what can only be pressed."""
    return "\n\n".join(_block(block) for block in post.blocks if block["type"] != "actions")


def summary(entry: Entry) -> str:
    """One pull request with its summary, risk and place."""
    pull, said = entry.pull, entry.summary
    parts = [
        f"#{pull.number} {pull.title}",
        said.headline,
        _facts(entry),
        *([_second_look(entry.risk)] if entry.risk.is_listed else []),
        *([f"May need action: {said.action}"] if said.action else []),
        *(f"{name}\n{text}" for name, text in said.sections),
        *_evidence(entry),
        pull.url,
    ]
    return without_secrets(printable("\n\n".join(parts)))


def _second_look(risk: Risk) -> str:
    rated = ", rated without history" if risk.without_history else ""
    return f"Worth a second look{rated}: {'; '.join(risk.reasons)}."


def _facts(entry: Entry) -> str:
    pull = entry.pull
    return (
        f"{entry.summary.type} · {plural(pull.changed_files, 'file')}, +{pull.additions} -{pull.deletions} · "
        f"{pull.author.login}, {merge_state(pull)} · diff read: {entry.summary.coverage}"
    )


def _evidence(entry: Entry) -> Iterable[str]:
    lines = [f"  {found.path}:{found.line}  {found.quote}" for found in entry.summary.evidence]
    if lines:
        yield "\n".join(["Evidence (checked against the diff)", *lines])


def _block(block: Mapping[str, Any]) -> str:
    if block["type"] == "header":
        return f"{block['text']['text']}\n{'=' * len(block['text']['text'])}"
    if block["type"] == "context":
        return "\n".join(element["text"] for element in block["elements"])
    return "\n".join(_rich(element) for element in block["elements"])


def _rich(element: Mapping[str, Any]) -> str:
    if element["type"] == "rich_text_list":
        return "\n".join(f"  • {_rich(item)}" for item in element["elements"])
    return "".join(map(_piece, element["elements"]))


def _piece(piece: Mapping[str, Any]) -> str:
    """Instants, channels and people have no text of their own: Slack shows them as each reader knows them."""
    if piece["type"] == "channel":
        return f"#{piece['channel_id']}"
    if piece["type"] == "user":
        return f"@{piece['user_id']}"
    return str(piece["fallback"] if piece["type"] == "date" else piece["text"])
