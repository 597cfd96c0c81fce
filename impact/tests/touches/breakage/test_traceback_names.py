"""What is read from pasted errors: tracebacks of Python, pytest and logs, with the damage that pasting does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impact.touches.breakage.error_lines import ErrorKind
from impact.touches.breakage.traceback_names import (
    MAX_ERRORS,
    MAX_FRAMES,
    MAX_TEXT,
    MAX_WORDS,
    Frame,
    TraceNames,
    parse_trace,
)

PYTHON = """Traceback (most recent call last):
  File "/srv/app/plugin/worker.py", line 20, in load
    self.runner = NPURunner(config, kind="x")
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/opt/site-packages/pkg/v1/runner.py", line 310, in __init__
    super().__init__(config, kind=kind)
TypeError: Runner.__init__() got an unexpected keyword argument 'kind'
"""
CHAINED = """Traceback (most recent call last):
  File "/opt/pkg/a.py", line 1, in first
    from pkg.utils import cdiv
ImportError: cannot import name 'cdiv' from 'pkg.utils' (/opt/pkg/utils.py)

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/opt/pkg/b.py", line 2, in second
    start()
RuntimeError: Engine core initialization failed. See root cause above.
"""
PYTEST = """
    def test_load():
>       loader.load(model, strict=True)

tests/test_loader.py:14:
_ _ _ _ _ _ _ _ _
pkg/loader.py:88: in load
    self.check(strict)
E   AttributeError: 'Loader' object has no attribute 'check'

pkg/loader.py:90: AttributeError
"""
LOG = """\x1b[1;31m(EngineCore pid=7)\x1b[0;0m ERROR 01-12 10:00:00 [core.py:712] Traceback (most recent call last)
(EngineCore pid=7) ERROR 01-12 10:00:00 [core.py:712]   File "/opt/pkg/core.py", line 70, in step
(EngineCore pid=7) ERROR 01-12 10:00:00 [core.py:712]     self.run()
(EngineCore pid=7) ERROR 01-12 10:00:00 [core.py:712] ModuleNotFoundError: No module named 'pkg.worker'
"""
PYDANTIC = """pydantic_core._pydantic_core.ValidationError: 2 validation errors for SchedulerConfig
send_delta
  Unexpected keyword argument [type=unexpected_keyword_argument, input_value=True, input_type=bool]
runner_kind
  Field required [type=missing, input_value={}, input_type=dict]
"""


def summarize_errors(text: str) -> list[tuple[ErrorKind, str, tuple[str, ...]]]:
    return [(error.kind, error.owner, error.names) for error in parse_trace(text).errors]


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        (PYTHON, [(ErrorKind.UNEXPECTED_ARGUMENT, "Runner", ("kind",))]),
        (CHAINED, [(ErrorKind.IMPORT, "pkg.utils", ("cdiv",)), (ErrorKind.OTHER, "", ())]),
        (PYTEST, [(ErrorKind.ATTRIBUTE, "Loader", ("check",))]),
        (LOG, [(ErrorKind.MODULE, "pkg.worker", ())]),
        (
            '{"type":"extra_forbidden","loc":["body","guided_json"],"msg":"Extra inputs are not permitted"}',
            [(ErrorKind.FIELD, "", ("guided_json",))],
        ),
        (
            "AttributeError: \u2018Loader\u2019 object has no attribute \u201ccheck\u201d",
            [(ErrorKind.ATTRIBUTE, "Loader", ("check",))],
        ),
        ("```KeyError: 'x_y'```", [(ErrorKind.KEY, "", ("x_y",))]),
        ("see https://example.org/KeyError: nothing", []),
    ],
)
def test_errors_are_read(text: str, errors: list[tuple[ErrorKind, str, tuple[str, ...]]]) -> None:
    assert summarize_errors(text) == errors


def test_fields_of_a_model_are_read() -> None:
    errors = summarize_errors(PYDANTIC)
    assert (ErrorKind.FIELD, "SchedulerConfig", ("send_delta",)) in errors
    assert (ErrorKind.MISSING_FIELD, "SchedulerConfig", ("runner_kind",)) in errors


@pytest.mark.parametrize(
    ("text", "frames"),
    [
        (
            PYTHON,
            (
                Frame(
                    "/opt/site-packages/pkg/v1/runner.py", 310, "__init__", "super().__init__(config, kind=kind)"
                ),
                Frame("/srv/app/plugin/worker.py", 20, "load", 'self.runner = NPURunner(config, kind="x")'),
            ),
        ),
        (
            PYTEST,
            (
                Frame("pkg/loader.py", 90, "", ""),
                Frame("pkg/loader.py", 88, "load", "self.check(strict)"),
                Frame("tests/test_loader.py", 14, "", "loader.load(model, strict=True)"),
            ),
        ),
        (r'File "C:\x\pkg\a.py", line 3, in A.run', (Frame("C:/x/pkg/a.py", 3, "run", ""),)),
        (LOG, (Frame("/opt/pkg/core.py", 70, "step", "self.run()"),)),
        ('[rank0]:   File "/opt/pkg/core.py", line 7, in run', (Frame("/opt/pkg/core.py", 7, "run"),)),
        ("no frames", ()),
    ],
)
def test_frames_are_read_with_the_deepest_first(text: str, frames: tuple[Frame, ...]) -> None:
    assert parse_trace(text).frames == frames


def test_a_name_that_was_cut_off_is_completed_from_the_text() -> None:
    text = "It calls `run(non_block=True)`: TypeError: Own.run() got an unexpected keyword argument 'non"
    assert parse_trace(text).errors[0].names == ("non_block",)


def test_names_and_words_of_a_sentence_are_told_apart() -> None:
    trace = parse_trace("The `matcher` of AscendRunner reads torch.ops._C early and --swap-space fails")
    assert set(trace.identifiers) == {"matcher", "AscendRunner", "torch.ops._C", "--swap-space"}
    assert trace.words == {"reads", "early", "fails"}


@pytest.mark.parametrize("text", ["", " \n ", "```\n```", "it is broken"])
def test_a_text_without_names_is_empty(text: str) -> None:
    assert parse_trace(text).is_empty


@pytest.mark.slow
def test_the_end_of_a_long_log_is_read() -> None:
    trace = parse_trace("noise\n" * MAX_TEXT + PYTHON)
    assert trace.errors[0].names == ("kind",)
    assert len(trace.frames) == 2


PIECES = st.sampled_from([PYTHON, CHAINED, PYTEST, LOG, PYDANTIC, "\x1b[", "```", "\r", "\x00", "> x", "'loc': ("])


@given(st.lists(st.one_of(PIECES, st.text(max_size=30)), max_size=12).map("".join))
def test_any_text_is_read_within_bounds(text: str) -> None:
    trace = parse_trace(text)
    assert isinstance(trace, TraceNames)
    assert len(trace.frames) <= MAX_FRAMES
    assert len(trace.errors) <= MAX_ERRORS
    assert max(len(trace.identifiers), len(trace.words)) <= MAX_WORDS
