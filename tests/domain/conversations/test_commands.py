"""What people type after a command: understood, or refused in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.domain.conversations.commands import (
    MAX_DIGEST_DAYS,
    MAX_RISKS_DAYS,
    MAX_SCORE_DAYS,
    AllowedRepositories,
    DigestRequest,
    RisksRequest,
    ScoreRequest,
    SummaryRequest,
    is_score_request,
)
from bot.domain.digest.view import DigestView, ViewLevel
from bot.domain.errors import UsageError
from bot.domain.pull_requests.filters import Filters
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.reference import Reference
from bot.domain.time.date_range import Span, parse_span
from bot.domain.time.day import LocalDay, get_today, parse_date, parse_zone
from tests.domain.refusals import refusal
from tests.helpers.builders import DAY, REPOSITORY, changed_file, pull
from tests.helpers.checks import is_one_sentence

WEB = Repository("Acme", "web.app")
KNOWN = AllowedRepositories(REPOSITORY, (WEB,))
YESTERDAY = "2026-02-27"


def summary_of(text: str) -> SummaryRequest:
    return SummaryRequest.parse(text, KNOWN)


def risks_of(text: str, today: LocalDay = DAY) -> RisksRequest:
    return RisksRequest.parse(text, KNOWN, today)


def digest_of(text: str, today: LocalDay = DAY) -> DigestRequest:
    return DigestRequest.parse(text, KNOWN, today)


def score_of(text: str, today: LocalDay = DAY) -> ScoreRequest:
    return ScoreRequest.parse(text, KNOWN, today)


READERS: dict[str, Callable[[str], object]] = {
    "summary": summary_of,
    "risks": risks_of,
    "digest": digest_of,
    "score": score_of,
}


def risks(days: str = YESTERDAY, repository: Repository = REPOSITORY, **fields: Any) -> RisksRequest:
    return RisksRequest(repository, parse_span(days, DAY, MAX_RISKS_DAYS), **fields)


def digest(days: str = YESTERDAY, repository: Repository = REPOSITORY, **fields: Any) -> DigestRequest:
    return DigestRequest(repository, parse_span(days, DAY, MAX_DIGEST_DAYS), **fields)


def in_zone(days: str, zone: str) -> DigestRequest:
    day = parse_date(days)
    return DigestRequest(REPOSITORY, Span(day, day, parse_zone(zone)), zone=parse_zone(zone))


def own(*numbers: int) -> tuple[Reference, ...]:
    return tuple(Reference(REPOSITORY, number) for number in numbers)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("35617", own(35617), id="a-number"),
        pytest.param(" #35617\n", own(35617), id="with-a-sign"),
        pytest.param("octo/engine#7", own(7), id="with-its-repository"),
        pytest.param("OCTO/Engine#7", own(7), id="as-the-settings-spell-it"),
        pytest.param("acme/WEB.app#7", (Reference(WEB, 7),), id="of-another-repository"),
        pytest.param("https://github.com/acme/web.app/pull/7/files?w=1#r2", (Reference(WEB, 7),), id="address"),
        pytest.param("3 1 2", own(3, 1, 2), id="in-the-order-of-naming"),
        pytest.param("3,1, 2 ,", own(3, 1, 2), id="with-commas"),
        pytest.param("3\n1\t2", own(3, 1, 2), id="with-other-blanks"),
        pytest.param("7 #7 007 octo/engine#7 7", own(7), id="each-once"),
        pytest.param("1 2 3 4 5 1 2 3", own(1, 2, 3, 4, 5), id="five-said-more-than-once"),
        pytest.param('"7"', own(7), id="in-quotes"),
        pytest.param("“7”", own(7), id="in-curly-quotes"),
        pytest.param("999999999", own(999_999_999), id="the-largest"),
        pytest.param("PR 35617", own(35617), id="a-word-before"),
        pytest.param("35617 please", own(35617), id="a-word-behind"),
        pytest.param("of the pull requests #7 and #8, please!", own(7, 8), id="words-around"),
        pytest.param("35,617", own(35617), id="grouped-digits"),
        pytest.param("#1,234,567,8", own(1, 234, 567, 8), id="digits-that-are-not-grouped"),
        pytest.param("35617,35618", own(35617, 35618), id="commas-without-blanks"),
    ],
)
def test_pull_requests_are_named(text: str, expected: tuple[Reference, ...]) -> None:
    assert summary_of(text) == SummaryRequest(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", risks(), id="nothing-is-yesterday"),
        pytest.param(" \n", risks(), id="blanks-are-nothing"),
        pytest.param("today", risks("2026-02-28"), id="today"),
        pytest.param("7d", risks("2026-02-22..2026-02-28"), id="a-week"),
        pytest.param("2026-02-24 .. 2026-02-28", risks("2026-02-24..2026-02-28"), id="a-range-of-three-words"),
        pytest.param(
            "2026-02-24 path:a .. 2026-02-28",
            risks("2026-02-24..2026-02-28", filters=Filters(("a",))),
            id="a-range-around-a-filter",
        ),
        pytest.param("31d", risks("31d"), id="as-long-as-may-be"),
        pytest.param("path:vllm/v1 7d", risks("7d", filters=Filters(("vllm/v1",))), id="path-first"),
        pytest.param("path:b path:a", risks(filters=Filters(("b", "a"))), id="paths-in-order"),
        pytest.param(
            "label:bug AUTHOR:Ada path:*.cu",
            risks(filters=Filters(("*.cu",), ("Ada",), ("bug",))),
            id="every-kind-and-its-case",
        ),
        pytest.param(
            'label:"good first issue"', risks(filters=Filters(labels=("good first issue",))), id="quotes"
        ),
        pytest.param("label:“good first issue”", risks(filters=Filters(labels=("good first issue",))), id="curly"),
        pytest.param("label:„good first issue“", risks(filters=Filters(labels=("good first issue",))), id="low"),
        pytest.param(
            "label:«good first issue»", risks(filters=Filters(labels=("good first issue",))), id="angled"
        ),
        pytest.param('"label:good first issue"', risks(filters=Filters(labels=("good first issue",))), id="all"),
        pytest.param('label:" bug "', risks(filters=Filters(labels=("bug",))), id="blanks-around-a-value"),
        pytest.param(
            'label:good" first "issue', risks(filters=Filters(labels=("good first issue",))), id="middle"
        ),
        pytest.param("author:o'brien", risks(filters=Filters(authors=("o'brien",))), id="an-apostrophe"),
        pytest.param("label:a\\b", risks(filters=Filters(labels=("a\\b",))), id="a-backslash-stays"),
        pytest.param("label:a:b", risks(filters=Filters(labels=("a:b",))), id="a-colon-in-a-value"),
        pytest.param("label:a,b", risks(filters=Filters(labels=("a,b",))), id="a-comma-in-a-value"),
        pytest.param("path:private", risks(filters=Filters(("private",))), id="a-value-is-no-wish"),
        pytest.param("top:10", risks(top=10), id="more"),
        pytest.param("Top:1", risks(top=1), id="fewer"),
        pytest.param("top:3 top:7", risks(top=7), id="of-two-tops-the-last"),
        pytest.param("repo:acme/WEB.APP", risks(repository=WEB), id="another-repository-as-the-settings-spell-it"),
        pytest.param("repo:https://github.com/acme/web.app", risks(repository=WEB), id="a-pasted-address"),
        pytest.param("repo:acme/web.app repo:octo/engine", risks(), id="of-two-repositories-the-last"),
        pytest.param("private", risks(is_private=True), id="private"),
        pytest.param("PRIVATE 7d private", risks("7d", is_private=True), id="private-twice"),
        pytest.param(
            " ".join(f"path:{n}" for n in range(10)), risks(filters=Filters(tuple("0123456789"))), id="ten-filters"
        ),
    ],
)
def test_risks_are_asked_for(text: str, expected: RisksRequest) -> None:
    assert risks_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", digest(), id="nothing-is-yesterday"),
        pytest.param("14d", digest("14d"), id="as-long-as-may-be"),
        pytest.param("repo:acme/web.app today", digest("today", WEB), id="another-repository"),
        pytest.param(
            "Private 2026-02-24..2026-02-28", digest("2026-02-24..2026-02-28", is_private=True), id="all"
        ),
        pytest.param("2026-02-24 tz:Europe/Berlin", in_zone("2026-02-24", "Europe/Berlin"), id="another-zone"),
        pytest.param(
            "only:risky path:vllm/v1 today",
            digest("today", view=DigestView(Filters(("vllm/v1",)), ViewLevel.RISKY)),
            id="a-view",
        ),
        pytest.param("TZ:UTC 2026-02-24", in_zone("2026-02-24", "UTC"), id="the-name-of-an-option-in-any-case"),
        pytest.param("2026-02-24 tz:Asia/Tokyo tz:UTC", in_zone("2026-02-24", "UTC"), id="of-two-zones-the-last"),
        pytest.param(
            "2026-02-28 tz:America/Los_Angeles",
            in_zone("2026-02-28", "America/Los_Angeles"),
            id="the-zone-that-holds-anyway",
        ),
    ],
)
def test_a_digest_is_asked_for(text: str, expected: DigestRequest) -> None:
    assert digest_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("today tz:Asia/Tokyo", "2026-03-01", id="a-zone-that-is-a-day-ahead"),
        pytest.param("2026-03-01 tz:Asia/Tokyo", "2026-03-01", id="a-date-that-has-begun-there-alone"),
        pytest.param("tz:Asia/Tokyo", "2026-02-28", id="yesterday-there"),
        pytest.param("today", "2026-02-28", id="no-zone"),
    ],
)
def test_days_count_from_the_present_day_of_the_zone_that_is_named(text: str, expected: str) -> None:
    evening = datetime(2026, 3, 1, 4, tzinfo=UTC)
    here = get_today(evening, parse_zone("America/Los_Angeles"))
    request = DigestRequest.parse(text, KNOWN, here, lambda zone=None: get_today(evening, zone or here.zone))
    assert str(request.span) == expected


def score(days: str, repository: Repository = REPOSITORY, **fields: Any) -> ScoreRequest:
    return ScoreRequest(repository, parse_span(days, DAY, MAX_SCORE_DAYS), **fields)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("score", score("90d"), id="the-last-90-days"),
        pytest.param(" SCORE\n", score("90d"), id="in-any-case"),
        pytest.param("", score("90d"), id="nothing-said"),
        pytest.param("score 30d", score("30d"), id="days"),
        pytest.param("score 365d", score("365d"), id="as-long-as-may-be"),
        pytest.param("score yesterday", score("yesterday"), id="a-day"),
        pytest.param(
            "score 2026-01-01 .. 2026-02-28 private",
            score("2026-01-01..2026-02-28", is_private=True),
            id="a-range-of-three-words",
        ),
        pytest.param("score 30d repo:acme/WEB.app private", score("30d", WEB, is_private=True), id="all"),
        pytest.param("30d repo:acme/web.app", score("30d", WEB), id="without-the-word"),
    ],
)
def test_a_score_is_asked_for(text: str, expected: ScoreRequest) -> None:
    assert score_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("score", True),
        ("Score 7d", True),
        ("scores", False),
        ("7d score", False),
        ("", False),
        ("path:score", False),
    ],
)
def test_the_first_word_says_whether_a_score_is_asked_for(text: str, expected: bool) -> None:
    assert is_score_request(text) is expected


@pytest.mark.parametrize(
    ("text", "wish"), [("7", False), ("7 private", True), ("PRIVATE,7", True), ("7 private.", True)]
)
def test_a_summary_may_be_kept_to_oneself(text: str, wish: bool) -> None:
    assert summary_of(text) == SummaryRequest(own(7), is_private=wish)


@pytest.mark.parametrize(
    ("name", "text", "hint"),
    [
        pytest.param("summary", "", "Which pull request", id="no-number"),
        pytest.param("summary", " , ,", "Which pull request", id="only-commas"),
        pytest.param("summary", "private", "Which pull request", id="only-private"),
        pytest.param("summary", "1 2 3 4 5 6", "6 are too many", id="six-numbers"),
        pytest.param("summary", "1234567890", "I couldn't find a pull request number", id="ten-digits"),
        pytest.param("summary", "9" * 1_000, "I couldn't find a pull request number", id="a-thousand-digits"),
        pytest.param("summary", "7 today", "I couldn't find a pull request number in 'today'", id="a-word"),
        pytest.param(
            "summary",
            "https://github.com/acme/web.app/issues/7",
            "I couldn't find a pull request number",
            id="an-issue",
        ),
        pytest.param(
            "summary", "vllm-project/vllm#7", "I'm not set up for vllm-project/vllm", id="unknown-of-a-number"
        ),
        pytest.param(
            "summary", "https://github.com/a/b/pull/7", "I'm not set up for a/b", id="unknown-of-an-address"
        ),
        pytest.param("summary", "../..#7", "is not a repository", id="dots"),
        pytest.param("summary", '7 "8', "quotation mark is not closed", id="an-open-quote"),
        pytest.param("summary", "7 " * 501, "too long", id="too-long-a-summary"),
        pytest.param("risks", "tomorrow", "I don't recognize the date", id="no-days"),
        pytest.param("risks", "7d today", "I don't recognize the date '7d today'", id="two-days"),
        pytest.param("risks", "32d", "up to 31", id="a-day-too-many-for-risks"),
        pytest.param("risks", "top:0", "I don't understand top:'0'", id="none"),
        pytest.param("risks", "top:11", "from 1 to 10", id="too-many"),
        pytest.param("risks", "top:-1", "I don't understand top:'-1'", id="negative"),
        pytest.param("risks", "top:5.0", "I don't understand top:", id="a-fraction"),
        pytest.param("risks", "top:five", "I don't understand top:", id="a-numeral"),
        pytest.param("risks", "top:٣", "I don't understand top:", id="a-digit-of-another-script"),
        pytest.param("risks", "top:²", "I don't understand top:", id="a-raised-digit"),
        pytest.param("risks", "top:" + "9" * 900, "I don't understand top:", id="hundreds-of-digits"),
        pytest.param("risks", "path:", "path: needs a value", id="no-value"),
        pytest.param("risks", "path: vllm", "path: needs a value", id="a-blank-after-the-colon"),
        pytest.param("risks", 'path:""', "path: needs a value", id="an-empty-value"),
        pytest.param("risks", 'path:" \n"', "path: needs a value", id="a-blank-value"),
        pytest.param("risks", "paths:vllm", "I don't understand paths:", id="an-unknown-option"),
        pytest.param(
            "risks", "https://github.com/acme/web.app", "I don't recognize the date", id="a-bare-address"
        ),
        pytest.param("risks", "repo:vllm", "'vllm' is not a repository", id="no-owner"),
        pytest.param("risks", "repo:../..", "is not a repository", id="dots-for-a-repository"),
        pytest.param(
            "risks",
            "repo:a/b",
            "I'm not set up for a/b: ask about octo/engine, Acme/web.app",
            id="an-unknown-repository",
        ),
        pytest.param("risks", 'label:"good first', "quotation mark is not closed", id="an-open-quote-in-a-value"),
        pytest.param("risks", "label:“good first", "quotation mark is not closed", id="an-open-curly-quote"),
        pytest.param("risks", " ".join(f"path:{n}" for n in range(11)), "more than 10 filters", id="11-filters"),
        pytest.param("risks", "x" * 1_001, "too long", id="too-long-a-text"),
        pytest.param("risks", " " * 1_001, "too long", id="too-long-a-blank"),
        pytest.param("score", "score 366d", "up to 365", id="a-day-too-many-for-a-score"),
        pytest.param("score", "score score", "I don't recognize the date 'score'", id="the-word-twice"),
        pytest.param("score", "score\u00a07d", "I don't recognize the date", id="a-blank-that-is-none"),
        pytest.param("score", "score 0d", "0d is not a day", id="no-day-at-all"),
        pytest.param(
            "score", "score top:3", "I don't understand top: here, use repo:… instead", id="no-top-of-a-score"
        ),
        pytest.param("score", "score repo:a/b", "I'm not set up for a/b", id="a-score-of-an-unknown-repository"),
        pytest.param("digest", "15d", "up to 14", id="a-day-too-many-for-an-overview"),
        pytest.param("digest", "only:all", "I don't understand only:'all'", id="no-such-view"),
        pytest.param("summary", "#0", "I couldn't find a pull request number", id="zero"),
        pytest.param("summary", "octo/engine#00", "find a pull request number", id="zero-of-a-repository"),
        pytest.param("summary", "please", "Which pull request?", id="words-beside-no-number"),
        pytest.param(
            "summary",
            "nonsense 7",
            "I couldn't find a pull request number in 'nonsense'",
            id="a-word-that-may-matter",
        ),
        pytest.param("digest", "top:3", "I don't understand top:", id="no-top"),
        pytest.param("digest", "repo:a/b", "I'm not set up for a/b", id="no-such-repository"),
        pytest.param("digest", "<!channel>", "I don't recognize the date", id="a-broadcast"),
        pytest.param("digest", "tz:Berlin", "'Berlin' is not a time zone", id="a-city-alone"),
        pytest.param("digest", "tz:", "tz: needs a value", id="no-zone"),
        pytest.param("digest", "tz:../../etc/passwd", "is not a time zone", id="a-path-for-a-zone"),
        pytest.param("digest", "tz:\ud800", "is not a time zone", id="half-a-character-for-a-zone"),
        pytest.param("risks", "tz:UTC", "I don't understand tz:", id="no-zone-of-risks"),
        pytest.param("digest", "2026-03-01 tz:UTC", "is in the future", id="still-to-come-in-that-zone"),
    ],
)
def test_what_cant_be_used_is_refused_in_one_sentence_with_a_hint(name: str, text: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        READERS[name](text)
    assert hint in str(caught.value)
    assert is_one_sentence(str(caught.value))


def test_a_refusal_of_a_value_of_two_lines_is_one_line() -> None:
    assert "\n" not in refusal(risks_of, 'top:"1\n2"')


@pytest.mark.parametrize("text", ["octo/engine", "OCTO/ENGINE", "Octo/Engine"])
def test_a_known_repository_is_spelt_as_in_the_settings(text: str) -> None:
    assert KNOWN.require_known(Repository.parse(text)) == REPOSITORY


@pytest.mark.parametrize("text", ["octo/engine2", "octo/engin", "acme/engine", "octo-engine/octo"])
def test_only_a_repository_of_the_settings_is_known(text: str) -> None:
    with pytest.raises(UsageError, match="I'm not set up for"):
        KNOWN.require_known(Repository.parse(text))


def test_with_one_repository_a_refusal_names_that_one() -> None:
    assert "ask about octo/engine." in refusal(
        lambda text: str(AllowedRepositories(REPOSITORY).parse_pull_request(text)), "acme/web.app#7"
    )


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        pytest.param(SummaryRequest((*own(7), Reference(WEB, 8))), "octo/engine#7 Acme/web.app#8", id="summary"),
        pytest.param(risks(), "2026-02-27 repo:octo/engine", id="risks"),
        pytest.param(risks(top=5), "2026-02-27 repo:octo/engine top:5", id="risks-of-which-five"),
        pytest.param(
            risks("7d", WEB, filters=Filters(("a b",), ("Ada",), ("bug",)), top=3, is_private=True),
            '2026-02-22..2026-02-28 repo:Acme/web.app path:"a b" author:Ada label:bug top:3',
            id="risks-in-full",
        ),
        pytest.param(digest("today", is_private=True), "2026-02-28 repo:octo/engine", id="digest"),
        pytest.param(
            digest("today", view=DigestView(Filters(("a",)), ViewLevel.RISKY)),
            "2026-02-28 repo:octo/engine path:a only:risky",
            id="digest-of-a-part",
        ),
        pytest.param(
            score("30d", is_private=True), "score 2026-01-30..2026-02-28 repo:octo/engine", id="score-in-dates"
        ),
        pytest.param(
            in_zone("2026-02-28", "Asia/Tokyo"), "2026-02-28 repo:octo/engine tz:Asia/Tokyo", id="digest-in-a-zone"
        ),
    ],
)
def test_a_request_is_written_in_full_and_without_who_is_to_see_it(request_: object, text: str) -> None:
    assert str(request_) == text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(" ".join(f"path:{n}" for n in range(8)), id="eight-filters"),
        pytest.param(
            " ".join(f"path:{n}" for n in range(9)),
            id="nine-filters",
        ),
        pytest.param(
            " ".join(f"path:{n}" for n in range(10)),
            id="ten-filters",
        ),
        pytest.param("path:" + "a" * 950, id="a-long-path"),
    ],
)
def test_the_largest_request_that_is_taken_reads_back(text: str) -> None:
    request = risks_of(text)
    assert risks_of(str(request)) == request


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("path:" + "a" * 990, id="a-long-path"),
        pytest.param(" ".join(["label:" + "a\u00a0b" * 106] * 3), id="long-labels"),
    ],
)
def test_a_request_that_is_too_long_when_written_in_full_is_refused(text: str) -> None:
    assert len(text) < 1_000
    assert "too long" in refusal(risks_of, text)


@pytest.mark.parametrize(
    "text",
    [
        "path:vllm/v1",
        "path:[",
        "path:[!]",
        "path:***",
        "path:/",
        "path:{a,b}",
        "path:(",
        "path:!",
        "path:\\",
        "path:a\\",
        "path:[z-a]",
        "path:[a-\\]",
    ],
)
def test_a_path_that_is_taken_can_be_compared(text: str) -> None:
    taken: list[RisksRequest] = []
    said = refusal(lambda typed: taken.append(risks_of(typed)), text)
    assert said or isinstance(taken[0].filters.is_match(pull(files=[changed_file("vllm/v1/core.py")])), bool)
