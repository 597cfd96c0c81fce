"""What a reader is told of a place in their code: the place, and in one sentence what happens there."""

from dataclasses import replace
from typing import Any

from impact.contract.models import ChangeKind, ContractChange, ContractClass
from impact.profile.models import DerivedClass, Use, UseKind
from impact.testing.checks import check_rows
from impact.testing.touches import make_change, make_merge, make_profile, make_use, read_call
from impact.touches.judgement import list_touches
from impact.touches.profile_index import ProfileIndex

REMOVED, MOVED, RENAMED = ChangeKind.REMOVED, ChangeKind.MOVED, ChangeKind.RENAMED
SIGNATURE, DEFAULT, DEPRECATED = ChangeKind.SIGNATURE, ChangeKind.DEFAULT, ChangeKind.DEPRECATED
BEHAVIOUR, RETURN, ABSTRACT = ChangeKind.BEHAVIOUR, ChangeKind.RETURN, ChangeKind.ABSTRACT_MEMBER
ADDED, ADDED_MEMBER = ChangeKind.ADDED, ChangeKind.ADDED_MEMBER
FUNCTION, CLASS, METHOD = ContractClass.FUNCTION, ContractClass.CLASS, ContractClass.METHOD
ATTRIBUTE, FLAG, FIELD = ContractClass.ATTRIBUTE, ContractClass.FLAG, ContractClass.API_FIELD
METRIC, VARIABLE, CONFIG = ContractClass.METRIC, ContractClass.ENVIRONMENT, ContractClass.CONFIGURATION
CALL, IMPORT, OVERRIDE, COPY = UseKind.CALL, UseKind.IMPORT, UseKind.OVERRIDE, UseKind.COPY
OPTION, SETS = UseKind.FLAG, UseKind.CONFIGURATION
PLACE, LOOSE = "breaks: `C` takes another parameter in the place of", "is touched: `C` has other parameters"
IGNORED = "silently stops working: `C` still accepts `old`, and ignores it"
UNSURE = "may break (likely; not proved)"


def tell(
    change: ContractChange, *uses: Use, derived: DerivedClass | None = None, calls: str = "", ignored: str = ""
) -> str:
    """The sentence about the only place, without it; empty if the change does not concern it."""
    shapes = {change.name.rpartition(".")[2]: (read_call(calls),)} if calls else {}
    merge = replace(make_merge(change, **shapes), ignored=(ignored,))
    touches = list_touches(merge, ProfileIndex(make_profile(uses, [derived] if derived else [])))
    return touches[0].tell(touches[0].use).removeprefix("ours/a.py:7 ") if touches else ""


def lose(name: str, subject: ContractClass, kind: ChangeKind = REMOVED, new_name: str = "") -> ContractChange:
    return replace(make_change(kind, name, subject), new_name=new_name)


def test_a_sentence_begins_with_the_place() -> None:
    [touch] = list_touches(
        make_merge(lose("up.a.f", FUNCTION)), ProfileIndex(make_profile([make_use(IMPORT, "up.a.f")]))
    )
    assert touch.tell(touch.use) == "ours/a.py:7 breaks: `a.f` is gone"
    assert touch.tell(replace(touch.use, path="added by hand", line=0)) == "added by hand breaks: `a.f` is gone"


BACK = lose("up.a.f", FUNCTION, MOVED, "up.b.f")
PYTHON: dict[str, tuple[ContractChange, UseKind, str, str]] = {
    "gone": (lose("up.a.f", FUNCTION), IMPORT, "up.a.f", "breaks: `a.f` is gone"),
    "a class": (lose("up.a.C", CLASS), IMPORT, "up.a.C", "breaks: `C` is gone"),
    "a module": (lose("up.a", ContractClass.MODULE), IMPORT, "up.a.f", "breaks: `up.a` is gone"),
    "moved": (BACK, IMPORT, "up.a.f", "breaks: `a.f` is now `b.f`"),
    "the same last parts": (
        replace(BACK, new_name="up.y.a.f"),
        IMPORT,
        "up.a.f",
        "breaks: `a.f` is now `up.y.a.f`",
    ),
    "a method": (lose("up.a.C.m", METHOD, RENAMED, "up.a.C.n"), CALL, "up.a.C.m", "breaks: `C.m` is now `C.n`"),
    "through self": (lose("up.a.C.m", METHOD), UseKind.INHERITED, "up.a.C.m", "breaks: `C.m` is gone"),
    "an override": (
        lose("up.a.C.m", METHOD),
        OVERRIDE,
        "up.a.C.m",
        f"{UNSURE}: `C.m` is gone: upstream no longer calls this",
    ),
    "what is set": (
        lose("up.a.C.n", ATTRIBUTE),
        UseKind.SET,
        "up.a.C.n",
        "is touched: `C.n` is gone: nothing upstream reads it",
    ),
    "still there": (
        replace(BACK, is_importable=True),
        IMPORT,
        "up.a.f",
        "is touched: `a.f` is now `b.f`; the old name still works",
    ),
    "behind another name": (
        lose("up.a.f", FUNCTION),
        UseKind.READ,
        "up.f",
        "is touched: `a.f` is gone, behind the name that is used here",
    ),
    "a copy": (lose("up.a.f", FUNCTION), COPY, "up.a.f", "is touched: `a.f`, of which this is a copy, is gone"),
    "deprecated": (lose("up.a.f", FUNCTION, DEPRECATED), IMPORT, "up.a.f", "is touched: `a.f` is deprecated"),
    "default": (lose("up.a.f", FUNCTION, DEFAULT), CALL, "up.a.f", "is touched: `a.f` has another default"),
    "result": (lose("up.a.f", FUNCTION, RETURN), CALL, "up.a.f", f"{UNSURE}: `a.f` returns something else"),
    "another body, called": (lose("up.a.f", FUNCTION, BEHAVIOUR), CALL, "up.a.f", ""),
    "another body": (
        lose("up.a.C.m", METHOD, BEHAVIOUR),
        OVERRIDE,
        "up.a.C.m",
        "is touched: `C.m`, which this overrides, works differently",
    ),
}


@check_rows(PYTHON)
def test_what_happened_to_a_name_of_python(change: ContractChange, kind: UseKind, used: str, effect: str) -> None:
    assert tell(change, make_use(kind, used, change.name)) == effect


LOST: dict[str, tuple[ContractClass, ChangeKind, str, UseKind, str, str]] = {
    "a flag": (FLAG, REMOVED, "--x", OPTION, "", "breaks: `--x` is gone"),
    "renamed": (FLAG, RENAMED, "--x", OPTION, "", "breaks: `--x` is now `--y`"),
    "only added": (FLAG, ADDED, "--x", OPTION, "", ""),
    "a variable": (VARIABLE, REMOVED, "UP_X", UseKind.ENVIRONMENT, "", "silently stops working: `UP_X` is gone"),
    "a variable's module": (
        VARIABLE,
        REMOVED,
        "UP_X",
        UseKind.ENVIRONMENT,
        "if envs.UP_X:",
        "breaks: `UP_X` is gone",
    ),
    "a metric": (METRIC, REMOVED, "up:x", UseKind.METRIC, "", "silently stops working: `up:x` is gone"),
    "an endpoint": (ContractClass.ENDPOINT, REMOVED, "GET /a", UseKind.ENDPOINT, "", "breaks: `GET /a` is gone"),
    "taken and ignored": (
        CONFIG,
        REMOVED,
        "Args.old",
        SETS,
        "LLM(old=4)",
        "silently stops working: `Args.old` is gone; upstream still accepts it, and ignores it",
    ),
    "not taken": (CONFIG, REMOVED, "Args.swap", SETS, "LLM(swap=4)", "breaks: `Args.swap` is gone"),
    "a mark of code in a name": (CONFIG, REMOVED, "a`b", SETS, "", "breaks: `ab` is gone"),
}


@check_rows(LOST)
def test_what_happened_to_a_name_that_people_write(
    subject: ContractClass, kind: ChangeKind, name: str, used: UseKind, text: str, effect: str
) -> None:
    change = lose(name, subject, kind, "--y" if kind is RENAMED else "")
    assert tell(change, replace(make_use(used, name), text=text), ignored="old") == effect


def test_a_field_may_be_that_of_another_class() -> None:
    sentence = tell(lose("Chat.guided_json", FIELD), make_use(UseKind.API_FIELD, "guided_json"))
    assert sentence == f"{UNSURE}: `Chat.guided_json` is gone; this may be another `guided_json`"


def test_an_old_name_of_a_flag_that_still_works() -> None:
    change = replace(lose("--x", FLAG, RENAMED, "--y"), is_importable=True)
    assert tell(change, make_use(OPTION, "--x")) == "is touched: `--x` is now `--y`; the old name still works"


@check_rows(
    {
        "a flag without its value": (FLAG, SIGNATURE, "--x", "--x default off", "no longer takes a value"),
        "a flag with a value": (FLAG, SIGNATURE, "--x default off", "--x", "takes a value now"),
        "a metric": (METRIC, SIGNATURE, "x", "y", "has another type or other labels"),
        "values": (
            CONFIG,
            SIGNATURE,
            "x: Literal['a', 'b']",
            "x: Literal['a']",
            "accepts fewer values",
        ),
        "another type": (CONFIG, SIGNATURE, "x: int", "x: float", "has another type"),
        "an op": (ContractClass.OP, SIGNATURE, "x", "y", "has other parameters"),
        "a default": (FLAG, DEFAULT, "--x default 1", "--x default 2", "has another default"),
        "required": (FLAG, DEFAULT, "--x default 1", "--x (required)", "is required now"),
        "not required": (FLAG, DEFAULT, "--x (required)", "--x default 1", "is optional now"),
    }
)
def test_what_takes_other_values(
    subject: ContractClass, kind: ChangeKind, before: str, after: str, effect: str
) -> None:
    change = replace(make_change(kind, "--x", subject), before=before, after=after)
    used = {FLAG: OPTION, METRIC: UseKind.METRIC, CONFIG: SETS}.get(subject, UseKind.OP)
    level = UNSURE if kind is SIGNATURE else "is touched"
    assert tell(change, make_use(used, "--x")) == f"{level}: `--x` {effect}"


@check_rows(
    {
        "it fits": ("(a)", "(a, b=1)", "f(1)", ""),
        "a keyword is gone": ("(a, b=1)", "(a)", "f(1, b=2)", "breaks: `C` no longer accepts `b`"),
        "a required one is missing": ("(a)", "(a, renderer)", "f(1)", "must pass `renderer`"),
        "it is required now": ("(a, b=1)", "(a, b)", "f(1)", "must pass `b`"),
        "too many": ("(a, b)", "(a)", "f(1, 2)", "breaks: `C` takes fewer arguments by position"),
        "twice": ("(b, a)", "(a, b)", "f(1, a=2)", "breaks: `C` gets `a` twice"),
        "order": (
            "(a, b)",
            "(b, a)",
            "f(1, 2)",
            "breaks: `C` takes another parameter in the place of `a`",
        ),
        "order, by keyword": ("(a, b)", "(b, a)", "f(a=1, b=2)", ""),
        "one in between": (
            "(a, b=1)",
            "(a, c=0, b=1)",
            "f(1, 2)",
            "breaks: `C` takes another parameter in the place of `b`",
        ),
        "another name in the same place": ("(a, b)", "(a, c)", "f(1, 2)", ""),
        "passed on": (
            "(a, b=1)",
            "(a)",
            "f(*r)",
            f"{LOOSE}, and arguments are passed on to it",
        ),
        "ignored": (
            "(a, old=1)",
            "(a, **r)",
            "f(1, old=2)",
            IGNORED,
        ),
        "it never fitted": ("(a)", "(a, b=1)", "f(1, z=2)", LOOSE),
        "it never fitted, and lacks more now": ("(a)", "(a, b)", "f(1, z=2)", "may have to pass `b`"),
        "it never did, and loses one": (
            "(a, b, c=1)",
            "(a, b)",
            "f(1, c=2)",
            f"{UNSURE}: `C` no longer accepts `c`",
        ),
    }
)
def test_what_a_call_meets(before: str, after: str, call: str, effect: str) -> None:
    heads = [head.replace("(", "(self, ") for head in (before, after)]
    change = make_change(SIGNATURE, "up.a.C.__init__", METHOD, *heads)
    assert tell(change, make_use(CALL, "up.C", "up.a.C", call=call), ignored="old") == effect


OTHER = "is touched: `C.m`, which this replaces, has other parameters"
TAKES, LACKS = (
    "must accept `n`, which upstream now passes",
    "breaks: upstream now calls it without `n`, which it requires",
)


@check_rows(
    {
        "upstream passes more": ("(self)", "(self, n=1)", "(self)", "m(n=2)", TAKES),
        "upstream must pass more": ("(self)", "(self, n)", "(self)", "", TAKES),
        "nobody passes it yet": ("(self)", "(self, n=1)", "(self)", "", OTHER),
        "it takes it": ("(self)", "(self, n=1)", "(self, n=1)", "m(n=2)", OTHER),
        "it takes all": ("(self)", "(self, n)", "(self, **rest)", "m(n=2)", OTHER),
        "it gets less": ("(self, n)", "(self)", "(self, n)", "", LACKS),
        "it had others before": ("(self, n)", "(self, n, k=1)", "(self, other, k)", "", OTHER),
        "it had others, and lacks one": ("(self, a)", "(self, a, n)", "(self, other)", "", OTHER),
    }
)
def test_what_an_override_meets(before: str, after: str, own: str, calls: str, effect: str) -> None:
    change = make_change(SIGNATURE, "up.a.C.m", METHOD, before, after)
    assert tell(change, make_use(OVERRIDE, "up.a.C.m", own=own), calls=calls) == effect


@check_rows(
    {
        "guarded": ({"is_guarded": True}, "may have to pass `b`", f"{UNSURE}: `a.f` is gone"),
        "a test": ({"is_test": True}, "must pass `b`", "breaks: `a.f` is gone"),
    }
)
def test_what_a_use_leaves_open(fields: dict[str, Any], duty: str, effect: str) -> None:
    use = replace(make_use(CALL, "up.a.f", "up.a.f", call="f(1)"), **fields)
    assert tell(make_change(SIGNATURE, "up.a.f", FUNCTION, "(a)", "(a, b)"), use) == duty
    assert tell(lose("up.a.f", FUNCTION), use) == effect


HAS_IT: dict[str, Any] = {"members": frozenset({"m"})}


@check_rows(
    {
        "to implement": (ABSTRACT, METHOD, {}, "must define `m`, which is abstract now"),
        "implemented": (ABSTRACT, METHOD, HAS_IT, "is touched: `m`, which this class has, is abstract now"),
        "abstract itself": (ABSTRACT, METHOD, {"is_abstract": True}, f"{UNSURE}: `m` is abstract now"),
        "another base": (ABSTRACT, METHOD, {"ancestors": ("up.a.D",)}, ""),
        "in the team's way": (ADDED_MEMBER, METHOD, HAS_IT, f"{UNSURE}: upstream now has its own `m`"),
        "not set": (
            ADDED_MEMBER,
            ATTRIBUTE,
            {"calls_super_init": False},
            f"{UNSURE}: its own constructor does not set the new `m`",
        ),
        "set by upstream": (ADDED_MEMBER, ATTRIBUTE, {}, ""),
        "a new method": (ADDED_MEMBER, METHOD, {"calls_super_init": False}, ""),
    }
)
def test_what_a_class_of_the_team_meets(
    kind: ChangeKind, subject: ContractClass, fields: dict[str, Any], effect: str
) -> None:
    derived = replace(DerivedClass("ours.D", "ours/a.py", 7, ("up.a.C",)), **fields)
    assert tell(make_change(kind, "up.a.C.m", subject), derived=derived) == effect
