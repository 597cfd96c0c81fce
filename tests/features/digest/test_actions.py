"""Actions: ranked by what they break, product before the rest, and none about the environment of the tests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.digest.actions import ActionRank, changes_product, is_for_tests_only, rank_action
from bot.features.merges.view import Entry, LeadRule
from bot.platform.pulls.paths import DEFAULT_PATH_CLASSES, PathClass, PathClasses
from tests.helpers.builders import changed_file, digest, entry, pull, summary
from tests.helpers.tables import check_rows

RANKS = {
    ActionRank.REMOVED: (
        "Replace `truncate_prompt_tokens` with `tokenization_kwargs`, `normalize` with `use_activation`.",
        "`SamplingParams.logits` is removed; callers may pass `logprobs` instead.",
        "The default backend was renamed to `triton`.",
        "Python 3.9 is no longer supported.",
        "Support for CUDA 11 was dropped: you must upgrade the driver.",
        "Point imports of `ModelState` at `vllm.v1.worker.gpu.model_states.interface`.",
        "You must migrate scripts from `--seed` to `--seeds`.",
        "The option is gone.",
    ),
    ActionRank.CHANGED_DEFAULT: (
        "Prefix caching is on by default; you must set `--no-cache` to keep the old behaviour.",
        "The default of `--dtype` is `bfloat16`.",
        "Chunked prefill is now disabled: pass `--chunked` to get it.",
        "Set `use_v1=0` to opt out.",
        "`foo` will be removed in v0.18; it is deprecated.",
    ),
    ActionRank.REQUIREMENT: (
        "Give `IOProcessor` plugins a `renderer` argument; mandatory in v0.18.",
        "Builds need CMake 3.29.",
        "Plugins must implement `close`.",
        "Upgrade `torch` before you merge.",
    ),
    ActionRank.ADVICE: (
        "Set the flag.",
        "You should compare latencies.",
        "Look for the DeepGEMM warning in the logs; a missing install no longer prevents startup.",
        "Make Messages API clients tolerate `thinking` blocks first.",
        "Check the `default` and `required` columns.",
        "",
    ),
    ActionRank.OPTION: (
        "You may pass `--fast` to skip the check.",
        "The workaround can be removed.",
        "A `renderer` is not required: you may leave it out.",
        "Users on the default branch can try `--async`.",
    ),
}


@check_rows([(text, rank) for rank, texts in RANKS.items() for text in texts])
def test_an_action_is_ranked_by_its_words(text: str, rank: ActionRank) -> None:
    assert rank_action(text) is rank


@check_rows(
    [
        (ActionRank.REMOVED, LeadRule.MUST_ACT),
        (ActionRank.REQUIREMENT, LeadRule.MUST_ACT),
        (ActionRank.CHANGED_DEFAULT, LeadRule.SHOULD_ACT),
        (ActionRank.ADVICE, LeadRule.SHOULD_ACT),
        (ActionRank.OPTION, LeadRule.MAY_ACT),
    ]
)
def test_what_stops_working_is_a_must(rank: ActionRank, rule: LeadRule) -> None:
    assert rank.rule is rule


@given(st.text(max_size=300))
def test_each_text_has_a_rank(text: str) -> None:
    assert rank_action(text) in ActionRank


PATHS = {
    ("tests/conftest.py",): True,
    (".buildkite/test-pipeline.yaml", "tests/models/test_qwen.py", "docs/contributing/ci.md"): True,
    ("requirements/test.txt", "requirements/test.in"): True,
    ("docker/Dockerfile.ci",): True,
    ("tests/conftest.py", "uv.lock"): True,
    ("tests/conftest.py", "engine/core.py"): False,
    ("requirements/cuda.txt", "tests/conftest.py"): False,
    ("engine/test_bench/core.py",): False,
    ("requirements/latest.txt",): False,
    ("docs/usage.md",): False,
    ("tools/release.py",): False,
}


@pytest.mark.parametrize(("paths", "expected"), PATHS.items())
def test_what_is_for_tests_only_is_decided_by_the_files(paths: tuple[str, ...], expected: bool) -> None:
    made = pull(1, files=[changed_file(path) for path in paths])
    assert is_for_tests_only(made, DEFAULT_PATH_CLASSES) is expected


def test_files_that_are_unknown_may_be_product() -> None:
    made = pull(1, files=None)
    assert (is_for_tests_only(made, DEFAULT_PATH_CLASSES), changes_product(made, DEFAULT_PATH_CLASSES)) == (
        False,
        True,
    )


def asking(number: int, action: str, path: str = "engine/core.py") -> Entry:
    return entry(number, entry_summary=summary(action=action), files=[changed_file(path)])


def test_actions_come_by_rank_then_product_then_newest() -> None:
    day_digest = digest(
        asking(9, "You may pass `--fast`."),
        asking(8, "Plugins must close."),
        asking(7, "`x` was removed.", "tools/release.py"),
        asking(6, "`y` was removed."),
        asking(5, "`z` was removed.", "tests/conftest.py"),
        asking(4, "The default is on."),
        asking(3, "Callers must wait."),
    )
    assert [action.number for action in day_digest.actions] == [6, 7, 8, 3, 4, 9]


def test_the_classes_are_those_of_the_repository() -> None:
    classes = PathClasses(((PathClass.TESTS, ("/engine/",)),))
    day_digest = digest(asking(1, "Set the flag."), path_classes=classes)
    assert day_digest.actions == ()
