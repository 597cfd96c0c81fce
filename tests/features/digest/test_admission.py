"""Which lines a lead has, in which order, and by which rule each was admitted; its sentences are whole."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.digest.lead import build_lead, render_lead
from bot.features.digest.rules import Digest, Overview
from bot.features.digest.thread import render_thread
from bot.features.digest.view import render_digest
from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.review import BugFinding, BugReview, Certainty, FindingAdvice, FindingStatus
from bot.features.merges.risk import Risk
from bot.features.merges.view import Entry, LeadRule
from bot.platform.slack.blocks import MAX_LEAD_WORDS, count_words
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.history.outcomes import OutcomeKind
from impact.source.models import DiffSide
from tests.features.digest.hostile_days import digests
from tests.helpers.builders import NOON, changed_file, digest, entry, finding, pull, summary
from tests.helpers.tables import check_rows
from tests.platform.slack.accepted import read_post, strings

CRASH = finding("The engine stops with a KeyError", trigger="two adapters share a name", affected="LoRA servers")
WRONG = finding(
    "Answers are computed with the wrong scale",
    trigger="the cache is quantized",
    affected="who serves with an fp8 cache",
    certainty=Certainty.MEDIUM,
)
POSSIBLE = replace(CRASH, status=FindingStatus.POSSIBLE, evidence=None)
UNSURE = replace(POSSIBLE, certainty=Certainty.MEDIUM)


def reviewed(
    number: int, *findings: BugFinding, points: float = 5, action: str = "", condition: str = "", **fields: Any
) -> Entry:
    made = entry(number, entry_summary=summary(action=action, condition=condition), **fields)
    return replace(made, risk=Risk(points, ("adds 400 lines",)), review=BugReview(findings))


def list_rules(day_digest: Digest) -> list[tuple[int, LeadRule]]:
    return [(line.number, line.rule) for line in build_lead(day_digest)[1]]


def gone(number: int) -> MergeContract:
    made = pull(number)
    change = ContractChange(
        ContractClass.FLAG, ChangeKind.REMOVED, "--old", "--old", "", "engine/arguments.py", 7, DiffSide.OLD
    )
    return MergeContract(number, made.commit, made.merge_time, made.title, (change,))


BACK = pull(9, title='Revert "Count once" (#5)', merged_at=NOON + timedelta(hours=1))
ELSEWHERE = pull(8, files=[changed_file("engine/other.py")])
ADMITTED: dict[str, tuple[Digest, list[tuple[int, LeadRule]]]] = {
    "nothing": (digest(entry(1)), []),
    "a confirmed bug, whatever its points": (
        digest(reviewed(1, CRASH, points=0)),
        [(1, LeadRule.CONFIRMED_FINDING)],
    ),
    "a very likely one": (digest(reviewed(1, POSSIBLE)), [(1, LeadRule.LIKELY_FINDING)]),
    "an unsure one of few points": (digest(reviewed(1, UNSURE, points=1)), []),
    "an unsure one of many points": (digest(reviewed(1, UNSURE, points=20)), [(1, LeadRule.RISKY)]),
    "a very likely one where lists were no better than chance": (
        digest(reviewed(1, POSSIBLE, points=1), is_reduced=True),
        [],
    ),
    "a confirmed one where lists were no better than chance": (
        digest(reviewed(1, CRASH), is_reduced=True),
        [(1, LeadRule.CONFIRMED_FINDING)],
    ),
    "two of one merge": (
        digest(reviewed(1, WRONG, CRASH)),
        [(1, LeadRule.CONFIRMED_FINDING), (1, LeadRule.CONFIRMED_FINDING)],
    ),
    "one in another branch": (digest(reviewed(1, CRASH, base="release")), []),
    "points alone": (digest(replace(reviewed(1, points=20), review=None)), [(1, LeadRule.RISKY)]),
    "a reverted one": (
        digest(reviewed(5, CRASH), outcomes=(MergeOutcome(pull(5), BACK),)),
        [(5, LeadRule.REVERTED)],
    ),
    "one that was reverted in part": (
        digest(reviewed(5), outcomes=(MergeOutcome(pull(5), BACK, OutcomeKind.PARTLY),)),
        [(5, LeadRule.REVERTED)],
    ),
    "a repaired one": (
        digest(reviewed(5, CRASH), outcomes=(MergeOutcome(pull(5), BACK, OutcomeKind.REPAIRED),)),
        [(5, LeadRule.REPAIRED)],
    ),
    "a repair of another file than the bug's": (
        digest(reviewed(5, CRASH), outcomes=(MergeOutcome(pull(5), ELSEWHERE, OutcomeKind.REPAIRED),)),
        [(5, LeadRule.REPAIRED), (5, LeadRule.CONFIRMED_FINDING)],
    ),
    "one whose revert was reverted": (
        digest(reviewed(5, CRASH), outcomes=(MergeOutcome(pull(5), BACK, stands=False),)),
        [(5, LeadRule.CONFIRMED_FINDING)],
    ),
    "gone for callers": (digest(entry(1), contracts=(gone(1),)), [(1, LeadRule.GONE_FOR_CALLERS)]),
    "a must": (digest(reviewed(1, action="Builds need CMake 4.")), [(1, LeadRule.MUST_ACT)]),
    "a should": (digest(reviewed(1, action="The default is on.")), [(1, LeadRule.SHOULD_ACT)]),
    "a may": (digest(reviewed(1, action="You may pass `--fast`.")), [(1, LeadRule.MAY_ACT)]),
    "an action that nothing reaches yet": (
        digest(reviewed(1, points=20, action="Builds need CMake 4.", condition="not reachable yet")),
        [(1, LeadRule.NOT_REACHABLE)],
    ),
    "a very likely bug that nothing reaches yet": (
        digest(reviewed(1, POSSIBLE, condition="not reachable yet")),
        [(1, LeadRule.NOT_REACHABLE)],
    ),
    "a confirmed one, so that something does": (
        digest(reviewed(1, CRASH, condition="not reachable yet")),
        [(1, LeadRule.CONFIRMED_FINDING)],
    ),
    "gone for callers, of what nothing reaches yet": (
        digest(reviewed(1, condition="not reachable yet"), contracts=(gone(1),)),
        [(1, LeadRule.GONE_FOR_CALLERS), (1, LeadRule.NOT_REACHABLE)],
    ),
    "an action that was cut": (digest(reviewed(1, action="Builds need…")), []),
}


@check_rows(ADMITTED)
def test_each_line_has_the_rule_that_admits_it(day_digest: Digest, lines: list[tuple[int, LeadRule]]) -> None:
    assert list_rules(day_digest) == lines


def build_full_day() -> Digest:
    """A day on which every kind of line competes; the bugs are in merges that the rules rate low."""
    merged = [
        reviewed(1, action="The models need a newer `transformers`."),
        reviewed(2, action="You may pass `--fast`."),
        reviewed(3, action="The default of `--seed` is 0."),
        reviewed(4, WRONG),
        reviewed(5, CRASH),
        reviewed(6, UNSURE, points=12),
        reviewed(7, POSSIBLE, points=9),
        *(replace(reviewed(number, points=20), review=None) for number in (11, 12)),
        entry(20),
        entry(21),
    ]
    gone_back = MergeOutcome(merged[-1].pull, pull(22), OutcomeKind.REPAIRED)
    return digest(*merged, contracts=(gone(20),), outcomes=(gone_back,))


def test_what_is_proved_comes_first_then_bugs_by_certainty_then_risks_then_musts() -> None:
    assert list_rules(build_full_day()) == [
        (21, LeadRule.REPAIRED),
        (20, LeadRule.GONE_FOR_CALLERS),
        (5, LeadRule.CONFIRMED_FINDING),
        (4, LeadRule.CONFIRMED_FINDING),
        (7, LeadRule.LIKELY_FINDING),
        (11, LeadRule.RISKY),
        (1, LeadRule.MUST_ACT),
        (3, LeadRule.SHOULD_ACT),
        (2, LeadRule.MAY_ACT),
    ]
    text = read_post(render_lead(build_full_day()))
    titles = ("Already reverted or repaired", "Breaking", "AI bug review", "Riskiest", "May need action")
    assert sorted(titles, key=text.index) == list(titles)
    assert (
        "#4 Change number 4 — Confirmed in the code: Answers are computed with the wrong scale. Fails when the "
        "cache is quantized. Affected: who serves with an fp8 cache. 🟡 middle risk"
    ) in text


def test_harm_decides_where_certainty_is_equal() -> None:
    milder = replace(CRASH, advice=FindingAdvice.WATCH)
    assert [line[0] for line in list_rules(digest(reviewed(1, milder, points=9), reviewed(2, CRASH)))] == [2, 1]


@pytest.mark.parametrize("count", [5, 20, 60])
def test_a_day_of_many_bugs_has_whole_lines_for_the_first_and_the_numbers_of_the_others(count: int) -> None:
    overview = Overview("Requests are now counted once, in one place. " * 13)
    made = [reviewed(number, CRASH, action=f"Builds need CMake {number}.") for number in range(1, count + 1)]
    day_digest = digest(*made, overview=overview)
    text = read_post(render_lead(day_digest))
    shown = text.count("The engine stops with a KeyError. Fails when two adapters share a name.")
    rest = re.search(r"and (\d+) more, in the thread: #", text.partition("AI bug review")[2].partition("May")[0])
    assert shown >= 4
    assert shown + int(rest[1] if rest else 0) == count
    assert "May need action" in text


def test_how_the_day_was_read_gives_way_first() -> None:
    made = [reviewed(number, CRASH) for number in range(1, 6)]
    quiet = read_post(render_lead(digest(*made, overview=Overview("A calm day."))))
    busy = read_post(render_lead(digest(*made, overview=Overview("A day of many words. " * 18))))
    assert ("All 5 read in full" in quiet, "All 5 read in full" in busy) == (True, False)
    assert busy.count("Affected: LoRA servers. ") == quiet.count("Affected: LoRA servers. ") == 5


@given(digests(), st.booleans())
@pytest.mark.slow
def test_nothing_in_a_lead_is_cut(day_digest: Digest, is_reviewed: bool) -> None:
    """Names that GitHub limits may be; here they are short. What is cut before it comes is left out."""
    entries = (made if is_reviewed else replace(made, review=None) for made in day_digest.entries)
    post = render_lead(replace(day_digest, entries=tuple(entries)))
    assert [text for text in strings(list(post.blocks)) if "…" in text] == []
    assert "…" not in post.text
    assert count_words(post.blocks) <= MAX_LEAD_WORDS


def test_the_thread_has_the_bugs_that_have_no_line_in_the_lead() -> None:
    (part,) = render_thread(digest(reviewed(1, WRONG), reviewed(2, UNSURE)))
    bug = "Answers are computed with the wrong scale. Fails when the cache is quantized. Affected: who serves with"
    assert f"counted once. Confirmed in the code: {bug} an fp8 cache (" in read_post(part)
    assert "counted once. Unconfirmed: The engine stops with a KeyError. Fails when" in read_post(part)


def test_the_rules_of_its_lines_are_kept_with_the_ratings() -> None:
    ratings = render_digest(build_full_day()).ratings
    assert ratings is not None
    kept = {each.number: each.lead for each in ratings.rated}
    assert kept[5] == (LeadRule.CONFIRMED_FINDING,)
    assert kept[1] == (LeadRule.MUST_ACT,)
    assert kept[6] == ()
    listed = {each.number for each in ratings.rated if each.is_listed}
    assert listed == {4, 5, 7, 11}
