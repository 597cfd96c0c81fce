"""What a merge means for a profile: each pair of change and use, judged by the relation between them."""

from __future__ import annotations

import math
import operator
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from impact.checker.diagnostics import NOT_CHECKED, CheckedMerges, Place, Witness
from impact.contract.models import ContractChange, MergeContract, cover_contracts, name_merge
from impact.coverage import COMPLETE, Coverage, CoveredList, UnreadFile
from impact.errors import READING_FAILED, attempt
from impact.history.reverts import Revert
from impact.profile.models import MovedHit, Profile, ProfileMove, Use
from impact.python.module_names import name_module
from impact.text.strings import count_common, truncate_text
from impact.touches.agreement import leave_out_declared, list_alone, list_doubts, weigh_touches
from impact.touches.call_rules import Verdict, quote_name
from impact.touches.models import JudgedCommit, MergeTouches, RankFigures, Touch, TouchLevel, TouchReport
from impact.touches.profile_index import ProfileIndex
from impact.touches.rules import judge_change

# --- merges and commits


def judge_merge(contract: MergeContract, index: ProfileIndex, witness: Witness | None = None) -> MergeTouches:
    """Return what a merge means for a profile, its touches strongest first.

    A merge that only touches, and that hardly anybody would adapt to, has the level NO and no touches. A
    ``witness`` is what a type checker says of the same merge.
    """
    every = _list_every(contract, index, witness)
    figures, touches = _count_figures(contract, every, index), tuple(_tell_once(every))
    chance = estimate_chance(figures)
    level = max((each.level for each in touches), default=TouchLevel.NO)
    if level is TouchLevel.TOUCHES and chance < LEAST_CHANCE:
        level, touches = TouchLevel.NO, ()
    return MergeTouches(contract.number, contract.title, contract.commit, level, chance, touches, figures)


def list_touches(
    contract: MergeContract, index: ProfileIndex, witness: Witness | None = None
) -> tuple[Touch, ...]:
    """Return each change that concerns uses, once for each effect on them, strongest first.

    Of several changes with one cause, the strongest has a line for itself.
    """
    return tuple(_tell_once(_list_every(contract, index, witness)))


def find_doubts(contracts: Iterable[MergeContract], index: ProfileIndex) -> dict[str, frozenset[Place]]:
    """Return, by the commit of a merge, the places of the team that a type checker is asked about."""
    every = ((each.commit, attempt(name_merge(each.number), _list_every, each, index, None)) for each in contracts)
    return {commit: places for commit, touches in every if (places := list_doubts(touches or ()))}


def judge_merges(
    name: str,
    profile: Profile,
    contracts: Sequence[MergeContract],
    coverage: Coverage = COMPLETE,
    checked: CheckedMerges = NOT_CHECKED,
) -> TouchReport:
    """Return what merges mean for a profile of a name: those that touch it, strongest and newest first.

    ``coverage`` is that of what else was to be read, such as lists of days.
    """
    judged = judge_commits(ProfileIndex(profile), contracts, checked=checked)
    touching = judged.derive(
        lambda merges: sorted(
            (each.touches for each in merges if each.touches.is_hit), key=lambda merge: merge.sort_key
        )
    )
    touching = replace(touching, coverage=coverage + judged.coverage)
    return TouchReport(name, len(contracts), len(profile.uses), touching, checked.sentence)


def judge_commits(
    index: ProfileIndex,
    contracts: Sequence[MergeContract],
    reverts: Iterable[Revert] = (),
    checked: CheckedMerges = NOT_CHECKED,
) -> CoveredList[JudgedCommit]:
    """Return what each commit means for a profile, in the same order; what could not be judged is unread."""
    reverted_by = {each.number: each.by for each in reverts}
    judged = []
    for contract in contracts:
        name = name_merge(contract.number)
        touches = attempt(name, judge_merge, contract, index, checked.get_witness(contract.commit))
        if touches is None:
            unread = (*contract.unread, UnreadFile(name, READING_FAILED))
            contract = replace(contract, unread=unread)  # noqa: PLW2901 (with what was not read)
            touches = MergeTouches(contract.number, contract.title, contract.commit, TouchLevel.NO, 0.0)
        judged.append(JudgedCommit(touches, contract, reverted_by.get(contract.number, 0)))
    coverage = cover_contracts(each.contract for each in judged) + index.profile.coverage
    return CoveredList(tuple(judged), coverage)


def list_tests(profile: Profile, touches: Iterable[Touch]) -> tuple[Use, ...]:
    """Return the first use in each of the team's tests that use what changed."""
    names = {name for touch in touches for use in touch.uses for name in (use.name, *use.definitions)}
    tests: dict[str, Use] = {}
    for use in profile.uses:
        if use.is_test and not names.isdisjoint((use.name, *use.definitions)):
            tests.setdefault(use.path, use)
    return tuple(tests.values())


# --- two states of a profile

# more of each are no news for a reader, but another profile
_MAX_MOVED = 20


def judge_both(
    before: Profile, after: Profile, contracts: Iterable[MergeContract]
) -> list[tuple[MergeTouches, MergeTouches]]:
    """Return what each merge means for two states of a profile; one that can't be judged is left out."""
    indexes = ProfileIndex(before), ProfileIndex(after)
    judged = (
        [attempt(name_merge(each.number), judge_merge, each, index) for index in indexes] for each in contracts
    )
    return [(first, then) for first, then in judged if first and then]


def build_move(
    pairs: Sequence[tuple[MergeTouches, MergeTouches]], at: datetime, behind: Container[int] = ()
) -> ProfileMove:
    """Build the move at an instant (UTC), the strongest first. What is ``behind`` the pin can't begin to touch."""
    began = [then for first, then in pairs if then.is_hit and not first.is_hit and then.number not in behind]
    ended = [first for first, then in pairs if first.is_hit and not then.is_hit]
    return ProfileMove(at, _list_moved(began), _list_moved(ended))


def _list_moved(merges: Iterable[MergeTouches]) -> tuple[MovedHit, ...]:
    ordered = sorted(merges, key=operator.attrgetter("sort_key"))[:_MAX_MOVED]
    return tuple(MovedHit(each.number, each.touches[0].change.name) for each in ordered)


# --- the touches of a merge


def _list_every(contract: MergeContract, index: ProfileIndex, witness: Witness | None) -> list[Touch]:
    touches = [
        touch
        for change in (*contract.changes, *contract.unlisted)
        for touch in _build_touches(change, contract, index)
    ]
    touches.sort(key=_get_order)
    if witness:
        witness = leave_out_declared(witness, contract)
        touches = [*weigh_touches(touches, witness)]
        touches = sorted((*touches, *list_alone(witness, touches, contract, index)), key=_get_order)
    return touches


def _get_order(touch: Touch) -> tuple[float, float, str, str]:
    return -touch.level, -touch.score, touch.change.name, touch.use.path


def _build_touches(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Touch]:
    groups: dict[tuple[TouchLevel, str], list[Verdict]] = defaultdict(list)
    for verdict in judge_change(change, contract, index):
        if verdict.level is not TouchLevel.NO:
            groups[verdict.level, verdict.reason].append(verdict)
    action = describe_action(change, contract) if groups else ""
    for (level, reason), verdicts in groups.items():
        verdicts.sort(key=lambda each: -each.weight)
        uses = tuple(dict.fromkeys(each.use for each in verdicts))
        yield Touch(level, change, uses, reason, verdicts[0].weight, action)


def _tell_once(touches: Iterable[Touch]) -> list[Touch]:
    """Return touches, strongest first, without the lines of which a stronger one gave the cause.

    What has the same cause and the same effect elsewhere is one touch: that of a class and its base, say.
    """
    rows: list[Touch] = []
    by_member: dict[tuple[TouchLevel, str], list[int]] = defaultdict(list)
    told: dict[tuple[str, int], list[Touch]] = defaultdict(list)
    for touch in touches:
        left = tuple(
            use
            for use in touch.uses
            if not any(_has_same_cause(touch, other) for other in told[use.path, use.line])
        )
        if not left:
            continue
        for use in left:
            told[use.path, use.line].append(touch)
        same = by_member[touch.level, touch.change.name.rpartition(".")[2]]
        twin = next((at for at in same if _is_same_fact(touch, rows[at])), None)
        if twin is None:
            same.append(len(rows))
            rows.append(replace(touch, uses=left))
        else:
            rows[twin] = replace(rows[twin], uses=(*rows[twin].uses, *left))
    return rows


def _is_same_fact(touch: Touch, other: Touch) -> bool:
    """Return whether two touches of members of one name are of a class and its base, and say the same of them."""
    both, uses = {touch.change.name, other.change.name}, (*touch.uses, *other.uses)
    is_shared = len(both) > 1 and any(both <= {*use.definitions} for use in uses)
    return is_shared and all("." in name for name in both) and _leave_out_name(touch) == _leave_out_name(other)


def _has_same_cause(touch: Touch, other: Touch) -> bool:
    """Return whether two changes are of one name: of a class and its base, of a field and an argument."""
    name, others = (each.change.called_name.lstrip("-").replace("-", "_") for each in (touch, other))
    if name == others or f"`{name}`" in other.reason or f"`{others}`" in touch.reason:
        return True
    is_constructor = all(each.change.name.endswith(".__init__") for each in (touch, other))
    return is_constructor and _leave_out_name(touch) == _leave_out_name(other)


def _leave_out_name(touch: Touch) -> str:
    return touch.reason.replace(quote_name(touch.change), "")


# --- what to do

# characters of a line, and of those before what differs
_MAX_LINE, _CONTEXT = 100, 30


def describe_action(change: ContractChange, contract: MergeContract) -> str:
    """Return what to do, empty where nothing is known."""
    if migrations := contract.migrations.get(change.name):
        before, after = migrations[0].before.strip(), migrations[0].after.strip()
        if not after:
            return f"upstream deleted its own call `{truncate_text(before, _MAX_LINE)}`"
        if max(len(before), len(after)) > _MAX_LINE:
            # cut to what differs, so that they never look the same
            start = max(0, count_common(before, after) - _CONTEXT)
            mark = "…" if start else ""
            before, after = (truncate_text(f"{mark}{each[start:]}", _MAX_LINE) for each in (before, after))
        return f"upstream changed its own `{before}` to `{after}`"
    name = change.new_name or (change.deadline.replacement if change.deadline else "")
    return f"use `{name}`" if name else ""


# --- the rank of a merge among others: how likely a team adapts to it
#
# A logistic model of five figures. Its weights were fitted to the 108 merges of vLLM from October 2025 to January
# 2026 that vllm-ascend names in its adaptations, out of 3,456, and rounded
# (docs/decisions/0009-what-breaks-a-downstream.md has what was tried, ``python -m benchmarks months`` fits them
# again).

# a merge that only touches is shown from this chance on: of the 65 below it, none was adapted to
LEAST_CHANCE = 0.025
# of what every merge has, of one that breaks, and of one that may break; then, for each doubling, roughly: of
# changed names that are used, of uses of the changed modules, and of all changes
WEIGHTS = (-6.3, 2.2, 0.3, 0.25, 0.45, 0.45)


def _count_figures(contract: MergeContract, touches: Collection[Touch], index: ProfileIndex) -> RankFigures:
    levels = {each.level for each in touches}
    # lines of the team that use a module which the merge changes
    uses = 0
    for path in contract.files:
        if module := name_module(path):
            # most of what is imported from a package stands in other files of it
            name, is_package = module
            of_module = index.list_uses(name) if is_package else index.list_uses_within(name)
            uses += len({(use.path, use.line) for use in of_module})
    return RankFigures(
        max(levels, default=TouchLevel.NO) > TouchLevel.MAY_BREAK,
        TouchLevel.MAY_BREAK in levels,
        len({each.change.name for each in touches}),
        uses,
        len(contract.changes),
    )


def estimate_chance(figures: RankFigures, weights: Sequence[float] = WEIGHTS) -> float:
    """Return the chance that the team adapts to a merge, 0 if it changes nothing to depend on or that is used."""
    if not figures.names and not figures.uses:
        return 0.0
    odds = sum(map(operator.mul, weights, list_terms(figures)))
    return 1 / (1 + math.exp(-odds))


def list_terms(figures: RankFigures) -> tuple[float, ...]:
    """Return what the weights belong to."""
    counts = (figures.names, figures.uses, figures.changes)
    return 1.0, float(figures.breaks), float(figures.may_break), *map(math.log1p, counts)
