import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given

from bot.dates import LocalDay, parse_zone
from bot.features.digest.rules import Digest
from bot.features.digest.view import format_sections, render_report
from bot.features.merges.requests import DigestView, ViewLevel
from bot.features.merges.summary import ChangeType, build_fallback_summary
from bot.platform.models.packing import Coverage
from bot.platform.pulls.models import GHOST, Account
from bot.platform.pulls.paths import Filters
from bot.platform.pulls.sources import CountCheck
from impact.text.strings import parse_date
from tests.features.digest.hostile_days import digests
from tests.helpers.builders import changed_file, digest, entry, failed, pull, summary

FIRST = entry(
    12,
    title="[Core] Count a|b once",
    author=Account("dependabot", is_bot=True),
    merged_by=GHOST,
    merged_at=datetime(2026, 3, 1, 7, 59, 59, tzinfo=UTC),
    files=[changed_file("engine/core.py"), changed_file("docs/a b.md")],
    entry_summary=summary(what_changed_and_why="Counts `a | b`.\n\nAnd `a \\| b`."),
)
SECOND = entry(
    7, merged_at=datetime(2026, 2, 28, 8, 0, 0, tzinfo=UTC), entry_summary=summary(type=ChangeType.TRIVIAL)
)
SMALL = """\
# Engine Merged PR Report

**Report Date:** 2026-02-28 PST

**Total Merged PRs:** 2

---

## 1. [[Core] Count a\\|b once](https://github.com/octo/engine/pull/12)


### Base Information

- **PR Number:** #12
- **Author:** [dependabot](https://github.com/apps/dependabot)
- **Merged By:** [ghost](https://github.com/ghost)
- **Merged time:** 2026-02-28 23:59:59
- **Type:** `SUBSTANTIAL`
- **[Changed Files](https://github.com/octo/engine/pull/12/files) (2):**
  - `engine/core.py`
  - `docs/a b.md`

### Summary

**What changed and why**  \n\
Counts `a \\| b`.

And `a \\| b`.

**Technical impact**  \n\
One place counts.

**Potential risks**  \n\
None stand out.

**Key insights**  \n\
Read the counter.

---

## 2. [Change number 7](https://github.com/octo/engine/pull/7)


### Base Information

- **PR Number:** #7
- **Author:** [ada-dev](https://github.com/ada-dev)
- **Merged By:** [merge-bot](https://github.com/merge-bot)
- **Merged time:** 2026-02-28 00:00:00
- **Type:** `TRIVIAL`
- **[Changed Files](https://github.com/octo/engine/pull/7/files) (1):**
  - `engine/core.py`

### Summary

**What changed and why**  \n\
The counter moved.

**Technical impact**  \n\
One place counts.

**Potential risks**  \n\
None stand out.

**Key insights**  \n\
Read the counter.

---

"""


def test_a_report_has_four_sections_also_where_there_is_no_insight() -> None:
    assert format_sections(summary(key_insights="")).endswith("**Key insights**  \nNone beyond the above.")


def test_a_small_report_is_exactly_this() -> None:
    assert render_report(digest(FIRST, SECOND)) == SMALL


def test_a_day_without_merges_is_a_head_alone() -> None:
    assert render_report(digest()) == (
        "# Engine Merged PR Report\n\n**Report Date:** 2026-02-28 PST\n\n**Total Merged PRs:** 0\n\n---\n\n"
    )
    cut = render_report(digest(count=CountCheck(3, "the commits of main")))
    assert "**Not Read:** I couldn't read 3 of 3 merges in GitHub's list, so I can't tell." in cut
    assert cut.index("Not Read") < cut.index("Total")


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a|b", "a\\|b"),
        ("a\\|b", "a\\|b"),
        ("||", "\\|\\|"),
        ("|a\\||", "\\|a\\|\\|"),
        ("<b> *x* _y_ [z](u) `c` #1 & # $", "&lt;b> *x* _y_ [z]\\(u) `c` #1 & # $"),
        ("\\n", "\\n"),
    ],
)
def test_bars_are_escaped_once_and_what_is_harmless_is_not(text: str, escaped: str) -> None:
    model_summary = summary(
        what_changed_and_why=text, technical_impact=text, potential_risks=text, key_insights=text
    )
    assert format_sections(model_summary).split("\n") == [
        "**What changed and why**  ",
        escaped,
        "",
        "**Technical impact**  ",
        escaped,
        "",
        "**Potential risks**  ",
        escaped,
        "",
        "**Key insights**  ",
        escaped,
    ]
    assert f"## 1. [{escaped}](https://github.com/octo/engine/pull/1)\n" in render_report(
        digest(entry(1, title=text))
    )


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (DigestView(only=ViewLevel.RISKY), "only:risky"),
        (DigestView(Filters(paths=("a b",), not_authors=("bots",))), 'path:"a b" not-author:bots'),
        (DigestView(Filters(labels=("x`y\n# z",))), 'label:"xy # z"'),
    ],
)
def test_the_report_of_a_view_says_what_it_shows_of_how_many(view: DigestView, words: str) -> None:
    text = render_report(digest(FIRST, view=view, hidden=2))
    assert f"**Total Merged PRs:** 3\n\n**Shown:** 1, by `{words}`\n\n---\n\n## 1. " in text
    whole = render_report(digest(FIRST))
    assert text.partition("## 1. ")[2] == whole.partition("## 1. ")[2]


def test_a_title_on_several_lines_is_put_on_one() -> None:
    assert "\n## 1. [one two  three](https" in render_report(digest(entry(1, title="one\r\ntwo \nthree")))


def test_without_changed_files_there_is_no_bullet_for_them() -> None:
    made = replace(entry(1), pull=pull(1, files=None))
    text = render_report(digest(made))
    assert "Changed Files" not in text
    assert "- **Type:** `SUBSTANTIAL`\n\n### Summary\n" in text


def test_files_that_are_counted_and_not_listed_leave_the_bullet_with_the_count() -> None:
    made = replace(entry(1), pull=pull(1, files=None, changed_files=3_200))
    assert "/pull/1/files) (3200):**\n\n### Summary\n" in render_report(digest(made))


def test_files_stay_in_the_order_of_github() -> None:
    paths = ["b.py", "a.py", "docs/z.md"]
    text = render_report(digest(entry(1, files=[changed_file(path) for path in paths])))
    assert re.findall(r"^  - `(.+)`$", text, re.M) == paths


def test_a_fallback_says_so_in_the_first_line_of_its_summary() -> None:
    made = pull(1, body="Counts once.")
    fallback_entry = replace(
        entry(1), summary=build_fallback_summary(made, failed("the model is busy"), Coverage.FULL)
    )
    _, after = render_report(digest(fallback_entry)).split("### Summary\n\n")
    assert after.split("\n")[:2] == [
        "**What changed and why**  ",
        "*No model summary: the model is busy. The facts stand in for it.*",
    ]


@pytest.mark.parametrize(
    ("zone", "date", "merged", "shown"),
    [
        ("America/Los_Angeles", "2026-03-08 PST", "2026-03-08T10:30:00", "2026-03-08 03:30:00"),
        ("America/Los_Angeles", "2026-11-01 PDT", "2026-11-01T09:30:00", "2026-11-01 01:30:00"),
        ("Europe/Berlin", "2026-07-01 CEST", "2026-07-01T10:00:00", "2026-07-01 12:00:00"),
        ("UTC", "2026-02-28 UTC", "2026-02-28T23:59:59", "2026-02-28 23:59:59"),
        ("Asia/Kathmandu", "2026-02-28 +0545", "2026-02-27T18:15:00", "2026-02-28 00:00:00"),
    ],
)
def test_date_and_times_are_those_of_the_zone(zone: str, date: str, merged: str, shown: str) -> None:
    made = entry(1, merged_at=datetime.fromisoformat(merged).replace(tzinfo=UTC))
    text = render_report(replace(digest(made), day=LocalDay(parse_date(date[:10]), parse_zone(zone))))
    assert f"\n**Report Date:** {date}\n" in text
    assert f"\n- **Merged time:** {shown}\n" in text


@given(digests())
@pytest.mark.slow
def test_whatever_the_texts_the_entries_are_in_order_and_counted(day_digest: Digest) -> None:
    text = render_report(day_digest)
    numbers = [int(number) for number in re.findall(r"^- \*\*PR Number:\*\* #(\d+)$", text, re.M)]
    assert numbers == [entry.number for entry in day_digest.entries]
    places = re.findall(r"^## (\d+)\. \[.*\]\(https://github\.com/octo/engine/pull/\d+\)\n", text, re.M)
    assert places == [str(place) for place in range(1, len(numbers) + 1)]
    assert not re.search(r"(?<!\\)\|", "".join(re.findall(r"^## .*$", text, re.M)))
