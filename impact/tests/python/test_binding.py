from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from impact.python.models import CallShape, Parameter, ParameterKind, Signature
from impact.python.signatures import BindingProblem, ProblemKind, can_bind, drop_receiver, find_binding_problem
from impact.testing.checks import check_rows

NAMES = ("a", "b", "c", "d", "e", "f")
SIMPLE = Signature((Parameter("a"), Parameter("b", default="1"), Parameter("c", ParameterKind.KEYWORD_ONLY)))


@st.composite
def signatures(draw: st.DrawFn) -> Signature:
    names = iter(NAMES)
    parameters, may_be_required = [], True
    for kind in ParameterKind:
        is_many = kind in {ParameterKind.REST, ParameterKind.KEYWORDS}
        for _ in range(draw(st.integers(0, 1))):
            is_required = is_many or (
                draw(st.booleans()) and (may_be_required or kind is ParameterKind.KEYWORD_ONLY)
            )
            may_be_required = may_be_required and is_required
            parameters.append(Parameter(next(names), kind, None if is_required else "0"))
    return Signature(tuple(parameters))


shapes = st.builds(
    CallShape, st.integers(0, 4), st.lists(st.sampled_from((*NAMES, "z")), unique=True, max_size=4).map(tuple)
)


def make_function(signature: Signature) -> Callable[..., None]:
    """Return a function of Python's with that signature; inspect.Signature.bind errs before Python 3.13."""
    parts: list[str] = []
    for each in signature.parameters:
        if each.kind is ParameterKind.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        stars = {ParameterKind.REST: "*", ParameterKind.KEYWORDS: "**"}.get(each.kind, "")
        parts.append(f"{stars}{each.name}" + ("" if each.default is None else "=0"))
        if each.kind is ParameterKind.POSITIONAL_ONLY:
            parts.append("/")
    function: Callable[..., None] = eval(f"lambda {', '.join(parts)}: None")  # noqa: S307 (of names above)
    return function


@settings(max_examples=200)
@given(signatures(), shapes)
def test_a_call_without_stars_fits_exactly_if_python_binds_it(signature: Signature, shape: CallShape) -> None:
    try:
        make_function(signature)(*range(shape.positional), **dict.fromkeys(shape.keywords))
    except TypeError:
        assert find_binding_problem(signature, shape)
    else:
        assert can_bind(signature, shape)


@check_rows(
    {
        "a star may fill it": (CallShape(keywords=("c",), has_star=True), None),
        "two stars may fill it": (CallShape(1, has_double_star=True), None),
        "one star gives no keyword": (CallShape(has_star=True), BindingProblem(ProblemKind.MISSING, "c")),
        "what is too much is certain": (
            CallShape(3, has_star=True),
            BindingProblem(ProblemKind.TOO_MANY),
        ),
        "an unknown keyword is certain": (
            CallShape(1, ("z",), has_double_star=True),
            BindingProblem(ProblemKind.UNKNOWN, "z"),
        ),
        "twice": (CallShape(1, ("a", "c")), BindingProblem(ProblemKind.TWICE, "a")),
    }
)
def test_only_what_is_certain_counts_beside_stars(shape: CallShape, problem: BindingProblem | None) -> None:
    assert find_binding_problem(SIMPLE, shape) == problem


@check_rows(
    {
        "method": (Signature((Parameter("self"), Parameter("a"))), ("a",)),
        "class method": (Signature((Parameter("cls"),), is_class_method=True), ()),
        "static": (Signature((Parameter("a"),), is_static=True), ("a",)),
        "rest": (Signature((Parameter("args", ParameterKind.REST),)), ("args",)),
        "none": (Signature(), ()),
    }
)
def test_callers_do_not_pass_the_receiver(signature: Signature, names: tuple[str, ...]) -> None:
    assert tuple(each.name for each in drop_receiver(signature).parameters) == names
