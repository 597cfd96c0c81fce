import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.merges.summary import Evidence, is_evidence
from bot.features.questions.rules import Citation, verify_citation
from bot.platform.pulls.diff import DiffLine
from bot.platform.pulls.models import PullRequest
from bot.platform.source.excerpts import SourceExcerpt
from impact.source.models import DiffSide
from tests.helpers.builders import changed_file, pull
from tests.helpers.tables import check_rows

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
    evidence = verify_citation(Citation("7", path, quote), change)
    return (evidence.side, evidence.line) if evidence else None


@check_rows(
    {
        "added": ("total = sum(self.queue)", (DiffSide.NEW, 11)),
        "removed": ("total = sum(queue)", (DiffSide.OLD, 11)),
        "unchanged": ("# the end of step", (DiffSide.NEW, 14)),
        "unchanged-above": ("def step(self):", (DiffSide.NEW, 10)),
        "blanks-around": ("    notify(waiting)\n", (DiffSide.NEW, 42)),
        "other-blanks": ("release(block, later=True)", (DiffSide.NEW, 41)),
        "removed-from-the-second-hunk": ("release(block, now=True)", (DiffSide.OLD, 40)),
        "part-of-a-line": ("sum(self.queue", (DiffSide.NEW, 11)),
        "two-lines": ("total = sum(self.queue)\n        log(total)", (DiffSide.NEW, 11)),
        "into-the-unchanged": ("log(total)\nreturn total / 2\n# the end of step", (DiffSide.NEW, 12)),
        "two-removed-lines": ("total = sum(queue)\nreturn total\n# the end", (DiffSide.OLD, 11)),
        "with-the-mark-of-the-diff": ("+        log(total)", (DiffSide.NEW, 12)),
        "with-both-marks": ("+ log(total)\n+ return total / 2", (DiffSide.NEW, 12)),
        "with-the-mark-of-what-is-gone": ("-        total = sum(queue)", (DiffSide.OLD, 11)),
        "a-wrong-mark-does-not-move-it": ("- total = sum(self.queue)", (DiffSide.NEW, 11)),
        "nor-make-it-new": ("+ total = sum(queue)", (DiffSide.OLD, 11)),
        "nothing": ("", None),
        "blanks": ("  \n ", None),
        "too-short": ("total", None),
        "too-short-with-a-mark": ("+ total", None),
        "nearly": ("total = sum(self.queues)", None),
        "in-capitals": ("TOTAL = SUM(SELF.QUEUE)", None),
        "without-blanks": ("total=sum(self.queue)", None),
        "in-another-order": ("log(total)\ntotal = sum(self.queue)", None),
        "of-both-sides": ("total = sum(queue)\ntotal = sum(self.queue)", None),
        "of-both-sides-with-marks": ("-total = sum(queue)\n+total = sum(self.queue)", None),
        "over-two-hunks": ("# the end of step\nrelease(block, later=True)", None),
        "of-another-file": ("only here after", None),
        "only-in-the-header-of-a-hunk": ("class Scheduler:", None),
        "git's-own-words": ("No newline at end of file", None),
        "with-dots": ("... log(total) ...", None),
        "in-backticks": ("`log(total)`", None),
    }
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
    evidence = verify_citation(Citation("7", " a.py ", "  log(total)\n"), CHANGE)
    assert evidence == Evidence("a.py", "log(total)", DiffSide.NEW, 12)
    assert evidence.build_url(CHANGE).endswith(f"/blob/{CHANGE.commit}/a.py#L12")


@pytest.mark.parametrize("files", [None, [], [changed_file("a.py", patch=None)], [changed_file("a.py", patch="")]])
def test_without_a_diff_nothing_holds(files: list[object] | None) -> None:
    change = pull(7, files=None) if files is None else pull(7, files=files or [changed_file("c.py")])  # type: ignore[arg-type]
    assert place("total = sum(self.queue)", change=change) is None


TWICE = """@@ -3,3 +3,4 @@
 check_limit(job)
-run_all(job)
+check_limit(job)
+run_all(job)
 done(job)
@@ -20,2 +21,2 @@
-check_limit(job)
+run_all(job)
 end(job)"""


@pytest.mark.parametrize(
    ("quote", "line", "is_removed", "expected"),
    [
        ("check_limit(job)", 0, False, (DiffSide.NEW, 4)),
        ("check_limit(job)", 0, True, (DiffSide.OLD, 20)),
        ("check_limit(job)", 3, False, (DiffSide.NEW, 3)),
        ("check_limit(job)", 20, False, (DiffSide.OLD, 20)),
        ("run_all(job)", 0, False, (DiffSide.NEW, 5)),
        ("run_all(job)", 0, True, (DiffSide.OLD, 4)),
        ("run_all(job)", 21, False, (DiffSide.NEW, 21)),
        ("run_all(job)", 99, False, (DiffSide.NEW, 5)),
    ],
)
def test_of_a_line_that_stands_more_than_once_the_named_one_is_meant(
    quote: str, line: int, is_removed: bool, expected: tuple[DiffSide, int]
) -> None:
    change = pull(7, files=[changed_file("a.py", patch=TWICE)])
    evidence = verify_citation(Citation("7", "a.py", quote, line, is_removed), change)
    assert evidence
    assert (evidence.side, evidence.line) == expected


def excerpt(text: str, mark: str = " ", path: str = "a.py") -> SourceExcerpt:
    lines = (DiffLine(mark, line, 50 + n, 50 + n) for n, line in enumerate(text.split("\n")))
    return SourceExcerpt(path, tuple(lines))


@pytest.mark.parametrize(
    ("quote", "path", "line"),
    [
        ("budget = compute(self)", "a.py", 50),
        ("budget = compute(self)\nuse_it(budget)", "a.py", 50),
        ("  use_it(budget)  ", " a.py ", 51),
        ("budget = compute(selves)", "a.py", 0),
        ("= self", "a.py", 0),
        ("return", "a.py", 0),
        ("budget = compute(self)", "b.py", 0),
    ],
)
def test_a_line_that_was_read_of_the_file_proves_too(quote: str, path: str, line: int) -> None:
    read = [excerpt("budget = compute(self)\nuse_it(budget)\nreturn"), excerpt("nothing", path="b.py")]
    evidence = verify_citation(Citation("7", path, quote), CHANGE, read)
    assert (evidence.line if evidence else 0) == line
    assert evidence is None or (evidence.side, evidence.is_change) == (DiffSide.NEW, False)
    assert verify_citation(Citation("7", path, quote), CHANGE) is None


lines = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=8, max_size=30).filter(
    lambda line: line[0] not in "+-\\@" and is_evidence(line)
)


@given(st.lists(st.tuples(st.sampled_from("+- "), lines), min_size=1, max_size=8, unique_by=lambda pair: pair[1]))
def test_every_line_of_a_diff_can_be_quoted(written: list[tuple[str, str]]) -> None:
    patch = "\n".join(["@@ -1 +1 @@", *(f"{mark}{line}" for mark, line in written)])
    change = pull(7, files=[changed_file("a.py", patch=patch)])
    for mark, line in written:
        whole = [other for other_mark, other in written if other_mark != ("-" if mark != "-" else "+")]
        location = place(line, change=change)
        assert location is not None
        if sum(line in other for _, other in written) == 1:
            assert location == (DiffSide.OLD if mark == "-" else DiffSide.NEW, whole.index(line) + 1)


@given(st.text(max_size=60))
def test_what_is_not_in_the_diff_is_no_proof(quote: str) -> None:
    squeezed = " ".join(quote.split())
    assert place(quote) is None or any(word in PATCH for word in squeezed.split())
    assert place(f"{quote} unheard-of") is None
