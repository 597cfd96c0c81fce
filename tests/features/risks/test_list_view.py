"""The answer to ``/prrisks``: accepted whatever its texts, and true about what it leaves out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.rules.messages import check_message, find_links, find_mentions

from bot.dates import Span
from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.requests import MAX_RISKS_DAYS, MAX_TOP_RISKS
from bot.features.merges.risk import Risk
from bot.features.merges.view import Entry
from bot.features.risks.view import RiskList, render_risk_list
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import Filters
from bot.platform.slack.blocks import count_characters, has_table
from bot.platform.slack.terminal import format_message
from impact.coverage import Coverage, CoveredList, CoveredPart
from impact.history.outcomes import OutcomeKind
from impact.repository import Repository
from tests.features.digest.hostile_days import LONGEST, NUMBERS, WORST, entries, full_review, lines, texts
from tests.helpers.builders import DAY, NOON, REPOSITORY, entry, pull, summary
from tests.helpers.tables import check_rows
from tests.platform.slack.accepted import (
    MOST_CHARACTERS,
    assert_taken,
    invisible,
    items,
    list_addresses,
    nodes,
    read_post,
    strings,
)

SPAN = Span(DAY.date, DAY.date, DAY.zone)
MONTH = Span(DAY.date - timedelta(days=MAX_RISKS_DAYS - 1), DAY.date, DAY.zone)


def make_list(**fields: Any) -> RiskList:
    """Three merges of a day, none of which stands out."""
    usual = RiskList("Engine", SPAN, "", merged=3, matching=3, taken_back=(), older=(), riskiest=CoveredList())
    return replace(usual, **fields)


def risky(number: int, claim: str = "", **fields: Any) -> Entry:
    plain_entry = entry(number, entry_summary=summary(risk_reason=claim), **fields)
    return replace(plain_entry, risk=Risk(20, ("adds 400 lines of product code", "touches 4 product folders")))


def pair(
    number: int, lasted: timedelta = timedelta(hours=2), fate: OutcomeKind = OutcomeKind.REVERTED
) -> MergeOutcome:
    first = pull(number, merged_at=NOON)
    return MergeOutcome(first, pull(number + 500, merged_at=NOON + lasted), fate)


def pulls_of(risk_list: RiskList) -> list[PullRequest]:
    listed = [entry.pull for entry in (*risk_list.riskiest.ignore_coverage(), *risk_list.below)]
    return [*listed, *risk_list.older, *(half for pair in risk_list.taken_back for half in (pair.pull, pair.by))]


def collect_addresses(risk_list: RiskList) -> set[str]:
    return {each.url for each in pulls_of(risk_list)} | list_addresses(
        (*risk_list.riskiest.ignore_coverage(), *risk_list.below)
    )


@st.composite
def risk_lists(draw: st.DrawFn) -> RiskList:
    """Lists of which every text was written by somebody hostile; only code writes the name of the days."""
    listed = tuple(draw(entries(number)) for number in range(draw(st.integers(0, 4)), 0, -1))
    bar = draw(st.integers(0, 4))
    titled = st.builds(pull, st.integers(10, 99), title=texts(256), merged_at=st.just(NOON))
    pairs = st.builds(MergeOutcome, titled, titled, st.sampled_from(OutcomeKind))
    merged = draw(st.integers(0, 5_000))
    return make_list(
        name=draw(texts(100)),
        filters=draw(st.just("") | lines(1_000)),
        merged=merged,
        matching=draw(st.integers(0, merged)),
        taken_back=tuple(draw(st.lists(pairs, max_size=12))),
        older=tuple(draw(st.lists(titled, max_size=3))),
        riskiest=CoveredList(listed[:bar]),
        below=listed[bar:],
        top=draw(st.none() | st.integers(1, 10)),
        ranked=draw(st.integers(len(listed), 9)),
        notes=tuple(draw(st.lists(lines(80), max_size=3))),
    )


@given(risk_lists())
@pytest.mark.slow
def test_a_hostile_list_makes_a_message_that_slack_takes(risk_list: RiskList) -> None:
    assert_taken(render_risk_list(risk_list), collect_addresses(risk_list))


@check_rows(WORST, [0, 5, MAX_TOP_RISKS])
@pytest.mark.slow
def test_the_longest_reviews_of_the_longest_list_stay_within_the_budget(text: str, bar: int) -> None:
    whole = longest(text, LONGEST)
    listed = tuple(replace(each, review=full_review(text)) for each in whole.riskiest.ignore_coverage())
    risk_list = replace(whole, riskiest=CoveredList(listed[:bar]), below=listed[bar:], top=MAX_TOP_RISKS)
    assert_taken(render_risk_list(risk_list), collect_addresses(risk_list))


def low(number: int) -> Entry:
    return replace(entry(number), risk=Risk(0, ()))


def test_those_below_the_bar_stand_below_it_in_their_order() -> None:
    risk_list = make_list(
        merged=18, matching=18, riskiest=CoveredList((risky(1),)), below=(low(2), low(3)), top=3, ranked=16
    )
    text = read_post(render_risk_list(risk_list))
    assert "Less risky (listed because of top:3)" in text
    assert [text.index(f"#{number} ") for number in (1, 2, 3)] == sorted(
        text.index(f"#{number} ") for number in (1, 2, 3)
    )
    assert text.index("Riskiest") < text.index("#1 ") < text.index("Less risky") < text.index("#2 ")
    assert "#2 Change number 2 — no risk rule matched. ⚪ low risk" in text
    assert "can be ranked" not in text


def test_of_what_was_not_read_no_band_is_said() -> None:
    unread = replace(low(2), pull=pull(2, files=None))
    text = read_post(render_risk_list(make_list(below=(unread,), top=1, ranked=3)))
    assert "#2 Change number 2 — not rated, as its files could not be read." in text
    assert ("no risk rule" in text, "low risk" in text) == (False, False)


def test_where_nothing_stands_out_the_others_are_still_ranked() -> None:
    text = read_post(render_risk_list(make_list(below=(low(2),), top=1, ranked=3)))
    assert text.index("Nothing stands out.") < text.index("Less risky") < text.index("#2 ")


@pytest.mark.parametrize(
    ("ranked", "sentence"),
    [(2, "top:5: only 2 pull requests can be ranked."), (1, "top:5: only 1 pull request can be ranked.")],
)
def test_fewer_than_asked_for_are_said_to_be_all(ranked: int, sentence: str) -> None:
    listed = (risky(1), low(2))[:ranked]
    text = read_post(
        render_risk_list(
            make_list(riskiest=CoveredList(tuple(listed[:1])), below=listed[1:], top=5, ranked=ranked)
        )
    )
    assert sentence in text


def test_without_top_nothing_is_said_of_the_bar() -> None:
    text = read_post(render_risk_list(make_list(riskiest=CoveredList((risky(1),)), ranked=3)))
    assert "bar" not in text
    assert "ranked" not in text


@given(risk_lists())
@pytest.mark.slow
def test_no_text_of_others_breaks_lines_or_reads_backwards(risk_list: RiskList) -> None:
    """Reasons are the sentences of rules: what they quote of a path is on one line before."""
    listed, below = (
        tuple(replace(each, risk=replace(each.risk, reasons=("touches",))) for each in part)
        for part in (risk_list.riskiest.ignore_coverage(), risk_list.below)
    )
    post = render_risk_list(replace(risk_list, riskiest=CoveredList(listed), below=below, filters=""))
    assert [text for text in strings(list(post.blocks)) if invisible(text) or "\n" in text] == []


@pytest.mark.parametrize("typed", ["a\u202eyp", "a\nb"], ids=ascii)
def test_filters_that_nothing_fits_neither_break_lines_nor_read_backwards(typed: str) -> None:
    post = render_risk_list(make_list(matching=0, filters=str(Filters(authors=(typed,)))))
    assert [text for text in strings(list(post.blocks)) if invisible(text) or "\n" in text] == []


def longest(text: str, repository: Repository = REPOSITORY) -> RiskList:
    model_summary = summary(risk_reason=text[:1_000])
    # the rules know six reasons; one quotes the name of a file, up to 255 characters
    reasons = (f"changes critical paths (such as {text[:255]})", *(["adds 123,456 lines of product code"] * 5))
    listed = [
        replace(
            entry(100_000 + number, entry_summary=model_summary, title=text[:256], repository=repository),
            risk=Risk(20, reasons),
        )
        for number in range(1, MAX_TOP_RISKS + 1)
    ]
    first = [pull(number, title=text[:256], repository=repository) for number in range(100_100, 100_130)]
    second = [
        replace(each, number=each.number + 100, merged_at=NOON + timedelta(days=6, hours=number))
        for number, each in enumerate(first)
    ]
    return RiskList(
        name=repository.name,
        span=MONTH,
        filters=f"path:{text.strip()[:990]}",
        merged=2_345,
        matching=1_234,
        taken_back=tuple(
            MergeOutcome(each, by, list(OutcomeKind)[by.number % 3])
            for each, by in zip(first, second, strict=True)
        ),
        older=tuple(first),
        riskiest=CoveredList(tuple(listed)),
        notes=tuple(
            (f"possibly incomplete: the commits of main show {n} merges, not 67") for n in range(MAX_RISKS_DAYS)
        ),
    )


@pytest.mark.parametrize("text", WORST.values(), ids=list(WORST))
def test_the_longest_list_stays_within_the_budget(text: str) -> None:
    risk_list = replace(longest(text), filters="author:ada", notes=())
    assert_taken(render_risk_list(risk_list), collect_addresses(risk_list))


@pytest.mark.parametrize("repository", [REPOSITORY, LONGEST], ids=["usual", "longest"])
@pytest.mark.parametrize("text", WORST.values(), ids=list(WORST))
@pytest.mark.slow
def test_slack_takes_the_longest_list_and_nobody_is_pinged(text: str, repository: Repository) -> None:
    risk_list = longest(text, repository)
    payload = render_risk_list(risk_list).build_payload()
    assert check_message(payload) is None
    assert (find_mentions(payload), set(find_links(payload)) - collect_addresses(risk_list)) == ([], set())


@pytest.mark.parametrize("above", [0, 1, 9])
@pytest.mark.parametrize("text", WORST.values(), ids=list(WORST))
def test_the_longest_list_stays_within_the_budget_with_others_below_the_bar(text: str, above: int) -> None:
    whole = replace(longest(text), filters="author:ada", notes=(), top=MAX_TOP_RISKS, ranked=MAX_TOP_RISKS)
    listed = whole.riskiest.ignore_coverage()
    risk_list = replace(whole, riskiest=CoveredList(listed[:above]), below=listed[above:])
    assert_taken(render_risk_list(risk_list), collect_addresses(whole))


@pytest.mark.parametrize("repository", [REPOSITORY, LONGEST], ids=["usual", "longest"])
def test_the_longest_notes_and_names_stay_within_the_budget(repository: Repository) -> None:
    assert count_characters(list(render_risk_list(longest("W" * 1_000, repository)).blocks)) <= MOST_CHARACTERS


@pytest.mark.parametrize("repository", [REPOSITORY, LONGEST], ids=["usual", "longest"])
def test_claims_full_of_numbers_are_taken(repository: Repository) -> None:
    risk_list = longest(NUMBERS, repository)
    assert_taken(render_risk_list(risk_list), collect_addresses(risk_list))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"merged": 0, "matching": 0}, "Engine · Saturday 28 February 2026 · nothing merged"),
        ({}, "Engine · Saturday 28 February 2026 · 3 merged"),
        ({"span": MONTH}, "Engine · 29 January – 28 February 2026 · 3 merged"),  # noqa: RUF001 (a dash)
        ({"merged": 1_234, "filters": "author:ada"}, "Engine · Saturday 28 February 2026 · 3 of 1,234 merged"),
    ],
)
def test_the_title_names_repository_days_and_count(fields: dict[str, Any], expected: str) -> None:
    post = render_risk_list(make_list(**fields))
    assert post.blocks[0]["text"]["text"] == f"Risky changes · {expected}"
    assert post.text == f"Risky changes · {expected}"


def test_the_longest_name_leaves_the_days_and_the_count_in_the_title() -> None:
    title = render_risk_list(longest("a")).blocks[0]["text"]["text"]
    long = render_risk_list(longest("a", LONGEST)).blocks[0]["text"]["text"]
    assert title.endswith("1,234 of 2,345 merged")
    assert long.endswith("1,234 of 2,345 merged")


def test_notifications_get_the_title_with_markup_put_out() -> None:
    assert render_risk_list(make_list(name="R&D <!here>")).text.startswith(
        "Risky changes · R&amp;D &lt;!here&gt; · "
    )


def test_what_was_taken_back_comes_before_what_may_be() -> None:
    text = read_post(render_risk_list(make_list(taken_back=(pair(7),), riskiest=CoveredList((risky(3),)))))
    assert text.index("Already reverted or repaired") < text.index("Riskiest")


LASTED = {
    "1 minute": timedelta(),
    "59 minutes": timedelta(minutes=59),
    "1.0 h": timedelta(hours=1),
    "2.5 h": timedelta(hours=2, minutes=30),
    "47.0 h": timedelta(hours=47),
    "2 days": timedelta(hours=48),
    "6 days": timedelta(days=6, hours=1),
}


@pytest.mark.parametrize("lasted", LASTED)
@pytest.mark.parametrize("fate", OutcomeKind)
def test_a_pair_says_how_it_ended_and_after_how_long(lasted: str, fate: OutcomeKind) -> None:
    text = read_post(render_risk_list(make_list(taken_back=(pair(7, LASTED[lasted], fate),))))
    # that of a revert only says the same again
    title = "" if fate is OutcomeKind.REVERTED else " Change number 507"
    assert f"#7 Change number 7, {fate} after {lasted} by #507{title}\n" in text


def test_what_takes_back_an_earlier_day_says_so() -> None:
    text = read_post(render_risk_list(make_list(older=(pull(9, title="Revert it (#1)"),))))
    assert "#9 Revert it (#1), which reverts an earlier change" in text


@pytest.mark.parametrize(
    ("pairs", "older", "shown", "more"), [(8, 0, 8, 0), (5, 3, 8, 0), (9, 0, 8, 2), (30, 30, 8, 53)]
)
def test_pairs_beyond_eight_lines_are_counted(pairs: int, older: int, shown: int, more: int) -> None:
    backs = tuple(pair(number) for number in range(1, pairs + 1))
    post = render_risk_list(
        make_list(taken_back=backs, older=tuple(pull(900 + number) for number in range(older)))
    )
    listed = items(post)
    assert len(listed) == shown
    assert ("more: ask for fewer days" in read_post(post)) == bool(more)
    if more:
        assert listed[-1][0]["text"] == f"and {more} more: ask for fewer days to see them"
        assert shown - 1 + more == pairs + older


def test_entries_keep_their_order_and_carry_rules_and_the_proven_claim() -> None:
    post = render_risk_list(make_list(riskiest=CoveredList((risky(3, "It may count twice, see #9."), risky(9)))))
    assert [item[0]["url"] for item in items(post)] == [pull(3).url, pull(9).url]
    expected = "🔴 highest risk: adds 400 lines of product code; touches 4 product folders"
    assert f"#3 Change number 3 — It may count twice, see #9. {expected}" in read_post(post)
    assert find_links(post.build_payload()) == [pull(3).url, pull(9).url, pull(9).url]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "Nothing stands out."),
        ({"taken_back": (pair(7),)}, "Nothing else stands out."),
        ({"filters": "author:ada"}, "Nothing stands out."),
        ({"filters": "author:ada", "matching": 0}, "No pull request of these days matches author:ada."),
        ({"merged": 0, "matching": 0}, ""),
        ({"merged": 0, "matching": 0, "filters": "author:ada"}, ""),
    ],
)
def test_a_list_without_entries_says_why(fields: dict[str, Any], expected: str) -> None:
    sentences = [text for text in _sentences(make_list(**fields)) if "stands out" in text or "matches" in text]
    assert sentences == ([expected] if expected else [])


def _sentences(risk_list: RiskList) -> Iterable[str]:
    sections = nodes(render_risk_list(risk_list).blocks, "rich_text_section")
    return ["".join(strings(section["elements"])) for section in sections]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, []),
        ({"filters": "author:ada"}, ["author:ada"]),
        ({"notes": ("not judged: #2", "not judged: #2", "more")}, ["not judged: #2 · more"]),
        ({"filters": "path:*.cu", "notes": ("more",)}, ["path:*.cu · more"]),
    ],
)
def test_the_last_line_says_what_the_list_does_not_cover(fields: dict[str, Any], expected: list[str]) -> None:
    post = render_risk_list(make_list(**fields))
    assert [block["elements"][0]["text"] for block in post.blocks if block["type"] == "context"] == expected


def test_what_was_not_read_stands_above_all_and_nothing_is_said_of_it() -> None:
    unread = Coverage.of(CoveredPart("days", 1, 7, "the list of that day is away"))
    for listed, follows in (((), "I can't tell"), ((risky(3),), "there may be more")):
        text = read_post(render_risk_list(make_list(riskiest=CoveredList(listed, unread))))
        assert (
            text.split("\n")[1]
            == f"I couldn't read 1 of 7 days (the list of that day is away), so {follows}. 3 merged."
        )
        assert "merged" not in text.partition("\n")[0]
        assert "stands out" not in text
    filtered = make_list(riskiest=CoveredList((), unread), matching=0, filters="author:ada")
    assert "No pull request" not in read_post(render_risk_list(filtered))


def test_more_than_three_are_a_table_of_which_a_message_has_one() -> None:
    entries_above = tuple(risky(number, f"Answer {number} is wrong") for number in range(1, 6))
    below = tuple(risky(number) for number in range(6, 10))
    risk_list = make_list(riskiest=CoveredList(entries_above), below=below, top=9, ranked=9)
    post = render_risk_list(risk_list)
    (table,) = [block for block in post.blocks if block["type"] == "data_table"]
    assert table["caption"] == "Riskiest"
    assert len(table["rows"]) == 6
    shown = format_message(post)
    for each in (*entries_above, *below):
        assert f"#{each.number}" in shown
        assert f"Change number {each.number}" in shown
    assert "Answer 3 is wrong" in shown
    assert "adds 400 lines of product code" in shown
    assert_taken(post, collect_addresses(risk_list))
    few = render_risk_list(make_list(riskiest=CoveredList(entries_above[:3])))
    assert not has_table(few.blocks)
