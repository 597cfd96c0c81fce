"""What a reader is told of a place in their code: the place, and in one sentence what happens there."""

from __future__ import annotations

from dataclasses import replace

from impact.contract.models import ChangeKind, ContractChange, ContractClass
from impact.profile.models import DerivedClass, Use, UseKind
from impact.testing.checks import check_rows
from impact.testing.touches import make_change, make_merge, make_profile, make_use
from impact.touches.judgement import list_touches
from impact.touches.profile_index import ProfileIndex

REMOVED, MOVED, RENAMED = ChangeKind.REMOVED, ChangeKind.MOVED, ChangeKind.RENAMED
SIGNATURE, DEFAULT, DEPRECATED = ChangeKind.SIGNATURE, ChangeKind.DEFAULT, ChangeKind.DEPRECATED
FUNCTION, CLASS, METHOD = ContractClass.FUNCTION, ContractClass.CLASS, ContractClass.METHOD
ATTRIBUTE, FLAG, FIELD = ContractClass.ATTRIBUTE, ContractClass.FLAG, ContractClass.API_FIELD
METRIC, VARIABLE, CONFIG = ContractClass.METRIC, ContractClass.ENVIRONMENT, ContractClass.CONFIGURATION
CALL, IMPORT, OVERRIDE, COPY = UseKind.CALL, UseKind.IMPORT, UseKind.OVERRIDE, UseKind.COPY


def tell(change: ContractChange, use: Use, *ignored: str, derived: tuple[DerivedClass, ...] = ()) -> str:
    merge = replace(make_merge(change), ignored=ignored)
    [touch, *_] = list_touches(merge, ProfileIndex(make_profile([use] if use.line else [], derived)))
    return touch.tell(touch.use)


def gone(name: str, subject: ContractClass, kind: ChangeKind = REMOVED, new_name: str = "") -> ContractChange:
    return replace(make_change(kind, name, subject), new_name=new_name)


@check_rows(
    {
        "gone": (gone("up.a.f", FUNCTION), IMPORT, "up.a.f", " breaks: `a.f` is gone"),
        "a class": (gone("up.a.C", CLASS), IMPORT, "up.a.C", " breaks: `C` is gone"),
        "a module": (gone("up.a", ContractClass.MODULE), IMPORT, "up.a.f", " breaks: `up.a` is gone"),
        "moved": (gone("up.a.f", FUNCTION, MOVED, "up.b.f"), IMPORT, "up.a.f", " breaks: `a.f` is now `b.f`"),
        "moved, with the same last parts": (
            gone("up.x.a.f", FUNCTION, MOVED, "up.y.a.f"),
            IMPORT,
            "up.x.a.f",
            " breaks: `a.f` is now `up.y.a.f`",
        ),
        "renamed": (
            gone("up.a.C.m", METHOD, RENAMED, "up.a.C.n"),
            CALL,
            "up.a.C.m",
            " breaks: `C.m` is now `C.n`",
        ),
        "moved, and still there": (
            replace(gone("up.a.f", FUNCTION, MOVED, "up.b.f"), is_importable=True),
            IMPORT,
            "up.a.f",
            " is touched: `a.f` is now `b.f`; the old name still works",
        ),
        "behind another name": (
            gone("up.a.f", FUNCTION),
            UseKind.READ,
            "up.f",
            " is touched: `a.f` is gone, behind the name that is used here",
        ),
        "a copy": (
            gone("up.a.f", FUNCTION),
            COPY,
            "up.a.f",
            " is touched: `a.f`, of which this is a copy, is gone",
        ),
        "an override": (
            gone("up.a.C.m", METHOD),
            OVERRIDE,
            "up.a.C.m",
            " may break (likely; not proved): `C.m` is gone: upstream no longer calls this",
        ),
        "an attribute that is set": (
            gone("up.a.C.n", ATTRIBUTE),
            UseKind.SET,
            "up.a.C.n",
            " is touched: `C.n` is gone: nothing upstream reads it",
        ),
        "deprecated": (gone("up.a.f", FUNCTION, DEPRECATED), CALL, "up.a.f", " is touched: `a.f` is deprecated"),
        "another default": (
            gone("up.a.f", FUNCTION, DEFAULT),
            CALL,
            "up.a.f",
            " is touched: `a.f` has another default",
        ),
        "another result": (
            gone("up.a.f", FUNCTION, ChangeKind.RETURN),
            CALL,
            "up.a.f",
            " may break (likely; not proved): `a.f` returns something else",
        ),
        "another body": (
            gone("up.a.C.m", METHOD, ChangeKind.BEHAVIOUR),
            OVERRIDE,
            "up.a.C.m",
            " is touched: `C.m`, which this overrides, works differently",
        ),
        "a flag": (gone("--x", FLAG), UseKind.FLAG, "--x", " breaks: `--x` is gone"),
        "a flag of another name": (
            gone("--x", FLAG, RENAMED, "--y"),
            UseKind.FLAG,
            "--x",
            " breaks: `--x` is now `--y`",
        ),
        "a variable": (
            gone("UP_X", VARIABLE),
            UseKind.ENVIRONMENT,
            "UP_X",
            " silently stops working: `UP_X` is gone",
        ),
        "a metric": (gone("up:x", METRIC), UseKind.METRIC, "up:x", " silently stops working: `up:x` is gone"),
        "an endpoint": (
            gone("POST /v1/score", ContractClass.ENDPOINT),
            UseKind.ENDPOINT,
            "POST /v1/score",
            " breaks: `POST /v1/score` is gone",
        ),
        "a field of some class": (
            gone("Chat.guided_json", FIELD),
            UseKind.API_FIELD,
            "guided_json",
            " may break (likely; not proved): `Chat.guided_json` is gone; this may be another `guided_json`",
        ),
        "a flag's default": (
            gone("--x", FLAG, DEFAULT),
            UseKind.FLAG,
            "--x",
            " is touched: `--x` has another default",
        ),
    }
)
def test_what_happened_to_a_name(change: ContractChange, kind: UseKind, used: str, effect: str) -> None:
    assert tell(change, make_use(kind, used, *([change.name] if used.startswith("up.") else []))) == (
        f"ours/a.py:7{effect}"
    )


@check_rows(
    {
        "a flag without its value": (FLAG, "--resume", "--resume default off", " `--x` no longer takes a value"),
        "a flag with a value": (FLAG, "--x default off", "--x", " `--x` takes a value now"),
        "labels of a metric": (METRIC, "x", "y", " `--x` has another type or other labels"),
        "values of a field": (
            CONFIG,
            "x: Literal['a', 'b']",
            "x: Literal['a']",
            " `--x` no longer takes all that it took",
        ),
        "another type": (CONFIG, "x: int", "x: float", " `--x` has another type"),
        "an op": (ContractClass.OP, "x", "y", " `--x` has other parameters"),
    }
)
def test_what_takes_other_values(subject: ContractClass, before: str, after: str, effect: str) -> None:
    change = replace(make_change(SIGNATURE, "--x", subject), before=before, after=after)
    kinds = {FLAG: UseKind.FLAG, METRIC: UseKind.METRIC, CONFIG: UseKind.CONFIGURATION}
    sentence = tell(change, make_use(kinds.get(subject, UseKind.OP), "--x"))
    assert sentence == f"ours/a.py:7 may break (likely; not proved):{effect}"


def test_a_flag_that_is_required_now() -> None:
    change = replace(make_change(DEFAULT, "--x", FLAG), before="--x default 1", after="--x (required)")
    assert tell(change, make_use(UseKind.FLAG, "--x")) == "ours/a.py:7 is touched: `--x` is required now"


@check_rows(
    {
        "a keyword is gone": ("(a, b=1)", "(a)", "f(1, b=2)", " breaks: `C` no longer accepts `b`"),
        "a required one is missing": ("(a)", "(a, renderer)", "f(1)", " must pass `renderer`"),
        "it is required now": ("(a, b=1)", "(a, b)", "f(1)", " must pass `b`"),
        "too many": ("(a, b)", "(a)", "f(1, 2)", " breaks: `C` takes fewer arguments by position"),
        "twice": ("(b, a)", "(a, b)", "f(1, a=2)", " breaks: `C` gets `a` twice"),
        "another order": (
            "(a, b)",
            "(b, a)",
            "f(1, 2)",
            " breaks: `C` takes another parameter in the place of `a`",
        ),
        "passed on": (
            "(a, b=1)",
            "(a)",
            "f(*rest)",
            " is touched: `C` has other parameters, and arguments are passed on to it",
        ),
        "ignored": (
            "(a, old=1)",
            "(a, **rest)",
            "f(1, old=2)",
            " silently stops working: `C` still accepts `old`, and ignores it",
        ),
        "it never fitted": ("(a)", "(a, b=1)", "f(1, z=2)", " is touched: `C` has other parameters"),
    }
)
def test_what_a_call_meets(before: str, after: str, call: str, effect: str) -> None:
    heads = [head.replace("(", "(self, ") for head in (before, after)]
    change = make_change(SIGNATURE, "up.a.C.__init__", METHOD, *heads)
    assert tell(change, make_use(CALL, "up.a.C", "up.a.C", call=call), "old") == f"ours/a.py:7{effect}"


@check_rows(
    {
        "it must take more": ("(self)", "(self, n)", "(self)", " must accept `n`, which upstream now passes"),
        "it may get more": (
            "(self)",
            "(self, n=1)",
            "(self)",
            " may break (likely; not proved): upstream may pass `n`, which this does not accept",
        ),
        "it gets less": (
            "(self, n)",
            "(self)",
            "(self, n)",
            " breaks: upstream now calls it without `n`, which it requires",
        ),
        "it takes all": (
            "(self)",
            "(self, n)",
            "(self, **rest)",
            " is touched: `C.m`, which this replaces, has other parameters",
        ),
    }
)
def test_what_an_override_meets(before: str, after: str, own: str, effect: str) -> None:
    change = make_change(SIGNATURE, "up.a.C.m", METHOD, before, after)
    assert tell(change, make_use(OVERRIDE, "up.a.C.m", "up.a.C.m", own=own)) == f"ours/a.py:7{effect}"


@check_rows(
    {
        "guarded": ({"is_guarded": True}, " may have to pass `b`"),
        "of a type that is only likely": ({"is_guess": True}, " may have to pass `b`"),
    }
)
def test_a_duty_that_is_not_proved(fields: dict[str, bool], effect: str) -> None:
    change = make_change(SIGNATURE, "up.a.f", FUNCTION, "(a)", "(a, b)")
    use = replace(make_use(CALL, "up.a.f", "up.a.f", call="f(1)"), **fields)
    assert tell(change, use) == f"ours/a.py:7{effect}"


@check_rows(
    {
        "to implement": (ChangeKind.ABSTRACT_MEMBER, {}, " must define `m`, which is abstract now"),
        "implemented": (
            ChangeKind.ABSTRACT_MEMBER,
            {"members": frozenset({"m"})},
            " is touched: `m`, which this class has, is abstract now",
        ),
        "in the team's way": (
            ChangeKind.ADDED_MEMBER,
            {"members": frozenset({"m"})},
            " may break (likely; not proved): upstream now has its own `m`",
        ),
        "not set": (
            ChangeKind.ADDED_MEMBER,
            {"calls_super_init": False},
            " may break (likely; not proved): its own constructor does not set the new `m`",
        ),
    }
)
def test_what_a_class_of_the_team_meets(kind: ChangeKind, fields: dict[str, object], effect: str) -> None:
    derived = replace(DerivedClass("ours.D", "ours/a.py", 7, ("up.a.C",)), **fields)  # type: ignore[arg-type]
    change = make_change(kind, "up.a.C.m", ATTRIBUTE)
    nothing = make_use(CALL, "up.a.C", line=0)
    assert tell(change, nothing, derived=(derived,)) == f"ours/a.py:7{effect}"
