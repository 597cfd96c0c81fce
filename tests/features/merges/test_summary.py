from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.merges.summary import (
    MAX_HEADLINE_LENGTH,
    ChangeType,
    Evidence,
    Fallback,
    FallbackReason,
    Quote,
    build_fallback_summary,
    remove_unproven_claims,
    verify_quotes,
)
from bot.platform.models.packing import Coverage
from bot.platform.pulls.models import ChangedFile
from bot.platform.pulls.paths import PathClass, PathClasses
from impact.source.models import DiffSide
from tests.helpers.builders import changed_file, failed, pull, summary

CORE = changed_file(
    "engine/core.py", patch="@@ -7,2 +7,2 @@\n-    return old_count\n+    return new_count\n     # ends"
)
OTHER = changed_file("engine/other.py", patch="@@ -1 +1 @@\n+something_else()")
BINARY = changed_file("logo.png", 0, patch=None)
CHANGE = pull(files=[CORE, OTHER, BINARY])
PROOF = Evidence("engine/core.py", "return new_count", DiffSide.NEW, 7)


@pytest.mark.parametrize(
    ("quote", "evidence"),
    [
        pytest.param(Quote("engine/core.py", "return new_count"), [PROOF], id="added-line"),
        pytest.param(Quote("engine/core.py", "  return new_count\n"), [PROOF], id="blanks-around"),
        pytest.param(
            Quote("engine/core.py", "return old_count"),
            [Evidence("engine/core.py", "return old_count", DiffSide.OLD, 7)],
            id="deleted-line",
        ),
        pytest.param(Quote("engine/core.py", "return no_count"), [], id="not-in-the-diff"),
        pytest.param(Quote("engine/other.py", "return new_count"), [], id="in-another-file"),
        pytest.param(Quote("core.py", "return new_count"), [], id="wrong-path"),
        pytest.param(Quote("a/engine/core.py", "return new_count"), [], id="path-as-git-prints-it"),
        pytest.param(Quote("logo.png", "return new_count"), [], id="file-without-a-patch"),
        pytest.param(Quote("engine/core.py", "return"), [], id="too-short"),
        pytest.param(Quote("", ""), [], id="empty"),
    ],
)
def test_only_quotes_that_stand_in_their_file_are_kept(quote: Quote, evidence: list[Evidence]) -> None:
    assert verify_quotes([quote], CHANGE) == tuple(evidence)


def test_false_quotes_go_and_true_ones_stay_in_order() -> None:
    quotes = [
        Quote("engine/other.py", "something_else()"),
        Quote("engine/other.py", "something_false()"),
        Quote("engine/core.py", "return new_count"),
    ]
    assert [evidence.path for evidence in verify_quotes(quotes, CHANGE)] == ["engine/other.py", "engine/core.py"]


def test_nothing_is_proven_where_the_files_are_not_loaded() -> None:
    assert verify_quotes([Quote("engine/core.py", "return new_count")], pull(files=None)) == ()


def test_a_claim_without_proof_is_dropped() -> None:
    unproven_summary = summary(risk_reason="It counts twice", action="Set the flag")
    assert remove_unproven_claims(unproven_summary) == summary()
    assert remove_unproven_claims(replace(unproven_summary, evidence=(PROOF,))) == replace(
        unproven_summary, evidence=(PROOF,)
    )


DOC, TEST, CI = "docs/a.md", "tests/test_a.py", ".github/ci.yml"


@pytest.mark.parametrize(
    ("files", "trivial"),
    [
        pytest.param([changed_file(DOC, 9_000)], True, id="documentation-of-any-size"),
        pytest.param([changed_file(TEST, 20)], True, id="few-lines-of-tests"),
        pytest.param([changed_file(TEST, 21)], False, id="more-lines-of-tests"),
        pytest.param([changed_file(CI, 10), changed_file(DOC, 10)], True, id="few-lines-of-ci-and-docs"),
        pytest.param([changed_file(CI, 10), changed_file(DOC, 11)], False, id="more-of-both"),
        pytest.param([changed_file(DOC), changed_file("engine/core.py")], False, id="product"),
        pytest.param([changed_file("pyproject.toml")], False, id="build"),
        pytest.param([changed_file("uv.lock")], False, id="lock"),
        pytest.param([changed_file("a.bin", 0, patch=None)], False, id="unknown-kind"),
    ],
)
def test_the_type_of_a_fallback_is_set_by_rule(files: list[ChangedFile], trivial: bool) -> None:
    fallback_summary = build_fallback_summary(pull(files=files), failed(), Coverage.FULL)
    assert fallback_summary.type is (ChangeType.TRIVIAL if trivial else ChangeType.SUBSTANTIAL)


def test_a_pull_request_whose_files_are_unknown_is_not_called_trivial() -> None:
    fallback_summary = build_fallback_summary(pull(files=None), Fallback(FallbackReason.NO_FILES), Coverage.NONE)
    assert fallback_summary.type is ChangeType.SUBSTANTIAL
    assert "The files could not be read." in fallback_summary.technical_impact
    assert fallback_summary.key_insights == "Read the pull request itself."


def test_a_fallback_says_that_it_is_one_and_why_in_its_first_line() -> None:
    fallback_summary = build_fallback_summary(pull(body="Counts once."), failed(), Coverage.FULL)
    first, *rest = fallback_summary.what_changed_and_why.split("\n")
    assert first == "*No model summary: the model is busy. The facts stand in for it.*"
    assert rest == ["", "Title: Change number 1", "", "Description: Counts once."]
    assert fallback_summary.potential_risks == "Not assessed: no model read the diff."
    assert (fallback_summary.fallback, fallback_summary.coverage, fallback_summary.is_fallback) == (
        failed(),
        Coverage.FULL,
        True,
    )


def test_a_fallback_claims_nothing_that_only_a_model_could() -> None:
    fallback_summary = build_fallback_summary(pull(), failed(), Coverage.FULL)
    assert (fallback_summary.risk_reason, fallback_summary.action, fallback_summary.evidence) == ("", "", ())


def test_a_fallback_states_size_and_kinds() -> None:
    files = [changed_file("engine/a.py", 1_000, 5), changed_file("engine/b.py", 2), changed_file(DOC, 30)]
    fallback_summary = build_fallback_summary(pull(files=files), failed(), Coverage.FULL)
    assert fallback_summary.technical_impact == "3 files, +1032 -5 lines. By kind of file: 2 product, 1 docs."
    assert fallback_summary.key_insights == "Most changed: `engine/a.py`, `docs/a.md`, `engine/b.py`."


@pytest.mark.parametrize(
    ("body", "description"),
    [
        ("<!-- describe your change -->Counts once.", "Counts once."),
        ("Counts\n\n<!-- hint\nmore -->\nonce.", "Counts once."),
        ("Counts once. <!-- never closed\nhint", "Counts once."),
        ("<!-- only a hint -->", "The pull request has no description."),
        ("", "The pull request has no description."),
        ("\0 \n", "The pull request has no description."),
    ],
    ids=ascii,
)
def test_hints_of_a_template_are_no_description(body: str, description: str) -> None:
    text = build_fallback_summary(pull(body=body), failed(), Coverage.FULL).what_changed_and_why
    assert text.rsplit("Description: ", 1)[1].strip() == description


@given(st.text(max_size=400), st.text(max_size=2_000))
def test_a_fallback_keeps_to_the_lengths_of_a_summary(title: str, body: str) -> None:
    fallback_summary = build_fallback_summary(pull(title=title, body=body), failed(), Coverage.FULL)
    assert len(fallback_summary.headline) <= MAX_HEADLINE_LENGTH
    assert len(fallback_summary.what_changed_and_why.split("Description: ", 1)[-1]) <= len(title) + 700
    assert len(fallback_summary.what_changed_and_why.splitlines()) == 5


def test_the_three_largest_files_are_named_largest_first_then_by_path() -> None:
    files = [
        changed_file("c.py", 1),
        changed_file("b.py", 9),
        changed_file("a.py", 9),
        changed_file("d.py", 0, 30),
    ]
    made = build_fallback_summary(pull(files=files), failed(), Coverage.FULL)
    assert made.key_insights == "Most changed: `d.py`, `a.py`, `b.py`."


def test_kinds_are_counted_with_the_classes_of_a_repository() -> None:
    classes = PathClasses(((PathClass.DOCS, ("book/",)),))
    pull_request = pull(files=[changed_file("book/a.py"), changed_file("book/b.py"), changed_file("c.py")])
    made = build_fallback_summary(pull_request, failed(), Coverage.FULL, classes)
    assert made.technical_impact.endswith("By kind of file: 2 docs, 1 product.")
    assert build_fallback_summary(
        pull(files=[changed_file("book/a.py")]), failed(), Coverage.FULL, classes
    ).is_trivial
