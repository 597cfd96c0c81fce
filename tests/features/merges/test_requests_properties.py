"""What holds of every text that people type after a command, whatever it is."""

from collections.abc import Callable
from datetime import date, timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from localslack.rules.messages import find_mentions

from bot.dates import LocalDay, parse_zone
from bot.errors import UsageError
from bot.features.merges.requests import DigestRequest, RisksRequest, ScoreRequest, SummaryRequest
from bot.platform.commands import AllowedRepositories
from bot.platform.slack.blocks import escape_mrkdwn
from impact.repository import Repository
from tests.helpers.builders import DAY, REPOSITORY
from tests.helpers.checks import is_one_sentence
from tests.helpers.refusals import refusal

pytestmark = pytest.mark.slow

Request = SummaryRequest | RisksRequest | DigestRequest | ScoreRequest
Reader = Callable[[str, LocalDay], Request]

# as long as GitHub lets names be
LONG = Repository("o" * 39, "n" * 100)
KNOWN = AllowedRepositories(REPOSITORY, (Repository("Acme", "web.app"), LONG))
BUTTON_VALUE = 2_000  # Slack's limit
MANY = settings(max_examples=max(120, settings().max_examples))
# made of words that are taken, of which there are few kinds
SOME = settings(max_examples=max(60, settings().max_examples))


def summary_of(text: str, _: LocalDay = DAY) -> SummaryRequest:
    return SummaryRequest.parse(text, KNOWN)


def risks_of(text: str, today: LocalDay = DAY) -> RisksRequest:
    return RisksRequest.parse(text, KNOWN, today)


def digest_of(text: str, today: LocalDay = DAY) -> DigestRequest:
    return DigestRequest.parse(text, KNOWN, today)


def score_of(text: str, today: LocalDay = DAY) -> ScoreRequest:
    return ScoreRequest.parse(text, KNOWN, today)


readers: st.SearchStrategy[Reader] = st.sampled_from([summary_of, risks_of, digest_of, score_of])

PIECES = [
    *"path: author: label: top: repo: PATH: x: : :: .. ... … . , ,, # / \\ * ** ! [ ] ? ' \" “ ” „ ‟ « »".split(),
    *"not-author: not-author:bots tz: tz:UTC tz:Asia/Tokyo".split(),
    *"score 7d 0d 9999d 31d 32d ٧d ²d today yesterday private PRIVATE 2026-02-24 2026-02-30 9998-12-31".split(),  # noqa: RUF001 (a digit)
    *"1 7 #7 35617 1234567890 octo/engine#7 acme/web.app#8 repo:a/b repo:octo/engine top:3 top:0 ../..#1".split(),
    *"https://github.com/octo/engine/pull/7 https://evil.example <https://evil.example|x> &lt;!here&gt;".split(),
    *"<!channel> <!here> <@U1> @channel @here @everyone <!subteam^S1> <#C1|x> *b* `c` ```".split(),
    *"\n \r \t \0 \x1c \x85 \u00a0 \u2028 \u200b \u202e \u200d \ud800 İ ß 🙂".split(" "),
    " ",
    "\n",
    "9" * 60,
    "x" * 300,
]
pieces = st.sampled_from(PIECES)
anything = st.text(st.characters(), max_size=12)
wild = st.builds(
    lambda glue, parts: glue.join(parts), st.sampled_from(["", " "]), st.lists(pieces | anything, max_size=14)
)
# nothing in them that could be taken for the end of a sentence where it is quoted
tame = st.lists(
    pieces.filter(lambda piece: not (piece.isspace() or piece.endswith((".", "…")) or set(piece) & set("\n\r"))),
    max_size=10,
).map(" ".join)


@MANY
@given(readers, wild)
@example(risks_of, "top:@channel")
@example(risks_of, "top:<!channel>")
@example(risks_of, 'top:"<!chan\u200bnel> @he\u202ere"')
@example(risks_of, "@here")
@example(risks_of, "repo:<@U1>")
@example(summary_of, "<@U1> @everyone")
@example(digest_of, "\ud800")
@example(summary_of, "9" * 100_000)
def test_any_text_is_a_request_or_a_usage_error_that_pings_nobody(read: Reader, text: str) -> None:
    message = refusal(lambda typed: read(typed, DAY), text)
    assert not message or message.endswith(".")
    shown = escape_mrkdwn(message)
    assert "\n" not in shown
    assert find_mentions({"text": shown}) == []


@MANY
@given(readers, st.text(st.characters(), max_size=1_100))
def test_any_characters_are_a_request_or_a_usage_error(read: Reader, text: str) -> None:
    message = refusal(lambda typed: read(typed, DAY), text)
    assert find_mentions({"text": escape_mrkdwn(message)}) == []


@MANY
@given(readers, tame)
def test_a_refusal_is_one_sentence(read: Reader, text: str) -> None:
    message = refusal(lambda typed: read(typed, DAY), text)
    assert not message or is_one_sentence(message)


@MANY
@given(readers, wild)
def test_a_text_that_is_taken_reads_back_as_the_same(read: Reader, text: str) -> None:
    request = try_reading(read, text)
    if request:
        assert read(str(request), DAY) == public(request)


def try_reading(read: Reader, text: str, today: LocalDay = DAY) -> Request | None:
    try:
        return read(text, today)
    except UsageError:
        return None


def public(request: Request) -> Request:
    """The same for everybody to see."""
    if isinstance(request, SummaryRequest):
        return SummaryRequest(request.references)
    if isinstance(request, RisksRequest):
        return RisksRequest(request.repository, request.span, request.filters, request.top)
    if isinstance(request, ScoreRequest):
        return ScoreRequest(request.repository, request.span)
    return DigestRequest(request.repository, request.span, zone=request.zone)


dates = st.dates(date(2008, 1, 1), date(2030, 1, 1))
zones = st.sampled_from(["UTC", "America/Los_Angeles", "Pacific/Apia"]).map(parse_zone)
today_of = st.builds(LocalDay, dates, zones)
quoted = st.text(st.characters(exclude_characters='"“”„‟«»'), min_size=1, max_size=40).filter(str.strip)
plain = st.from_regex(r"[!-~]{1,30}", fullmatch=True).filter(lambda value: '"' not in value)
values = plain | quoted.map(lambda value: f'"{value}"')
kinds = st.sampled_from(["path", "author", "label", "not-author", "Path", "AUTHOR"])
repositories = st.sampled_from(["octo/engine", "ACME/Web.App", "https://github.com/octo/engine"])
filters = st.lists(st.builds("{}:{}".format, kinds, values), max_size=10)
options = st.lists(st.builds("{}:{}".format, st.just("repo"), repositories) | st.just("private"), max_size=2)
elsewhere = st.lists(st.sampled_from(["tz:UTC", "TZ:Asia/Tokyo", "tz:Pacific/Apia"]), max_size=2)
tops = st.lists(st.integers(1, 10).map("top:{}".format), max_size=1)
days = st.sampled_from(["", "today", "Yesterday", "7d", "14d", "1970-01-01", "1999-12-30..2000-01-02"])
blanks = st.sampled_from([" ", "  ", "\n", "\t "])


@st.composite
def commands(draw: st.DrawFn, *parts: st.SearchStrategy[list[str]]) -> str:
    words = [draw(days), *(word for part in parts for word in draw(part))]
    return draw(blanks).join(draw(st.permutations(words)))


@SOME
@given(commands(filters, options, tops).filter(lambda text: len(text) < 800), today_of, st.integers(0, 800))
@example("today", DAY, 1)
@example('path:"a\x1cb" label:"a\u2003b" author:\'a', DAY, 0)
@example('path:a"b c"d', DAY, 0)
def test_risks_read_back_as_the_same_on_any_later_day(text: str, today: LocalDay, later: int) -> None:
    request = try_reading(risks_of, text, today)
    if request:
        assert risks_of(str(request), LocalDay(today.date + timedelta(days=later), today.zone)) == public(request)


@SOME
@given(commands(options, elsewhere), today_of, st.integers(0, 800))
@example("today", DAY, 1)
def test_a_digest_reads_back_as_the_same_on_any_later_day(text: str, today: LocalDay, later: int) -> None:
    request = digest_of(text, today)
    assert digest_of(str(request), LocalDay(today.date + timedelta(days=later), today.zone)) == public(request)


@given(commands(options), today_of, st.integers(0, 800), st.sampled_from(["score ", "SCORE\n", ""]))
@example("", DAY, 1, "score")
def test_a_score_reads_back_as_the_same_on_any_later_day(
    text: str, today: LocalDay, later: int, verb: str
) -> None:
    request = score_of(verb + text, today)
    assert score_of(str(request), LocalDay(today.date + timedelta(days=later), today.zone)) == public(request)


numbers = st.integers(1, 999_999_999).map(str)
forms = st.sampled_from(
    [
        "{}",
        "#{}",
        "octo/engine#{}",
        "ACME/web.app#{}",
        f"{LONG}#{{}}",
        f"https://github.com/{REPOSITORY}/pull/{{}}/files#r1",
        '"{}"',
    ]
)
named = st.builds(lambda form, number: form.format(number), forms, numbers)


@MANY
@given(st.lists(named, min_size=1, max_size=5), st.sampled_from([" ", ",", ", ", "\n"]), st.booleans())
def test_a_summary_reads_back_as_the_same(words: list[str], glue: str, private: bool) -> None:
    request = summary_of(glue.join([*words, *["private"] * private]))
    assert request.is_private is private
    assert summary_of(str(request)) == public(request)


chars = st.sampled_from(["a", "\u00a0", "🙂", "'", "\\", "\ud800", "a\x85"])
lengths = st.integers(1, 95) | st.integers(1, 995)
bulky = st.builds(lambda kind, char, length: f"{kind}:{f'x{char * length}'[:length]}", kinds, chars, lengths)


@MANY
@given(st.lists(bulky, max_size=10), st.booleans(), st.sampled_from(["today", "31d"]))
@example(["path:x\u00a0"] * 10, True, "31d")
@example(["path:" + "x\u00a0x" * 31] * 10, False, "31d")
@example(["path:" + "x" * 990], False, "")
def test_a_request_fits_the_value_of_a_button(words: list[str], other: bool, when: str) -> None:
    text = " ".join([when, *words, *[f"repo:{LONG}"] * other])
    request = try_reading(risks_of, text)
    assert request is None or len(str(request)) <= BUTTON_VALUE


@MANY
@given(readers, wild)
def test_whatever_is_taken_fits_the_value_of_a_button(read: Reader, text: str) -> None:
    assert len(str(try_reading(read, text) or "")) <= BUTTON_VALUE


def test_the_largest_summary_fits_the_value_of_a_button() -> None:
    request = summary_of(" ".join(f"{LONG}#99999999{n}" for n in range(5)))
    assert len(str(request)) <= BUTTON_VALUE
    assert summary_of(str(request)) == request
