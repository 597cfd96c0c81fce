"""The answer to "What broke us?": readable, with its line, and accepted by Slack whatever the texts say."""

import json
from dataclasses import replace
from urllib.parse import quote

import pytest
from hypothesis import given
from localslack.rules.messages import find_links

from bot.features.touches.terminal import format_json, format_suspects
from bot.features.touches.view import render_suspects
from impact.contract.models import ChangeKind, ContractClass
from impact.coverage import Coverage, CoveredList, CoveredPart
from impact.documents import describe_suspects
from impact.source.models import DiffSide
from impact.testing.touches import make_change
from impact.touches.breakage.suspects import Suspect, SuspectReport
from impact.touches.breakage.traceback_names import parse_trace
from tests.features.digest.hostile_days import texts
from tests.helpers.builders import NOON, REPOSITORY
from tests.platform.slack.accepted import assert_taken, invisible, read_post

COMMIT = "4f5c1a9" + "0" * 33
CHANGE = make_change(ChangeKind.SIGNATURE, "up.a.Model.run", ContractClass.METHOD, "(self, size=None)", "(self)")
SUSPECT = Suspect(7, "Drop the size", COMMIT, NOON, 92.4, "removes the argument `size` of `Model.run`", CHANGE)
TRACE = parse_trace("TypeError: Model.run() got an unexpected keyword argument 'size'")
REPORT = SuspectReport(TRACE, "2026-02-24", "2026-02-28", 120, CoveredList((SUSPECT,)))
NONE = replace(REPORT, suspects=CoveredList())
UNREAD = Coverage.of(CoveredPart("changed files", 68, 68, "the demo has no source files"))


def test_the_whole_of_it_as_it_is_read_in_a_terminal() -> None:
    suspects = CoveredList((SUSPECT, replace(SUSPECT, number=5, reverted_by=6, change=None)))
    report = replace(REPORT, suspects=suspects, omitted=2)
    assert format_suspects(report) == (
        "4 suspects among 120 merges (2026-02-24..2026-02-28).\n\n"
        "Looked for: TypeError: Model.run() got an unexpected keyword argument 'size'\n\n"
        "1. #7 Drop the size\n"
        "   4f5c1a9000 · 2026-02-28 · 92 of 100 points\n"
        "   It removes the argument `size` of `Model.run`.\n"
        "   up/a.py:3\n"
        "   - (self, size=None)\n"
        "   + (self)\n\n"
        "2. #5 Drop the size\n"
        "   4f5c1a9000 · 2026-02-28 · 92 of 100 points · reverted by #6\n"
        "   It removes the argument `size` of `Model.run`.\n\n"
        "2 more suspects with fewer points."
    )


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        (NONE, "None of 120 merges (2026-02-24..2026-02-28) explains this error."),
        (NONE, "choose an earlier start"),
        (replace(NONE, trace=parse_trace("it is broken")), "I see no name in this error"),
        (replace(NONE, merges=0), "Nothing was merged (2026-02-24..2026-02-28)."),
        (
            replace(NONE, suspects=CoveredList((), UNREAD)),
            "I couldn't read 68 of 68 changed files (the demo has no source files), so I can't tell.",
        ),
        (replace(REPORT, suspects=CoveredList((SUSPECT,), UNREAD)), "so there may be more."),
    ],
)
def test_what_is_missing_is_said(report: SuspectReport, sentence: str) -> None:
    assert sentence in format_suspects(report)
    assert sentence in read_post(render_suspects("engine", REPOSITORY, report))


def test_each_suspect_links_to_its_merge_and_its_line() -> None:
    addresses = find_links(render_suspects("engine", REPOSITORY, REPORT).build_payload())
    assert f"https://github.com/{REPOSITORY}/pull/7" in addresses
    assert f"https://github.com/{REPOSITORY}/blob/{COMMIT}/up/a.py#L3" in addresses


def test_a_line_that_is_gone_has_no_address_of_its_own() -> None:
    suspect = replace(SUSPECT, change=replace(CHANGE, side=DiffSide.OLD))
    post = render_suspects("engine", REPOSITORY, replace(REPORT, suspects=CoveredList((suspect,))))
    addresses = find_links(post.build_payload())
    assert set(addresses) == {f"https://github.com/{REPOSITORY}/pull/7"}


def test_a_commit_without_a_pull_request_is_named_by_its_hash() -> None:
    report = replace(REPORT, suspects=CoveredList((replace(SUSPECT, number=-1),)))
    assert "1. 4f5c1a9000 Drop the size" in format_suspects(report)
    addresses = find_links(render_suspects("engine", REPOSITORY, report).build_payload())
    assert f"https://github.com/{REPOSITORY}/commit/{COMMIT}" in addresses


def test_scripts_get_every_field() -> None:
    [suspect] = json.loads(format_json(describe_suspects(REPORT)))["suspects"]
    assert (suspect["pr"], suspect["score"], suspect["change"]["name"]) == (7, 92.4, "up.a.Model.run")


@given(texts(200), texts(200), texts(400))
def test_slack_takes_it_whatever_the_texts_say(title: str, path: str, error: str) -> None:
    change = replace(CHANGE, path=f"a{path}", before=error, after=title, name=f"up.{path}")
    suspect = replace(SUSPECT, title=title, reason=f"removes `{path}`", change=change)
    report = replace(
        REPORT, trace=parse_trace(f"{error}\nKeyError: '{title}'"), suspects=CoveredList((suspect,) * 5)
    )
    post = render_suspects(title, REPOSITORY, report)
    page = f"https://github.com/{REPOSITORY}"
    assert_taken(post, {f"{page}/pull/7", f"{page}/blob/{COMMIT}/{quote(change.path)}#L3"})
    assert format_suspects(report)
    assert json.loads(format_json(describe_suspects(report)))


def test_a_path_is_shown_without_what_would_turn_it_round() -> None:
    suspect = replace(SUSPECT, change=replace(CHANGE, path="up/\u202egnp.evil/\n" + "x" * 400))
    text = read_post(render_suspects("engine", REPOSITORY, replace(REPORT, suspects=CoveredList((suspect,)))))
    assert invisible(text) == []
    assert "up/gnp.evil/ x" in text
    assert "x" * 200 not in text
