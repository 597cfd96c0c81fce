"""What the commands print: values that JSON can hold. README.md has the shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from impact.contract.models import ChangeKind, name_merge
from impact.contract.table import ContractTableRow
from impact.coverage import CoveredList, cover_defects
from impact.errors import attempt
from impact.evaluation.touch_evaluation import TouchEvaluation
from impact.history.merges import extract_description
from impact.profile.file_uses import is_test
from impact.profile.models import Profile, Use
from impact.text.description import extract_advice
from impact.text.strings import collapse_lines, truncate_text
from impact.touches.breakage.suspects import Suspect, SuspectReport
from impact.touches.judgement import list_tests
from impact.touches.models import JudgedCommit, Touch, TouchLevel
from impact.touches.profile_index import UsedDeprecation
from impact.touches.spent import SpentUse
from impact.touches.upgrade import FileWork, UpgradePlan

Document = dict[str, Any]
Item = TypeVar("Item")
# as a profile counts them
_OURS = "files of your code"
_NOTHING: Mapping[Use, str] = {}
# changes, touches, uses of each, lines and tests of a guide
_MAX_OF_GUIDE = 20
# what changes the meaning of a document, or takes something out of it, raises it
SCHEMA = 1


def _shorten(most: int) -> BeforeValidator:
    return BeforeValidator(lambda text: truncate_text(collapse_lines(text), most))


_Text = Annotated[str, _shorten(400)]
_Code = Annotated[str, _shorten(500)]


class Row(BaseModel):
    """A part of a document whose form others may ask for. It may be made of a value with the same fields."""

    model_config = ConfigDict(from_attributes=True, populate_by_name=True, serialize_by_alias=True)


AnyRow = TypeVar("AnyRow", bound=Row)


class UseRow(Row):
    """A line of the team's tree."""

    kind: str = Field(description="how the line uses the name")
    name: _Text
    path: _Text
    line: int
    text: _Text
    why: _Text = Field("", description="why it stands there, as its comment or docstring says; else empty")


class ChangeRow(Row):
    """A change of a name that others depend on."""

    subject: str = Field(alias="class", description="function, class, flag, environment variable and so on")
    kind: str = Field(description="removed, moved, renamed, signature, default, added and so on")
    name: _Text = Field(description="full dotted name of code; else what users write")
    before: _Code
    after: _Code
    new_name: _Text = Field(description="where it was moved or what it is called now; else empty")
    path: _Text
    line: int
    is_old_line: bool = Field(description="the line counts in the file before the merge")


class TouchRow(Row):
    """A change and the uses that it concerns."""

    level: str = Field(description="breaks, stops silently, may break, or touches")
    reason: _Text
    action: _Text = Field(description="what to do; empty where nothing is known")
    change: ChangeRow
    uses: list[UseRow]
    more_uses: int | None = Field(description="how many are left out; null: none")


class SpentRow(UseRow):
    """A line of the team's tree that may go."""

    why: _Text = Field(description="why it may go")
    pr: int | None = Field(description="the pull request that its comment names; null: none")


class DeprecationRow(Row):
    """What upstream announced to remove, and where the team's tree uses it."""

    subject: str = Field(alias="class", description="function, flag and so on, as of a change")
    name: _Text
    pr: int = Field(description="the pull request that announced it")
    when: _Text = Field(description="when it is to go; empty: not said")
    replacement: _Text
    text: _Text
    path: _Text
    line: int
    uses: list[UseRow]


class CommitRow(Row):
    """What a commit means for a team's code."""

    commit: str
    pr: int | None = Field(description="null for a commit that names no pull request")
    title: Annotated[str, _shorten(200)]
    level: str | None = Field(description="breaks, stops silently, may break, touches or no; null: can't be told")
    not_read: str | None = Field(description="what of the commit could not be read, so that it may do more")
    score: float = Field(description="orders commits of a level: more is more certain")
    reverted_by: int | None = Field(description="the later pull request, among the same, that reverts it")
    touches: list[TouchRow]
    more_touches: int | None


class MigrationRow(Row):
    """A line of upstream's own code before and after."""

    name: _Text = ""
    path: _Text
    line: int
    before: _Code
    after: _Code


class GuideRow(CommitRow):
    """What somebody needs who adapts a team's code to a commit."""

    changes: list[ChangeRow] = Field(description="all that the commit changes for others")
    more_changes: int | None
    migrations: list[MigrationRow] = Field(description="how upstream changed its own callers")
    advice: str = Field(description="what the commit's description says on adapting to it; else empty")
    our_tests: list[_Text] = Field(description="tests of the team that use what changed")
    upstream_tests: list[_Text] = Field(description="tests that the commit changes")


def list_commit_rows(
    judged: CoveredList[JudgedCommit], reasons: Mapping[Use, str], most: int | None = None
) -> CoveredList[CommitRow]:
    """Return the rows of commits, with at most so many touches and uses of each.

    Commits and uses with which a defect is met are unread.
    """
    return _derive_rows(judged, lambda each, unread: _describe_commit(each, reasons, most, unread))


def list_guide_rows(
    judged: CoveredList[JudgedCommit], profile: Profile, messages: Mapping[str, str], reasons: Mapping[Use, str]
) -> CoveredList[GuideRow]:
    def describe(each: JudgedCommit, unread: list[str]) -> GuideRow:
        contract = each.contract
        telling = [change for change in contract.changes if change.kind is not ChangeKind.BEHAVIOUR]
        migrations = [
            MigrationRow.model_validate(migration).model_copy(update={"name": name})
            for name, group in contract.migrations.items()
            for migration in group
        ]
        tests = list_tests(profile, each.touches.touches)[:_MAX_OF_GUIDE]
        return GuideRow(
            **dict(_describe_commit(each, reasons, _MAX_OF_GUIDE, unread)),
            changes=[*map(ChangeRow.model_validate, telling[:_MAX_OF_GUIDE])],
            more_changes=len(telling[_MAX_OF_GUIDE:]) or None,
            migrations=migrations[:_MAX_OF_GUIDE],
            advice=extract_advice(extract_description(messages.get(contract.commit, ""))),
            our_tests=[f"{use.path}:{use.line}" for use in tests],
            upstream_tests=[path for path in contract.files if is_test(path)][:_MAX_OF_GUIDE],
        )

    return _derive_rows(judged, describe)


def list_use_rows(uses: CoveredList[Use], reasons: Mapping[Use, str]) -> CoveredList[UseRow]:
    return uses.derive_each(_OURS, lambda use: use.path, lambda use: (_describe_use(use, reasons),))


def _derive_rows(
    judged: CoveredList[JudgedCommit], describe: Callable[[JudgedCommit, list[str]], AnyRow]
) -> CoveredList[AnyRow]:
    """Return what is made of each commit; ``describe`` adds the paths of uses that it can't describe to a list."""
    unread: list[str] = []
    rows = judged.derive_each(
        "merges", lambda each: name_merge(each.contract.number), lambda each: (describe(each, unread),)
    )
    return replace(rows, coverage=rows.coverage + cover_defects(_OURS, [*dict.fromkeys(unread)], 0))


def _describe_commit(
    judged: JudgedCommit, reasons: Mapping[Use, str], most: int | None, unread: list[str]
) -> CommitRow:
    merge, gaps = judged.touches, judged.coverage.explain_gaps(is_empty=not judged.touches.touches)
    is_unknown = gaps and merge.level is TouchLevel.NO
    return CommitRow(
        commit=merge.commit,
        pr=merge.number if merge.number > 0 else None,
        title=merge.title,
        level=None if is_unknown else merge.level.label,
        not_read=gaps or None,
        score=round(merge.score, 4),
        reverted_by=judged.reverted_by or None,
        touches=[_describe_touch(touch, touch.uses, reasons, most, unread) for touch in merge.touches[:most]],
        more_touches=(most and len(merge.touches[most:])) or None,
    )


def _describe_touch(
    touch: Touch, uses: Sequence[Use], reasons: Mapping[Use, str], most: int | None, unread: list[str]
) -> TouchRow:
    shown = {use: attempt(use.path, _describe_use, use, reasons) for use in uses[:most]}
    unread += [use.path for use, row in shown.items() if row is None]
    return TouchRow(
        level=touch.level.label,
        reason=touch.tell(uses[0]),
        action=touch.action,
        change=ChangeRow.model_validate(touch.change),
        uses=[row for row in shown.values() if row],
        more_uses=(most and len(uses[most:])) or None,
    )


def _describe_use(use: Use, reasons: Mapping[Use, str] = _NOTHING) -> UseRow:
    return UseRow.model_validate(use).model_copy(update={"why": reasons.get(use, "")})


def describe_rows(rows: CoveredList[ContractTableRow]) -> Document:
    def describe(row: ContractTableRow) -> Document:
        change = _pick(row.change, "class=subject kind name before after path line")
        after = row.change.after or row.change.new_name
        return {"pr": row.number, **change, "after": after, "url": row.url}

    return _describe_list("changes", rows, describe)


def describe_commits(
    judged: CoveredList[JudgedCommit],
    profile: Profile,
    base: str,
    reasons: Mapping[Use, str] = _NOTHING,
    judges: str = "",
) -> Document:
    """Return what each of some commits means for a profile that is linked to upstream at ``base``, by hash."""
    document = _describe_list("commits", list_commit_rows(judged, reasons), Row.model_dump)
    rows = document.pop("commits")
    facts = {"profile": profile.name, "downstream": profile.commit, "base": base, "uses": len(profile.uses)}
    by_hash = None if rows is None else {row["commit"]: row for row in rows}
    return document | facts | {"judges": judges, "commits": by_hash}


def describe_guides(
    judged: CoveredList[JudgedCommit], profile: Profile, messages: Mapping[str, str], reasons: Mapping[Use, str]
) -> Document:
    return _describe_list("guides", list_guide_rows(judged, profile, messages, reasons), Row.model_dump)


def describe_uses(uses: CoveredList[Use], profile: Profile, reasons: Mapping[Use, str]) -> Document:
    document = _describe_list("uses", list_use_rows(uses, reasons), Row.model_dump)
    return document | {"profile": profile.name, "downstream": profile.commit}


def describe_suspects(report: SuspectReport) -> Document:
    def describe(suspect: Suspect) -> Document:
        change = suspect.change and ChangeRow.model_validate(suspect.change).model_dump()
        facts = _pick(suspect, "pr=number title commit merged_at score reason reverted_by")
        return {**facts, "merged_at": suspect.merged_at.isoformat(), "change": change}

    return {
        **_describe_list("suspects", report.suspects, describe),
        **_pick(report, "since until merges"),
        "errors": [_pick(each, "kind owner function names") for each in report.trace.errors],
        "omitted": report.suspects.coverage.qualify_count(report.omitted),
    }


def describe_plan(plan: UpgradePlan) -> Document:
    return {
        **_describe_list("files", plan.files, _describe_work),
        **_pick(plan, "profile start end merges uses judges"),
        "undone": plan.files.coverage.qualify_count(plan.undone),
        "stops": [
            {**_pick(stop, "commit pr=number title"), "names": [item.touch.change.name for item in stop.items]}
            for stop in plan.stops
        ],
        "deprecations": [row.model_dump() for row in map(describe_deprecation, plan.deprecations)],
        "may_go": list_spent_rows(plan.spent).to_document("uses", Row.model_dump),
        "regressions": [
            {**_pick(each.pull, "pr=number title"), "kind": each.kind, "by": each.by.number}
            for each in plan.regressions
        ],
    }


def list_spent_rows(spent: CoveredList[SpentUse]) -> CoveredList[SpentRow]:
    def describe(each: SpentUse) -> Iterator[SpentRow]:
        number = each.merge.number if each.merge else None
        yield SpentRow(**{**dict(_describe_use(each.use)), "why": each.why}, pr=number)

    return spent.derive_each(_OURS, lambda each: each.use.path, describe)


def describe_deprecation(used: UsedDeprecation) -> DeprecationRow:
    facts = _pick(used.entry, "subject name pr=number when replacement text path line")
    return DeprecationRow(**facts, uses=[*map(_describe_use, used.uses)])


def _describe_work(work: FileWork) -> Document:
    items = [
        {
            **_describe_touch(item.touch, item.uses, _NOTHING, None, []).model_dump(),
            "merges": [_pick(each, "pr=number commit title") for each in item.net.merges],
        }
        for item in work.items
    ]
    return {"path": work.path, "level": work.level.label, "items": items}


def describe_evaluation(evaluation: TouchEvaluation) -> Document:
    """Return the figures of a replay; undefined ones are None."""
    dates = {**_pick(evaluation.dates, "since until"), "timezone": "UTC"}
    facts = {"dates": dates, "cases": len(evaluation.cases), **_pick(evaluation, "verdict judges")}
    return dict(replace_undefined(asdict(evaluation) | facts))


def replace_undefined(value: Any) -> Any:
    """Return the value with None for each number that is not finite."""
    if isinstance(value, dict):
        return {key: replace_undefined(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [replace_undefined(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _describe_list(name: str, items: CoveredList[Item], show: Callable[[Item], Document]) -> Document:
    """Return a list for JSON: first what was not read for it, and the version of its form."""
    listed = items.to_document(name, show)
    unread = [asdict(file) for file in items.coverage.files]
    return {"not_read": listed.pop("not_read"), "schema": SCHEMA, "unread": unread, **listed}


def _pick(value: object, names: str) -> Document:
    """Return attributes of a value by their names in a document, in this order: ``pr=number title``."""
    pairs = (name.partition("=") for name in names.split())
    return {name: getattr(value, attribute or name) for name, _, attribute in pairs}
