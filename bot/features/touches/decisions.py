"""What people said about hits that they were shown, how good the hits were by that, and how it is marked."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.app import App
from bot.features.profiles.service import ProfileEntry
from bot.features.touches.lines import (
    SECTION_ID,
    HitKey,
    TouchDecision,
    TouchVerdict,
    name_verdict_row,
)
from bot.platform.pulls.models import PullRequest, Reference
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
from bot.platform.store.tables import Map
from impact.contract.models import ChangeKind, ContractChange
from impact.repository import Repository
from impact.touches.models import MergeTouches, TouchLevel


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A hit when it was first shown. ``shown_at`` is in UTC."""

    key: HitKey
    level: TouchLevel
    kind: ChangeKind
    name: str
    shown_at: datetime


HITS = Map("hits:{profile}", ShownHit, "changes that were shown to a profile's team, by merge")
CLOSINGS = Map("closings:{profile}", TouchDecision, "warnings that closed themselves when a team's code moved")
DECISIONS = Map("decisions:{profile}", TouchDecision, "what people said about each of them")


def build_hit_key(repository: Repository, number: int, change: ContractChange) -> HitKey:
    """Return the key of a change of a merge: without its line, so that a later extraction gives the same."""
    parts = "\0".join((change.subject, change.kind, change.name))
    return HitKey(Reference(repository, number), hashlib.sha256(parts.encode(errors="replace")).hexdigest()[:12])


def note_shown(
    app: App, entry: ProfileEntry, merges: Sequence[MergeTouches], pulls: Iterable[PullRequest] = ()
) -> None:
    """Record that the hits of some merges were shown, and close those that the pin is past.

    Those that were shown or closed before stay as they are.
    """
    at, repository, pin = app.now().astimezone(UTC), entry.upstream, entry.pin
    behind = {pull.number for pull in pulls if pin and pull.is_merged and pull.merge_time <= pin.merged_at}
    close_hits(app, entry.name, repository, {merge.number: "" for merge in merges if merge.number in behind})
    hits = [
        ShownHit(build_hit_key(repository, merge.number, change), touch.level, change.kind, change.name, at)
        for merge in merges
        for touch in merge.touches
        for change in (touch.change,)
        if touch.level > TouchLevel.NO
    ]
    # of two with one key, the first counts
    if hits:
        app.tables.add_fields(HITS, {str(hit.key): hit for hit in reversed(hits)}, entry.name)


def record_decision(app: App, profile: str, decision: TouchDecision) -> None:
    last = app.tables.get_field(DECISIONS, str(decision.key), profile)
    if last is None or last.at <= decision.at:
        app.tables.put_field(DECISIONS, str(decision.key), decision, profile)


def list_decisions(app: App, profile: str, repository: Repository) -> Mapping[int, list[TouchDecision]]:
    """Return what was said about the merges of a repository by their numbers, the latest first.

    What closed itself comes after all that people said.
    """
    decisions: dict[int, list[TouchDecision]] = {}
    made = [each for table in (DECISIONS, CLOSINGS) for each in app.tables.list_fields(table, profile).values()]
    for each in sorted(made, key=lambda decision: (bool(decision.by), decision.at), reverse=True):
        if str(each.key.reference.repository).lower() == str(repository).lower():
            decisions.setdefault(each.key.reference.number, []).append(each)
    return decisions


def close_hits(
    app: App, profile: str, repository: Repository, commits: Mapping[int, str], reopened: Iterable[int] = ()
) -> None:
    """Note which merges are closed for a profile by themselves, in which of its commits, if they are not yet.

    Those that wait again, as the pin went back, are no longer closed.
    """
    at = app.now().astimezone(UTC)
    keys = {number: HitKey(Reference(repository, number)) for number in (*commits, *reopened)}
    closed = {
        str(keys[number]): TouchDecision(keys[number], TouchVerdict.DONE, "", at, commit)
        for number, commit in commits.items()
    }
    if closed:
        app.tables.add_fields(CLOSINGS, closed, profile)
    for number in reopened:
        app.tables.remove_field(CLOSINGS, str(keys[number]), profile)


def list_closed(app: App, profile: str, repository: Repository) -> set[int]:
    """Return the merges that wait for nobody any more, by what was said last, or since they closed themselves."""
    decisions = get_last_decisions(app, profile, repository)
    return {number for number, each in decisions.items() if each.verdict is not TouchVerdict.OURS}


def get_last_decisions(app: App, profile: str, repository: Repository) -> Mapping[int, TouchDecision]:
    return {number: made[0] for number, made in list_decisions(app, profile, repository).items()}


# --- the score


@dataclass(frozen=True, slots=True)
class LevelScore:
    level: TouchLevel
    shown: int = 0
    ours: int = 0
    done: int = 0
    not_us: int = 0

    @property
    def right(self) -> int:
        return self.ours + self.done

    @property
    def judged(self) -> int:
        return self.right + self.not_us

    @property
    def open(self) -> int:
        return self.shown - self.judged


def score_hits(app: App, profile: str) -> tuple[LevelScore, ...]:
    """Return what became of hits, strongest level first: by what was said last about each, or about its merge."""
    verdicts = {each.key: each.verdict for each in app.tables.list_fields(DECISIONS, profile).values()}
    hits = app.tables.list_fields(HITS, profile).values()
    counts = Counter((hit.level, verdicts.get(hit.key) or verdicts.get(HitKey(hit.key.reference))) for hit in hits)
    return tuple(
        LevelScore(
            level,
            sum(count for (each, _), count in counts.items() if each is level),
            *(counts[level, verdict] for verdict in (TouchVerdict.OURS, TouchVerdict.DONE, TouchVerdict.NOT_US)),
        )
        for level in sorted(TouchLevel, reverse=True)
        if level is not TouchLevel.NO
    )


# --- in messages that were posted: behind a hit in a list, and below its buttons

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
        return [make_text(" — "), make_text(decision.words, bold=True)] if decision else ()

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
            who = make_text("somebody") if decision.by == FORGOTTEN_USER else user
            elements = [
                *((who, make_text(" said: ")) if decision.by else (make_text("Closed: "),)),
                make_text(decision.words, bold=True),
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
