from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.profile.models import DerivedClass
from impact.testing.checks import check_rows
from impact.testing.touches import NOON, make_change, make_merge, make_profile
from impact.touches.breakage.explanations import Kinship
from impact.touches.breakage.suspects import LEAST_SCORE, Suspect, SuspectRange, rank_suspects
from impact.touches.breakage.traceback_names import parse_trace

CLASS, METHOD, ATTRIBUTE = ContractClass.CLASS, ContractClass.METHOD, ContractClass.ATTRIBUTE
MODULE, FLAG, OP = ContractClass.MODULE, ContractClass.FLAG, ContractClass.OP
SIGNATURE, REMOVED, MOVED = ChangeKind.SIGNATURE, ChangeKind.REMOVED, ChangeKind.MOVED

# changes like those that explain an error, and that don't
NOISE = (
    make_change(SIGNATURE, "up.other.Worker.run", METHOD, "(self, a)", "(self, a, b)"),
    make_change(REMOVED, "up.utils.is_hip", ContractClass.FUNCTION),
    make_change(ChangeKind.ADDED_MEMBER, "up.model.Model.get_rope", METHOD),
    make_change(ChangeKind.BEHAVIOUR, "up.model.Model.forward", METHOD),
    make_change(MOVED, "up.model.layers", MODULE),
)


def make_range(*merges: MergeContract, reverts: dict[int, int] | None = None) -> SuspectRange:
    """Return the merges, numbered from 1, among others that explain nothing."""
    others = [replace(make_merge(change), title="Refactor it") for change in NOISE]
    numbered = [
        replace(merge, number=number, merged_at=NOON + timedelta(hours=number))
        for number, merge in enumerate([*merges, *others], 1)
    ]
    return SuspectRange(numbered, reverts or {})


def rank(text: str, *changes: ContractChange, own: Sequence[DerivedClass] = ()) -> tuple[Suspect, ...]:
    """Return the suspects for an error in a range whose first merge makes the changes."""
    kinship = Kinship([make_profile(classes=own)] if own else [])
    return rank_suspects(parse_trace(text), make_range(make_merge(*changes)), kinship)


EXPLAINED = [
    (
        "TypeError: Attention.__init__() got an unexpected keyword argument 'size'",
        make_change(SIGNATURE, "up.attn.Attention.__init__", METHOD, "(self, heads, size=None)", "(self, heads)"),
        "removes the argument `size`",
    ),
    (
        "TypeError: OwnExecutor.call() got an unexpected keyword argument 'non_block'",
        make_change(SIGNATURE, "up.exec.Executor.call", METHOD, "(self, f)", "(self, f, non_block=False)"),
        "which `OwnExecutor` has to take too",
    ),
    (
        "TypeError: Config.__init__() missing 1 required positional argument: 'is_parallel'",
        make_change(ChangeKind.ADDED_MEMBER, "up.config.Config.is_parallel", ATTRIBUTE),
        "adds the field `Config.is_parallel`",
    ),
    (
        "TypeError: Proc.__init__() missing 1 required positional argument: 'is_driver'",
        make_change(SIGNATURE, "up.w.Proc.__init__", METHOD, "(self, a)", "(self, a, is_driver)"),
        "makes `is_driver` a required argument",
    ),
    (
        "TypeError: NPUSpec.__init__() takes 2 positional arguments but 3 were given",
        make_change(SIGNATURE, "up.kv.Spec.__init__", METHOD, "(self, config)", "(self, config, cache)"),
        "changes the number of arguments",
    ),
    (
        "TypeError: encode() got multiple values for keyword argument 'special'",
        make_change(SIGNATURE, "up.tok.encode", ContractClass.FUNCTION, "(text)", "(text, special=True)"),
        "the argument `special`",
    ),
    (
        "ImportError: cannot import name 'cdiv' from 'up.utils'",
        replace(make_change(MOVED, "up.utils.cdiv"), new_name="up.utils.math.cdiv"),
        "moves `up.utils.cdiv` to `up.utils.math.cdiv`",
    ),
    (
        "ModuleNotFoundError: No module named 'up.worker.base'",
        make_change(REMOVED, "up.worker", MODULE),
        "removes `up.worker`",
    ),
    (
        "AttributeError: 'Runner' object has no attribute 'max_tokens'",
        make_change(REMOVED, "up.runner.Runner.max_tokens", ATTRIBUTE),
        "removes `Runner.max_tokens`",
    ),
    (
        "AttributeError: 'NPURunner' object has no attribute 'reset'",
        make_change(ChangeKind.ADDED_MEMBER, "up.runner.Runner.reset", METHOD),
        "which others now expect",
    ),
    (
        "AttributeError: 'super' object has no attribute 'reset'",
        make_change(REMOVED, "up.runner.Runner.reset", METHOD),
        "removes `Runner.reset`",
    ),
    (
        "'super' object has no attribute 'reset'",
        make_change(ChangeKind.RENAMED, "up.runner.Runner.reset", METHOD),
        "renames `Runner.reset`",
    ),
    (
        "AttributeError: module 'up.utils' has no attribute 'cdiv'",
        make_change(REMOVED, "up.utils.cdiv"),
        "removes `up.utils.cdiv`",
    ),
    (
        "TypeError: Can't instantiate abstract class OwnImpl with abstract methods forward_a, forward_b",
        make_change(ChangeKind.ABSTRACT_MEMBER, "up.attn.BaseImpl.forward_a", METHOD),
        "adds the abstract `BaseImpl.forward_a`",
    ),
    (
        "error: unrecognized arguments: --swap_space 4",
        make_change(REMOVED, "--swap-space", FLAG),
        "removes the flag `--swap-space`",
    ),
    (
        "AttributeError: '_OpNamespace' '_C' object has no attribute 'rms_norm'",
        make_change(REMOVED, "torch.ops._C.rms_norm", OP),
        "removes the op",
    ),
    (
        "1 validation error for SchedulerConfig\nsend_delta\n  Unexpected keyword argument [type=x]",
        make_change(REMOVED, "up.config.SchedulerConfig.send_delta", ATTRIBUTE),
        "removes the field `SchedulerConfig.send_delta`",
    ),
    (
        "KeyError: 'guided_json'",
        make_change(REMOVED, "guided_json", ContractClass.API_FIELD),
        "removes `guided_json`",
    ),
]


@check_rows(EXPLAINED)
def test_the_change_that_explains_an_error_comes_first(text: str, change: ContractChange, reason: str) -> None:
    suspects = rank(text, change)
    assert suspects[0].number == 1
    assert suspects[0].change == change
    assert reason in suspects[0].reason


@check_rows([text for text, _, _ in EXPLAINED])
def test_nothing_fits_without_that_change(text: str) -> None:
    assert rank(text) == ()


@pytest.mark.parametrize(
    ("text", "change"),
    [
        (
            # the argument came, so a call with it can't fail
            "TypeError: Attention.__init__() got an unexpected keyword argument 'size'",
            make_change(SIGNATURE, "up.attn.Other.__init__", METHOD, "(self)", "(self, size=None)"),
        ),
        (
            "TypeError: run() missing 1 required positional argument: 'a'",
            make_change(SIGNATURE, "up.w.walk", ContractClass.FUNCTION, "(b)", "(a, b)"),
        ),
        (
            "ImportError: cannot import name 'cdiv' from 'up.utils'",
            replace(make_change(MOVED, "up.utils.cdiv"), is_importable=True),
        ),
    ],
)
def test_a_change_of_something_else_explains_nothing(text: str, change: ContractChange) -> None:
    assert rank(text, change) == ()


def test_a_profile_tells_what_a_class_derives_from() -> None:
    text = "TypeError: Odd.call() got an unexpected keyword argument 'non_block'"
    change = make_change(SIGNATURE, "up.exec.Executor.call", METHOD, "(self)", "(self, non_block=False)")
    own = DerivedClass("ours.Odd", "ours/a.py", 1, ("up.exec.Executor",))
    known, unknown = rank(text, change, own=[own]), rank(text, change)
    assert known[0].score > (unknown[0].score if unknown else 0)


def test_a_sentence_with_a_member_and_its_class_is_explained_by_a_change_of_it() -> None:
    change = make_change(ChangeKind.ADDED_MEMBER, "up.moe.SharedFusedMoE._gate", METHOD)
    suspects = rank("RuntimeError: the shapes differ, as FusedMoe has its own _gate now", change)
    assert [(each.number, each.reason) for each in suspects] == [(1, "adds `SharedFusedMoE._gate`")]


@pytest.mark.parametrize(
    ("text", "change"),
    [
        (
            "TypeError: get_backend() remove variable",
            make_change(SIGNATURE, "up.attn.get_backend", ContractClass.FUNCTION, "(a, b)", "(a)"),
        ),
        (
            "our Scheduler init got an unexpected arg `block_size`",
            make_change(SIGNATURE, "up.core.Scheduler.__init__", METHOD, "(self, block_size)", "(self)"),
        ),
        (
            "it got multiple values for keyword argument 'special'",
            make_change(REMOVED, "up.serve.tokenize", ContractClass.FUNCTION, "(text, special)", ""),
        ),
    ],
)
def test_errors_in_words_of_people_are_explained(text: str, change: ContractChange) -> None:
    assert [each.change for each in rank(text, change)] == [change]


TRACE = """Traceback (most recent call last):
  File "/opt/site-packages/up/a.py", line 70, in prepare
    rows = tensor[index]
IndexError: index 4 is out of bounds for dimension 0 with size 4
"""


def test_the_code_on_the_way_to_an_error_counts() -> None:
    change = make_change(ChangeKind.BEHAVIOUR, "up.a.Model.prepare", METHOD)
    merge = replace(make_merge(change), files=("up/a.py",), title="Change how rows are prepared")
    suspects = rank_suspects(parse_trace(TRACE), make_range(merge), Kinship(), least=20)
    assert suspects[0].number == 1
    assert suspects[0].reason == "changes `Model.prepare`, which is on the way to the error"


def test_a_reverted_merge_is_marked_and_comes_later() -> None:
    text, change, _ = EXPLAINED[0]
    merges = make_range(make_merge(change), make_merge(change), reverts={2: 9})
    first, *rest = rank_suspects(parse_trace(text), merges, Kinship())
    assert (first.number, first.reverted_by) == (1, None)
    assert [(each.number, each.reverted_by) for each in rest] == [(2, 9)]


def test_of_equal_suspects_the_later_one_comes_first() -> None:
    text, change, _ = EXPLAINED[0]
    suspects = rank_suspects(parse_trace(text), make_range(make_merge(change), make_merge(change)), Kinship())
    assert [each.number for each in suspects] == [2, 1]


@given(
    st.lists(st.sampled_from([text for text, _, _ in EXPLAINED] + ["'", "x.y()", TRACE]), max_size=5),
    st.lists(st.sampled_from([change for _, change, _ in EXPLAINED] + list(NOISE)), max_size=5),
)
def test_points_stay_within_bounds(texts: list[str], changes: list[ContractChange]) -> None:
    for suspect in rank("\n".join(texts), *changes):
        assert LEAST_SCORE <= suspect.score <= 100
        assert suspect.reason
