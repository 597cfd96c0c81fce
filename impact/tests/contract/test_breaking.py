from datetime import UTC, datetime

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from impact.contract.breaking import describe_breakage, find_refusal, list_breakages
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.python.models import CallShape, Parameter, ParameterKind, Signature
from impact.python.signatures import can_bind
from impact.testing.checks import check_rows
from tests.contract.merges import compare

BODY = "\n    def run(self): return 1\n"
OWNER = "class Cache:" + BODY

# a module a.b before and after, and what it breaks
PYTHON: dict[str, tuple[str, str, list[str]]] = {
    "a function is gone": ("def f(): pass\n", "", ["f is gone"]),
    "a private one is nobody's": ("def _f(): pass\n", "", []),
    "a logger is nobody's": ("logger = make()\n", "", []),
    "a class takes its members along": (OWNER, "", ["Cache is gone"]),
    "a method is gone": (OWNER, "class Cache:\n    pass\n", ["Cache.run is gone"]),
    "a renamed class": (OWNER, OWNER.replace("Cache", "KVCache"), ["Cache is now `b.KVCache`"]),
    "an alias keeps the old name": (OWNER, OWNER.replace("Cache", "KVCache") + "Cache = KVCache\n", []),
    "a shim keeps the old name": ("def f(): pass\n", "from x.y import f\n", []),
    "a new optional parameter": ("def f(a): pass", "def f(a, b=1): pass", []),
    "a new required parameter": ("def f(a): pass", "def f(a, b): pass", ["f requires `b`"]),
    "a parameter that is required now": ("def f(a=1): pass", "def f(a): pass", ["f requires `a`"]),
    "a parameter is gone": ("def f(a, b=1): pass", "def f(a): pass", ["f no longer takes `b`"]),
    "a renamed parameter": ("def f(a, b): pass", "def f(a, c): pass", ["f no longer takes `b`"]),
    "another order": ("def f(a, b): pass", "def f(b, a): pass", ["f takes its arguments in another order"]),
    "one in between": (
        "def f(a, b=1): pass",
        "def f(a, c=0, b=1): pass",
        ["f takes its arguments in another order"],
    ),
    "by name alone": ("def f(a, b): pass", "def f(a, *, b): pass", ["f takes `b` by name alone"]),
    "by position alone": ("def f(a, b): pass", "def f(a, b, /): pass", ["f takes `a` by position alone"]),
    "all that there is": ("def f(a, b): pass", "def f(*args, **kwargs): pass", []),
    "the rest by name": (
        "def f(a, b=1): pass",
        "def f(a, **kwargs): pass",
        ["f takes fewer arguments by position"],
    ),
    "no rest any more": ("def f(*args): pass", "def f(): pass", ["f takes fewer arguments by position"]),
    "no keywords any more": ("def f(**options): pass", "def f(): pass", ["f takes no other arguments by name"]),
    "a method's receiver is nobody's argument": (
        "class A:\n    def f(self, a): pass\n",
        "class A:\n    @staticmethod\n    def f(a): pass\n",
        [],
    ),
    "a function to await": ("def f(): pass", "async def f(): pass", ["f must be awaited now"]),
    "a method in place of a property": (
        "class A:\n    @property\n    def f(self): pass\n",
        "class A:\n    def f(self): pass\n",
        ["A.f is a method now"],
    ),
    "another default": ("def f(a=1): pass", "def f(a=2): pass", ["f has another default"]),
    "a constant has a value and no default": ("LIMIT = 1\n", "LIMIT = 2\n", []),
    "another body": ("def f(): return 1", "def f(): return 2", []),
    "a method to implement": (
        "class A(ABC):\n    pass\n",
        "class A(ABC):\n    @abstractmethod\n    def f(self): ...\n",
        ["A.f must be implemented by subclasses"],
    ),
    "a field is one fact with its parameter": (
        "@dataclass\nclass A:\n    a: int = 1\n    b: int = 2\n",
        "@dataclass\nclass A:\n    a: int = 1\n",
        ["A.b is gone"],
    ),
    "a field's default": (
        "@dataclass\nclass A:\n    a: int = 1\n",
        "@dataclass\nclass A:\n    a: int = 2\n",
        ["A.a has another default"],
    ),
}

FLAG, FIELD, CONFIG = ContractClass.FLAG, ContractClass.API_FIELD, ContractClass.CONFIGURATION
SIGNATURE, DEFAULT = ChangeKind.SIGNATURE, ChangeKind.DEFAULT
# what is no name of Python: class, kind, name, the line before and after, and the effect
PLAIN: dict[str, tuple[ContractClass, ChangeKind, str, str, str, str]] = {
    "a flag": (FLAG, ChangeKind.REMOVED, "--a", "--a", "", "is gone"),
    "a flag's default": (FLAG, DEFAULT, "--a", "--a default 1", "--a default 2", "has another default"),
    "a flag that is required now": (FLAG, DEFAULT, "--a", "--a default 1", "--a (required)", "is required now"),
    "a flag that need not be passed now": (FLAG, DEFAULT, "--a", "--a (required)", "--a default 1", ""),
    "a field that is required now": (FIELD, DEFAULT, "A.b", "b: int = 1", "b: int", "is required now"),
    "a field that need not be passed now": (FIELD, DEFAULT, "A.b", "b: int", "b: int = 1", ""),
    "a field of a line that is cut": (FIELD, DEFAULT, "A.b", "b: int = 1", "b: Literal[…", "has another default"),
    "a flag without its value": (FLAG, SIGNATURE, "--a", "--a", "--a default off", "no longer takes a value"),
    "a flag with a value": (FLAG, SIGNATURE, "--a", "--a default off", "--a", "takes a value now"),
    "a variable": (ContractClass.ENVIRONMENT, ChangeKind.REMOVED, "A_B", "A_B", "", "is gone"),
    "an endpoint": (ContractClass.ENDPOINT, ChangeKind.REMOVED, "POST /v1/a", "POST /v1/a", "", "is gone"),
    "a metric": (ContractClass.METRIC, ChangeKind.REMOVED, "a:b", "a:b", "", "is gone"),
    "a metric's labels": (ContractClass.METRIC, SIGNATURE, "a:b", "x", "y", "has another type or other labels"),
    "a wider type": (FIELD, SIGNATURE, "A.b", "b: str", "b: str | None = None", ""),
    "one more value": (FIELD, SIGNATURE, "A.b", "b: Literal['x']", 'b: Literal["x", "y"] = "x"', ""),
    "one value less": (
        FIELD,
        SIGNATURE,
        "A.b",
        "b: Literal['x', 'y']",
        "b: Literal['x']",
        "accepts fewer values",
    ),
    "another type": (CONFIG, SIGNATURE, "A.b", "b: str | None", "b: bool", "accepts fewer values"),
    "integers are numbers": (CONFIG, SIGNATURE, "A.b", "b: int", "b: float", ""),
    "any text": (FIELD, SIGNATURE, "A.b", "b: Literal['x']", "b: str", ""),
    "anything": (FIELD, SIGNATURE, "A.b", "b: int", "b: Any", ""),
    "a line that is cut proves nothing": (FIELD, SIGNATURE, "A.b", "b: Literal['x', …", "b: int", ""),
    "what is announced": (FLAG, ChangeKind.DEPRECATED, "--a", "--a", "--a", ""),
    "what is new": (FLAG, ChangeKind.ADDED, "--a", "", "--a", ""),
    "a dependency's pin": (ContractClass.DEPENDENCY, SIGNATURE, "torch", "torch==1", "torch==2", ""),
}


def breaks(before: str, after: str) -> list[str]:
    changes = compare({"a/b.py": before}, {"a/b.py": after}).changes
    listed = list_breakages(MergeContract(1, "c" * 40, datetime(2026, 1, 5, tzinfo=UTC), changes=tuple(changes)))
    return [f"{each.change.name.removeprefix('a.b.')} {each.effect}" for each in listed]


@check_rows(PYTHON)
def test_a_change_of_python_breaks(before: str, after: str, effects: list[str]) -> None:
    assert breaks(before, after) == effects


@check_rows(PLAIN)
def test_a_change_of_what_people_write_breaks(
    subject: ContractClass, kind: ChangeKind, name: str, before: str, after: str, effect: str
) -> None:
    change = ContractChange(subject, kind, name, before, after, path="a/b.py", line=1)
    assert describe_breakage(change) == effect


KINDS = st.sampled_from(list(ParameterKind))
PARAMETERS = st.builds(Parameter, st.sampled_from("abcd"), KINDS, st.sampled_from([None, "1"]))


@st.composite
def signatures(draw: st.DrawFn) -> Signature:
    """A signature that Python accepts: kinds in order, at most one rest of each, defaults last."""
    order = list(ParameterKind)
    listed = draw(st.lists(PARAMETERS, max_size=4, unique_by=lambda each: each.name))
    listed.sort(key=lambda each: (order.index(each.kind), each.default is not None))
    rests, parameters = set[ParameterKind](), list[Parameter]()
    for each in listed:
        is_rest = each.kind in (ParameterKind.REST, ParameterKind.KEYWORDS)
        if is_rest and each.kind in rests:
            continue
        rests.add(each.kind)
        parameters.append(Parameter(each.name, each.kind, None if is_rest else each.default))
    return Signature(tuple(parameters))


CALLS = st.builds(
    CallShape, st.integers(0, 5), st.lists(st.sampled_from("abcde"), unique=True, max_size=4).map(tuple)
)


@given(signatures(), signatures(), CALLS)
def test_a_signature_that_refuses_nothing_takes_each_call_that_fitted(
    old: Signature, new: Signature, shape: CallShape
) -> None:
    named = {
        each.name for each in old.parameters if each.kind in (ParameterKind.POSITIONAL, ParameterKind.KEYWORD_ONLY)
    }
    # what only the rest took may be the name of something new
    assume({*shape.keywords} <= named | {"e"})
    if not find_refusal(old, new) and can_bind(old, shape):
        assert can_bind(new, shape)


@given(signatures())
def test_a_signature_refuses_no_call_of_its_own(signature: Signature) -> None:
    assert not find_refusal(signature, signature)


@pytest.mark.parametrize("name", ["_private.f", "a._b.C", "a.C._d"])
def test_private_names_break_nobody(name: str) -> None:
    gone = ContractChange(ContractClass.FUNCTION, ChangeKind.REMOVED, name, "def f()", "", "a.py", 1)
    assert not describe_breakage(gone)
