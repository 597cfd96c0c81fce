"""A citation holds only where its quote stands in the diff of the file that it names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.models import PullRequest
from bot.domain.summaries.citations import Citation, verify_citation
from bot.domain.summaries.models import Evidence
from bot.domain.summaries.quote_evidence import is_evidence
from tests.helpers.builders import changed_file, pull

PATCH = """@@ -10,5 +10,6 @@ class Scheduler:
     def step(self):
-        total = sum(queue)
-        return total
+        total = sum(self.queue)
+        log(total)
+        return total / 2
         # the end of step
@@ -40 +41,2 @@ def free(block):
-    release(block, now=True)
+    release(block,\tlater=True)
+    notify(waiting)
\\ No newline at end of file"""
CHANGE = pull(
    7,
    files=[
        changed_file("a.py", patch=PATCH),
        changed_file("b.py", patch="@@ -1 +1 @@\n-only here before\n+only here after"),
        changed_file("image.png", patch=None),
    ],
)


def place(quote: str, path: str = "a.py", change: PullRequest = CHANGE) -> tuple[DiffSide, int] | None:
    found = verify_citation(Citation("7", path, quote), change)
    return (found.side, found.line) if found else None


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        pytest.param("total = sum(self.queue)", (DiffSide.NEW, 11), id="added"),
        pytest.param("total = sum(queue)", (DiffSide.OLD, 11), id="removed"),
        pytest.param("# the end of step", (DiffSide.NEW, 14), id="unchanged"),
        pytest.param("def step(self):", (DiffSide.NEW, 10), id="unchanged-above"),
        pytest.param("    notify(waiting)\n", (DiffSide.NEW, 42), id="blanks-around"),
        pytest.param("release(block, later=True)", (DiffSide.NEW, 41), id="other-blanks"),
        pytest.param("release(block, now=True)", (DiffSide.OLD, 40), id="removed-from-the-second-hunk"),
        pytest.param("sum(self.queue", (DiffSide.NEW, 11), id="part-of-a-line"),
        pytest.param("total = sum(self.queue)\n        log(total)", (DiffSide.NEW, 11), id="two-lines"),
        pytest.param(
            "log(total)\nreturn total / 2\n# the end of step", (DiffSide.NEW, 12), id="into-the-unchanged"
        ),
        pytest.param("total = sum(queue)\nreturn total\n# the end", (DiffSide.OLD, 11), id="two-removed-lines"),
        pytest.param("+        log(total)", (DiffSide.NEW, 12), id="with-the-mark-of-the-diff"),
        pytest.param("+ log(total)\n+ return total / 2", (DiffSide.NEW, 12), id="with-both-marks"),
        pytest.param("-        total = sum(queue)", (DiffSide.OLD, 11), id="with-the-mark-of-what-is-gone"),
        pytest.param("- total = sum(self.queue)", (DiffSide.NEW, 11), id="a-wrong-mark-does-not-move-it"),
        pytest.param("+ total = sum(queue)", (DiffSide.OLD, 11), id="nor-make-it-new"),
        pytest.param("", None, id="nothing"),
        pytest.param("  \n ", None, id="blanks"),
        pytest.param("total", None, id="too-short"),
        pytest.param("+ total", None, id="too-short-with-a-mark"),
        pytest.param("total = sum(self.queues)", None, id="nearly"),
        pytest.param("TOTAL = SUM(SELF.QUEUE)", None, id="in-capitals"),
        pytest.param("total=sum(self.queue)", None, id="without-blanks"),
        pytest.param("log(total)\ntotal = sum(self.queue)", None, id="in-another-order"),
        pytest.param("total = sum(queue)\ntotal = sum(self.queue)", None, id="of-both-sides"),
        pytest.param("-total = sum(queue)\n+total = sum(self.queue)", None, id="of-both-sides-with-marks"),
        pytest.param("# the end of step\nrelease(block, later=True)", None, id="over-two-hunks"),
        pytest.param("only here after", None, id="of-another-file"),
        pytest.param("class Scheduler:", None, id="only-in-the-header-of-a-hunk"),
        pytest.param("No newline at end of file", None, id="git's-own-words"),
        pytest.param("... log(total) ...", None, id="with-dots"),
        pytest.param("`log(total)`", None, id="in-backticks"),
    ],
)
def test_a_quote_is_found_where_it_stands_or_not_at_all(quote: str, expected: tuple[DiffSide, int] | None) -> None:
    assert place(quote) == expected


@pytest.mark.parametrize(
    ("path", "is_found"),
    [
        ("a.py", True),
        (" a.py\n", True),
        ("A.py", False),
        ("./a.py", False),
        ("/a.py", False),
        ("src/a.py", False),
        ("b.py", False),
        ("image.png", False),
        ("", False),
    ],
)
def test_the_file_must_be_the_one_that_is_named(path: str, is_found: object) -> None:
    assert (place("total = sum(self.queue)", path) is not None) is is_found


def test_the_place_names_the_file_and_the_quote() -> None:
    found = verify_citation(Citation("7", " a.py ", "  log(total)\n"), CHANGE)
    assert found == Evidence("a.py", "log(total)", DiffSide.NEW, 12)
    assert found.build_url(CHANGE).endswith(f"/blob/{CHANGE.commit}/a.py#L12")


@pytest.mark.parametrize("files", [None, [], [changed_file("a.py", patch=None)], [changed_file("a.py", patch="")]])
def test_without_a_diff_nothing_holds(files: list[object] | None) -> None:
    change = pull(7, files=None) if files is None else pull(7, files=files or [changed_file("c.py")])  # type: ignore[arg-type]
    assert place("total = sum(self.queue)", change=change) is None


lines = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=8, max_size=30).filter(
    lambda line: line[0] not in "+-\\@" and is_evidence(line)
)


@given(st.lists(st.tuples(st.sampled_from("+- "), lines), min_size=1, max_size=8, unique_by=lambda pair: pair[1]))
def test_every_line_of_a_diff_can_be_quoted(written: list[tuple[str, str]]) -> None:
    patch = "\n".join(["@@ -1 +1 @@", *(f"{mark}{line}" for mark, line in written)])
    change = pull(7, files=[changed_file("a.py", patch=patch)])
    for mark, line in written:
        whole = [other for other_mark, other in written if other_mark != ("-" if mark != "-" else "+")]
        found = place(line, change=change)
        assert found is not None
        if sum(line in other for _, other in written) == 1:
            assert found == (DiffSide.OLD if mark == "-" else DiffSide.NEW, whole.index(line) + 1)


@given(st.text(max_size=60))
def test_what_is_not_in_the_diff_is_no_proof(quote: str) -> None:
    squeezed = " ".join(quote.split())
    assert place(quote) is None or any(word in PATCH for word in squeezed.split())
    assert place(f"{quote} unheard-of") is None
