from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.dates import LocalDay, parse_span
from bot.features.merges.requests import DigestRequest, RisksRequest, SubjectKind, SummaryRequest
from bot.features.questions.rules import ThreadSubject, get_default_subject, parse_subject
from bot.platform.commands import AllowedRepositories
from impact.repository import Repository
from tests.helpers.builders import DAY, REPOSITORY
from tests.helpers.tables import check_rows

OTHER = Repository("Acme", "web.app")
KNOWN = AllowedRepositories(REPOSITORY, (OTHER,))
USUAL = ThreadSubject(REPOSITORY, parse_span("2026-02-27", DAY, 1))


def days(text: str, repository: Repository = REPOSITORY) -> ThreadSubject:
    return ThreadSubject(repository, parse_span(text, DAY, 31))


def about(text: str, today: LocalDay = DAY) -> ThreadSubject:
    return parse_subject(text, KNOWN, today)


def test_what_people_mean_who_do_not_say_it_is_yesterday_in_the_first_repository() -> None:
    assert get_default_subject(KNOWN, DAY) == USUAL


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("digest 2026-02-24 repo:octo/engine", days("2026-02-24"), id="a-day"),
        pytest.param("digest 2026-02-22..2026-02-28 repo:octo/engine", days("7d"), id="days"),
        pytest.param("digest 2026-02-24 repo:acme/WEB.app", days("2026-02-24", OTHER), id="another-repository"),
        pytest.param("digest ", days("yesterday"), id="a-digest-of-nothing-said"),
        pytest.param("risks 2026-01-29..2026-02-28 repo:octo/engine top:5", days("31d"), id="risks"),
        pytest.param("risks 2026-02-24 path:csrc label:bug top:9", days("2026-02-24"), id="risks-with-filters"),
        pytest.param(
            "summary octo/engine#7 octo/engine#8",
            ThreadSubject(REPOSITORY, USUAL.span, (7, 8)),
            id="pull-requests",
        ),
        pytest.param(
            "summary Acme/web.app#9 octo/engine#7 acme/web.app#8",
            ThreadSubject(OTHER, USUAL.span, (9, 8)),
            id="pull-requests-of-two-repositories",
        ),
    ],
)
def test_what_is_kept_says_what_a_thread_is_about(text: str, expected: ThreadSubject) -> None:
    assert about(text) == expected


@check_rows(
    [
        "",
        " ",
        "digest",
        "nonsense 7d",
        "Digest 2026-02-24",
        "digest 2026-02-30",
        "digest 31d",
        "digest 2026-03-01",
        "digest 2026-02-24 repo:evil/other",
        'digest "',
        "risks top:99",
        "risks path:[",
        "risks 32d",
        "summary",
        "summary ",
        "summary evil/other#7",
        "summary x",
        "summary 1 2 3 4 5 6",
        "digest:T1:C1:octo/engine:2026-02-24@-0800",
        "x" * 5_000,
    ]
)
def test_what_can_not_be_read_is_the_usual_subject(text: str) -> None:
    assert about(text) == USUAL


@given(st.text(max_size=60) | st.from_regex(r"(digest|risks|summary)[ -~]{0,40}"))
def test_any_text_is_about_something_that_the_bot_speaks_of(text: str) -> None:
    subject = about(text)
    assert subject.repository in (REPOSITORY, OTHER)
    assert 1 <= len(subject.span) <= 31
    assert subject.span.last <= DAY.date


repositories = st.sampled_from([REPOSITORY, OTHER])
spans = st.builds(
    lambda back, length: parse_span(
        f"{DAY.date - timedelta(back + length)}..{DAY.date - timedelta(back)}", DAY, 31
    ),
    st.integers(0, 40),
    st.integers(0, 13),
)
later = st.integers(0, 400).map(lambda more: LocalDay(DAY.date + timedelta(more), DAY.zone))


@given(repositories, spans, later)
def test_a_digest_is_about_the_same_on_any_later_day(
    repository: Repository, span: object, today: LocalDay
) -> None:
    request = DigestRequest.parse(f"{span} repo:{repository}", KNOWN, DAY)
    assert about(SubjectKind.DIGEST.format_subject(request), today) == ThreadSubject(repository, request.span)


@given(repositories, spans, later, st.booleans())
def test_risks_are_about_the_same_on_any_later_day(
    repository: Repository, span: object, today: LocalDay, is_private: object
) -> None:
    typed = (
        f'{span} repo:{repository} path:"a b" author:x label:"good first" top:3{" private" if is_private else ""}'
    )
    request = RisksRequest.parse(typed, KNOWN, DAY)
    assert about(SubjectKind.RISKS.format_subject(request), today) == ThreadSubject(repository, request.span)


@given(repositories, st.lists(st.integers(1, 999_999_999), min_size=1, max_size=5, unique=True), later)
def test_a_summary_is_about_the_same_pull_requests(
    repository: Repository, numbers: list[int], today: LocalDay
) -> None:
    request = SummaryRequest.parse(" ".join(f"{repository}#{number}" for number in numbers), KNOWN)
    subject = about(SubjectKind.SUMMARY.format_subject(request), today)
    assert (subject.repository, subject.numbers) == (repository, tuple(numbers))
    assert subject.span == get_default_subject(KNOWN, today).span
