"""What code proved to break callers: first in a lead, in the thread and in a list of risks, and never left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bot.features.digest.lead import render_lead
from bot.features.digest.rules import Digest, Overview
from bot.features.digest.thread import render_thread
from bot.features.merges.requests import DigestView, ViewLevel
from bot.features.merges.risk import Risk
from bot.platform.slack.blocks import MAX_LEAD_WORDS, count_words
from impact.contract.models import ChangeKind, ContractClass, MergeContract
from impact.coverage import UnreadFile
from tests.features.touches.touched_days import change, contract
from tests.helpers.builders import digest, entry, summary
from tests.helpers.tables import check_rows
from tests.platform.slack.accepted import assert_accepted, read_post

GONE = change(subject=ContractClass.FUNCTION, name="engine.core.stop")
FLAG = change(subject=ContractClass.FLAG, name="--old")
QUIET = change(kind=ChangeKind.ADDED, subject=ContractClass.FLAG, name="--new")
UNREAD = UnreadFile("engine/core.py", "it is too large")


def breaking_day(*contracts: MergeContract, **fields: Any) -> Digest:
    """A day of merges of the lowest band, whose claims are as long as many a model's."""
    numbers = range(len(contracts), 0, -1)
    entries = [replace(entry(number), risk=Risk(-6, ("docs alone",))) for number in numbers]
    return digest(*entries, contracts=contracts, **fields)


def read_lead(made: Digest) -> str:
    return read_post(render_lead(made))


@check_rows(
    {
        "a name is gone": (contract(1, GONE), "Breaking#1 Change number 1 — core.stop is gone\n"),
        "what people write comes first": (
            contract(1, GONE, FLAG),
            "Breaking#1 Change number 1 — --old and core.stop are gone\n",
        ),
        "what is new breaks nothing": (contract(1, QUIET), ""),
        "not read": (
            replace(contract(1), unread=(UNREAD,)),
            "",
        ),
        "read in part": (
            replace(contract(1, GONE), unread=(UNREAD,), files=("a.py", "engine/core.py")),
            "Breaking#1 Change number 1 — core.stop is gone\n",
        ),
    }
)
def test_the_lead_says_what_breaks_callers_whatever_the_band(made: MergeContract, expected: str) -> None:
    text = read_lead(breaking_day(made))
    assert expected in text
    assert ("Breaking" in text) is bool(expected)


def test_it_stands_above_the_riskiest_and_what_takes_most_away_comes_first() -> None:
    many = [replace(GONE, name=f"engine.core.stop{place}") for place in range(7)]
    made = breaking_day(contract(1, GONE), contract(2, *many), contract(3, QUIET))
    risky = replace(made.entries[0], risk=Risk(20, ("adds 400 lines",)))
    text = read_lead(replace(made, entries=(risky, *made.entries[1:])))
    first = "#2 Change number 2 — core.stop0, core.stop1 and core.stop2 are gone (and 4 more)"
    assert f"{first}#1 Change number 1 — core.stop" in text.replace("\n", "")
    assert text.index("Breaking") < text.index("Riskiest")


def test_no_bound_of_words_hides_a_merge_that_breaks_callers() -> None:
    asking = summary(risk_reason="It may count twice " * 12, action="Set the flag " * 12)
    made = breaking_day(*(contract(number, GONE) for number in range(1, 25)), overview=Overview("Calm. " * 90))
    entries = [replace(each, summary=asking, risk=Risk(20, ("adds 400 lines",))) for each in made.entries]
    post = render_lead(replace(made, entries=tuple(entries)))
    assert_accepted(post, made)
    listed = read_post(post).partition("Breaking")[2].partition("Riskiest")[0]
    assert all(f"#{number}" in listed for number in range(1, 25))
    assert count_words(post.blocks) <= MAX_LEAD_WORDS
    assert "…" not in read_post(post)


def test_what_was_reverted_breaks_nobody_any_more() -> None:
    first, second = entry(1), entry(2, title="Revert #1", merged_at=entry(1).pull.merge_time.replace(hour=23))
    made = digest(second, first, contracts=(contract(1, GONE),))
    assert made.reverted_numbers == {1}
    assert "Breaking" not in read_lead(made)


def test_the_thread_has_each_change_with_its_line() -> None:
    made = breaking_day(contract(1, GONE, QUIET))
    (post,) = render_thread(made)
    assert read_post(post).startswith("Breaking: #1 Change number 1core.stop is gone (sched.py:88)\n")
    assert "--new" not in read_post(post), "what adds is told to those whose code is known"


def test_a_view_of_these_alone_says_that_there_are_none() -> None:
    view = DigestView(only=ViewLevel.BREAKING)
    assert "Nothing breaks callers." in read_lead(digest(view=view, hidden=3, contracts=(contract(1),)))
    unread = digest(view=view, hidden=3, contracts=(replace(contract(1), unread=(UNREAD,)),))
    assert "Nothing breaks" not in read_lead(unread)
    assert "so I can't tell" in read_lead(unread)


@check_rows(["<!channel>", "`x`", "<https://evil.example|x>", "x" * 400, "\u202e", "a b c d e f"])
def test_names_of_strangers_are_literal(name: str) -> None:
    hostile = replace(FLAG, name=f"--{name}", path=f"{name}.py")
    made = breaking_day(contract(1, hostile))
    assert_accepted(render_lead(made), made)
    for post in render_thread(made):
        assert "<!channel>" not in post.text
