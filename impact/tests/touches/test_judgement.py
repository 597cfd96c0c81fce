from dataclasses import replace

from impact.contract.models import ChangeKind, ContractChange, ContractClass, Deadline, Migration
from impact.coverage import UnreadFile
from impact.profile.models import DerivedClass, Use, UseKind
from impact.python.models import Parameter, Signature
from impact.testing.checks import check_rows
from impact.testing.touches import make_change, make_merge, make_profile, make_use, read_call
from impact.touches.judgement import judge_merge, judge_merges, list_touches
from impact.touches.models import Touch, TouchLevel
from impact.touches.profile_index import ProfileIndex

NO, TOUCHES, MAY_BREAK, SILENT, BREAKS = TouchLevel
FUNCTION, METHOD = ContractClass.FUNCTION, ContractClass.METHOD
REMOVED, MOVED, RENAMED = ChangeKind.REMOVED, ChangeKind.MOVED, ChangeKind.RENAMED


def judge(
    change: ContractChange, *uses: Use, derived: DerivedClass | None = None, calls: str = ""
) -> tuple[Touch, ...]:
    shapes = {change.name.removesuffix(".__init__").rpartition(".")[2]: (read_call(calls),)} if calls else {}
    profile = make_profile(uses, [derived] if derived else [])
    return list_touches(make_merge(change, **shapes), ProfileIndex(profile))


def rate(change: ContractChange, *uses: Use, derived: DerivedClass | None = None, calls: str = "") -> TouchLevel:
    return max((each.level for each in judge(change, *uses, derived=derived, calls=calls)), default=NO)


@check_rows(
    {
        "an import of a function": (REMOVED, "up.a.f", make_use(UseKind.IMPORT, "up.a.f"), BREAKS),
        "another name": (REMOVED, "up.a.f", make_use(UseKind.IMPORT, "up.a.fine"), NO),
        "what is in a module": (MOVED, "up.a", make_use(UseKind.IMPORT, "up.a.f"), BREAKS),
        "a name that only begins so": (REMOVED, "up.a", make_use(UseKind.IMPORT, "up.ab.f"), NO),
        "a member of a class": (REMOVED, "up.a.C", make_use(UseKind.CALL, "up.a.C.m", call="m()"), BREAKS),
        "behind a re-export, moved": (MOVED, "up.a.f", make_use(UseKind.IMPORT, "up.f", "up.a.f"), TOUCHES),
        "behind a re-export, gone": (REMOVED, "up.a.f", make_use(UseKind.IMPORT, "up.f", "up.a.f"), BREAKS),
        "a copy": (REMOVED, "up.a.f", make_use(UseKind.COPY, "up.a.f"), TOUCHES),
    }
)
def test_a_name_that_is_gone(kind: ChangeKind, name: str, use: Use, level: TouchLevel) -> None:
    assert rate(make_change(kind, name), use) is level


PLAIN, ASYNC = Signature((Parameter("a"),)), Signature((Parameter("a"),), is_async=True)
VALUE = Signature((Parameter("self"),), is_property=True, is_settable=True)
FIXED, OWN = replace(VALUE, is_settable=False), Signature((Parameter("self"), Parameter("a")))
STATIC, CLASS = replace(PLAIN, is_static=True), replace(PLAIN, is_class=True)
F, M = "up.a.f", "up.a.C.m"
CALL = make_use(UseKind.CALL, F, call="f(1)")
METHOD_CALL, READ = make_use(UseKind.CALL, M, call="m(1)"), make_use(UseKind.READ, M)
THROUGH_CLASS = replace(METHOD_CALL, text="C.m(1)")
OVERRIDE = replace(make_use(UseKind.OVERRIDE, M), signature=OWN)


@check_rows(
    {
        "a coroutine that nobody awaits": (F, PLAIN, ASYNC, CALL, BREAKS),
        "a result that was awaited": (F, PLAIN, ASYNC, replace(CALL, text="await f(1)"), TOUCHES),
        "an import of it": (F, PLAIN, ASYNC, make_use(UseKind.IMPORT, F), NO),
        "no coroutine any more": (F, ASYNC, PLAIN, CALL, BREAKS),
        "something to await all the same": (F, ASYNC, replace(PLAIN, returns="Awaitable[int]"), CALL, NO),
        "values that come later": (F, PLAIN, replace(ASYNC, is_generator=True), CALL, BREAKS),
        "a context": (F, PLAIN, replace(PLAIN, is_context=True), CALL, BREAKS),
        "an override that upstream awaits": (M, OWN, replace(OWN, is_async=True), OVERRIDE, BREAKS),
        "one that can be awaited": (
            M,
            OWN,
            replace(OWN, is_async=True),
            replace(OVERRIDE, signature=replace(OWN, is_async=True)),
            TOUCHES,
        ),
        "a property that is called": (M, OWN, FIXED, METHOD_CALL, BREAKS),
        "an override of what is a property now": (M, OWN, FIXED, OVERRIDE, BREAKS),
        "a method that is read": (M, FIXED, OWN, READ, BREAKS),
        "a value that can't be set": (M, VALUE, FIXED, make_use(UseKind.SET, M), BREAKS),
        "a value that is read": (M, VALUE, FIXED, READ, NO),
        "a method of objects that the class is asked for": (M, STATIC, OWN, THROUGH_CLASS, BREAKS),
        "one that an object is asked for": (M, STATIC, OWN, METHOD_CALL, NO),
        "a class that is extended": (F, CLASS, PLAIN, make_use(UseKind.SUBCLASS, F), BREAKS),
        "a class that is called": (F, CLASS, PLAIN, CALL, NO),
        "a value that is called": (F, PLAIN, None, CALL, BREAKS),
        "a value that is imported": (F, PLAIN, None, make_use(UseKind.IMPORT, F), MAY_BREAK),
        "a function that is read": (F, None, PLAIN, make_use(UseKind.READ, F), BREAKS),
    }
)
def test_another_way_of_calling(
    name: str, old: Signature | None, new: Signature | None, use: Use, level: TouchLevel
) -> None:
    subject = METHOD if name == M else FUNCTION
    change = replace(make_change(ChangeKind.SIGNATURE, name, subject), old_signature=old, new_signature=new)
    assert rate(change, use) is level


def test_uses_with_the_same_effect_are_one_touch_and_the_strongest_comes_first() -> None:
    guarded = replace(make_use(UseKind.IMPORT, "up.a.f", line=1), is_guarded=True)
    uses = (guarded, make_use(UseKind.IMPORT, "up.a.f", line=2), make_use(UseKind.CALL, "up.a.f", line=3))
    touches = judge(make_change(REMOVED, "up.a.f"), *uses)
    assert [(each.level, [use.line for use in each.uses]) for each in touches] == [
        (BREAKS, [2, 3]),
        (MAY_BREAK, [1]),
    ]


def test_a_merge_that_breaks_ranks_first_and_one_without_relation_last() -> None:
    uses = [make_use(UseKind.IMPORT, "up.a.f"), make_use(UseKind.CALL, "up.a.g", line=9)]
    index = ProfileIndex(make_profile(uses))
    breaking = replace(make_merge(make_change(REMOVED, "up.a.f")), files=("up/a.py",))
    quiet = replace(make_merge(make_change(ChangeKind.BEHAVIOUR, "up.a.g")), files=("up/a.py",))
    other = replace(make_merge(make_change(ChangeKind.BEHAVIOUR, "up.b.g")), files=("up/b.py",))
    first, second, third = (judge_merge(each, index) for each in (breaking, quiet, other))
    assert 1 > first.score > second.score > third.score == 0
    assert (first.level, second.level, second.touches) == (BREAKS, NO, ())


def test_a_merge_that_only_touches_is_shown_if_teams_adapt_to_such_merges() -> None:
    uses = [make_use(UseKind.OVERRIDE, f"up.a.C.m{n}", line=n) for n in range(40)]
    changes = [make_change(ChangeKind.BEHAVIOUR, f"up.a.C.m{n}", METHOD) for n in range(40)]
    index, merge = ProfileIndex(make_profile(uses)), replace(make_merge(*changes), files=("up/a.py",))
    assert (judge_merge(merge, index).level, len(judge_merge(merge, index).touches)) == (TOUCHES, 40)
    assert judge_merge(replace(merge, changes=merge.changes[:1], files=()), index).level is NO


@check_rows(
    {
        "as upstream did": (
            make_change(REMOVED, "up.a.f"),
            (Migration("up/b.py", 3, "  f(1)", "  g(1)"),),
            "upstream changed its own `f(1)` to `g(1)`",
        ),
        "what differs in long lines": (
            make_change(REMOVED, "up.a.f"),
            (Migration("up/b.py", 3, f"{'x' * 200} = f(1)", f"{'x' * 200} = g(1)"),),
            f"upstream changed its own `…{'x' * 27} = f(1)` to `…{'x' * 27} = g(1)`",
        ),
        "dropped": (
            make_change(REMOVED, "up.a.f"),
            (Migration("up/b.py", 3, "f()", ""),),
            "upstream deleted its own call `f()`",
        ),
        "the new name": (replace(make_change(MOVED, "up.a.f"), new_name="up.b.f"), (), "use `up.b.f`"),
        "the replacement": (
            replace(make_change(ChangeKind.DEPRECATED, "up.a.f"), deadline=Deadline("v1", "up.g")),
            (),
            "use `up.g`",
        ),
        "nothing known": (make_change(REMOVED, "up.a.f"), (), ""),
    }
)
def test_the_action_is_what_upstream_did_itself(
    change: ContractChange, migrations: tuple[Migration, ...], action: str
) -> None:
    merge = replace(make_merge(change), migrations={change.name: migrations})
    index = ProfileIndex(make_profile([make_use(UseKind.IMPORT, "up.a.f")]))
    assert list_touches(merge, index)[0].action == action


def _judge_possible_call(*changes: ContractChange) -> TouchLevel:
    use = make_use(UseKind.POSSIBLE_CALL, "get_input_positions", call="f(1)")
    merge = replace(make_merge(changes[0]), changes=changes)
    return max((each.level for each in list_touches(merge, ProfileIndex(make_profile([use])))), default=NO)


@check_rows(
    {
        "a protocol of two classes": (("up.a.A", "up.b.B"), "(self, a, b)", BREAKS),
        "a protocol whose calls still fit": (("up.a.A", "up.b.B"), "(self, a, b=1)", NO),
        "a single class": (("up.a.A",), "(self, a, b)", NO),
    }
)
def test_a_call_on_an_object_of_unknown_type(owners: tuple[str, ...], after: str, level: TouchLevel) -> None:
    kind = ChangeKind.SIGNATURE
    changes = [make_change(kind, f"{owner}.get_input_positions", METHOD, "(self, a)", after) for owner in owners]
    assert _judge_possible_call(*changes) is level


def test_a_call_on_an_object_of_unknown_type_whose_method_is_gone() -> None:
    owners = ("up.a.A", "up.b.B")
    assert (
        _judge_possible_call(*(make_change(REMOVED, f"{owner}.get_input_positions", METHOD) for owner in owners))
        is BREAKS
    )
    functions = (make_change(REMOVED, f"{owner}.get_input_positions") for owner in owners)
    assert _judge_possible_call(*functions) is NO


def test_a_report_has_what_touches_strongest_first_and_of_equals_the_newest() -> None:
    used = [make_use(UseKind.CALL, name, call="f()") for name in ("up.a.f", "up.a.g")]
    changes = {5: (MOVED, "up.a.f"), 6: (REMOVED, "up.a.g"), 7: (REMOVED, "up.a.g"), 8: (REMOVED, "up.a.other")}
    unread = UnreadFile("up/b.py", "it is too large")
    contracts = [
        replace(make_merge(make_change(*change)), number=number, unread=(unread,))
        for number, change in changes.items()
    ]
    report = judge_merges("mine", make_profile(used), contracts)
    assert (report.profile, report.merges, report.uses, report.touching.coverage.files) == (
        "mine",
        4,
        2,
        (unread,),
    )
    touching = report.touching.ignore_coverage()
    assert {each.number for each in touching} == {5, 6, 7}
    assert list(touching) == sorted(touching, key=lambda each: each.sort_key)
    assert [each.number for each in touching if each.level is BREAKS][:2] == [7, 6]


FIELD = ContractClass.CONFIGURATION
SIGNATURE = ChangeKind.SIGNATURE


@check_rows(
    {
        "a class and its base": (
            (make_change(REMOVED, "up.a.C.m", METHOD), make_change(REMOVED, "up.b.Base.m", METHOD)),
            (make_use(UseKind.CALL, "up.a.C.m", "up.a.C.m", "up.b.Base.m", call="m()"),),
            [(BREAKS, [7])],
        ),
        "a class and its base, with another line of each": (
            (make_change(REMOVED, "up.a.C.m", METHOD), make_change(REMOVED, "up.b.Base.m", METHOD)),
            (
                make_use(UseKind.CALL, "up.a.C.m", "up.a.C.m", "up.b.Base.m", call="m()"),
                make_use(UseKind.CALL, "up.b.Base.m", "up.b.Base.m", call="m()", line=9),
            ),
            [(BREAKS, [7, 9])],
        ),
        "two classes that have nothing in common": (
            (make_change(REMOVED, "up.a.C.m", METHOD), make_change(REMOVED, "up.b.D.m", METHOD)),
            (
                make_use(UseKind.CALL, "up.a.C.m", "up.a.C.m", call="m()"),
                make_use(UseKind.CALL, "up.b.D.m", "up.b.D.m", call="m()", line=9),
            ),
            [(BREAKS, [7]), (BREAKS, [9])],
        ),
        "an argument and its field": (
            (
                make_change(SIGNATURE, "up.a.C.__init__", METHOD, "(self, size=1)", "(self)"),
                make_change(REMOVED, "C.size", FIELD),
                make_change(REMOVED, "up.a.C.size", ContractClass.ATTRIBUTE),
            ),
            (
                make_use(UseKind.CALL, "up.a.C", call="C(size=1)"),
                make_use(UseKind.CONFIGURATION, "C.size"),
                make_use(UseKind.SET, "up.a.C.size"),
            ),
            [(BREAKS, [7])],
        ),
        "the constructors of a class and its base": (
            (
                make_change(SIGNATURE, "up.a.C.__init__", METHOD, "(self)", "(self, n)"),
                make_change(SIGNATURE, "up.b.Base.__init__", METHOD, "(self)", "(self, n)"),
            ),
            (make_use(UseKind.INHERITED, "up.a.C.__init__", "up.a.C.__init__", "up.b.Base.__init__", call="f()"),),
            [(BREAKS, [7])],
        ),
        "two causes on a line": (
            (make_change(REMOVED, "up.a.f"), make_change(REMOVED, "up.a.g")),
            (make_use(UseKind.IMPORT, "up.a.f"), make_use(UseKind.IMPORT, "up.a.g")),
            [(BREAKS, [7]), (BREAKS, [7])],
        ),
        "the weaker one has another line, too": (
            (make_change(REMOVED, "up.a.C.m", METHOD), make_change(ChangeKind.BEHAVIOUR, "up.b.Base.m", METHOD)),
            (
                make_use(UseKind.OVERRIDE, "up.a.C.m", "up.a.C.m", "up.b.Base.m"),
                make_use(UseKind.OVERRIDE, "up.b.Base.m", line=9),
            ),
            [(MAY_BREAK, [7]), (TOUCHES, [9])],
        ),
    }
)
def test_one_cause_has_a_line_once(
    changes: tuple[ContractChange, ...], uses: tuple[Use, ...], expected: list[tuple[TouchLevel, list[int]]]
) -> None:
    touches = list_touches(make_merge(*changes), ProfileIndex(make_profile(uses)))
    assert [(each.level, sorted({use.line for use in each.uses})) for each in touches] == expected


@check_rows(
    {
        "it is taken, and ignored": ("(self, **kw)", ("size",), "C(size=1)", SILENT),
        "it may be used": ("(self, **kw)", (), "C(size=1)", NO),
        "it is not taken": ("(self)", ("size",), "C(size=1)", BREAKS),
        "nobody passes it": ("(self, **kw)", ("size",), "C()", NO),
    }
)
def test_an_argument_that_upstream_only_warns_of(
    after: str, ignored: tuple[str, ...], call: str, level: TouchLevel
) -> None:
    change = make_change(SIGNATURE, "up.a.C.__init__", METHOD, "(self, size=1)", after)
    merge = replace(make_merge(change), ignored=ignored)
    touches = list_touches(merge, ProfileIndex(make_profile([make_use(UseKind.CALL, "up.a.C", call=call)])))
    assert max((each.level for each in touches), default=NO) is level


@check_rows(
    {
        "the name is replaced": (UseKind.PATCH, "up.a.f", True, MAY_BREAK),
        "its module still calls it": (UseKind.PATCH, "up.a.f", False, TOUCHES),
        "a member of it is replaced": (UseKind.PATCH, "up.a.f.x", True, TOUCHES),
        "it is called": (UseKind.CALL, "up.a.f", True, TOUCHES),
    }
)
def test_a_name_that_is_only_an_alias_now(kind: UseKind, used: str, is_alias: bool, level: TouchLevel) -> None:
    moved = replace(make_change(MOVED, "up.a.f"), new_name="up.b.f", is_importable=True, is_alias=is_alias)
    assert rate(moved, make_use(kind, used, "up.a.f", call="f()")) is level


@check_rows(
    {
        "a constructor is replaced": ("up.a.C.__init__", ContractClass.ATTRIBUTE, MAY_BREAK),
        "another method is": ("up.a.C.run", ContractClass.ATTRIBUTE, NO),
        "a method is new": ("up.a.C.__init__", METHOD, NO),
    }
)
def test_a_new_member_beside_a_replacement(used: str, subject: ContractClass, level: TouchLevel) -> None:
    assert rate(make_change(ChangeKind.ADDED_MEMBER, "up.a.C.n", subject), make_use(UseKind.PATCH, used)) is level


@check_rows(
    {
        "the nearest one changed": ("up.a.C.m", UseKind.CALL, "m(1)", BREAKS),
        "one behind it changed": ("up.b.Base.m", UseKind.CALL, "m(1)", NO),
        "it is read": ("up.b.Base.m", UseKind.READ, "", NO),
        "an override meets the calls of all": ("up.b.Base.m", UseKind.OVERRIDE, "", BREAKS),
    }
)
def test_only_the_nearest_definition_is_called(name: str, kind: UseKind, call: str, level: TouchLevel) -> None:
    use = make_use(kind, "up.a.C.m", "up.a.C.m", "up.b.Base.m", call=call, own="(self, a)")
    assert rate(make_change(SIGNATURE, name, METHOD, "(self, a)", "(self, a, b)"), use) is level
    if call or kind is UseKind.READ:
        assert rate(make_change(REMOVED, name, METHOD), use) is level or kind is UseKind.READ


@check_rows(
    {
        "upstream makes it": (False, "", BREAKS),
        "the team makes it": (True, "", MAY_BREAK),
        "upstream passes it": (False, "C(1, n=2)", BREAKS),
    }
)
def test_a_constructor_of_the_team(is_called: bool, calls: str, level: TouchLevel) -> None:
    override = replace(make_use(UseKind.OVERRIDE, "up.a.C.__init__", own="(self, a)"), owner="ours.T")
    change = make_change(SIGNATURE, "up.a.C.__init__", METHOD, "(self, a)", "(self, a, n)")
    derived = DerivedClass("ours.T", "ours/a.py", 3, ("up.a.C",), is_called=is_called)
    assert rate(change, override, derived=derived, calls=calls) is level


@check_rows(
    {
        "a new name is passed": ("run", "f(1, n=2)", BREAKS),
        "one more by position may be of another class": ("run", "f(1, 2)", MAY_BREAK),
        "of a method that few have": ("reset_prefix_cache", "f(1, 2)", BREAKS),
    }
)
def test_a_call_of_upstream_that_an_override_refuses(method: str, calls: str, level: TouchLevel) -> None:
    change = make_change(SIGNATURE, f"up.a.C.{method}", METHOD, "(self, a)", "(self, a, n=1)")
    assert rate(change, make_use(UseKind.OVERRIDE, f"up.a.C.{method}", own="(self, a)"), calls=calls) is level


def test_a_call_that_fitted_neither_version_may_break() -> None:
    change = make_change(SIGNATURE, "up.a.f", FUNCTION, "(a, b)", "(a, b, c)")
    assert rate(change, make_use(UseKind.CALL, "up.a.f", call="f(1)")) is MAY_BREAK
