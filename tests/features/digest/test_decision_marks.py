"""What a team said about hits, in messages that were posted: behind the hit in the lead, below its buttons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from localslack.rules.messages import check_message, find_mentions

from bot.domain.pull_requests.reference import Reference
from bot.domain.touches.decisions import HitKey, TouchDecision, TouchVerdict
from bot.features.digest.marks import add_decisions, add_outcomes
from bot.features.digest.view import render_digest
from tests.helpers.builders import NOON, REPOSITORY, digest, entry
from tests.render.accepted import nodes, strings
from tests.render.hostile_days import WORST, full_day
from tests.render.touched_days import fill, make_hit, report

HITS = replace(digest(*map(entry, (45, 5, 4))), touches=report(make_hit(4), make_hit(45), make_hit(5)))


def make_decision(number: int, verdict: TouchVerdict = TouchVerdict.OURS) -> dict[int, TouchDecision]:
    return {number: TouchDecision(HitKey(Reference(REPOSITORY, number)), verdict, "U0ADA", NOON)}


def build_payloads() -> tuple[dict[str, Any], dict[str, Any]]:
    """The lead and the message with the hits."""
    made = render_digest(HITS)
    return made.lead.build_payload(), made.thread[0].build_payload()


def lines(message: Mapping[str, Any]) -> list[str]:
    return ["".join(strings(section)) for section in nodes(message["blocks"], "rich_text_section")]


@pytest.mark.parametrize("verdict", TouchVerdict)
def test_it_stands_behind_its_hit_in_the_lead_and_no_other(verdict: TouchVerdict) -> None:
    lead, _ = build_payloads()
    after = add_decisions(lead, make_decision(4, verdict))
    changed = [line for line in lines(after) if line not in lines(lead)]
    assert [line.startswith("#4 ") and line.endswith(f" — {verdict}") for line in changed] == [True]


def test_who_said_it_and_when_stands_below_the_buttons() -> None:
    _, hits = build_payloads()
    blocks = add_decisions(hits, make_decision(5))["blocks"]
    place = next(number for number, block in enumerate(blocks) if block.get("block_id") == "hit-5")
    (section,) = nodes(blocks[place + 1], "rich_text_section")
    user, *_, date = section["elements"]
    assert (user, date["type"], date["timestamp"]) == (
        {"type": "user", "user_id": "U0ADA"},
        "date",
        int(NOON.timestamp()),
    )
    assert "".join(strings(section)) == " said: ours to do, "
    assert [block for block in blocks if block not in hits["blocks"]] == [blocks[place + 1]]


def test_a_later_one_takes_its_place_as_messages_are_made_from_what_was_posted() -> None:
    _, hits = build_payloads()
    first, second = (
        add_decisions(hits, make_decision(5, verdict)) for verdict in (TouchVerdict.OURS, TouchVerdict.DONE)
    )
    assert first != second
    assert len(first["blocks"]) == len(second["blocks"]) == len(hits["blocks"]) + 1


def test_without_a_decision_a_message_stays_as_it_is() -> None:
    for message in build_payloads():
        assert add_decisions(message, {}) == message
        assert add_decisions(message, make_decision(99)) == message


@pytest.mark.slow
@pytest.mark.parametrize("text", WORST.values(), ids=list(WORST))
def test_a_message_with_every_decision_is_still_taken(text: str) -> None:
    made = render_digest(fill(full_day(12, text), text, 0))
    numbers = range(100_000, 100_020)
    every = {number: decision for each in numbers for number, decision in make_decision(each).items()}
    for post in (made.lead, *made.thread):
        message = add_decisions(add_outcomes(post.build_payload(), ()), every)
        assert check_message(message) is None
        # the user who said it, and nobody else
        assert set(find_mentions(message)) <= {"<@U0ADA>", "U0ADA"}


def test_decisions_do_not_depend_on_their_order() -> None:
    _, hits = build_payloads()
    both = {**make_decision(5), 4: replace(make_decision(4)[4], at=NOON + timedelta(hours=1))}
    assert add_decisions(hits, both) == add_decisions(hits, dict(reversed(both.items())))
