from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import UsageError
from bot.platform.pulls.models import GHOST, Account, derive_web_address, sort_newest_first
from impact.repository import GITHUB_WEB, Repository
from tests.helpers.builders import NOON, pull
from tests.helpers.refusals import refusal
from tests.helpers.tables import check_rows

NAME = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,98}"


@pytest.mark.parametrize(
    ("text", "owner", "name"),
    [
        ("octo/engine", "octo", "engine"),
        ("  octo/engine\n", "octo", "engine"),
        ("vllm-project/vllm", "vllm-project", "vllm"),
        ("a/b", "a", "b"),
        ("0x/1.2_3-4", "0x", "1.2_3-4"),
        ("octo/.github", "octo", ".github"),
        ("octo/engine.js", "octo", "engine.js"),
        ("ada_corp/engine", "ada_corp", "engine"),
        ("https://github.com/octo/engine", "octo", "engine"),
        ("https://github.com/octo/engine/", "octo", "engine"),
        ("https://github.com/octo/engine.git", "octo", "engine"),
        ("octo/" + "x" * 100, "octo", "x" * 100),
    ],
)
def test_a_repository_is_read(text: str, owner: str, name: str) -> None:
    repository = Repository.parse(text)
    assert (repository.owner, repository.name) == (owner, name)
    assert str(repository) == f"{owner}/{name}"


@check_rows(
    [
        "",
        "engine",
        "octo/",
        "/engine",
        "octo//engine",
        "octo/engine/pull/5",
        "https://github.com/octo",
        "https://github.com/octo/engine/pull/5",
        "https://github.com.evil.example/octo/engine",
        "https://evil.example/octo/engine",
        "https://octo@github.com/octo/engine",
        "git@github.com:octo/engine.git",
        "-octo/engine",
        "_octo/engine",
        "oc.to/engine",
        "octo/eng ine",
        "octo/engine?x=1",
        "octo/engine#1",
        "octo/engine\nevil/other",
        "octo/engine\0",
        "octo/\u202eenigne",
        "öcto/engine",
        "octo/engine" + "x" * 100,
        "../../etc/passwd",
        "octo/%2e%2e",
        "<https://github.com/octo/engine|click>",
        "octo/engine is:open org:evil",
        "octo/.",
        "octo/..",
        "https://github.com/octo/..",
    ]
)
def test_what_is_no_repository_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        Repository.parse(text)
    assert "is not a repository" in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.from_regex(rf"[A-Za-z0-9][A-Za-z0-9-]{{0,38}}/{NAME}", fullmatch=True))
def test_what_is_written_is_read_again(text: str) -> None:
    if text.endswith(".git"):
        return  # GitHub gives no such names
    assert str(Repository.parse(text)) == text
    assert Repository.parse(f"{GITHUB_WEB}/{Repository.parse(text)}") == Repository.parse(text)


@given(st.text(max_size=40))
def test_any_text_is_a_repository_with_a_safe_address_or_a_usage_error(text: str) -> None:
    message = refusal(Repository.parse, text)
    assert "\n" not in message
    assert message or str(Repository.parse(text)).isascii()


@pytest.mark.parametrize(
    ("account", "url"),
    [
        (Account("ada-dev"), "https://github.com/ada-dev"),
        (Account("dependabot", is_bot=True), "https://github.com/apps/dependabot"),
        (GHOST, "https://github.com/ghost"),
    ],
)
def test_an_account_has_an_address(account: Account, url: str) -> None:
    assert account.build_page_url(GITHUB_WEB) == url


@pytest.mark.parametrize(
    ("api", "web"),
    [
        ("https://api.github.com", GITHUB_WEB),
        ("https://api.github.com/", GITHUB_WEB),
        ("https://github.octo.example/api/v3", "https://github.octo.example"),
        ("https://github.octo.example/api/v3/", "https://github.octo.example"),
        ("http://github.octo.example:8443/api/v3", "http://github.octo.example:8443"),
        ("https://api.octo.ghe.com", "https://octo.ghe.com"),
        ("http://127.0.0.1:8080", GITHUB_WEB),
        ("https://cache.octo.example/github", GITHUB_WEB),
    ],
)
def test_the_pages_are_where_the_interface_says(api: str, web: str) -> None:
    assert derive_web_address(api) == web


@pytest.mark.parametrize(
    ("web", "page"),
    [
        ("https://github.octo.example", "https://github.octo.example/github-apps/dependabot"),
        ("https://octo.ghe.com", "https://octo.ghe.com/apps/dependabot"),
    ],
)
def test_an_app_has_its_page_where_its_github_has_it(web: str, page: str) -> None:
    assert Account("dependabot", is_bot=True).build_page_url(web) == page


@pytest.mark.parametrize("web", ["https://github.octo.example", "https://octo.ghe.com"])
def test_a_pasted_address_of_an_enterprise_is_read(web: str) -> None:
    assert Repository.parse(f"{web}/ada_corp/engine", web) == Repository("ada_corp", "engine")
    with pytest.raises(UsageError):
        Repository.parse(f"{GITHUB_WEB}/octo/engine", web)


def test_a_pull_request_has_an_address() -> None:
    assert pull(35617).url == "https://github.com/octo/engine/pull/35617"


@pytest.mark.parametrize(
    ("path", "quoted"),
    [
        ("engine/core.py", "engine/core.py"),
        ("a b#c.py", "a%20b%23c.py"),
        ("what?.py", "what%3F.py"),
        ("100%.md", "100%25.md"),
        ("a%20b.py", "a%2520b.py"),
        ("[id]/(group)/page.tsx", "%5Bid%5D/%28group%29/page.tsx"),
        ("naïve/☃.py", "na%C3%AFve/%E2%98%83.py"),
        ('a"b|c>d.py', "a%22b%7Cc%3Ed.py"),
        ("a\nb.py", "a%0Ab.py"),
        ("a\\b.py", "a%5Cb.py"),
    ],
    ids=ascii,
)
def test_the_address_of_a_line_quotes_odd_paths(path: str, quoted: str) -> None:
    made = pull(merge_commit="abc123")
    assert made.build_line_url(path, 7) == f"https://github.com/octo/engine/blob/abc123/{quoted}#L7"


@given(st.text(max_size=40), st.integers(1, 10**6))
def test_the_address_of_a_line_is_one_word_without_markup(path: str, line: int) -> None:
    url = pull().build_line_url(path, line)
    assert not set(url) & set(" \t\n<>|\"'`()[]*")
    assert url.count("#") == 1
    assert url.isascii()


def test_lines_are_linked_at_the_merge_or_at_the_head_while_open() -> None:
    assert pull(merge_commit="merge", head_commit="head").commit == "merge"
    assert pull(merge_commit=None, head_commit="head").commit == "head"


def test_a_pull_request_that_is_not_merged_has_no_time_of_merge() -> None:
    unmerged = pull(7, merged_at=None)
    assert not unmerged.is_merged
    with pytest.raises(ValueError, match="#7 is not merged"):
        unmerged.merge_time  # noqa: B018 (reading it is what fails)


def test_changed_lines_are_those_added_and_deleted() -> None:
    assert pull(additions=3, deletions=4).changed_lines == 7


def test_the_newest_merge_comes_first_and_within_a_second_the_highest_number() -> None:
    times = {1: 0, 2: 5, 3: 5, 4: -1}
    pulls = tuple(pull(number, merged_at=NOON + timedelta(seconds=at)) for number, at in times.items())
    assert [pull_request.number for pull_request in sort_newest_first(pulls)] == [3, 2, 1, 4]
