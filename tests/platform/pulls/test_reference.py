import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import UsageError
from bot.platform.pulls.models import Reference, parse_reference
from impact.repository import Repository
from tests.helpers.builders import REPOSITORY
from tests.helpers.refusals import refusal
from tests.helpers.tables import check_rows

OTHER = Repository("acme", "web.app")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("35617", Reference(REPOSITORY, 35617)),
        ("#35617", Reference(REPOSITORY, 35617)),
        ("  #7 \n", Reference(REPOSITORY, 7)),
        ("acme/web.app#7", Reference(OTHER, 7)),
        ("https://github.com/acme/web.app/pull/7", Reference(OTHER, 7)),
        ("https://github.com/acme/web.app/pull/7/", Reference(OTHER, 7)),
        ("https://github.com/acme/web.app/pull/7/files", Reference(OTHER, 7)),
        ("https://github.com/acme/web.app/pull/7?diff=split", Reference(OTHER, 7)),
        ("https://github.com/acme/web.app/pull/7#discussion_r1", Reference(OTHER, 7)),
    ],
)
def test_a_pull_request_is_named(text: str, expected: Reference) -> None:
    assert parse_reference(text, REPOSITORY) == expected


@pytest.mark.parametrize("text", ["acme/web.app#7", "https://github.com/acme/web.app/pull/7"])
def test_a_full_name_needs_no_default(text: str) -> None:
    assert parse_reference(text, None) == Reference(OTHER, 7)


@check_rows(
    [
        "",
        "#",
        "##7",
        "7 8",
        "-7",
        "7.0",
        "seven",
        "1234567890",
        "web.app#7",
        "acme/web.app",
        "acme/web.app#",
        "acme/web.app#7x",
        "acme/web.app/pull/7",
        "https://github.com/acme/web.app/issues/7",
        "https://github.com/acme/web.app/pull/7x",
        "https://evil.example/acme/web.app/pull/7",
        "https://github.com/acme/web.app/pull/7\nhttps://evil.example",
        "acme/öwn#7",
        "-acme/web#7",
    ]
)
def test_what_names_none_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_reference(text, REPOSITORY)
    assert "\n" not in str(caught.value)


def test_an_address_is_one_of_the_github_that_is_asked() -> None:
    web = "https://github.octo.example"
    assert parse_reference(f"{web}/acme/web.app/pull/7/files", None, web) == Reference(OTHER, 7)
    for text in (f"{web}.evil.example/acme/web.app/pull/7", "https://github.com/acme/web.app/pull/7"):
        with pytest.raises(UsageError):
            parse_reference(text, None, web)


@pytest.mark.parametrize("text", ["7", "#7"])
def test_a_bare_number_needs_a_repository(text: str) -> None:
    with pytest.raises(UsageError, match="No repository"):
        parse_reference(text, None)


@given(st.integers(1, 999_999_999))
def test_any_number_is_read_in_every_form(number: int) -> None:
    forms = (str(number), f"#{number}", f"octo/engine#{number}", f"https://github.com/{REPOSITORY}/pull/{number}")
    assert {parse_reference(form, REPOSITORY) for form in forms} == {Reference(REPOSITORY, number)}


@given(st.text(max_size=40))
def test_any_text_is_a_reference_or_a_usage_error(text: str) -> None:
    assert "\n" not in refusal(lambda typed: parse_reference(typed, REPOSITORY), text)
