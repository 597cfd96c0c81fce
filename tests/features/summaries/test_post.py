"""One pull request as a message: accepted whatever its texts, and linked only to where code says."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.rules.messages import check_message, find_links, find_mentions

from bot.features.merges.review import BugReview
from bot.features.merges.risk import Risk, RiskBand
from bot.features.merges.summary import Evidence, Quote, Summary, verify_quotes
from bot.features.merges.view import Entry
from bot.features.summaries.view import render_summary
from bot.platform.models.packing import Coverage
from bot.platform.pulls.models import ChangedFile
from bot.platform.slack.blocks import count_characters
from impact.repository import Repository
from impact.source.models import DiffSide
from tests.features.digest.hostile_days import LONGEST, WORST, entries, full_review, lines, texts
from tests.helpers.builders import REPOSITORY, changed_file, entry, failed, finding, pull, summary
from tests.helpers.tables import check_rows
from tests.platform.slack.accepted import MOST_BLOCKS, MOST_CHARACTERS, invisible, nodes, read_post, strings

# a quote that was found in a diff is never short, but may hold anything
evidence = st.builds(Evidence, lines(120), lines(300), st.sampled_from(DiffSide), st.just(7))


@st.composite
def draw_summary(draw: st.DrawFn) -> Summary:
    parts = ("what_changed_and_why", "technical_impact", "potential_risks", "key_insights")
    proof = tuple(draw(st.lists(evidence, max_size=6)))
    return summary(evidence=proof, **{part: draw(texts(3_000)) for part in parts})


def assert_taken(payload: dict[str, Any], url: str) -> None:
    assert check_message(payload) is None
    assert find_mentions(payload) == []
    assert all(
        address.startswith((url, "https://github.com/octo/engine/blob/")) for address in find_links(payload)
    )


@given(entries(1), draw_summary())
@pytest.mark.slow
def test_a_hostile_pull_request_makes_a_message_that_slack_takes(made: Entry, told: Summary) -> None:
    for summarised in (made.summary, replace(told, headline=made.summary.headline, action=made.summary.action)):
        post = render_summary(replace(made, summary=summarised))
        assert_taken(post.build_payload(), made.pull.url)
        assert len(post.blocks) <= MOST_BLOCKS
        assert count_characters(list(post.blocks)) <= MOST_CHARACTERS


def longest(text: str) -> Entry:
    long = (text * 10)[:3_000]
    proof = tuple(Evidence(f"{'d' * 200}/{n}.py", long[:500], DiffSide.NEW, n) for n in range(1, 7))
    told = summary(
        headline=text[:120],
        action=text[:240],
        what_changed_and_why=long,
        technical_impact=long,
        potential_risks=long,
        key_insights=long,
        evidence=proof,
    )
    return replace(entry(1, entry_summary=told, title=text[:256]), risk=Risk(20, (text[:120],) * 6))


@pytest.mark.parametrize("text", WORST.values(), ids=list(WORST))
def test_the_longest_texts_are_taken(text: str) -> None:
    assert_taken(render_summary(longest(text)).build_payload(), longest(text).pull.url)


@check_rows(WORST)
@pytest.mark.slow
def test_the_longest_texts_and_findings_stay_within_the_budget(text: str) -> None:
    made = replace(complete(text, LONGEST), review=full_review(text))
    payload = render_summary(made).build_payload()
    assert (check_message(payload), find_mentions(payload)) == (None, [])
    assert count_characters(list(render_summary(made).blocks)) <= MOST_CHARACTERS
    assert "Not shown: 10 more findings." in read_post(render_summary(made))


def test_the_second_reading_comes_after_the_key_points() -> None:
    text = read_post(render_summary(replace(entry(5), review=BugReview((finding(),), 1))))
    order = [text.index(part) for part in ("Risk: ", "AI bug review", "What changed and why")]
    assert order == sorted(order)
    assert "1 suspicion was refuted. An AI read the code: this is no proof." in text
    assert "AI bug review" not in read_post(render_summary(entry(5)))


def test_the_longest_texts_stay_within_the_budget_of_a_message() -> None:
    assert count_characters(list(render_summary(longest("W" * 700)).blocks)) <= MOST_CHARACTERS


def test_a_quote_of_nothing_visible_makes_a_message_that_slack_takes() -> None:
    quote = "\u200b" * 8
    made = pull(files=[changed_file(patch=f"@@ -0,0 +1 @@\n+{quote}")])
    proof = verify_quotes([Quote("engine/core.py", quote)], made)
    assert_taken(render_summary(entry(1, entry_summary=summary(evidence=proof))).build_payload(), made.url)


@pytest.mark.parametrize("path", ["a\u202eyp.py", "a\nb.py"], ids=ascii)
def test_a_path_neither_breaks_lines_nor_reads_backwards(path: str) -> None:
    post = render_summary(
        entry(1, entry_summary=summary(evidence=(Evidence(path, "return new_count", DiffSide.NEW, 7),)))
    )
    labels = [text for text in strings(list(post.blocks)) if text.startswith("a")]
    assert [label for label in labels if invisible(label) or "\n" in label] == []


def test_a_summary_shows_title_headline_and_its_four_sections() -> None:
    text = read_post(render_summary(entry(5, title="Count once")))
    parts = ["Count once\n", "#5 Requests are counted once", "What changed and why\nThe counter moved."]
    parts += ["Technical impact\nOne place counts.", "Potential risks\nNone stand out.", "Key insights\n"]
    assert [part for part in parts if part not in text] == []
    # once, where it is a link
    assert text.count("#5") == 1


def test_times_are_in_the_zone_of_the_readers() -> None:
    made = entry(5, merged_at=datetime(2026, 3, 1, 2, 55, tzinfo=UTC))
    assert "merged 2026-03-01 02:55 UTC by" in read_post(render_summary(made))
    assert "merged 2026-02-28 18:55 PST by" in read_post(render_summary(made, ZoneInfo("America/Los_Angeles")))


def test_a_pull_request_that_is_not_merged_can_be_shown() -> None:
    made = replace(entry(5), pull=pull(5, merged_at=None, state="OPEN"))
    assert_taken(render_summary(made).build_payload(), made.pull.url)


def list_lines(made: Entry, start: str) -> list[str]:
    """The lines of the first list that begin so."""
    first = next(nodes(render_summary(made).blocks, "rich_text_list"))["elements"]
    rows = ["".join(strings(item["elements"])) for item in first]
    return [line for line in rows if line.startswith(start)]


SHARES = dict(zip(RiskBand, (100, 33, 17, 8, 5), strict=True))
POINTS = {-7: "lowest", -6: "low", 0: "low", 4: "middle", 12: "high", 16: "highest", 25: "highest"}


@pytest.mark.parametrize(("points", "label"), POINTS.items())
def test_the_risk_is_a_band_with_what_is_known_of_it_and_the_reasons(points: int, label: str) -> None:
    band = next(band for band in RiskBand if band.label == label)
    made = replace(entry(5), risk=Risk(points, ("adds 400 lines of product code", "touches 4 product folders")))
    share = f"about 1 in {SHARES[band]} such changes needed a fix within two weeks, average 1 in 14"
    reasons = "adds 400 lines of product code; touches 4 product folders"
    (line,) = list_lines(made, "Risk")
    assert line[len("Risk: ")] in "⚪🟡🟠🔴"
    assert line[len("Risk: 🔴 ") :] == f"{label} risk: {reasons} ({share}; measured on vLLM, 2025)"


def test_the_reasons_of_a_risk_are_all_there() -> None:
    made = replace(entry(5), risk=Risk(20, ("one", "two", "three", "four", "five")))
    assert list_lines(made, "Risk")[0].startswith(
        "Risk: 🔴 highest risk: one; two; three; four; five (about 1 in 5"
    )


@pytest.mark.parametrize("name", ["kernel\u202eyp.cu", "kernel\nWorth nothing.cu", "kernel\x1b[2J.cu"], ids=ascii)
def test_the_name_of_a_critical_file_neither_breaks_lines_nor_reads_backwards(name: str) -> None:
    made = entry(1, files=[changed_file(f"csrc/{name}", 600, 300)])
    (line,) = list_lines(made, "Risk")
    assert "changes critical paths (such as kernel" in line
    assert (invisible(line), "\n" in line) == ([], False)


def test_a_risk_without_reasons_is_its_band_alone() -> None:
    made = replace(entry(5), risk=Risk(0, ()))
    assert [line.endswith("measured on vLLM, 2025)") for line in list_lines(made, "Risk")] == [True]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"files": None, "changed_files": 7}, "its files could not be read"),
        ({"files": None, "changed_files": 7, "title": 'Revert "Count once"'}, "its files could not be read"),
        ({"title": 'Revert "Count once"'}, "it is a revert"),
    ],
)
def test_what_no_rule_speaks_of_is_not_called_safe(fields: dict[str, Any], why: str) -> None:
    assert list_lines(entry(5, **fields), "Risk") == [f"Risk: not assessed because {why}"]


@pytest.mark.parametrize("action", ["", "Set the flag."])
def test_what_to_do_is_said_where_there_is_something(action: str) -> None:
    expected = [f"May need action: {action}"] if action else []
    assert list_lines(entry(5, entry_summary=summary(action=action)), "May need action") == expected


def context_lines(made: Entry) -> list[str]:
    return [block["elements"][0]["text"] for block in render_summary(made).blocks if block["type"] == "context"]


@pytest.mark.parametrize(
    ("count", "all_of_them", "expected"),
    [
        (0, 0, ""),
        (1, 1, "engine/0.py +1 −2"),  # noqa: RUF001 (a minus)
        (3, 3, "engine/2.py +3 −2 · engine/1.py +2 −2 · engine/0.py +1 −2"),  # noqa: RUF001
        (4, 4, "engine/3.py +4 −2 · engine/2.py +3 −2 · engine/1.py +2 −2 · and 1 more file"),  # noqa: RUF001
        (3, 3_003, "engine/2.py +3 −2 · engine/1.py +2 −2 · engine/0.py +1 −2 · and 3,000 more files"),  # noqa: RUF001
    ],
)
def test_the_largest_files_come_first_and_the_rest_is_counted(count: int, all_of_them: int, expected: str) -> None:
    listed = tuple(changed_file(f"engine/{n}.py", n + 1, 2) for n in range(count))
    made = entry(5)
    made = replace(made, pull=replace(made.pull, files=listed, changed_files=all_of_them))
    assert context_lines(made)[:-1] == ([expected] if expected else [])


def test_files_that_could_not_be_read_are_not_listed() -> None:
    assert len(context_lines(entry(5, files=None, changed_files=7))) == 1


def test_the_last_line_gives_facts_and_what_was_not_read() -> None:
    partial = summary(coverage=Coverage.CLIPPED, fallback=failed("the model is busy"))
    line = context_lines(entry(5, entry_summary=partial))[-1]
    facts = [
        "1 file, +1 −0",  # noqa: RUF001 (a minus)
        "ada-dev, merged 2026-02-28",
        f"diff {Coverage.CLIPPED}",
        "facts only",
    ]
    assert ([fact for fact in facts if fact not in line], "substantial" in line) == ([], False)


named_files = st.builds(ChangedFile, texts(255), st.just("modified"), st.integers(0, 10**6), st.integers(0, 10**6))


@given(entries(1), st.lists(named_files, max_size=6))
@pytest.mark.slow
def test_hostile_names_of_files_make_a_message_that_slack_takes(made: Entry, files: list[ChangedFile]) -> None:
    post = render_summary(replace(made, pull=replace(made.pull, files=tuple(files), changed_files=9)))
    assert_taken(post.build_payload(), made.pull.url)
    lines = [text for block in post.blocks if block["type"] == "context" for text in strings(block)]
    assert [line for line in lines if invisible(line) or "\n" in line] == []


def complete(text: str, repository: Repository = REPOSITORY, path: str = "d" * 240) -> Entry:
    made = longest(text)
    proof = tuple(replace(citation, path=f"{n}/{path}") for n, citation in enumerate(made.summary.evidence))
    reasons = (
        f"changes critical paths (such as {text[:255]})",
        "rewrites 123,456 lines of existing product code",
        "adds 123,456 lines of product code",
        "touches 1234 product folders",
        "changes dependencies or build",
        "title mentions performance or concurrency",
    )
    files = tuple(changed_file(f"{n}/{path}", 9_999, 9_999, patch=None) for n in range(6))
    moved = replace(made.pull, repository=repository, number=999_999_999, files=files, changed_files=3_000)
    told = replace(made.summary, evidence=proof, action=text[:1_000])
    return replace(made, pull=moved, summary=told, risk=Risk(20, reasons))


@pytest.mark.parametrize("repository", [REPOSITORY, LONGEST], ids=["usual", "longest"])
@pytest.mark.parametrize("text", WORST.values(), ids=list(WORST))
@pytest.mark.slow
def test_slack_takes_the_longest_message_with_its_files(text: str, repository: Repository) -> None:
    payload = render_summary(complete(text, repository)).build_payload()
    assert check_message(payload) is None
    assert find_mentions(payload) == []
    home = f"https://github.com/{repository}"
    assert {url for url in find_links(payload) if not url.startswith((f"{home}/pull/", f"{home}/blob/"))} == set()


@pytest.mark.parametrize("text", WORST.values(), ids=list(WORST))
@pytest.mark.slow
def test_the_longest_message_with_its_files_stays_within_the_budget(text: str) -> None:
    assert count_characters(list(render_summary(complete(text)).blocks)) <= MOST_CHARACTERS


def test_the_longest_message_of_the_longest_name_stays_within_the_budget() -> None:
    assert count_characters(list(render_summary(complete("W" * 700, LONGEST)).blocks)) <= MOST_CHARACTERS


@pytest.mark.parametrize("length", [255, 340])
def test_long_paths_that_are_not_ascii_are_taken(length: int) -> None:
    """A sign of three bytes takes nine characters in an address."""
    post = render_summary(complete("W" * 700, path="漢" * length))
    assert_taken(post.build_payload(), pull(999_999_999).url)
