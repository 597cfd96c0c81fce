"""What a merge means for a profile: each pair of change and use, judged by the relation between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from impact.checker.diagnostics import NOT_CHECKED, CheckedMerges, Place, Witness
from impact.contract.models import (
    PYTHON_CLASSES,
    ChangeKind,
    ContractChange,
    MergeContract,
    Migration,
    cover_contracts,
    name_merge,
)
from impact.contract.python.callers import get_called_name
from impact.coverage import COMPLETE, Coverage, CoveredList, UnreadFile
from impact.errors import READING_FAILED, attempt, attempt_all
from impact.history.reverts import Revert
from impact.profile.models import Profile, Use
from impact.text.strings import count_common, truncate_text
from impact.touches.agreement import list_alone, list_doubts, weigh_touches
from impact.touches.models import JudgedCommit, MergeTouches, Touch, TouchLevel, TouchReport
from impact.touches.profile_index import ProfileIndex
from impact.touches.ranking import LEAST_CHANCE, count_figures, estimate_chance
from impact.touches.rules.name_rules import (
    judge_abstract_member,
    judge_added_member,
    judge_behaviour,
    judge_default,
    judge_deprecation,
    judge_lost_name,
    judge_result,
)
from impact.touches.rules.plain_rules import judge_plain_name
from impact.touches.rules.signature_rules import judge_signature
from impact.touches.rules.verdicts import Rule, Verdict, qualify_verdict, quote_name

# characters of a line, and of those before what differs
_MAX_LINE, _CONTEXT = 100, 30


def describe_action(change: ContractChange, contract: MergeContract) -> str:
    """Return what to do, empty where nothing is known."""
    migrations = contract.migrations.get(change.name, ())
    if migrations:
        return _describe_migration(migrations[0])
    if change.new_name:
        return f"use `{change.new_name}`"
    if change.deadline and change.deadline.replacement:
        return f"use `{change.deadline.replacement}`"
    return ""


def _describe_migration(migration: Migration) -> str:
    if not migration.after:
        return f"upstream deleted its own call `{truncate_text(migration.before.strip(), _MAX_LINE)}`"
    before, after = _cut_lines(migration.before.strip(), migration.after.strip())
    return f"upstream changed its own `{before}` to `{after}`"


def _cut_lines(before: str, after: str) -> tuple[str, str]:
    """Return two lines cut to what differs, so that they never look the same."""
    if max(len(before), len(after)) <= _MAX_LINE:
        return before, after
    same = count_common(before, after)
    start = max(0, same - _CONTEXT)
    mark = "…" if start else ""
    return (
        truncate_text(f"{mark}{before[start:]}", _MAX_LINE),
        truncate_text(f"{mark}{after[start:]}", _MAX_LINE),
    )


_RULES: dict[ChangeKind, Rule] = {
    ChangeKind.REMOVED: judge_lost_name,
    ChangeKind.MOVED: judge_lost_name,
    ChangeKind.RENAMED: judge_lost_name,
    ChangeKind.SIGNATURE: judge_signature,
    ChangeKind.ABSTRACT_MEMBER: judge_abstract_member,
    ChangeKind.ADDED_MEMBER: judge_added_member,
    ChangeKind.BEHAVIOUR: judge_behaviour,
    ChangeKind.RETURN: judge_result,
    ChangeKind.DEFAULT: judge_default,
    ChangeKind.DEPRECATED: judge_deprecation,
}


def judge_merge(contract: MergeContract, index: ProfileIndex, witness: Witness | None = None) -> MergeTouches:
    """Return what a merge means for a profile, its touches strongest first.

    A merge that only touches, and that hardly anybody would adapt to, has the level NO and no touches. A
    ``witness`` is what a type checker says of the same merge.
    """
    every = _list_every(contract, index, witness)
    figures, touches = count_figures(contract, every, index), tuple(_tell_once(every))
    chance = estimate_chance(figures)
    level = max((each.level for each in touches), default=TouchLevel.NO)
    if level is TouchLevel.TOUCHES and chance < LEAST_CHANCE:
        level, touches = TouchLevel.NO, ()
    return MergeTouches(contract.number, contract.title, contract.commit, level, chance, touches, figures)


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
    index = ProfileIndex(profile)

    def judge_all(merges: Sequence[MergeContract]) -> list[MergeTouches]:
        return [judge_merge(each, index, checked.get_witness(each.commit)) for each in merges]

    judged, failed = attempt_all(judge_all, contracts, lambda contract: f"#{contract.number}")
    touching = (merge for merge in judged if merge.level > TouchLevel.NO)
    return TouchReport(
        name,
        len(contracts),
        len(profile.uses),
        CoveredList(
            tuple(sorted(touching, key=lambda merge: merge.sort_key)),
            coverage + cover_contracts(contracts, failed) + index.profile.coverage,
        ),
        checked.sentence,
    )


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


def list_touches(
    contract: MergeContract, index: ProfileIndex, witness: Witness | None = None
) -> tuple[Touch, ...]:
    """Return each change that concerns uses, once for each effect on them, strongest first.

    Of several changes with one cause, the strongest has a line for itself.
    """
    return tuple(_tell_once(_list_every(contract, index, witness)))


def _list_every(contract: MergeContract, index: ProfileIndex, witness: Witness | None) -> tuple[Touch, ...]:
    judged = sorted(_judge_changes(contract, index), key=_get_order)
    every = tuple(each for each in judged if each.level is not TouchLevel.NO)
    if not witness:
        return every
    weighed = tuple(weigh_touches(every, witness))
    return tuple(sorted((*weighed, *list_alone(witness, weighed, contract, index)), key=_get_order))


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
    names = [get_called_name(each.change).lstrip("-").replace("-", "_") for each in (touch, other)]
    is_constructor = all(each.change.name.endswith(".__init__") for each in (touch, other))
    return (
        names[0] == names[1]
        or f"`{names[0]}`" in other.reason
        or f"`{names[1]}`" in touch.reason
        or (is_constructor and _leave_out_name(touch) == _leave_out_name(other))
    )


def _leave_out_name(touch: Touch) -> str:
    return touch.reason.replace(quote_name(touch.change), "")


def _judge_changes(contract: MergeContract, index: ProfileIndex) -> Iterator[Touch]:
    for change in (*contract.changes, *contract.unlisted):
        groups: dict[tuple[TouchLevel, str], list[Verdict]] = defaultdict(list)
        for judged in _judge_change(change, contract, index):
            verdict = qualify_verdict(change, judged)
            groups[verdict.level, verdict.reason].append(verdict)
        for (level, reason), verdicts in groups.items():
            ordered = sorted(verdicts, key=lambda each: -each.weight)
            uses = tuple(dict.fromkeys(each.use for each in ordered))
            action = describe_action(change, contract) if level is not TouchLevel.NO else ""
            yield Touch(level, change, uses, reason, ordered[0].weight, action)


def _judge_change(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterable[Verdict]:
    if change.subject not in PYTHON_CLASSES:
        return judge_plain_name(change, contract, index)
    rule = _RULES.get(change.kind)
    return rule(change, contract, index) if rule else ()


def _get_order(touch: Touch) -> tuple[float, float, str, str]:
    return -touch.level, -touch.score, touch.change.name, touch.use.path
