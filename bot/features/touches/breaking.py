"""What code proved to be gone or changed for callers, by merge, and how messages say it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from bot.features.merges.view import format_more, keep_title, make_list, render_numbers, shorten_branch
from bot.features.touches.lines import make_code, shorten_name
from bot.platform.pulls.models import PullRequest
from bot.platform.slack.blocks import (
    Block,
    Element,
    make_link,
    make_prose,
    make_text,
)
from impact.contract.breaking import Breakage, list_breakages
from impact.contract.models import ChangeKind, MergeContract

# the verb that an effect has after its one name
_SINGULAR = re.compile(r"(?:(?<=^no longer )|^)(?:is|has|takes|accepts|requires)\b")
_MAX_EFFECT = 160
_MAX_ELSEWHERE = 4


@dataclass(frozen=True, slots=True)
class BreakingMerge:
    """A merge that breaks callers: what it breaks, the most telling first, at least one."""

    pull: PullRequest
    breakages: tuple[Breakage, ...]

    @property
    def number(self) -> int:
        return self.pull.number


def select_breaking(
    contracts: Iterable[MergeContract], pulls: Iterable[PullRequest], settled: Collection[int] = ()
) -> tuple[BreakingMerge, ...]:
    """Return the merges among ``pulls`` that break callers: those that take something away first, then the widest.

    Those that are ``settled`` are left out: what was reverted breaks nobody any more. Nor does what went into
    another branch than the default one.
    """
    by_number = {pull.number: pull for pull in pulls if pull.number not in settled and not pull.other_branch}
    listed = (
        BreakingMerge(by_number[contract.number], breakages)
        for contract in contracts
        if contract.number in by_number and (breakages := list_breakages(contract))
    )
    return tuple(sorted(listed, key=_get_order))


def _get_order(merge: BreakingMerge) -> tuple[bool, int, int]:
    takes_away = merge.breakages[0].change.kind is ChangeKind.REMOVED
    return not takes_away, -len(merge.breakages), -merge.number


def render_breaking(merges: Sequence[BreakingMerge], *, most: int = 5, names: int = 3) -> Iterator[Block]:
    """Yield the section: a line for each of ``most`` merges, then the numbers of the others.

    Each merge is named, however many there are. ``names`` are those of a line. What was not read stands above.
    """
    if not merges:
        return
    lines = [_render_merge(merge, names) for merge in merges[:most]]
    if rest := merges[most:]:
        urls = {merge.number: merge.pull.url for merge in rest}
        lines.append([make_text("Also "), *render_numbers([*urls], urls, len(urls))])
    yield make_list("Breaking", lines)


def _render_merge(merge: BreakingMerge, names: int) -> list[Element]:
    title = keep_title(merge.pull)
    elements = [make_link(merge.pull.url, f"#{merge.number}{f' {title}' if title else ''}", bold=True)]
    return [*elements, make_text(" — "), *_render_breakages(merge.breakages, names)]


def _render_breakages(breakages: Sequence[Breakage], most: int) -> list[Element]:
    """Return what is broken as a sentence: names of the same effect together, the others counted."""
    elements: list[Element] = []
    for effect, group in groupby(breakages[:most], lambda each: each.effect):
        same = list(group)
        elements += [make_text("; ")] if elements else []
        for place, each in enumerate(same):
            elements += [make_text(" and " if place == len(same) - 1 else ", ")] if place else []
            elements += make_code(shorten_name(each.change.name))
        text = _SINGULAR.sub(_make_plural, effect) if len(same) > 1 else effect
        elements += [make_text(" "), *make_prose(text, {}, _MAX_EFFECT)]
    rest = len(breakages) - most
    return [*elements, *([make_text(f" ({format_more(rest)})")] if rest > 0 else [])]


def _make_plural(verb: re.Match[str]) -> str:
    return {"is": "are", "has": "have"}.get(verb[0], verb[0].removesuffix("s"))


def describe_elsewhere(pulls: Sequence[PullRequest]) -> str:
    """Return which merges are not judged since they went into other branches, as a clause; empty for none."""
    names = [f"#{pull.number} (into {shorten_branch(pull)})" for pull in pulls]
    more = f" {format_more(len(names) - _MAX_ELSEWHERE)}" if len(names) > _MAX_ELSEWHERE else ""
    return f"not judged: {', '.join(names[:_MAX_ELSEWHERE])}{more}" if names else ""
