import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import UsageError
from bot.platform.pulls.models import Account, PullRequest
from bot.platform.pulls.paths import NO_FILTERS, Filters
from tests.helpers.builders import changed_file, pull
from tests.helpers.tables import check_rows


def touching(*paths: str) -> PullRequest:
    return pull(files=[changed_file(path) for path in paths])


@check_rows(
    {
        "folder": ("vllm/v1", "vllm/v1/core.py", True),
        "folder-with-a-slash": ("vllm/v1/", "vllm/v1/a/core.py", True),
        "folder-from-the-root": ("/vllm/v1", "vllm/v1/core.py", True),
        "longer-folder": ("vllm/v1", "vllm/v10/core.py", False),
        "folder-elsewhere": ("vllm/v1", "old/vllm/v1/core.py", False),
        "one-name-at-any-depth": ("v1", "vllm/v1/core.py", True),
        "file-name-at-any-depth": ("core.py", "vllm/v1/core.py", True),
        "file-name-at-the-root-only": ("/core.py", "vllm/v1/core.py", False),
        "file": ("vllm/core.py", "vllm/core.py", True),
        "longer-file": ("vllm/core.py", "vllm/core.pyi", False),
        "ending": ("*.cu", "csrc/moe/a.cu", True),
        "longer-ending": ("*.cu", "csrc/moe/a.cuh", False),
        "a-star-stops-at-a-slash": ("csrc/*.cu", "csrc/moe/a.cu", False),
        "two-stars-do-not": ("csrc/**/moe", "csrc/x/y/moe/a.cu", True),
        "two-stars-may-be-nothing": ("csrc/**/moe", "csrc/moe/a.cu", True),
        "two-stars-in-front": ("**/moe", "a/b/moe/c.py", True),
        "two-stars-behind": ("csrc/**", "csrc/a.cu", True),
        "any-character": ("a?.py", "ab.py", True),
        "a-blank": ("docs/my file.md", "docs/my file.md", True),
        "case-matters-in-paths": ("VLLM", "vllm/core.py", False),
        "half-a-character": ("\ud800", "vllm/core.py", False),
    }
)
def test_a_path_is_read_as_in_a_gitignore(pattern: str, path: str, fits: bool) -> None:
    assert Filters(paths=(pattern,)).is_match(touching(path)) is fits


def test_one_fitting_file_is_enough() -> None:
    assert Filters(paths=("csrc",)).is_match(touching("docs/a.md", "csrc/a.cu"))


def test_paths_are_alternatives() -> None:
    filters = Filters(paths=("csrc", "docs"))
    assert [filters.is_match(touching(path)) for path in ("csrc/a.cu", "docs/a.md", "vllm/a.py")] == [
        True,
        True,
        False,
    ]


def test_a_path_with_an_exclamation_mark_takes_out_of_those_before_it() -> None:
    filters = Filters(paths=("vllm", "!vllm/v1"))
    assert [filters.is_match(touching(path)) for path in ("vllm/a.py", "vllm/v1/a.py")] == [True, False]


def test_paths_that_only_take_away_take_away_from_all() -> None:
    filters = Filters(paths=("!tests/", "!*.md"))
    paths = ("vllm/a.py", "tests/a.py", "vllm/tests/b.py", "README.md", "docs/x.rst")
    assert [filters.is_match(touching(path)) for path in paths] == [True, False, False, False, True]


def test_without_files_a_pull_request_may_fit_by_facts_and_fits_no_path() -> None:
    filters, pull_request = Filters(paths=("*",)), pull(files=None)
    assert filters.may_match(pull_request)
    assert not filters.is_match(pull_request)


@pytest.mark.parametrize(
    ("login", "logins", "fits"),
    [
        pytest.param("ada-dev", ("ada-dev",), True, id="equal"),
        pytest.param("Ada-Dev", ("aDA-dEV",), True, id="another-case"),
        pytest.param("ada-dev", ("bob", "ada-dev"), True, id="one-of-two"),
        pytest.param("ada-dev", ("ada",), False, id="part-of-a-name"),
        pytest.param("ada", ("ada-dev",), False, id="longer-name"),
        pytest.param("ada-dev", ("*",), False, id="no-globs"),
        pytest.param("ada-dev", (), True, id="any"),
    ],
)
def test_an_author_is_a_whole_login_in_any_case(login: str, logins: tuple[str, ...], fits: bool) -> None:
    pull_request = pull(author=Account(login))
    assert (
        Filters(authors=logins).is_match(pull_request) is Filters(authors=logins).may_match(pull_request) is fits
    )


@pytest.mark.parametrize(
    ("author", "is_bot"),
    [
        pytest.param(Account("ada-dev"), False, id="person"),
        pytest.param(Account("dependabot", is_bot=True), True, id="app"),
        pytest.param(Account("dependabot[bot]"), True, id="app-by-its-name-alone"),
        pytest.param(Account("merge-bot"), False, id="looks-like-one"),
        pytest.param(Account("robots"), False, id="part-of-a-name"),
    ],
)
def test_bots_stands_for_every_author_that_is_one(author: Account, is_bot: bool) -> None:
    pull_request = pull(author=author)
    for word in ("bots", "BOTS"):
        assert Filters(authors=(word,)).is_match(pull_request) is is_bot
        assert Filters(not_authors=(word,)).is_match(pull_request) is not is_bot


@pytest.mark.parametrize(
    ("filters", "fits"),
    [
        pytest.param(Filters(not_authors=("bob",)), True, id="another"),
        pytest.param(Filters(not_authors=("ADA-dev",)), False, id="another-case"),
        pytest.param(Filters(not_authors=("bob", "ada-dev")), False, id="one-of-two"),
        pytest.param(Filters(not_authors=("ada",)), True, id="part-of-a-name"),
        pytest.param(Filters(authors=("ada-dev",), not_authors=("bob",)), True, id="wanted-and-another-not"),
        pytest.param(Filters(authors=("ada-dev",), not_authors=("ada-dev",)), False, id="taking-away-wins"),
        pytest.param(Filters(labels=("bug",), not_authors=("bob",)), False, id="another-label"),
    ],
)
def test_authors_that_are_not_wanted_are_taken_away(filters: Filters, fits: bool) -> None:
    pull_request = pull(author=Account("ada-dev"))
    assert filters.is_match(pull_request) is filters.may_match(pull_request) is fits


@pytest.mark.parametrize(
    ("labels", "filter_labels", "fits"),
    [
        pytest.param(("bug",), ("bug",), True, id="equal"),
        pytest.param(("Bug",), ("bUG",), True, id="another-case"),
        pytest.param(("Straße",), ("STRASSE",), True, id="case-beyond-ascii"),
        pytest.param(("good first issue",), ("good first issue",), True, id="blanks"),
        pytest.param(("bug", "v1"), ("docs", "v1"), True, id="one-of-two"),
        pytest.param(("bugs",), ("bug",), False, id="part-of-a-label"),
        pytest.param((), ("bug",), False, id="none"),
        pytest.param((), (), True, id="any"),
    ],
)
def test_a_label_is_a_whole_label_in_any_case(
    labels: tuple[str, ...], filter_labels: tuple[str, ...], fits: bool
) -> None:
    assert Filters(labels=filter_labels).is_match(pull(labels=labels)) is fits


@pytest.mark.parametrize(
    ("filters", "fits"),
    [
        pytest.param(Filters(("csrc",), ("ada",), ("bug",)), True, id="all"),
        pytest.param(Filters(("docs",), ("ada",), ("bug",)), False, id="another-path"),
        pytest.param(Filters(("csrc",), ("bob",), ("bug",)), False, id="another-author"),
        pytest.param(Filters(("csrc",), ("ada",), ("docs",)), False, id="another-label"),
    ],
)
def test_every_kind_that_is_given_must_fit(filters: Filters, fits: bool) -> None:
    pull_request = pull(files=[changed_file("csrc/a.cu")], author=Account("ada"), labels=("bug",))
    assert filters.is_match(pull_request) is fits


def test_without_filters_everything_fits_even_without_files() -> None:
    assert not NO_FILTERS
    assert str(NO_FILTERS) == ""
    assert NO_FILTERS.is_match(pull(files=None))


@pytest.mark.parametrize(
    "filters",
    [Filters(paths=("a",)), Filters(authors=("a",)), Filters(labels=("a",)), Filters(not_authors=("a",))],
)
def test_with_any_filter_there_are_filters(filters: Filters) -> None:
    assert filters


@pytest.mark.parametrize(
    ("filters", "text"),
    [
        (Filters(("vllm/v1", "*.cu"), ("ada",), ("bug",)), "path:vllm/v1 path:*.cu author:ada label:bug"),
        (Filters(labels=("good first issue",)), 'label:"good first issue"'),
        (Filters(paths=("a\tb", "c\u00a0d")), 'path:"a\tb" path:"c\u00a0d"'),
        (Filters(authors=("o'brien",)), "author:o'brien"),
        (Filters(labels=("bug",), not_authors=("bots", "bob")), "label:bug not-author:bots not-author:bob"),
    ],
)
def test_filters_are_written_as_in_a_command(filters: Filters, text: str) -> None:
    assert str(filters) == text


names = st.sampled_from("a b A csrc docs a/b".split())
some = st.lists(names, max_size=2).map(tuple)


@given(st.builds(Filters, some, some, some, some), names, some, st.none() | some)
def test_what_fits_also_fits_by_its_facts(
    filters: Filters, login: str, own: tuple[str, ...], files: tuple[str, ...] | None
) -> None:
    loaded = None if files is None else [changed_file(f"{path}/x.py") for path in files]
    pull_request = pull(author=Account(login), labels=own, files=loaded)
    if filters.is_match(pull_request):
        assert filters.may_match(pull_request)
    if not filters.paths:
        assert filters.is_match(pull_request) is filters.may_match(pull_request)


def test_a_path_of_many_folders_is_compared_at_once() -> None:
    began = time.process_time()
    Filters(paths=("**/" * 300 + "x", "*/" * 400 + "x")).is_match(touching("a/" * 500 + "b.py"))
    assert time.process_time() - began < 0.5


def test_a_path_of_as_many_stars_as_are_taken_is_compared_at_once() -> None:
    config = "vllm/model_executor/layers/fused_moe/configs/E=128,N=192,device_name=NVIDIA_A100-SXM4-80GB.json"
    began = time.process_time()
    Filters(paths=("*?" * 3 + "~", "*?*?*?~/" * 3 + "*?*?*?~")).is_match(touching(config))
    assert time.process_time() - began < 0.1


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("*?" * 4 + "~", id="a glob of more stars would take exponential time"),
        "!",
        "!!vllm",
        "#vllm",
        "\\",
        "a\\",
        "[z-a]",
        "[a-\\]",
        "[[:alpha:]]",
        "vllm]",
    ],
)
def test_a_path_that_would_mean_something_else_or_nothing_is_refused(path: str) -> None:
    with pytest.raises(
        UsageError, match=r"^path:.* can't be used: write vllm/v1, \*\.cu or csrc/\*\*/moe instead\.$"
    ):
        Filters(paths=("vllm", path))


@pytest.mark.parametrize("login", ["dependabot", "dependabot[bot]"])
@pytest.mark.parametrize("typed", ["dependabot", "Dependabot[bot]", "bots"])
def test_an_app_is_known_by_both_of_its_names(login: str, typed: str) -> None:
    made = pull(author=Account(login, is_bot=True))
    assert not Filters(not_authors=(typed,)).may_match(made)
    assert Filters(authors=(typed,)).may_match(made)
