"""The lead message: a headline, what was taken back, what may hurt, what to do, and how sure of it we are."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.rules.messages import check_message, find_links, find_mentions

from bot.features.digest.lead import render_lead
from bot.features.digest.rules import Digest, Overview, ReaderAction
from bot.features.digest.thread import render_thread
from bot.features.merges.outcomes import Attempt, MergeOutcome
from bot.features.merges.requests import DigestView, ViewLevel
from bot.features.merges.review import BugReview, ReviewCoverage
from bot.features.merges.risk import Risk
from bot.features.merges.summary import build_evidence_url
from bot.features.merges.view import Entry
from bot.features.summaries.view import render_summary
from bot.platform.pulls.paths import Filters
from bot.platform.pulls.sources import CountCheck
from bot.platform.slack.blocks import MAX_LEAD_WORDS, Post, count_words
from bot.platform.slack.terminal import format_message
from bot.text import SentenceIndex, normalize_sentence
from impact.coverage import Coverage, CoveredPart
from impact.history.outcomes import OutcomeKind
from impact.text.strings import collapse_lines
from tests.features.digest.hostile_days import TOKENS, WORST, digests, full_day
from tests.helpers.builders import (
    FOUND_QUOTE,
    NOON,
    REPOSITORY,
    changed_file,
    digest,
    entry,
    failed,
    finding,
    pull,
    summary,
)
from tests.helpers.tables import check_rows
from tests.platform.slack.accepted import (
    assert_accepted,
    assert_taken,
    invisible,
    items,
    list_addresses,
    nodes,
    read_post,
    strings,
)

RISKS_ALONE = DigestView(only=ViewLevel.RISKY)


def risky(number: int, points: float = 20, claim: str = "", **fields: Any) -> Entry:
    made = entry(number, entry_summary=summary(risk_reason=claim), **fields)
    return replace(made, risk=Risk(points, ("adds 400 lines of product code", "touches 4 product folders")))


def busy_day(count: int) -> Digest:
    """A day of which each pull request is risky and asks for something, with an overview as long as it may be."""
    claim = "Callers that pass a list instead of a tuple fail with a TypeError at start"
    entries = [
        risky(number, claim=f"{claim} of {number}.", title=f"[Core] Count requests once in scheduler {number}")
        for number in range(count, 0, -1)
    ]
    asking = [
        replace(made, summary=replace(made.summary, action=f"Replace `--old-{made.number}` with `--new`."))
        for made in entries
    ]
    return digest(*asking, overview=Overview("Requests are now counted once, in one place. " * 13))


def assert_short(post: Post, day_digest: Digest) -> None:
    """It can be read in a minute, and every action and outcome stands there or is counted."""
    assert count_words(post.blocks) <= MAX_LEAD_WORDS == 220
    assert words_of_terminal(post) <= 220
    text = read_post(post)
    listed = text.partition("May need action")[2]
    numbers = {action.number for action in day_digest.actions}
    named = {number for number in numbers if re.search(rf"#{number}(?!\d)", text)}
    uncounted = len(numbers - named) - sum(int(count) for count in re.findall(r"and ([\d,]+) more\b", listed))
    assert uncounted <= len(list_repeated(day_digest))
    backs = lists_below(post, "Already reverted or repaired")
    more = sum(map(int, re.findall(r"and (\d+) more, in the thread", " ".join(strings(backs)))))
    outcomes = len(day_digest.standing_outcomes) + len(day_digest.older_reverts)
    assert len(backs) - bool(more) + more == outcomes


def words_of_terminal(post: Post) -> int:
    """The words as a terminal shows them, without the points of lists and the line below the title."""
    return sum(word != "•" and set(word) != {"="} for word in format_message(post).split())


def list_repeated(day_digest: Digest) -> list[ReaderAction]:
    """The actions that need no line of their own: the overview, its risk or the same one of another says them."""
    sentence_index = SentenceIndex.build(day_digest.overview.text)
    risks = {entry.number: normalize_sentence(entry.summary.risk_reason) for entry in day_digest.entries}
    keyed = [(normalize_sentence(action.text), action) for action in day_digest.actions]
    counts = Counter(key for key, _ in keyed)
    return [
        action
        for key, action in keyed
        if sentence_index.has_words(key)
        or risks[action.number] == key
        or counts[key] > 1
        or not collapse_lines(action.text)
    ]


def as_block(line: Any) -> Any:
    return {"type": "rich_text", "elements": [line]}


def lists_below(post: Post, title: str) -> list[Any]:
    return [
        item
        for block in post.blocks
        if block["type"] == "rich_text" and "".join(strings(block)).startswith(title)
        for part in block["elements"]
        if part["type"] == "rich_text_list"
        for item in part["elements"]
    ]


def read_lead(day_digest: Digest) -> str:
    return read_post(render_lead(day_digest))


@given(digests())
@pytest.mark.slow
def test_a_hostile_day_makes_a_lead_that_slack_takes(day_digest: Digest) -> None:
    post = render_lead(day_digest)
    assert_accepted(post, day_digest)
    assert len(post.blocks) <= 11
    assert_short(post, day_digest)


@pytest.mark.parametrize("count", [0, 1, 2, 67, 300])
@pytest.mark.parametrize("text", WORST.values(), ids=list(WORST))
@pytest.mark.parametrize("is_reviewed", [False, True], ids=["not reviewed", "reviewed"])
@pytest.mark.slow
def test_the_lead_of_a_day_of_any_size_is_short(count: int, text: str, is_reviewed: bool) -> None:
    day_digest = full_day(count, text, is_reviewed=is_reviewed)
    post = render_lead(day_digest)
    assert_accepted(post, day_digest)
    assert_short(post, day_digest)


@pytest.mark.parametrize("count", [43, 67, 120])
def test_a_busy_day_of_plain_sentences_is_said_in_a_minute(count: int) -> None:
    day_digest = busy_day(count)
    post = render_lead(day_digest)
    assert_short(post, day_digest)
    # the narrower limits are for busier days than these: each sentence is whole
    text = read_post(post)
    assert text.count("Callers that pass a list instead of a tuple fail with a TypeError at start") == 3
    assert re.search(r"and \d+ more, in the thread: #", text)


@pytest.mark.parametrize("count", [1, 2, 43, 67])
def test_the_lead_of_a_trivial_day_is_short(count: int) -> None:
    day_digest = full_day(count, "<!channel>", trivial=True)
    assert_accepted(render_lead(day_digest), day_digest)


def test_a_day_without_merges_says_so() -> None:
    post = render_lead(digest())
    assert read_post(post) == "Engine · Saturday 28 February 2026 · nothing merged"
    assert post.text == read_post(post)


def test_a_day_without_merges_still_admits_that_the_count_differs() -> None:
    day_digest = replace(digest(), count=CountCheck(3, "the commits of main"))
    assert "the commits of main show 3 merges, not 0" in read_lead(day_digest)


@pytest.mark.parametrize(
    ("shown", "hidden", "count"),
    [(1, 17, "1 of 18 merged"), (0, 3, "0 of 3 merged"), (2, 0, "2 of 2 merged"), (0, 0, "nothing merged")],
)
def test_the_headline_of_a_view_says_of_how_many(shown: int, hidden: int, count: str) -> None:
    day_digest = digest(*(entry(number) for number in range(shown)), view=RISKS_ALONE, hidden=hidden)
    assert render_lead(day_digest).blocks[0]["text"]["text"] == f"Engine · Saturday 28 February 2026 · {count}"


def test_a_view_that_shows_nothing_is_a_headline_and_what_was_left_out() -> None:
    day_digest = digest(view=RISKS_ALONE, hidden=3, count=CountCheck(3, "the commits of main"))
    headline = "Engine · Saturday 28 February 2026 · 0 of 3 merged"
    assert read_lead(day_digest).split("\n") == [headline, "0 of 3 shown: only:risky"]
    assert render_lead(day_digest).text == headline


@check_rows(TOKENS)
def test_the_words_of_a_view_are_literal(token: str) -> None:
    view = DigestView(Filters(labels=(f"x{token}",)))
    assert_accepted(render_lead(digest(entry(1), view=view)), digest(entry(1)))


def test_notifications_give_headline_and_overview_with_markup_put_out() -> None:
    post = render_lead(replace(digest(entry(1)), name="R&D <!here>"))
    assert post.text == "R&amp;D &lt;!here&gt; · Saturday 28 February 2026 · 1 merged. A calm day."
    assert post.blocks[0]["text"]["text"] == "R&D <!here> · Saturday 28 February 2026 · 1 merged"


def test_the_overview_links_numbers_of_the_day_and_no_others() -> None:
    day_digest = digest(entry(1), overview=Overview("#1 counts once, as #2 did, in **one** `place`."))
    elements = next(nodes(render_lead(day_digest).blocks, "rich_text_section"))["elements"]
    assert [element["url"] for element in elements if element["type"] == "link"] == [pull(1).url]
    assert "".join(element["text"] for element in elements) == "#1 counts once, as #2 did, in one place."


def test_an_overview_without_the_model_says_why() -> None:
    day_digest = digest(
        entry(1), overview=Overview("Most of it in Models (1).", fallback=failed("the model is busy"))
    )
    assert "Without the model (the model is busy): this paragraph contains only facts." in read_lead(day_digest)


def test_what_was_taken_back_comes_first_and_names_both() -> None:
    first = risky(5, title="Count once")
    second = entry(9, title='Revert "Count once"', merged_at=NOON + timedelta(hours=1))
    text = read_lead(digest(second, first, risky(3)))
    assert re.search(r"#5 Count once, reverted after [\d.]+ h by #9\n", text)
    assert text.index("Already reverted or repaired") < text.index("Riskiest")
    assert "#5 Count once: adds" not in text


def test_a_risk_begins_with_the_claim_of_the_model() -> None:
    text = read_lead(digest(risky(5, claim="It may count twice, see #5.", title="Count once")))
    expected = (
        "#5 Count once — It may count twice, see #5. 🔴 highest risk: adds 400 lines of product code; "
        "touches 4 product folders"
    )
    assert expected in text


def test_a_risk_without_a_claim_begins_with_the_reasons_of_the_rules() -> None:
    text = read_lead(digest(risky(5, points=13, title="Count once")))
    assert "#5 Count once — adds 400 lines of product code; touches 4 product folders. 🟠 high risk" in text


def test_reasons_are_those_of_the_rules_in_a_few_words() -> None:
    made = entry(5, title="Count once", files=[changed_file("csrc/a.cu", 600, 300)])
    assert "#5 Count once — adds 600 lines; changes critical code. 🟠 high risk" in read_lead(digest(made))


def test_what_has_no_history_yet_is_said_once_for_all() -> None:
    young = [replace(made, risk=replace(made.risk, without_history=True)) for made in (risky(1), risky(2))]
    assert "Riskiest (fix history not loaded: prdigest backfill --facts --since DATE)#1" in read_lead(
        digest(*young)
    )
    assert read_lead(digest(*young)).count("not loaded") == 1
    assert "#1 Change number 1 — adds 400 lines" in read_lead(digest(young[0], risky(2)))
    assert "🔴 highest risk, fix history not loaded" in read_lead(digest(young[0], risky(2)))


def test_no_sentence_is_said_twice() -> None:
    twice = "Callers of `count_all` get a TypeError"
    made = risky(5, claim=twice)
    made = replace(made, summary=replace(made.summary, action=f"{twice}."))
    alone = read_lead(digest(made))
    assert alone.count("Callers of count_all") == 1
    assert "May need action" not in alone
    above = read_lead(digest(made, overview=Overview(f"A busy day: {twice} (#5). All else is calm.")))
    assert above.count("Callers of count_all") == 1
    assert "#5 Change number 5 — adds 400 lines of product code" in above


REVIEWED = replace(risky(5, claim="It may count twice.", title="Count once"), review=BugReview((finding(),)))


def test_a_finding_has_consequence_trigger_and_who_before_the_band_in_place_of_the_claim() -> None:
    post = render_lead(digest(REVIEWED))
    expected = (
        "#5 Count once — Confirmed in the code: The engine stops with an IndexError. Fails when a request has no "
        "tokens. Affected: servers that allow empty prompts. 🔴 highest risk\n"
    )
    assert expected in read_post(post)
    assert "count twice" not in read_post(post)
    (line,) = items(post)
    links = {element["text"]: element["url"] for element in line if element["type"] == "link"}
    assert links["Confirmed in the code"] == build_evidence_url(REVIEWED.pull, FOUND_QUOTE)


def test_a_finding_lists_what_the_rules_would_not_and_nothing_found_takes_off_what_they_would() -> None:
    risky_entry = replace(risky(1, 5), review=BugReview((finding(),)))
    cleared = replace(risky(2, 15), review=BugReview())
    text = read_lead(digest(risky_entry, cleared))
    assert "🟡 middle risk" in text
    assert ("#1 Change" in text, "#2 Change" in text) == (True, False)


def test_a_finding_and_an_action_are_not_said_twice() -> None:
    twice = "Callers of `count_all` get a TypeError"
    made = replace(REVIEWED, review=BugReview((finding(f"{twice}."),)))
    made = replace(made, summary=replace(made.summary, action=twice))
    alone = read_lead(digest(made))
    assert (alone.count("Callers of count_all"), "May need action" in alone) == (1, False)
    above = read_lead(digest(made, overview=Overview(f"A busy day: {twice} (#5). All else is calm.")))
    # a finding stands with all that it says
    whole = f"#5 Count once — Confirmed in the code: {twice.replace('`', '')}. Fails when a request has no tokens."
    assert whole in above
    # what the finding replaces is said by nobody, so that the action stays
    other = replace(REVIEWED, summary=replace(REVIEWED.summary, action=REVIEWED.summary.risk_reason))
    assert "May need action" in read_lead(digest(other))


def test_a_busy_reviewed_day_is_said_in_a_minute_with_whole_findings() -> None:
    cut = finding("Servers that serve two adapters answer some requests with the weights of the other one")
    busy = busy_day(67)
    entries = tuple(replace(made, review=BugReview((cut,), 3)) for made in busy.entries)
    busy = replace(busy, entries=entries, review_coverage=ReviewCoverage(67, 21, "today's limit is used up"))
    post = render_lead(busy)
    assert_short(post, busy)
    lines = lists_below(post, "AI bug review")
    whole = f"Confirmed in the code: {cut.consequence}. Fails when {cut.trigger}. "
    assert [whole in read_post(Post("", (block,))) for block in map(as_block, lines[:-1])] == [True] * 3
    assert re.fullmatch(r"and 64 more, in the thread: (#\d+, ){11}#\d+ and 52 more", "".join(strings(lines[-1])))


@check_rows(WORST)
@pytest.mark.slow
def test_the_worst_reviewed_day_with_reverts_and_different_actions_is_short(text: str) -> None:
    day = full_day(67, text, is_reviewed=True)
    entries = [
        replace(
            made,
            summary=replace(made.summary, action=f"{made.number} {text[:230]}"),
            risk=replace(made.risk, tries=(Attempt(4, 5), Attempt(6, 7)), without_history=made.number % 2 == 0),
        )
        for made in day.entries
    ]
    gone = [MergeOutcome(made.pull, entries[0].pull, OutcomeKind.PARTLY) for made in entries[-12:]]
    worst = replace(
        day,
        entries=tuple(entries),
        outcomes=tuple(gone),
        missing=Coverage.of(CoveredPart("what was reverted since", 1, 0, text[:300])),
    )
    post = render_lead(worst)
    assert_taken(post, list_addresses(worst.entries) | {pull(number).url for number in (4, 5, 6, 7)})
    assert_short(post, worst)


def test_the_same_action_of_two_is_said_once_with_both_numbers() -> None:
    text = read_lead(digest(*(entry(number, entry_summary=summary(action="Set the flag.")) for number in (3, 2))))
    assert "Set the flag. (#3, #2)" in text


def test_an_action_about_the_environment_of_the_tests_is_left_out() -> None:
    asks = summary(action="Install the new linter.")
    day_digest = digest(entry(2, entry_summary=asks, files=[changed_file("tests/conftest.py")]), entry(1))
    assert "linter" not in read_lead(day_digest)


def test_no_more_than_three_risks_are_listed_riskiest_first() -> None:
    day_digest = digest(*(risky(number, 10 + number) for number in range(1, 6)))
    assert [item[0]["url"] for item in items(render_lead(day_digest))] == [
        pull(number).url for number in (5, 4, 3)
    ]


def test_a_calm_day_says_that_nothing_stands_out() -> None:
    text = read_lead(digest(entry(1)))
    assert "Nothing stands out as risky." in text
    assert "Riskiest" not in text


def test_actions_beyond_five_are_counted_and_linked() -> None:
    day_digest = digest(
        *(entry(number, entry_summary=summary(action=f"Set flag {number}")) for number in range(9, 0, -1))
    )
    text = read_lead(day_digest)
    assert [f"Set flag {number} (#{number})" in text for number in range(9, 4, -1)] == [True] * 5
    assert "and 4 more, in the thread: #4, #3, #2, #1" in text


@given(digests())
@pytest.mark.slow
def test_no_text_of_others_breaks_lines_or_reads_backwards(day_digest: Digest) -> None:
    """Sentences of the rules and of errors are code's own: see the next test for what they quote."""
    own = replace(day_digest, overview=replace(day_digest.overview, fallback=None))
    entries = tuple(replace(made, risk=replace(made.risk, reasons=("touches",))) for made in own.entries)
    post = render_lead(replace(own, entries=entries))
    assert [text for text in strings(list(post.blocks)) if invisible(text) or "\n" in text] == []


@pytest.mark.parametrize("reason", ["answer\n\nAll is well", "answer \u202edab si"], ids=ascii)
def test_the_reason_of_a_fallback_neither_breaks_lines_nor_reads_backwards(reason: str) -> None:
    texts = list(
        strings(list(render_lead(digest(entry(1), overview=Overview("", fallback=failed(reason)))).blocks))
    )
    assert [text for text in texts if invisible(text) or "\n" in text] == []


def older(count: int) -> Digest:
    return digest(*(entry(number, title=f'Revert "Change {number} of May"') for number in range(count, 0, -1)))


def test_a_revert_of_an_earlier_day_is_named_as_one() -> None:
    day_digest = older(1)
    assert [made.number for made in day_digest.older_reverts] == [1]
    assert 'Already reverted or repaired#1 Revert "Change 1 of May", which reverts an earlier change' in read_post(
        render_lead(day_digest)
    )


def test_a_revert_of_the_day_is_not_of_an_earlier_one() -> None:
    second = entry(2, title="Revert #1", merged_at=NOON + timedelta(hours=1))
    assert digest(second, entry(1)).older_reverts == ()


@pytest.mark.parametrize("count", [1, 43, 67, 300])
def test_a_day_of_reverts_is_accepted(count: int) -> None:
    day_digest = older(count)
    assert_accepted(render_lead(day_digest), day_digest)


def test_reverts_that_are_not_shown_are_counted() -> None:
    assert "and 5 more" in read_post(render_lead(older(12)))


TRIES = (Attempt(2, 3), Attempt(7, None))


def trying(tries: tuple[Attempt, ...], *, without_history: bool = False) -> Entry:
    risk = Risk(20, ("adds 400 lines",), tries=tries, without_history=without_history)
    return replace(entry(9, title="Count once"), risk=risk)


def test_the_history_of_tries_is_linked_in_the_thread_and_in_the_list() -> None:
    day_digest = digest(trying(TRIES))
    (part,) = render_thread(day_digest)
    history = "; lands again #2 (reverted by #3), #7"
    assert f"Count once: Requests are counted once{history} (" in read_post(part)
    assert f"#9 Count once — adds 400 lines{history}. 🔴 highest risk" in read_post(render_lead(day_digest))
    known = {f"https://github.com/{REPOSITORY}/pull/{number}" for number in (2, 3, 7)}
    assert known <= set(find_links(part.build_payload()))
    assert known <= set(find_links(render_lead(day_digest).build_payload()))


def test_what_was_never_tried_has_no_history() -> None:
    assert "lands again" not in read_post(render_thread(digest(trying(())))[0])


@given(st.lists(st.builds(Attempt, st.integers(1, 10**9), st.none() | st.integers(1, 10**9)), max_size=60))
def test_the_last_five_tries_are_named_however_many_there_were(tries: list[Attempt]) -> None:
    (part,) = render_thread(digest(trying(tuple(tries))))
    assert check_message(part.build_payload()) is None
    assert find_mentions(part.build_payload()) == []
    assert len(find_links(part.build_payload())) <= 1 + 2 * 5


@pytest.mark.parametrize(
    ("without", "band"), [(True, "🔴 highest risk, fix history not loaded"), (False, "🔴 highest risk")]
)
def test_a_band_says_what_it_was_made_without(*, without: bool, band: str) -> None:
    made = trying((), without_history=without)
    assert f"#9 Count once — adds 400 lines. {band}\n" in read_post(render_lead(digest(made)))
    assert f"Risk: {band}: adds 400 lines (about 1 in 5" in read_post(render_summary(made))


def test_where_lists_found_no_more_than_chance_one_of_the_highest_band_is_named_and_why() -> None:
    entries = [replace(entry(n), risk=Risk(points, ("one",))) for n, points in ((4, 13.0), (3, 17.0), (2, 18.0))]
    text = read_post(render_lead(replace(digest(*entries), is_reduced=True)))
    assert "at most one: lists here were no better than chance, see /prrisks score" in text
    listed = text.partition("Riskiest")[2]
    assert ("#2 " in listed, "#3 " in listed, "#4 " in listed) == (True, False, False)
