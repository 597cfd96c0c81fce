from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impact.testing.checks import check_rows
from impact.touches.breakage.traceback_names import (
    MAX_ERRORS,
    MAX_FRAMES,
    MAX_TEXT,
    MAX_WORDS,
    ErrorKind,
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


# --- what collectors of logs write around each line

TRACE = """Traceback (most recent call last):
  File "/app/run.py", line 33, in make
    Engine(cfg, extra=True)
pydantic_core._pydantic_core.ValidationError: 1 validation error for EngineConfig
log_stats
  Extra inputs are not permitted [type=extra_forbidden, input_value=True, input_type=bool]"""


def wrap(before: str, behind: str = "", *, is_escaped: bool = False) -> str:
    """The trace with this around each line; ``{0}`` is the number of the line."""
    lines = (line.replace('"', '\\"') if is_escaped else line for line in TRACE.splitlines())
    return "\n".join(f"{before.replace('{0}', str(at))}{line}{behind}" for at, line in enumerate(lines))


LOGS = {
    "Kubernetes": wrap("2026-11-14T10:12:1{0}.1234{0}6789Z stderr F "),
    "kubectl": wrap("[pod/engine-0/engine] "),
    "stern": wrap("engine-7d9f8b6c5-x2x4z engine "),
    "Compose": wrap("worker-1  | "),
    "Docker": "\n".join(json.dumps({"log": f"{line}\n", "stream": "stderr"}) for line in TRACE.splitlines()),
    "GitHub Actions": wrap("2026-11-14T10:12:13.1234567Z "),
    "GitLab": wrap("2026-11-14T10:12:13.1{0}3456Z 0{0}O "),
    "GitLab, a line that goes on": wrap("2026-11-14T10:12:13Z 0{0}E+").replace("0E+", "0O ", 1),
    "syslog": wrap("Nov 14 10:12:1{0} web-1 engine[12{0}]: "),
    "Heroku": wrap("2026-11-14T10:12:13.123456+00:00 app[web.1]: "),
    "CloudWatch": wrap("2026-11-14T10:12:13.123Z 4f2c9a1e-1111-2222-3333-444455556666 "),
    "Loki": wrap("2026-11-14 10:12:1{0}.123\t"),
    "logfmt": wrap('ts=2026-11-14T10:12:1{0}Z level=error msg="', '"', is_escaped=True),
    "Fluent Bit": wrap('[{0}] tail.0: [[173157913{0}.12, {}], {"log"=>"', '"}]', is_escaped=True),
    "JSON": json.dumps({"level": "error", "event": "failed", "exception": TRACE}),
    "JSON of Elastic": json.dumps({"error": {"stack_trace": TRACE, "type": "V"}, "message": "failed"}),
    "JSON of Elastic, in one": json.dumps({"message": "failed", "error.stack_trace": TRACE}),
    "JSON of Datadog": json.dumps({"message": "failed", "error": {"stack": TRACE}}),
    "Google Cloud": json.dumps({"jsonPayload": {"message": TRACE}}),
    "CloudWatch Insights": "\n".join(json.dumps({"@message": line}) for line in TRACE.splitlines()),
    "journald": wrap("2026-11-14T10:12:13+0100 web-1 python3[12{0}]: "),
    "RFC 5424": wrap('<165>1 2026-11-14T10:12:13.003Z web.x.org engine - ID47 [ex@32473 iut="3"] '),
    "Buildkite": wrap("\x1b_bk;t=173157913012{0}\x07"),
    "Jenkins": wrap("[2026-11-14T10:12:13.123Z] "),
    "pytest": wrap("E       "),
    "loguru": wrap("2026-11-14 10:12:13.123 | ERROR    | engine.run:make:33 - "),
    "Celery": wrap("[2026-11-14 10:12:13,123: ERROR/ForkPoolWorker-1] "),
    "mpirun": wrap("[1,{0}]<stderr>:"),
    "a worker in a core of vLLM": wrap("(EngineCore_0 pid=9) (Worker_TP0 pid=12) ERROR 11-14 10:12:13 [a.py:70] "),
    "one of Ray in color": wrap("\x1b[36m(ServeReplica:app:LLM pid=9)\x1b[0m "),
    "gh run view": wrap("test (3.11)\tRun tests\t2026-11-14T10:12:13.1234567Z "),
    "written line breaks": TRACE.replace("\n", "\\n"),
    "a time in brackets": wrap("[2026-11-14 10:12:13,123] {runner.py:85} ERROR - "),
    "klog": wrap("E1114 10:12:13.12345{0} 123 run.py:33] "),
    "logging": wrap("ERROR:root:"),
    "Ray": wrap("(Worker pid=9, ip=10.0.0.1) "),
    "torchrun": wrap("[rank0]: "),
    "vLLM": wrap("(EngineCore pid=9) ERROR 11-14 10:12:13 [core.py:700] "),
    "a reply": wrap("> "),
    "an indented block": wrap("        "),
    "the first line alone": f"2026-11-14 10:12:13 ERROR engine: {TRACE}",
    "without its head": wrap("worker-1  | ").partition("\n")[2],
}


@check_rows(LOGS)
def test_what_a_collector_writes_around_each_line_changes_nothing(log: str) -> None:
    plain, collected = parse_trace(TRACE), parse_trace(log)
    assert [error.names for error in collected.errors] == [error.names for error in plain.errors]
    assert collected.frames == plain.frames


@check_rows(["{", '{"log": 1}\n', f"{'{' * 5_000}}}\n", '{"log": ["KeyError: 1"]}\n'])
def test_what_is_no_log_leaves_the_error_behind_it(text: str) -> None:
    assert parse_trace(f"{text}\n{TRACE}").frames == parse_trace(TRACE).frames


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
