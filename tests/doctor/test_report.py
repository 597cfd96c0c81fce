import json

import click
import pytest

from bot.cli.maintain import format_finding, format_findings_json, format_report
from bot.platform.finding import Finding

OK = Finding.build_success("Store", "redis://localhost answers")
FAILED = Finding.build_failure("Channel C0DIGEST", "archived", "Channel C0DIGEST is archived: choose another one.")
NOTE = Finding.build_unchecked("Worker", "see Store above")


def plain(finding: Finding, encoding: str = "utf-8") -> str:
    return click.unstyle(format_finding(finding, encoding))


def test_each_finding_is_a_line_with_a_mark_and_a_failure_has_a_second_one() -> None:
    assert plain(OK) == "✓ Store: redis://localhost answers"
    assert plain(NOTE) == "– Worker: not checked: see Store above"  # noqa: RUF001 (a dash)
    assert plain(FAILED).split("\n") == [
        "✗ Channel C0DIGEST: archived",
        "  → Channel C0DIGEST is archived: choose another one.",
    ]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "cp437"])
def test_where_the_marks_can_not_be_shown_they_are_words(encoding: str) -> None:
    assert plain(OK, encoding) == "ok   Store: redis://localhost answers"
    assert plain(NOTE, encoding) == "-    Worker: not checked: see Store above"
    assert plain(FAILED, encoding).split("\n") == [
        "FAIL Channel C0DIGEST: archived",
        "     -> Channel C0DIGEST is archived: choose another one.",
    ]


def test_what_a_terminal_can_not_show_does_not_stop_the_rest() -> None:
    text = plain(Finding.build_failure("Slack token", "the workspace is 日本", "Set it (xoxb-…)."), "ascii")
    assert text == "FAIL Slack token: the workspace is ??\n     -> Set it (xoxb-...)."


def test_only_the_mark_is_coloured() -> None:
    assert format_finding(FAILED, "utf-8").startswith("\x1b[31m✗\x1b[0m Channel")


@pytest.mark.parametrize("evil", ["\x1b[2J", "\n+ fine", "\u202e", "\r"], ids=ascii)
def test_a_name_from_outside_steers_no_terminal(evil: str) -> None:
    text = plain(Finding.build_success("Channel C0DIGEST", f"#{evil}general"))
    assert text.isprintable()


def test_what_is_to_be_fixed_comes_first() -> None:
    good, remark, to_fix = plain(OK), plain(NOTE), plain(FAILED)
    shown = [
        (click.unstyle(format_report(findings, "utf-8")), expected)
        for findings, expected in (
            ([OK, NOTE], f"I couldn't make 1 check. No problems found.\n{good}\n{remark}"),
            ([OK, FAILED, NOTE], f"1 problem to fix:\n{to_fix}\n\n{good}\n{remark}"),
            ([FAILED, OK, FAILED], f"2 problems to fix:\n{to_fix}\n{to_fix}\n\n{good}"),
        )
    ]
    assert [report for report, _ in shown] == [expected for _, expected in shown]


def test_scripts_get_a_list_of_plain_values() -> None:
    assert json.loads(format_findings_json([OK, FAILED, NOTE])) == [
        {"name": "Store", "status": "ok", "found": "redis://localhost answers", "advice": ""},
        {
            "name": "Channel C0DIGEST",
            "status": "failed",
            "found": "archived",
            "advice": "Channel C0DIGEST is archived: choose another one.",
        },
        {"name": "Worker", "status": "note", "found": "not checked: see Store above", "advice": ""},
    ]
