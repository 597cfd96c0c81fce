import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from impact.path_globs import PathGlobs

# short texts: pathspec tries every way to share a path among the stars
names = st.text("ab*?", min_size=1, max_size=4) | st.sampled_from(
    ["**", "*", "[ab]", "a[!b]", "[^a]*", "\\*", "a\\?b", "\\[a", "#a", "a b", "ä", "."]
)
folders = st.lists(names, min_size=1, max_size=5).map("/".join)
patterns = st.tuples(
    st.sampled_from(["", "", "/", "!", "!/"]), folders, st.sampled_from(["", "", "/", "//", " "])
).map("".join)
# no slash fits a set that takes letters away, as in git; pathspec lets it
folder = st.text("ab", min_size=1, max_size=4) | st.sampled_from(["*", "a?b", "[a", "#a", "a b", "ä", "."])
paths = st.lists(folder, min_size=1, max_size=6).map("/".join)


@given(st.lists(patterns, max_size=3), paths)
def test_they_name_what_pathspec_says_they_name(lines: list[str], path: str) -> None:
    if not any("[!" in line or "[^" in line for line in lines) or "/" not in path:
        assert PathGlobs(lines).has_match(path) is GitIgnoreSpec.from_lines(lines).match_file(path)


@pytest.mark.parametrize(
    ("lines", "path", "fits"),
    [
        pytest.param("a[!b]c", "a/c", False, id="no-slash-is-in-a-set"),
        pytest.param("a[!b]c", "axc", True, id="what-a-set-takes-away"),
        pytest.param("a/**/b/**/c", "a/b/x/b/y/c/z", True, id="what-comes-first-is-enough"),
        pytest.param("**/a/b", "a/a/b", True, id="a-folder-that-begins-twice"),
        pytest.param("*ab", "aab", True, id="a-piece-that-begins-twice"),
        pytest.param("*ab", "abab", True, id="a-piece-that-comes-twice"),
        pytest.param("*ab*a", "abaab", False, id="the-last-piece-ends-the-name"),
        pytest.param("*.py !tests/", "tests/a.py", True, id="the-name-goes-before-a-folder"),
        pytest.param("*.py !test_*", "test_a.py", False, id="the-last-that-fits"),
        pytest.param("docs/ !docs/old/", "docs/old/a", False, id="the-last-folder-that-fits"),
        pytest.param("/", "a", False, id="a-slash-names-nothing"),
        pytest.param("**/", "a/b", True, id="any-folder"),
        pytest.param("**/", "a", False, id="no-folder"),
        pytest.param("**", "a", True, id="everything"),
    ],
)
def test_a_pattern_names_paths(lines: str, path: str, fits: bool) -> None:
    assert PathGlobs(lines.split()).has_match(path) is fits
