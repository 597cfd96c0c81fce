from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.methods.views import VIEW, VIEW_BYTES
from localslack.rules.blocks import BLOCK
from localslack.rules.messages import find_links, find_mentions

from bot.errors import PullRequestNotFound, UsageError
from bot.features.merges import risk
from bot.features.merges.review import BugReview
from bot.features.merges.risk import Risk
from bot.features.merges.summary import Evidence
from bot.features.merges.view import Entry, LeadRule
from bot.features.summaries.reading import MAX_QUOTES
from bot.features.summaries.view import View, render_details, render_error_view, render_loading_view
from bot.platform.pulls.models import ChangedFile, Reference
from bot.platform.slack.blocks import Post
from impact.repository import Repository
from impact.source.models import DiffSide
from tests.features.digest.hostile_days import BLANK, LONGEST, WORST, entries, full_review, lines, texts
from tests.helpers.builders import REPOSITORY, changed_file, entry, finding, pull, summary
from tests.helpers.tables import check_rows
from tests.platform.slack.accepted import invisible, nodes, read_post, strings

LAST = 999_999_999  # the highest number that a reference may have
SECTION = 8_000  # the longest that the model may write


def assert_opens(view: View) -> None:
    """Slack takes the window, and nobody is pinged by it."""
    assert view["type"] == "modal"
    assert 1 <= len(view["title"]["text"]) <= 24
    assert len(view["blocks"]) <= 100
    assert [block for block in view["blocks"] if not BLOCK(block)] == []
    assert VIEW(view)
    assert len(json.dumps(view)) <= VIEW_BYTES
    assert find_mentions({"blocks": view["blocks"]}) == []


def assert_leads_home(view: View, made: Entry) -> None:
    """Links go to the pull request, its files, or a line of them."""
    own, lines_of = made.pull.url, f"https://github.com/{made.pull.repository}/blob/{made.pull.commit}/"
    urls = find_links({"blocks": view["blocks"]})
    assert [url for url in urls if url != own and not url.startswith((f"{own}/files", lines_of))] == []
    assert all(url.startswith("https://github.com/") for url in urls)


def read_view(view: View) -> str:
    return "\n".join("".join(strings(block)) for block in view["blocks"])


files = st.builds(
    ChangedFile,
    path=lines(255),
    status=st.sampled_from(["added", "removed", "modified", "renamed"]),
    additions=st.integers(0, 10**6),
    deletions=st.integers(0, 10**6),
)
evidence = st.builds(Evidence, lines(120), lines(300), st.sampled_from(DiffSide), st.integers(1, 10**5))


@st.composite
def draw_entry(draw: st.DrawFn) -> Entry:
    """A hostile entry with files and quotes, its title and its paths with something to see in them."""
    made = draw(entries(draw(st.integers(1, LAST))))
    parts = ("what_changed_and_why", "technical_impact", "potential_risks", "key_insights")
    proof = tuple(draw(st.lists(evidence, max_size=MAX_QUOTES)))
    told: dict[str, Any] = {part: draw(texts(SECTION)) for part in parts}
    hostile_summary = replace(made.summary, evidence=proof, **told)
    listed = draw(st.none() | st.lists(files, max_size=30).map(tuple))
    changed = replace(made.pull, title=draw(lines(256)), files=listed, changed_files=draw(st.integers(0, 4_000)))
    return replace(made, pull=changed, summary=hostile_summary)


@given(draw_entry())
@pytest.mark.slow
def test_a_hostile_pull_request_makes_a_window_that_slack_opens(made: Entry) -> None:
    view = render_details(made)
    assert_opens(view)
    assert_leads_home(view, made)


@given(draw_entry())
@pytest.mark.slow
def test_no_text_of_others_breaks_lines_or_reads_backwards(made: Entry) -> None:
    view = render_details(replace(made, risk=replace(made.risk, reasons=("touches",))))
    shown_texts = [text.rstrip("\n") for text in strings(view["blocks"])]  # names of sections end their own line
    assert [text for text in shown_texts if invisible(text) or "\n" in text] == []


@pytest.mark.parametrize("title", BLANK, ids=ascii)
def test_a_title_of_nothing_visible_makes_a_window_that_slack_opens(title: str) -> None:
    assert_opens(render_details(entry(5, title=title)))


@pytest.mark.parametrize("path", ["\u202e", "\u200b\u200b", "\n", " "], ids=ascii)
def test_a_path_of_nothing_visible_makes_a_window_that_slack_opens(path: str) -> None:
    """Git takes any byte but null in a name."""
    assert_opens(render_details(entry(5, files=[changed_file(path)])))


def test_a_quote_of_nothing_visible_in_a_path_of_nothing_visible_can_be_followed() -> None:
    made = entry(5, entry_summary=summary(evidence=(Evidence("\u202e", "\u200b" * 8 + "x", DiffSide.NEW, 7),)))
    assert_opens(render_details(made))


def longest(text: str, repository: Repository = REPOSITORY) -> Entry:
    long = (text * 20)[:SECTION]
    proof = tuple(
        Evidence(f"{n}/{'d' * 240}", long[:500], side, 10**6)
        for n in range(MAX_QUOTES // 2)
        for side in (DiffSide.NEW, DiffSide.OLD)
    )
    long_summary = summary(
        headline=text[:120],
        action=text[:1_000],
        what_changed_and_why=long,
        technical_impact=long,
        potential_risks=long,
        key_insights=long,
        evidence=proof,
    )
    listed = [ChangedFile(f"{n}/{text[:240]}x", "modified", 9_999, 9_999, None) for n in range(50)]
    made = entry(
        LAST,
        entry_summary=long_summary,
        title=text[:256],
        files=listed,
        repository=repository,
        changed_files=3_000,
    )
    return replace(made, risk=Risk(20, (text[:255],) * 6))


WORDS_OF_CODE = "`漢`漢" * 250


@pytest.mark.parametrize("repository", [REPOSITORY, LONGEST], ids=["usual", "longest"])
@pytest.mark.parametrize(
    "text",
    [
        *(pytest.param(text, id=name) for name, text in WORST.items() if name != "many numbers"),
        pytest.param(WORST["many numbers"], id="many numbers"),
        pytest.param(WORDS_OF_CODE, id="words of code"),
    ],
)
@pytest.mark.slow
def test_the_longest_texts_make_a_window_that_slack_opens(text: str, repository: Repository) -> None:
    made = longest(text, repository)
    view = render_details(made)
    assert_opens(view)
    assert_leads_home(view, made)


@pytest.mark.slow
@check_rows(WORST)
def test_the_longest_review_makes_a_window_that_slack_opens(text: str) -> None:
    made = replace(longest(text, LONGEST), review=full_review(text))
    view = render_details(made)
    assert_opens(view)
    assert_leads_home(view, made)
    assert "Not shown" not in read_view(view)


def test_all_findings_are_in_the_window() -> None:
    made = replace(entry(5), review=BugReview(tuple(finding(f"Finding {n}") for n in range(12))))
    text = read_view(render_details(made))
    assert [n for n in range(12) if f"Finding {n}. " not in text] == []


@pytest.mark.parametrize("depth", [1, pytest.param(10)])
def test_a_long_path_that_is_not_ascii_makes_a_window_that_slack_opens(depth: int) -> None:
    path = "/".join(["漢" * 33] * depth)
    assert_opens(
        render_details(entry(5, entry_summary=summary(evidence=(Evidence(path, "return 1", DiffSide.NEW, 7),))))
    )


@pytest.mark.parametrize("number", [1, 35617, LAST])
def test_the_window_is_titled_with_the_number(number: int) -> None:
    views = [
        render_details(entry(number)),
        render_loading_view(Reference(REPOSITORY, number)),
        render_error_view(UsageError("No."), "a1b2c3", number),
    ]
    assert [view["title"]["text"] for view in views] == [f"#{number}"] * 3
    assert [view["close"]["text"] for view in views] == ["Close"] * 3


@pytest.mark.parametrize("repository", [REPOSITORY, LONGEST], ids=["usual", "longest"])
def test_a_window_that_waits_says_for_what(repository: Repository) -> None:
    view = render_loading_view(Reference(repository, LAST))
    assert_opens(view)
    assert read_view(view) == f"Reading {repository}#{LAST}…"


@given(texts(1_000))
def test_a_window_that_can_not_be_filled_says_why(typed: str) -> None:
    view = render_error_view(UsageError(f"{typed!r} I couldn't find a pull request number."), "a1b2c3", 5)
    assert_opens(view)
    assert read_view(view).endswith(" I couldn't find a pull request number.")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            PullRequestNotFound("octo/engine has no pull request #5."),
            "octo/engine has no pull request #5.",
        ),
        (ZeroDivisionError("<!channel> https://evil.example"), "[a1b2c3]"),
    ],
)
def test_a_window_that_can_not_be_filled_shows_what_a_message_would(error: Exception, expected: str) -> None:
    view = render_error_view(error, "a1b2c3", 5)
    assert_opens(view)
    assert read_view(view).endswith(expected)
    assert "evil" not in read_view(view)


def test_sections_are_shown_whole() -> None:
    long = "The counter moved. " * 140  # far more than a message shows
    text = read_view(render_details(entry(5, entry_summary=summary(what_changed_and_why=long))))
    assert f"What changed and why\n{long.strip()}" in text
    assert [
        name for name in ("Technical impact\n", "Potential risks\n", "Key insights\n") if name not in text
    ] == []


def test_every_quote_is_shown_with_its_place() -> None:
    proof = tuple(Evidence(f"engine/{n}.py", f"return {n}", DiffSide.NEW, n) for n in range(1, MAX_QUOTES + 1))
    text = read_view(render_details(entry(5, entry_summary=summary(evidence=proof))))
    assert [
        citation.path for citation in proof if f"{citation.path}:{citation.line} {citation.quote}" not in text
    ] == []


def test_a_quote_of_a_line_that_is_gone_leads_to_the_diff() -> None:
    made = entry(5, entry_summary=summary(evidence=(Evidence("engine/core.py", "return 1", DiffSide.OLD, 7),)))
    assert "engine/core.py (removed) return 1" in read_view(render_details(made))
    line = "#diff-62cd9605f3f646b295d76b851898fa74e900bbc5ca91b4a1070434244522d05eL7"
    assert f"{made.pull.url}/files{line}" in find_links({"blocks": render_details(made)["blocks"]})


def test_numbers_in_the_sections_are_no_links() -> None:
    view = render_details(entry(5, entry_summary=summary(key_insights="See #5 and #6.")))
    assert find_links({"blocks": view["blocks"]}) == [pull(5).url]


@pytest.mark.parametrize(
    ("count", "all_of_them", "shown", "more"),
    [
        (0, 0, 0, ""),
        (1, 1, 1, ""),
        (20, 20, 20, ""),
        (21, 21, 20, "and 1 more file"),
        (50, 3_000, 20, "and 2,980 more files"),
    ],
)
def test_the_largest_files_come_first_and_the_rest_is_counted(
    count: int, all_of_them: int, shown: int, more: str
) -> None:
    listed = [changed_file(f"engine/{n:02}.py", n + 1, 2) for n in range(count)]
    made = entry(5)
    made = replace(made, pull=replace(made.pull, files=tuple(listed), changed_files=all_of_them))
    view = render_details(made)
    paths = [text for text in strings(view["blocks"]) if text.startswith("engine/")]
    assert paths == [f"engine/{n:02}.py" for n in range(count)][::-1][:shown]
    assert [text for text in strings(view["blocks"]) if "more file" in text] == ([more] if more else [])
    assert (f"{made.pull.url}/files" in find_links({"blocks": view["blocks"]})) == bool(more)


def test_a_file_says_what_happened_to_it() -> None:
    view = render_details(entry(5, files=[changed_file("engine/core.py", 1_234, 5, status="renamed")]))
    assert "engine/core.py renamed, +1,234 −5" in read_view(view)  # noqa: RUF001 (a minus)


def test_files_that_could_not_be_read_are_not_listed() -> None:
    view = render_details(entry(5, files=None, changed_files=7))
    assert "Files" not in read_view(view)
    assert "Risk: not assessed because its files could not be read" in read_view(view)


def test_the_window_says_again_what_it_is_and_how_risky() -> None:
    made = replace(
        entry(5, title="Count once", entry_summary=summary(action="Set the flag.")), risk=Risk(20, ("adds lines",))
    )
    text = read_view(render_details(made))
    assert [
        part for part in ("Count once", "#5 Requests are", "highest", "Set the flag.") if part not in text
    ] == []
    assert len(list(nodes(render_details(made)["blocks"], "header"))) == 1


def test_details_say_why_it_is_rated_so() -> None:
    made = entry(5, title="Speed up kernels", files=[changed_file("csrc/a.cu", 600, 300)])
    text = read_post(Post("", tuple(render_details(made)["blocks"])))
    start = text.index("Why this rating")
    # each reason once, and none that counts nothing
    assert (text.count("600 lines"), "+0.0" in text) == (1, False)
    assert "+15.8 adds 600 lines of product or build code: larger changes need more fixes" in text[start:]
    assert "+3.0 title mentions performance or concurrency: such code is harder to test" in text[start:]
    assert "points: high risk begins at 12, highest at 16" in text[start:]
    assert (
        "Not counted: fix history not loaded. An operator loads it with prdigest backfill --facts --since DATE."
        in text
    )


def test_each_rule_has_a_meaning() -> None:
    source = Path(risk.__file__).read_text(encoding="utf-8")
    assert set(re.findall(r'RuleHit\(\s*"([a-z ]+)"', source)) == set(risk.RULE_MEANINGS)


def test_a_revert_and_what_could_not_be_read_have_no_points() -> None:
    for made in (entry(5, title="Revert #4"), entry(5, files=None)):
        assert "Why this rating" not in str(render_details(made))


def test_a_window_says_why_the_merge_stood_in_a_lead() -> None:
    shown = read_view(render_details(entry(5), lead=(LeadRule.CONFIRMED_FINDING, LeadRule.MUST_ACT)))
    bug = "the AI bug review confirmed a bug in the code"
    assert f"Why it was in the lead{bug}something stops working for those who do not act" in shown
    assert "Why it was in the lead" not in read_view(render_details(entry(5)))
    waiting = read_view(render_details(entry(5), lead=(LeadRule.NOT_REACHABLE,)))
    assert "Why it was not in the leadnothing reaches it yet" in waiting
