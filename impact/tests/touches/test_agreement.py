from collections.abc import Iterable
from dataclasses import replace

from impact.checker.diagnostics import CheckedMerges, Finding, Witness
from impact.contract.models import ChangeKind, ContractChange, ContractClass
from impact.profile.models import Use, UseKind
from impact.testing.checks import check_rows
from impact.testing.touches import make_change, make_merge, make_profile, make_use, read_signature
from impact.touches.judgement import judge_merge
from impact.touches.models import MergeTouches, TouchLevel
from impact.touches.profile_index import ProfileIndex
from impact.touches.upgrade import UpgradeRange, build_upgrade_plan

NO, TOUCHES, MAY_BREAK, SILENT, BREAKS = TouchLevel
GONE = make_change(ChangeKind.REMOVED, "up.a.f")
IMPORT = make_use(UseKind.IMPORT, "up.a.f")
LATER = make_change(ChangeKind.DEFAULT, "up.a.g", before="(a=1)", after="(a=2)")
FILES = ("ours/a.py",)


def find(line: int, *lines: int, kind: UseKind = UseKind.CALL, name: str = "up.a.g") -> Finding:
    use = Use(kind, name, "ours/a.py", line, "g(1)")
    return Finding(
        "missing-argument", use, f"Missing argument `x` in function `{name}`", (name,), frozenset((line, *lines))
    )


def judge(
    change: ContractChange, use: Use, findings: Iterable[Finding], paths: tuple[str, ...] = FILES
) -> MergeTouches:
    witness = Witness(tuple(findings), paths)
    return judge_merge(make_merge(change), ProfileIndex(make_profile([use])), witness)


@check_rows(
    {
        "both": (GONE, IMPORT, [find(7)], BREAKS),
        "where the call begins": (GONE, IMPORT, [find(9, 7)], BREAKS),
        "a name that is gone": (GONE, IMPORT, [], BREAKS),
        "the rules alone": (
            replace(
                make_change(ChangeKind.SIGNATURE, "up.a.f", before="(a)", after="(a, b)"),
                old_signature=read_signature("(a)"),
                new_signature=read_signature("(a, b)"),
            ),
            make_use(UseKind.CALL, "up.a.f", call="f(1)"),
            [],
            MAY_BREAK,
        ),
        "a replacement": (GONE, make_use(UseKind.PATCH, "up.a.f"), [], BREAKS),
        "a constructor": (
            make_change(ChangeKind.REMOVED, "up.a.C.__init__", ContractClass.METHOD),
            make_use(UseKind.CALL, "up.a.C.__init__", call="C(1)"),
            [],
            BREAKS,
        ),
        "another way of calling": (
            replace(
                make_change(ChangeKind.SIGNATURE, "up.a.f", before="(a)", after="(a)"),
                new_signature=replace(read_signature("(a)"), is_async=True),
            ),
            make_use(UseKind.CALL, "up.a.f", call="f(1)"),
            [],
            BREAKS,
        ),
        "what is no Python": (
            make_change(ChangeKind.REMOVED, "--flag", ContractClass.FLAG),
            make_use(UseKind.FLAG, "--flag"),
            [],
            BREAKS,
        ),
    }
)
def test_what_both_say_is_certain_and_what_the_rules_say_alone_may_break(
    change: ContractChange, use: Use, findings: list[Finding], level: TouchLevel
) -> None:
    merge = judge(change, use, findings)
    assert (merge.level, len(merge.touches)) == (level, 1)
    assert merge.touches[0].score == (1.0 if findings else merge.touches[0].score)


def test_a_file_that_the_checker_did_not_see_is_judged_by_the_rules() -> None:
    assert judge(GONE, IMPORT, [], paths=()).level is BREAKS


def test_what_only_the_checker_says_breaks_with_its_message_our_line_and_the_change_upstream() -> None:
    merge = judge(LATER, make_use(UseKind.IMPORT, "up.b"), [find(9), find(12), find(5, name="up.c.h")])
    texts = [[touch.tell(use) for use in touch.uses] for touch in merge.touches]
    effect = "breaks: Missing argument `x` in function"
    assert texts == [
        [f"ours/a.py:9 {effect} `up.a.g`", f"ours/a.py:12 {effect} `up.a.g`"],
        [f"ours/a.py:5 {effect} `up.c.h`"],
    ]
    assert [(each.change.name, each.change.path, each.change.line) for each in merge.touches] == [
        ("up.a.g", "up/a.py", 3),
        ("up.c.h", "", 1),
    ]


def test_what_the_rules_only_see_touched_breaks_where_the_checker_says_so() -> None:
    merge = judge(LATER, make_use(UseKind.CALL, "up.a.g", call="g()"), [find(7)])
    assert [(each.level, each.reason) for each in merge.touches] == [(BREAKS, find(7).message)]


def test_what_fails_of_another_name_in_the_same_import_is_not_said_of_this_one() -> None:
    gone = find(7, kind=UseKind.IMPORT, name="up.a.f")
    change = make_change(ChangeKind.SIGNATURE, "up.a.g", before="(a)", after="(a, b)")
    merge = judge(change, make_use(UseKind.IMPORT, "up.a.g"), [gone])
    assert [(each.level, each.uses[0].name) for each in merge.touches] == [(BREAKS, "up.a.f"), (TOUCHES, "up.a.g")]


def test_what_fails_follows_from_what_is_gone_and_not_from_what_is_deprecated_beside_it() -> None:
    gone = Witness((find(7, kind=UseKind.IMPORT, name="up.a.f"),), FILES)
    changes = make_change(ChangeKind.DEPRECATED, "up.a", ContractClass.MODULE), GONE
    for some, level in ((changes, TOUCHES), (changes[:1], BREAKS)):
        merge = judge_merge(make_merge(*some), ProfileIndex(make_profile([IMPORT])), gone)
        assert merge.level is BREAKS
        assert [each.level for each in merge.touches if each.change is changes[0]] == [level]


def test_what_has_no_name_breaks_too() -> None:
    assert judge(LATER, make_use(UseKind.IMPORT, "up.b"), [find(9, name="")]).level is BREAKS


def test_a_guard_is_kept() -> None:
    guarded = Use(UseKind.IMPORT, "up.b", "ours/a.py", 9, is_guarded=True)
    assert judge(LATER, guarded, [find(9)]).level is MAY_BREAK


def test_in_an_upgrade_a_fact_is_one_row_whichever_merge_it_is_of() -> None:
    merge = make_merge(GONE)
    way = UpgradeRange("1" * 40, merge.commit, [merge])
    checked = CheckedMerges({merge.commit: (find(7), find(9))}, paths=frozenset(FILES))
    plan = build_upgrade_plan(way, ProfileIndex(make_profile([IMPORT])), checked)
    items = [item for work in plan.files.ignore_coverage() for item in work.items]
    assert [(item.level, item.uses[0].line, item.net.merges[0].number) for item in items] == [
        (BREAKS, 7, 7),
        (BREAKS, 9, 7),
    ]
    assert plan.judges == "A type checker judged beside the rules, in 1 of your files."
    assert build_upgrade_plan(way, ProfileIndex(make_profile())).judges.startswith(
        "The rules judged alone: no clone"
    )
