import pytest
from hypothesis import given
from hypothesis import strategies as st

from impact.testing.checks import check_rows
from impact.touches.breakage.traceback_names import (
    MAX_LINE,
    MAX_NAMES,
    ErrorKind,
    iterate_error_lines,
)

LINES = [
    (
        "TypeError: Base.run() got an unexpected keyword argument 'non_block'",
        (ErrorKind.UNEXPECTED_ARGUMENT, "Base", "run", ("non_block",)),
    ),
    (
        "TypeError: Base.run() got an unexpected keyword argument 'non_blok'. Did you mean 'non_block'?",
        (ErrorKind.UNEXPECTED_ARGUMENT, "Base", "run", ("non_blok",)),
    ),
    (
        "E   TypeError: __init__() got an unexpected keyword argument 'size'",
        (ErrorKind.UNEXPECTED_ARGUMENT, "", "__init__", ("size",)),
    ),
    (
        "EngineArgs.__init__() got an unexpected keyword argument disable_log",
        (ErrorKind.UNEXPECTED_ARGUMENT, "EngineArgs", "__init__", ("disable_log",)),
    ),
    (
        "our scheduler got an unexpected arg `block_size`, since yesterday",
        (ErrorKind.UNEXPECTED_ARGUMENT, "", "", ("block_size",)),
    ),
    (
        "TypeError: Config.__init__() missing 1 required positional argument: 'is_parallel'",
        (ErrorKind.MISSING_ARGUMENT, "Config", "__init__", ("is_parallel",)),
    ),
    (
        "TypeError: make.<locals>.Inner.f() missing 3 required keyword-only arguments: 'a', 'b', and 'c'",
        (ErrorKind.MISSING_ARGUMENT, "make.Inner", "f", ("a", "b", "c")),
    ),
    (
        "TypeError: Spec.__init__() takes 2 positional arguments but 3 were given",
        (ErrorKind.ARGUMENT_COUNT, "Spec", "__init__", ()),
    ),
    ("TypeError: Thing() takes no arguments", (ErrorKind.ARGUMENT_COUNT, "Thing", "__init__", ())),
    (
        "TypeError: encode() got multiple values for keyword argument 'add_special_tokens'",
        (ErrorKind.REPEATED_ARGUMENT, "", "encode", ("add_special_tokens",)),
    ),
    (
        "ImportError: cannot import name 'cdiv' from 'pkg.utils' (/opt/pkg/utils/__init__.py)",
        (ErrorKind.IMPORT, "pkg.utils", "", ("cdiv",)),
    ),
    (
        "ImportError: cannot import name 'a' from partially initialized module 'pkg.b' (a circle)",
        (ErrorKind.IMPORT, "pkg.b", "", ("a",)),
    ),
    ("ModuleNotFoundError: No module named 'pkg.worker.base'", (ErrorKind.MODULE, "pkg.worker.base", "", ())),
    (
        "ModuleNotFoundError: No module named 'pkg.worker'; 'pkg' is not a package",
        (ErrorKind.MODULE, "pkg.worker", "", ()),
    ),
    (
        "AttributeError: 'Runner' object has no attribute 'max_num_tokens'. Did you mean: 'num_tokens'?",
        (ErrorKind.ATTRIBUTE, "Runner", "", ("max_num_tokens",)),
    ),
    (
        "AttributeError: type object 'Level' has no attribute 'PIECEWISE'",
        (ErrorKind.ATTRIBUTE, "Level", "", ("PIECEWISE",)),
    ),
    (
        "AttributeError: module 'pkg.utils' has no attribute 'cdiv'",
        (ErrorKind.ATTRIBUTE, "pkg.utils", "", ("cdiv",)),
    ),
    (
        "AttributeError: <module 'pkg.utils' from '/opt/pkg/utils.py'> does not have the attribute 'cdiv'",
        (ErrorKind.ATTRIBUTE, "pkg.utils", "", ("cdiv",)),
    ),
    (
        "AttributeError: property 'size' of 'Config' object has no setter",
        (ErrorKind.ATTRIBUTE, "Config", "", ("size",)),
    ),
    (
        "AttributeError: '_OpNamespace' '_C' object has no attribute 'rms_norm'",
        (ErrorKind.OP, "_C", "", ("rms_norm",)),
    ),
    (
        "NotImplementedError: Could not run '_C::rms_norm' with arguments from the 'X' backend",
        (ErrorKind.OP, "", "", ("_C::rms_norm",)),
    ),
    (
        "TypeError: Can't instantiate abstract class Impl with abstract methods forward_a, forward_b",
        (ErrorKind.ABSTRACT, "Impl", "", ("forward_a", "forward_b")),
    ),
    (
        "TypeError: Can't instantiate abstract class Im without an implementation for abstract method 'forward_a'",
        (ErrorKind.ABSTRACT, "Im", "", ("forward_a",)),
    ),
    (
        "serve: error: unrecognized arguments: --swap-space 4 --old-flag=1",
        (ErrorKind.FLAG, "", "", ("--swap-space", "--old-flag")),
    ),
    ("Error: No such option: --swap-space", (ErrorKind.FLAG, "", "", ("--swap-space",))),
    (
        "msgspec.ValidationError: Object missing required field `request_id`",
        (ErrorKind.MISSING_FIELD, "", "", ("request_id",)),
    ),
    ("ValueError: too many values to unpack (expected 2)", (ErrorKind.UNPACK, "", "", ())),
    ("NameError: name 'is_hip' is not defined", (ErrorKind.NAME, "", "", ("is_hip",))),
    ("KeyError: 'guided_json'", (ErrorKind.KEY, "", "", ("guided_json",))),
    ("torch.OutOfMemoryError: no memory", (ErrorKind.OTHER, "", "", ())),
]


@check_rows(LINES)
def test_names_of_an_error_are_read(line: str, expected: tuple[ErrorKind, str, str, tuple[str, ...]]) -> None:
    error = next(iterate_error_lines(line))
    assert (error.kind, error.owner, error.function, error.names) == expected


@pytest.mark.parametrize("line", ["", "all is well", "def f(missing): return error", "  File 'x.py'"])
def test_other_lines_are_no_errors(line: str) -> None:
    assert next(iterate_error_lines(line), None) is None


@pytest.mark.parametrize(
    ("line", "expected", "passed"),
    [
        ("f() takes 2 positional arguments but 3 were given", 2, 3),
        ("f() takes from 1 to 4 positional arguments but 5 were given", 4, 5),
        ("f() takes 1 positional argument but 2 positional arguments (and 1 keyword-only) were given", 1, 2),
        ("f() takes exactly one argument", None, None),
        ("f() takes exactly 2 arguments (3 given)", 2, 3),
    ],
)
def test_arguments_are_counted(line: str, expected: int | None, passed: int | None) -> None:
    error = next(iterate_error_lines(f"TypeError: {line}"))
    assert (error.expected, error.passed) == (expected, passed)


def test_two_errors_in_one_sentence_are_both_read() -> None:
    line = (
        "Fix `TypeError: Can't instantiate abstract class Impl with abstract methods a_b, c_d` and "
        "AttributeError: 'bool' object has no attribute 'process'"
    )
    assert [error.kind for error in iterate_error_lines(line)] == [ErrorKind.ABSTRACT, ErrorKind.ATTRIBUTE]


PIECES = st.sampled_from(
    [line for line, _ in LINES]
    + ["'", "`", "(", ")", "--", ".", "::", "missing 1 required argument: ", "\x00", "é"]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=8).map("".join))
def test_any_text_is_read_within_bounds(line: str) -> None:
    for error in iterate_error_lines(line):
        assert len(error.text) <= MAX_LINE
        assert len(error.names) <= MAX_NAMES
