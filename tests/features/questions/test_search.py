import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.merges.view import Entry
from bot.features.questions.texts import SearchMatch, Where, interleave_matches, search_entries
from tests.helpers.builders import changed_file, entry, failed, summary

PATCH = """@@ -10,3 +10,3 @@ def run_header():
 def run():
-    return OLD_default
+    return NEW_default
     # kept
@@ -40 +40,2 @@
+    use_rocm = True
 last"""
FOUND = [
    entry(
        7,
        files=[changed_file("a.py", patch=PATCH), changed_file("b.bin", patch=None)],
        title="Change the\ndefault",
        body="Why: the default was wrong.\n\n<!-- default template -->\nSecond line.",
        entry_summary=summary(headline="A default changed", potential_risks="Callers of\nthe default."),
    ),
    entry(
        8, files=[changed_file("docs/ROCm.md", 2)], entry_summary=summary(fallback=failed(), headline="default")
    ),
    entry(9, files=None, title="Nothing loaded", body="Straße: see the default"),
]


def find_matches(*words: str, where: Where = Where.CHANGED) -> list[tuple[int, str, str]]:
    return [(match.number, match.place, match.text) for match in search_entries(FOUND, words, where)]


@pytest.mark.parametrize(
    ("words", "where", "expected"),
    [
        pytest.param(
            ["default"],
            Where.CHANGED,
            [(7, "a.py:11", "-    return OLD_default"), (7, "a.py:11", "+    return NEW_default")],
            id="both-sides-of-a-change",
        ),
        pytest.param(["STRASSE"], Where.TEXT, [(9, "description", "Straße: see the default")], id="ß"),
        pytest.param(["NEW_DEFAULT"], Where.CHANGED, [(7, "a.py:11", "+    return NEW_default")], id="any-case"),
        pytest.param(
            ["rocm", "old_"],
            Where.CHANGED,
            [
                (7, "a.py:11", "-    return OLD_default"),
                (7, "a.py:40", "+    use_rocm = True"),
                (8, "docs/ROCm.md:1", "+new line 0 of docs/ROCm.md"),
                (8, "docs/ROCm.md:2", "+new line 1 of docs/ROCm.md"),
            ],
            id="any-of-the-words",
        ),
        pytest.param(["kept"], Where.CHANGED, [], id="unchanged-lines-are-not-changed"),
        pytest.param(["kept"], Where.DIFF, [(7, "a.py:12", "     # kept")], id="but-in-the-diff"),
        pytest.param(["last"], Where.DIFF, [(7, "a.py:41", " last")], id="a-line-of-the-second-hunk"),
        pytest.param(["run_header"], Where.DIFF, [], id="not-in-the-header-of-a-hunk"),
        pytest.param(["wrong"], Where.DIFF, [], id="not-in-the-description"),
        pytest.param(["use_rocm = true"], Where.CHANGED, [(7, "a.py:40", "+    use_rocm = True")], id="a-phrase"),
        pytest.param(["nowhere"], Where.CHANGED, [], id="nothing"),
        pytest.param([], Where.DIFF, [], id="no-words"),
        pytest.param(["", "  "], Where.DIFF, [], id="blank-words"),
        pytest.param(
            ["default"],
            Where.TEXT,
            [
                (7, "title", "Change the default"),
                (7, "description", "Why: the default was wrong."),
                (7, "headline", "A default changed"),
                (7, "summary, potential risks", "Callers of the default."),
                (9, "description", "Straße: see the default"),
            ],
            id="in-what-is-said-but-not-by-a-fallback-or-a-template",
        ),
        pytest.param(["new_default"], Where.TEXT, [], id="what-is-said-is-no-diff"),
    ],
)
def test_words_are_found(words: list[str], where: Where, expected: list[tuple[int, str, str]]) -> None:
    assert find_matches(*words, where=where) == expected


numbered = st.lists(st.integers(1, 4), max_size=40).map(
    lambda numbers: tuple(SearchMatch(number, f"a.py:{place}", "x") for place, number in enumerate(numbers))
)


@given(numbered)
def test_no_pull_request_is_hidden_behind_another(matches: tuple[SearchMatch, ...]) -> None:
    ranked = interleave_matches(matches)
    assert sorted(ranked, key=matches.index) == list(matches)
    for number in {match.number for match in matches}:
        own = [match for match in ranked if match.number == number]
        assert own == [match for match in matches if match.number == number]
        assert ranked.index(own[0]) < 4 * len({match.number for match in matches})


patches = st.lists(st.tuples(st.sampled_from("+- "), st.text("abX ", max_size=8)), max_size=12)


@given(patches, st.sampled_from(["a", "B", "x", "ab"]))
def test_the_diff_holds_all_that_its_changed_lines_hold(lines: list[tuple[str, str]], word: str) -> None:
    patch = "\n".join(["@@ -1 +1 @@", *(f"{mark}{text}" for mark, text in lines)])
    entries: list[Entry] = [entry(1, files=[changed_file("f", patch=patch)])]
    everything = [match.text for match in search_entries(entries, [word], Where.DIFF)]
    changed = [match.text for match in search_entries(entries, [word], Where.CHANGED)]
    assert everything == [f"{mark}{text}" for mark, text in lines if word.lower() in text.lower()]
    assert changed == [text for text in everything if text[0] != " "]
