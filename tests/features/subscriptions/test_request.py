import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from localslack.rules.messages import find_mentions

from bot.dates import parse_time
from bot.errors import UsageError
from bot.features.merges.requests import DigestView, ViewLevel, parse_view_level
from bot.features.subscriptions.rules import (
    Subscription,
    SubscriptionRequest,
    SubscriptionSelector,
    Timing,
    format_days,
    parse_days,
)
from bot.platform.commands import AllowedRepositories
from bot.platform.pulls.paths import Filters
from bot.platform.slack.blocks import escape_mrkdwn
from impact.repository import Repository
from tests.helpers.builders import REPOSITORY, make_view
from tests.helpers.checks import is_one_sentence
from tests.helpers.refusals import refusal
from tests.helpers.tables import check_rows

WEB = Repository("Acme", "web.app")
KNOWN = AllowedRepositories(REPOSITORY, (WEB,))
BERLIN, ANGELES = ZoneInfo("Europe/Berlin"), ZoneInfo("America/Los_Angeles")
NINE, HALF_PAST_FIVE = dt.time(9), dt.time(17, 30)
MANY = settings(max_examples=max(120, settings().max_examples))


def wish_of(text: str) -> SubscriptionRequest:
    return SubscriptionRequest.parse(text, KNOWN)


def which_of(text: str) -> SubscriptionSelector:
    return SubscriptionSelector.parse(text, KNOWN)


def wish(repository: Repository = REPOSITORY, **fields: Any) -> SubscriptionRequest:
    return SubscriptionRequest(repository, **fields)


def make_digest_view(only: ViewLevel = ViewLevel.ALL, **filters: tuple[str, ...]) -> DigestView:
    return DigestView(Filters(**filters), only)


# --- a wish

WHOLE = wish(
    WEB,
    at=NINE,
    zone=ANGELES,
    weekdays=True,
    view=make_digest_view(ViewLevel.RISKY, paths=("vllm/v1",), labels=("ready to go",), not_authors=("bots",)),
)
FILTERS = 'path:vllm/v1 not-author:bots label:"ready to go" only:risky'
TAKEN: dict[str, SubscriptionRequest] = {
    "": wish(),
    "   ": wish(),
    "octo/engine": wish(),
    "OCTO/Engine": wish(),
    "acme/WEB.app": wish(WEB),
    "repo:acme/web.app": wish(WEB),
    "repo acme/web.app": wish(WEB),
    "REPO:acme/web.app": wish(WEB),
    "repo:https://github.com/acme/web.app.git": wish(WEB),
    "at 09:00": wish(at=NINE),
    "at 9:00": wish(at=NINE),
    "at 9": wish(at=NINE),
    "at:9": wish(at=NINE),
    "AT 9am": wish(at=NINE),
    "at 9AM": wish(at=NINE),
    "at 9 am": wish(at=NINE),
    "at 9 PM weekdays": wish(at=dt.time(21), weekdays=True),
    "at 9.00": wish(at=NINE),
    'at "9:00 am"': wish(at=NINE),
    "at:17:30": wish(at=HALF_PAST_FIVE),
    "at 5:30pm": wish(at=HALF_PAST_FIVE),
    "at 5.30PM": wish(at=HALF_PAST_FIVE),
    "at 00:00": wish(at=dt.time(0)),
    "at 12am": wish(at=dt.time(0)),
    "at 12pm": wish(at=dt.time(12)),
    "at 23:59": wish(at=dt.time(23, 59)),
    "tz Europe/Berlin": wish(zone=BERLIN),
    "tz:Europe/Berlin": wish(zone=BERLIN),
    "TZ UTC": wish(zone=ZoneInfo("UTC")),
    "tz mine": wish(is_mine=True),
    "tz:MINE": wish(is_mine=True),
    "weekdays": wish(weekdays=True),
    "Weekdays": wish(weekdays=True),
    "daily": wish(weekdays=False),
    "weekly": wish(weekdays=False, weekday=0),
    "weekly monday": wish(weekdays=False, weekday=0),
    "weekly monday 09:00": wish(at=NINE, weekdays=False, weekday=0),
    "Weekly on Fridays at 9": wish(at=NINE, weekdays=False, weekday=4),
    "09:00 weekly acme/web.app": wish(WEB, at=NINE, weekdays=False, weekday=0),
    "sunday": wish(weekdays=False, weekday=6),
    "me wed 9am": wish(at=NINE, weekdays=False, weekday=2, is_personal=True),
    "09:00": wish(at=NINE),
    "9am": wish(at=NINE),
    "5:30PM": wish(at=HALF_PAST_FIVE),
    "me": wish(is_personal=True),
    "ME": wish(is_personal=True),
    "private": wish(is_personal=True),
    "me acme/web.app at 9am tz mine": wish(WEB, at=NINE, is_mine=True, is_personal=True),
    f"acme/web.app at 09:00 tz America/Los_Angeles weekdays {FILTERS}": WHOLE,
    f"{FILTERS} weekdays tz America/Los_Angeles at 09:00 acme/web.app": WHOLE,
    f"weekdays only:RISKY {FILTERS} repo:acme/web.app at:9am tz:America/Los_Angeles": WHOLE,
    "\tacme/web.app\nat 09:00\n tz:America/Los_Angeles weekdays\n" + FILTERS: WHOLE,
    "label:“ready to go”": wish(view=make_digest_view(labels=("ready to go",))),
    "label:„ready to go“": wish(view=make_digest_view(labels=("ready to go",))),
    "path:*.cu path:csrc/**/moe path:!docs": wish(view=make_digest_view(paths=("*.cu", "csrc/**/moe", "!docs"))),
    "author:o'brien author:ben": wish(view=make_digest_view(authors=("o'brien", "ben"))),
    "Label:ROCm": wish(view=make_digest_view(labels=("ROCm",))),
    "only:substantial": wish(view=make_digest_view(ViewLevel.SUBSTANTIAL)),
    "only:risky only:substantial": wish(view=make_digest_view(ViewLevel.SUBSTANTIAL)),
    "at:10:00 at:09:00": wish(at=NINE),
}


@check_rows(TAKEN.items())
def test_what_people_type_is_understood(text: str, expected: SubscriptionRequest) -> None:
    assert wish_of(text) == expected


@pytest.mark.parametrize("text", ["https://github.com/acme/web.app", "at 9 https://github.com/acme/web.app/"])
def test_the_address_of_a_repository_is_understood(text: str) -> None:
    assert wish_of(text).repository == WEB


LAST = "only:touching or only:pending"
HOW = (
    "write owner/repo, at 09:00, tz Europe/Berlin or tz mine, daily, weekdays or weekly monday, me, previews, "
    "open, path:…, only:breaking, only:risky or profile:…."
)
NO_TIME = "is not a time: write it as 09:00 or 9am."
NO_ZONE = "is not a time zone: use an IANA name, such as America/Los_Angeles."
TWICE = "leave one out."
REFUSED: dict[str, str] = {
    "please": f"I don't understand 'please': {HOW}",
    "9": f"I don't understand '9': {HOW}",
    "25:00": f"'25:00' {NO_TIME}",
    "weekly at noon": f"'noon' {NO_TIME}",
    "mo": f"I don't understand 'mo': {HOW}",
    "octo/engine risky": f"I don't understand 'risky': {HOW}",
    "weekend": f"I don't understand 'weekend': {HOW}",
    "<!channel> @here": f"I don't understand '<!channel>': {HOW}",
    "at": f"'' {NO_TIME}",
    "at noon": f"'noon' {NO_TIME}",
    "at 24:00": f"'24:00' {NO_TIME}",
    "at 9:60": f"'9:60' {NO_TIME}",
    "at 9:5": f"'9:5' {NO_TIME}",
    "at 0am": f"'0am' {NO_TIME}",
    "at 13pm": f"'13pm' {NO_TIME}",
    "at -1": f"'-1' {NO_TIME}",
    "at 0900": f"'0900' {NO_TIME}",
    "at 09:00:00": f"'09:00:00' {NO_TIME}",
    "at tz Europe/Berlin": f"'tz' {NO_TIME}",
    "tz": f"'' {NO_ZONE}",
    "tz America": f"'America' {NO_ZONE}",
    "tz Berlin": f"'Berlin' {NO_ZONE}",
    "tz Mars/Base": f"'Mars/Base' {NO_ZONE}",
    "tz ../../etc/passwd": f"'../../etc/passwd' {NO_ZONE}",
    "tz:UTC+2": f"'UTC+2' {NO_ZONE}",
    "other/secret": "I'm not set up for other/secret: ask about octo/engine, Acme/web.app.",
    "repo:other/secret": "I'm not set up for other/secret: ask about octo/engine, Acme/web.app.",
    "repo": "'' is not a repository: write it as owner/name, such as vllm-project/vllm.",
    "repo:https://evil.example/a/b": "'https://evil.example/a/b' is not a repository: write it as owner/name,",
    "a/b/c": "'a/b/c' is not a repository: write it as owner/name,",
    "octo/engine acme/web.app": f"You wrote both 'octo/engine' and 'acme/web.app': {TWICE}",
    "repo:octo/engine acme/web.app": f"You wrote both 'octo/engine' and 'acme/web.app': {TWICE}",
    "at 9 at 10": f"You wrote both '9' and '10': {TWICE}",
    "at:9 at 10": f"You wrote both '9' and '10': {TWICE}",
    "tz UTC tz mine": f"You wrote both 'UTC' and 'mine': {TWICE}",
    "weekly monday friday": f"You wrote both 'weekly monday' and 'weekly friday': {TWICE}",
    "daily weekly": f"You wrote both 'daily' and 'weekly monday': {TWICE}",
    "at 9 09:00": f"You wrote both '9' and '09:00': {TWICE}",
    "weekdays daily": f"You wrote both 'weekdays' and 'daily': {TWICE}",
    "path:": "path: needs a value directly after the colon.",
    "at:": "at: needs a value directly after the colon.",
    "team:x": (
        "I don't understand team: here, use repo:… at:… tz:… path:… [not-]author:… label:… only:… "
        "profile:… instead."
    ),
    "top:3": "I don't understand top: here, use repo:…",
    "only:trivial": (
        "I don't understand only:'trivial': write only:breaking, only:risky, only:substantial, only:touching or "
        "only:pending."
    ),
    "only:pending": "only:pending needs a profile: add profile:NAME.",
    "only:touching": "only:touching needs a profile: add profile:NAME.",
    "path:[a]": "path:'[a]' can't be used: write vllm/v1, *.cu or csrc/**/moe instead.",
    "path:a****b": "path:'a****b' can't be used:",
    'label:"open': "A quotation mark is not closed: close it, or leave it out.",
    "label:a " * 11: "That is more than 10 filters: leave some out.",
    "x" * 1_001: "That command is too long: use up to 1,000 characters.",
    "path:" + "x" * 990: "That command is too long: use up to 1,000 characters.",
}


@check_rows(REFUSED.items())
def test_what_can_not_be_understood_is_one_sentence_that_says_what_to_do(text: str, sentence: str) -> None:
    message = refusal(wish_of, text)
    assert message.startswith(sentence)
    assert is_one_sentence(message)


def test_a_thousand_characters_are_a_command() -> None:
    text = "label:a path:".ljust(970, "x")
    assert wish_of(text).view.filters.labels == ("a",)


PIECES = [
    *"weekly on monday fridays".split(),
    *"at tz repo me private weekdays daily mine all 9 9am 09:00 at:9 tz:UTC Europe/Berlin at:17:30 noon".split(),
    *"octo/engine acme/web.app a/b ../.. / // path: path:vllm/v1 label:x only:risky only:x OnLy:RISKY x:y".split(),
    *"author:ben not-author:bots label:“ready ” \" ' \\ <!channel> @here <@U1> <#C1|x> *b* `c`".split(),
    *"\0 \x1c \x85 \u00a0 \u2028 \u200b \u202e \ud800 İ ß 🙂 ٩ ² https://evil.example http://x/y/z".split(" "),
    *"abcd 12ab deadbeef repo:octo/engine repo:all".split(),
    "\n",
    "x" * 300,
]
wild = st.builds(
    lambda glue, parts: glue.join(parts),
    st.sampled_from(["", " "]),
    st.lists(st.sampled_from(PIECES) | st.text(st.characters(), max_size=12), max_size=12),
)
Reader = Callable[[str], SubscriptionRequest | SubscriptionSelector]
readers: st.SearchStrategy[Reader] = st.sampled_from([wish_of, which_of])


@MANY
@given(readers, wild)
@example(which_of, "<!channel>")
@example(which_of, "9" * 100_000)
@example(wish_of, "tz \ud800")
@example(wish_of, "repo:@here/x")
@pytest.mark.slow
def test_any_text_is_taken_and_reads_back_or_is_refused_and_pings_nobody(read: Reader, text: str) -> None:
    message = refusal(read, text)
    assert not message or (message.endswith(".") and "\n" not in message)
    assert find_mentions({"text": escape_mrkdwn(message)}) == []
    assert message or read(str(read(text))) == read(text)


times = st.times().map(lambda time: time.replace(second=0, microsecond=0))
zones = st.sampled_from(["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+8"]).map(ZoneInfo)
words = st.text(st.characters(exclude_characters='"“”„‟«»', exclude_categories=["Cs"]), min_size=1, max_size=20)
values = words.map(str.strip).filter(bool)
paths = values.filter(lambda path: not refusal(lambda text: Filters((text,)), path))
filters = st.builds(Filters, *(st.lists(kind, max_size=2).map(tuple) for kind in (paths, values, values, values)))
wishes = st.builds(
    SubscriptionRequest,
    st.sampled_from([REPOSITORY, WEB]),
    st.none() | times,
    zone=st.none() | zones,
    weekdays=st.sampled_from([None, True, False]),
    weekday=st.none(),
    view=st.builds(make_view, filters, st.sampled_from(ViewLevel), st.sampled_from(["", "ascend"])),
    is_personal=st.booleans(),
)


@MANY
@given(wishes | st.builds(replace, wishes, weekdays=st.just(False), weekday=st.integers(0, 6)), st.booleans())
@pytest.mark.slow
def test_a_wish_reads_back_as_the_same(made: SubscriptionRequest, is_mine: bool) -> None:
    known = (
        SubscriptionRequest(
            made.repository, made.at, is_mine=is_mine, **parse_days(format_days(made)), view=made.view
        )
        if is_mine
        else made
    )
    assert wish_of(str(known)) == known


def test_a_wish_of_the_form_is_no_longer_than_a_command() -> None:
    with pytest.raises(UsageError, match="command is too long"):
        wish(view=make_digest_view(labels=("x" * 500, "y" * 500)))


@pytest.mark.parametrize("text", ["", "x", "all", "ALL"])
def test_how_much_is_shown_is_one_of_two(text: str) -> None:
    assert refusal(parse_view_level, text) == (
        ""
        if not text
        else f"I don't understand only:{text!r}: write only:breaking, only:risky, only:substantial, {LAST}."
    )


@given(times)
def test_a_time_reads_back_as_the_same_with_and_without_halves(time: dt.time) -> None:
    assert (
        parse_time(f"{time:%H:%M}")
        == parse_time(f"{time:%I:%M%p}")
        == parse_time(f"{time:%I.%M %p}".lower())
        == time
    )


# --- which of them

DAILY = Timing(NINE, BERLIN)
ENGINE = Subscription("C0DIGEST", REPOSITORY, DAILY, by="U0ADA")
RISKY = Subscription("C0DIGEST", REPOSITORY, DAILY, make_digest_view(ViewLevel.RISKY), by="U0ADA")
SITE = Subscription("C0DIGEST", WEB, DAILY, by="U0ADA")
ALL = (ENGINE, RISKY, SITE)

NAMED: dict[str, tuple[Subscription, ...]] = {
    "all": ALL,
    "ALL": ALL,
    "acme/web.app": (SITE,),
    "repo:ACME/web.app": (SITE,),
    "https://github.com/acme/web.app": (SITE,),
    ENGINE.id: (ENGINE,),
    RISKY.id.upper(): (RISKY,),
    f"  {SITE.id[:4]}\n": (SITE,),
}


def select(text: str, known: tuple[Subscription, ...]) -> tuple[Subscription, ...]:
    selector = which_of(text)
    return selector.require_clear(selector.list_matching(known))


@pytest.mark.parametrize(("text", "expected"), NAMED.items(), ids=map(repr, NAMED))
def test_those_that_are_meant_are_found(text: str, expected: tuple[Subscription, ...]) -> None:
    assert select(text, ALL) == expected


def test_without_a_word_it_is_the_only_one() -> None:
    assert select("", (SITE,)) == (SITE,)


AMBIGUOUS = "Several subscriptions match: write the number of one in /prdigest list, or all."
UNMEANT: dict[str, tuple[str, tuple[Subscription, ...]]] = {
    "": (AMBIGUOUS, ALL),
    "octo/engine": (AMBIGUOUS, ALL),
    "acme/web.app": ("There is no such subscription here: /prdigest list shows all subscriptions.", (ENGINE,)),
    "0000": ("There is no such subscription here: /prdigest list shows all subscriptions.", ALL),
    "all": ("There is no subscription here: create one with /prdigest subscribe.", ()),
    "deadbeef": ("There is no subscription here: create one with /prdigest subscribe.", ()),
}


@pytest.mark.parametrize(("text", "expectation"), UNMEANT.items(), ids=lambda value: repr(value)[:40])
def test_where_it_is_not_clear_which_one_is_asked_for(
    text: str, expectation: tuple[str, tuple[Subscription, ...]]
) -> None:
    sentence, known = expectation
    with pytest.raises(UsageError) as caught:
        select(text, known)
    assert (str(caught.value), is_one_sentence(str(caught.value))) == (sentence, True)


UNREAD = {
    "abc": "I don't understand 'abc': write a repository, a number in /prdigest list, or all.",
    "everything": "I don't understand 'everything': write a repository, a number in /prdigest list, or all.",
    "<!here>": "I don't understand '<!here>': write a repository,",
    "0123456789": "I don't understand '0123456789': write a repository,",
    "x" * 1_000: "I don't understand 'xxx",
    "the first one": "Which one? Add its repository, its number in /prdigest list, or all.",
    "a/b/c": "'a/b/c' is not a repository: write it as owner/name,",
    "other/secret": "I'm not set up for other/secret: ask about octo/engine, Acme/web.app.",
}


@pytest.mark.parametrize(("text", "sentence"), UNREAD.items(), ids=lambda value: repr(value)[:40])
def test_what_names_none_is_one_sentence(text: str, sentence: str) -> None:
    message = refusal(which_of, text)
    assert message.startswith(sentence)
    assert is_one_sentence(message)


@pytest.mark.parametrize(
    "made",
    [
        SubscriptionSelector(),
        SubscriptionSelector("0a1b2c3d"),
        SubscriptionSelector(repository=WEB),
        SubscriptionSelector(is_all=True),
    ],
    ids=str,
)
def test_which_reads_back_as_the_same(made: SubscriptionSelector) -> None:
    assert which_of(str(made)) == made
