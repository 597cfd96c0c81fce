"""What people type after a command: understood, or refused in one sentence."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.dates import LocalDay, Span, get_today, parse_span, parse_zone
from bot.errors import UsageError
from bot.features.merges.requests import (
    MAX_DIGEST_DAYS,
    MAX_RISKS_DAYS,
    MAX_SCORE_DAYS,
    DigestRequest,
    DigestView,
    RisksRequest,
    ScoreRequest,
    SummaryRequest,
    ViewLevel,
)
from bot.platform.commands import AllowedRepositories
from bot.platform.pulls.models import Reference
from bot.platform.pulls.paths import Filters
from impact.repository import Repository
from impact.text.strings import parse_date
from tests.helpers.builders import DAY, REPOSITORY, changed_file, pull
from tests.helpers.checks import is_one_sentence
from tests.helpers.refusals import refusal
from tests.helpers.tables import check_rows

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


@check_rows(
    {
        "a-number": ("35617", own(35617)),
        "with-a-sign": (" #35617\n", own(35617)),
        "with-its-repository": ("octo/engine#7", own(7)),
        "as-the-settings-spell-it": ("OCTO/Engine#7", own(7)),
        "of-another-repository": ("acme/WEB.app#7", (Reference(WEB, 7),)),
        "address": ("https://github.com/acme/web.app/pull/7/files?w=1#r2", (Reference(WEB, 7),)),
        "in-the-order-of-naming": ("3 1 2", own(3, 1, 2)),
        "with-commas": ("3,1, 2 ,", own(3, 1, 2)),
        "with-other-blanks": ("3\n1\t2", own(3, 1, 2)),
        "each-once": ("7 #7 007 octo/engine#7 7", own(7)),
        "five-said-more-than-once": ("1 2 3 4 5 1 2 3", own(1, 2, 3, 4, 5)),
        "in-quotes": ('"7"', own(7)),
        "in-curly-quotes": ("“7”", own(7)),
        "the-largest": ("999999999", own(999_999_999)),
        "a-word-before": ("PR 35617", own(35617)),
        "a-word-behind": ("35617 please", own(35617)),
        "words-around": ("of the pull requests #7 and #8, please!", own(7, 8)),
        "grouped-digits": ("35,617", own(35617)),
        "digits-that-are-not-grouped": ("#1,234,567,8", own(1, 234, 567, 8)),
        "commas-without-blanks": ("35617,35618", own(35617, 35618)),
    }
)
def test_pull_requests_are_named(text: str, expected: tuple[Reference, ...]) -> None:
    assert summary_of(text) == SummaryRequest(expected)


@check_rows(
    {
        "nothing-is-yesterday": ("", risks()),
        "blanks-are-nothing": (" \n", risks()),
        "today": ("today", risks("2026-02-28")),
        "a-week": ("7d", risks("2026-02-22..2026-02-28")),
        "a-range-of-three-words": ("2026-02-24 .. 2026-02-28", risks("2026-02-24..2026-02-28")),
        "a-range-around-a-filter": (
            "2026-02-24 path:a .. 2026-02-28",
            risks("2026-02-24..2026-02-28", filters=Filters(("a",))),
        ),
        "as-long-as-may-be": ("31d", risks("31d")),
        "path-first": ("path:vllm/v1 7d", risks("7d", filters=Filters(("vllm/v1",)))),
        "paths-in-order": ("path:b path:a", risks(filters=Filters(("b", "a")))),
        "every-kind-and-its-case": (
            "label:bug AUTHOR:Ada path:*.cu",
            risks(filters=Filters(("*.cu",), ("Ada",), ("bug",))),
        ),
        "quotes": ('label:"good first issue"', risks(filters=Filters(labels=("good first issue",)))),
        "curly": ("label:“good first issue”", risks(filters=Filters(labels=("good first issue",)))),
        "low": ("label:„good first issue“", risks(filters=Filters(labels=("good first issue",)))),
        "angled": ("label:«good first issue»", risks(filters=Filters(labels=("good first issue",)))),
        "all": ('"label:good first issue"', risks(filters=Filters(labels=("good first issue",)))),
        "blanks-around-a-value": ('label:" bug "', risks(filters=Filters(labels=("bug",)))),
        "middle": ('label:good" first "issue', risks(filters=Filters(labels=("good first issue",)))),
        "an-apostrophe": ("author:o'brien", risks(filters=Filters(authors=("o'brien",)))),
        "a-backslash-stays": ("label:a\\b", risks(filters=Filters(labels=("a\\b",)))),
        "a-colon-in-a-value": ("label:a:b", risks(filters=Filters(labels=("a:b",)))),
        "a-comma-in-a-value": ("label:a,b", risks(filters=Filters(labels=("a,b",)))),
        "a-value-is-no-wish": ("path:private", risks(filters=Filters(("private",)))),
        "more": ("top:10", risks(top=10)),
        "fewer": ("Top:1", risks(top=1)),
        "of-two-tops-the-last": ("top:3 top:7", risks(top=7)),
        "another-repository-as-the-settings-spell-it": ("repo:acme/WEB.APP", risks(repository=WEB)),
        "a-pasted-address": ("repo:https://github.com/acme/web.app", risks(repository=WEB)),
        "of-two-repositories-the-last": ("repo:acme/web.app repo:octo/engine", risks()),
        "private": ("private", risks(is_private=True)),
        "private-twice": ("PRIVATE 7d private", risks("7d", is_private=True)),
        "ten-filters": (" ".join(f"path:{n}" for n in range(10)), risks(filters=Filters(tuple("0123456789")))),
    }
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
    ("text", "wish"), [("7", False), ("7 private", True), ("PRIVATE,7", True), ("7 private.", True)]
)
def test_a_summary_may_be_kept_to_oneself(text: str, wish: bool) -> None:
    assert summary_of(text) == SummaryRequest(own(7), is_private=wish)


@check_rows(
    {
        "no-number": ("summary", "", "Which pull request"),
        "only-commas": ("summary", " , ,", "Which pull request"),
        "only-private": ("summary", "private", "Which pull request"),
        "six-numbers": ("summary", "1 2 3 4 5 6", "6 are too many"),
        "ten-digits": ("summary", "1234567890", "I couldn't find a pull request number"),
        "a-thousand-digits": ("summary", "9" * 1_000, "I couldn't find a pull request number"),
        "a-word": ("summary", "7 today", "I couldn't find a pull request number in 'today'"),
        "an-issue": (
            "summary",
            "https://github.com/acme/web.app/issues/7",
            "I couldn't find a pull request number",
        ),
        "unknown-of-a-number": ("summary", "vllm-project/vllm#7", "I'm not set up for vllm-project/vllm"),
        "unknown-of-an-address": ("summary", "https://github.com/a/b/pull/7", "I'm not set up for a/b"),
        "dots": ("summary", "../..#7", "is not a repository"),
        "an-open-quote": ("summary", '7 "8', "quotation mark is not closed"),
        "too-long-a-summary": ("summary", "7 " * 501, "too long"),
        "no-days": ("risks", "tomorrow", "I don't recognize the date"),
        "two-days": ("risks", "7d today", "I don't recognize the date '7d today'"),
        "a-day-too-many-for-risks": ("risks", "32d", "up to 31"),
        "none": ("risks", "top:0", "I don't understand top:'0'"),
        "too-many": ("risks", "top:11", "from 1 to 10"),
        "negative": ("risks", "top:-1", "I don't understand top:'-1'"),
        "a-fraction": ("risks", "top:5.0", "I don't understand top:"),
        "a-numeral": ("risks", "top:five", "I don't understand top:"),
        "a-digit-of-another-script": ("risks", "top:٣", "I don't understand top:"),
        "a-raised-digit": ("risks", "top:²", "I don't understand top:"),
        "hundreds-of-digits": ("risks", "top:" + "9" * 900, "I don't understand top:"),
        "no-value": ("risks", "path:", "path: needs a value"),
        "a-blank-after-the-colon": ("risks", "path: vllm", "path: needs a value"),
        "an-empty-value": ("risks", 'path:""', "path: needs a value"),
        "a-blank-value": ("risks", 'path:" \n"', "path: needs a value"),
        "an-unknown-option": ("risks", "paths:vllm", "I don't understand paths:"),
        "a-bare-address": ("risks", "https://github.com/acme/web.app", "I don't recognize the date"),
        "no-owner": ("risks", "repo:vllm", "'vllm' is not a repository"),
        "dots-for-a-repository": ("risks", "repo:../..", "is not a repository"),
        "an-unknown-repository": (
            "risks",
            "repo:a/b",
            "I'm not set up for a/b: ask about octo/engine, Acme/web.app",
        ),
        "an-open-quote-in-a-value": ("risks", 'label:"good first', "quotation mark is not closed"),
        "an-open-curly-quote": ("risks", "label:“good first", "quotation mark is not closed"),
        "11-filters": ("risks", " ".join(f"path:{n}" for n in range(11)), "more than 10 filters"),
        "too-long-a-text": ("risks", "x" * 1_001, "too long"),
        "too-long-a-blank": ("risks", " " * 1_001, "too long"),
        "a-day-too-many-for-a-score": ("score", "score 366d", "up to 365"),
        "the-word-twice": ("score", "score score", "I don't recognize the date 'score'"),
        "a-blank-that-is-none": ("score", "score\u00a07d", "I don't recognize the date"),
        "no-day-at-all": ("score", "score 0d", "0d is not a day"),
        "no-top-of-a-score": ("score", "score top:3", "I don't understand top: here, use repo:… instead"),
        "a-score-of-an-unknown-repository": ("score", "score repo:a/b", "I'm not set up for a/b"),
        "a-day-too-many-for-an-overview": ("digest", "15d", "up to 14"),
        "no-such-view": ("digest", "only:all", "I don't understand only:'all'"),
        "zero": ("summary", "#0", "I couldn't find a pull request number"),
        "zero-of-a-repository": ("summary", "octo/engine#00", "find a pull request number"),
        "words-beside-no-number": ("summary", "please", "Which pull request?"),
        "a-word-that-may-matter": ("summary", "nonsense 7", "I couldn't find a pull request number in 'nonsense'"),
        "no-top": ("digest", "top:3", "I don't understand top:"),
        "no-such-repository": ("digest", "repo:a/b", "I'm not set up for a/b"),
        "a-broadcast": ("digest", "<!channel>", "I don't recognize the date"),
        "a-city-alone": ("digest", "tz:Berlin", "'Berlin' is not a time zone"),
        "no-zone": ("digest", "tz:", "tz: needs a value"),
        "a-path-for-a-zone": ("digest", "tz:../../etc/passwd", "is not a time zone"),
        "half-a-character-for-a-zone": ("digest", "tz:\ud800", "is not a time zone"),
        "no-zone-of-risks": ("risks", "tz:UTC", "I don't understand tz:"),
        "still-to-come-in-that-zone": ("digest", "2026-03-01 tz:UTC", "is in the future"),
    }
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
        pytest.param(" ".join(f"path:{n}" for n in range(9)), id="nine-filters"),
        pytest.param(" ".join(f"path:{n}" for n in range(10)), id="ten-filters"),
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
    requests: list[RisksRequest] = []
    message = refusal(lambda typed: requests.append(risks_of(typed)), text)
    assert message or isinstance(requests[0].filters.is_match(pull(files=[changed_file("vllm/v1/core.py")])), bool)
