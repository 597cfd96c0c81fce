"""The lists of a folder of reports, read by what others read them with: feedparser, Markdown and a JSON schema."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import feedparser
import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt

from bot.features.digest.rules import Digest
from bot.features.report import (
    FEED_ENTRIES,
    ReportedDay,
    ReportedDays,
    build_day,
    clean_line,
    render_contracts,
    render_feed,
    render_index,
)
from impact.contract.models import ChangeKind, ContractChange, ContractClass, Deadline, MergeContract
from impact.coverage import UnreadFile
from tests.features.digest.hostile_days import texts
from tests.helpers.builders import digest, entry, summary
from tests.helpers.tables import check_rows
from tests.hostile.tables.markdown import LINES

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/reports/contract.schema.json").read_text(encoding="utf-8"))
MADE = datetime(2026, 3, 1, 9, tzinfo=UTC)
NO_DAYS = ReportedDays(
    version=1,
    name="Engine",
    repository="octo/engine",
    url="https://github.com/octo/engine",
    time_zone="America/Los_Angeles",
    unread_merges=(),
    days=(),
)
EVIL = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "]]>&amp;<!--", "\x00\x0b\ufffe\ud800")


def make_day(made: Digest, *contracts: MergeContract, **fields: Any) -> ReportedDay:
    """What is kept of a digest; merges without a contract here change nothing."""
    empty = (MergeContract(each.number, each.pull.commit, each.pull.merge_time) for each in made.entries)
    day = build_day(made, [*empty, *contracts], "2026/02/2026-02-28.md", is_final=True, updated=MADE)
    return day.model_copy(update=fields)


def make_contract(*changes: ContractChange, unread: str | None = None) -> MergeContract:
    files = (UnreadFile(unread, "it is too large"),) if unread is not None else ()
    return MergeContract(1, "c" * 40, MADE, changes=changes, unread=files)


def make_removal(name: str, text: str = "") -> ContractChange:
    return ContractChange(ContractClass.FUNCTION, ChangeKind.REMOVED, name, text, "", "engine/core.py", 3)


def parse_feed(reported: ReportedDays) -> Any:
    """The feed as a reader sees it, which finds nothing wrong with it."""
    headers = {"content-type": "application/atom+xml", "content-location": "https://pages.example/a/"}
    read = feedparser.parse(render_feed(reported), response_headers=headers)
    assert not read.bozo, read.bozo_exception
    ids = [read.feed.id, *(each.id for each in read.entries)]
    assert len(set(ids)) == len(ids)
    assert all(each.startswith("urn:uuid:") for each in ids)
    return read


def list_links(markdown: str) -> list[str]:
    tokens = MarkdownIt("commonmark").parse(markdown)
    children = [child for token in tokens for child in (token, *(token.children or ()))]
    assert not {child.type for child in children} & {"html_inline", "html_block", "image", "fence"}
    return [str(child.attrs["href"]) for child in children if child.type == "link_open"]


@check_rows([*LINES.values(), *EVIL])
def test_no_text_of_others_forges_a_list(text: str) -> None:
    check_harmless(text)


@pytest.mark.slow
@given(texts(200))
def test_all_lists_are_valid_and_harmless_whatever_others_write(text: str) -> None:
    check_harmless(text)


def check_harmless(text: str) -> None:
    told = digest(entry(1, title=text, entry_summary=summary(headline=text)))
    named = NO_DAYS.model_copy(update={"name": clean_line(text)})
    reported = named.put_day(make_day(told, make_contract(make_removal(text, text), unread=text)))
    written = render_contracts(reported)
    Draft202012Validator(SCHEMA).validate(json.loads(written))
    assert ReportedDays.model_validate_json(written) == reported
    assert list_links(render_index(reported)) == ["feed.xml", "contract.json", "2026/02/2026-02-28.md"]
    (shown,) = parse_feed(reported).entries
    assert shown.link == "https://pages.example/a/2026/02/2026-02-28.md"
    # nothing in the content is alive but our own elements
    content = fromstring(render_feed(reported)).findtext("{*}entry/{*}content") or ""  # noqa: S314 (our own)
    assert (
        re.sub(r"</?(?:p|ul|li|a)>|<a href=\"https://github.com/octo/engine/pull/1\">", "", content).count("<")
        == 0
    )


def test_a_reader_sees_a_bounded_number_of_days_newest_first() -> None:
    made = make_day(digest(entry(1)))
    reported = NO_DAYS
    for back in range(FEED_ENTRIES + 5):
        reported = reported.put_day(made.model_copy(update={"date": made.date - timedelta(days=back)}))
    read = parse_feed(reported)
    assert len(read.entries) == FEED_ENTRIES
    assert read.entries[0].title == "Engine: 1 merge on Saturday 28 February 2026"
    assert "#1</a> Change number 1" in read.entries[0].content[0].value
    index = render_index(reported)
    assert index.index("2026-02-28") < index.index("2026-02-10")
    assert index.count("\n- [") == FEED_ENTRIES + 5


def test_a_day_that_is_made_again_keeps_its_id_and_is_later() -> None:
    day = make_day(digest(entry(1)))
    first, second = (
        parse_feed(NO_DAYS.put_day(day).put_day(each)).entries[0]
        for each in (day, make_day(digest(entry(1), entry(2)), updated=MADE + timedelta(days=1)))
    )
    assert first.id == second.id
    assert (first.updated, second.updated) == ("2026-03-01T09:00:00Z", "2026-03-02T09:00:00Z")


def test_lists_without_a_day_are_valid() -> None:
    assert parse_feed(NO_DAYS).entries == []
    assert list_links(render_index(NO_DAYS)) == ["feed.xml", "contract.json"]


def test_what_was_not_read_is_said_before_anything_is_counted() -> None:
    reported = NO_DAYS.put_day(make_day(digest(entry(1), entry(2)), make_contract(unread="engine/core.py")))
    fields = json.loads(render_contracts(reported))
    assert fields["unread_merges"] == [1]
    assert [*fields].index("unread_merges") < [*fields].index("days")
    read, unread = sorted(fields["days"][0]["merges"], key=lambda merge: -merge["number"])
    assert (read["unread_files"], unread["unread_files"]) == (
        [],
        [{"path": "engine/core.py", "reason": "it is too large"}],
    )
    index = render_index(reported)
    assert index.index("What 1 merge changed for others could not be fully read.") < index.index("2 merges")


def test_a_change_has_its_line_and_its_deadline_and_no_credential() -> None:
    token = "ghp_" + "a1B2" * 9
    deprecated = ContractChange(
        ContractClass.FLAG,
        ChangeKind.DEPRECATED,
        "--old",
        f"key = '{token}'\n\x00",
        "",
        "engine/a b.py",
        7,
        deadline=Deadline("v0.15", "--new"),
    )
    reported = NO_DAYS.put_day(make_day(digest(entry(1, title=token)), make_contract(deprecated)))
    assert token not in render_contracts(reported) + render_index(reported) + render_feed(reported).decode()
    (change,) = reported.days[0].merges[0].changes
    assert (change.subject, change.kind) == ("flag", "deprecated")
    assert (change.removal, change.replacement) == ("v0.15", "--new")
    assert change.url.endswith("/engine/a%20b.py#L7")


def test_the_headline_is_that_of_the_riskiest_merge() -> None:
    calm, risky = entry(1), entry(2, entry_summary=summary(headline="The cache is dropped"))
    riskiest = digest(calm, risky).riskiest_entries
    shown = riskiest[0] if riskiest else calm
    assert make_day(digest(calm, risky)).headline == f"#{shown.number} {shown.summary.headline}"
    assert make_day(digest()).headline == ""


def test_the_documented_schema_is_that_of_the_model() -> None:
    # json.dumps of the left side, with indent=2, is the file
    assert ReportedDays.model_json_schema() == SCHEMA
