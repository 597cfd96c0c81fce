from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.rules.messages import check_message, find_links, find_mentions

from bot.features.digest.posts import mark_outcomes, render_outcome_reply
from bot.features.digest.rules import Digest
from bot.features.digest.view import render_digest
from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.review import BugReview
from bot.features.merges.risk import Risk
from bot.features.touches.decisions import add_decisions
from bot.features.touches.lines import HitKey, TouchDecision, TouchVerdict
from bot.platform.pulls.models import Reference
from bot.platform.slack.blocks import count_characters
from impact.history.outcomes import OutcomeKind
from tests.features.digest.hostile_days import WORST, digests, full_day, texts
from tests.features.touches.touched_days import fill, make_hit, report
from tests.helpers.builders import NOON, REPOSITORY, digest, entry, finding, pull
from tests.platform.slack.accepted import assert_accepted, nodes, read_post, strings

HOUR = timedelta(hours=1)
BACK = pull(9, title='Revert "Count once"', merged_at=NOON + HOUR)


def make_outcome(number: int = 5, fate: OutcomeKind = OutcomeKind.REVERTED, **fields: Any) -> MergeOutcome:
    return MergeOutcome(pull(number, title="Count once", merged_at=NOON), BACK, fate, **fields)


def items(message: Any) -> list[str]:
    lines = []
    for block in message["blocks"]:
        for part in block.get("elements", []):
            if part.get("type") == "rich_text_list":
                lines += ["".join(strings(item)) for item in part["elements"]]
    return lines


def build_payloads(day_digest: Digest) -> list[dict[str, Any]]:
    made = render_digest(day_digest)
    return [made.lead.build_payload(), *(post.build_payload() for post in made.thread)]


@pytest.mark.parametrize(
    ("outcome", "phrase"),
    [
        (make_outcome(), "reverted after 1.0 h by #9"),
        (make_outcome(fate=OutcomeKind.PARTLY), "reverted in part after 1.0 h by #9"),
        (make_outcome(fate=OutcomeKind.REPAIRED), "repaired after 1.0 h by #9"),
        (make_outcome(stands=False), "reverted after 1.0 h by #9, which was itself reverted"),
    ],
)
def test_it_stands_behind_the_lines_of_its_pull_request_and_no_others(outcome: MergeOutcome, phrase: str) -> None:
    before = build_payloads(digest(entry(5), entry(55), entry(4)))
    after = [mark_outcomes(message, [outcome]) for message in before]
    for old, new in zip(before, after, strict=True):
        assert items(new) == [f"{line} — {phrase}" if line.startswith("#5 ") else line for line in items(old)]
        assert {**new, "blocks": old["blocks"]} == old


def test_several_are_told_one_after_the_other() -> None:
    later = MergeOutcome(make_outcome().pull, pull(11, merged_at=NOON + 2 * HOUR), OutcomeKind.REPAIRED)
    [line] = [
        line
        for line in items(mark_outcomes(build_payloads(digest(entry(5)))[1], [make_outcome(), later]))
        if "#5" in line
    ]
    assert line.endswith(" — reverted after 1.0 h by #9 — repaired after 2.0 h by #11")


def test_what_a_review_found_stays_in_an_amended_line() -> None:
    reviewed = replace(entry(5), risk=Risk(13, ("adds 400 lines",)), review=BugReview((finding(),)))
    lead, *thread = [
        items(mark_outcomes(message, [make_outcome()])) for message in build_payloads(digest(reviewed))
    ]
    assert "Fails when a request has no tokens. Affected: servers that allow empty prompts. 🟠" in lead[0]
    assert "🟠 high risk — reverted after 1.0 h by #9" in lead[0]
    assert "AI bug review: confirmed bug) — reverted after 1.0 h by #9" in thread[0][0]


def test_nothing_new_leaves_a_message_as_it_is() -> None:
    for message in build_payloads(digest(entry(5), entry(4))):
        assert mark_outcomes(message, []) == message
        assert mark_outcomes(message, [make_outcome(77)]) == message


@given(digests(), st.sampled_from(OutcomeKind), st.booleans(), st.booleans())
@pytest.mark.slow
def test_an_amended_message_is_taken_by_slack_whatever_people_wrote(
    day_digest: Digest, fate: OutcomeKind, stands: bool, again: bool
) -> None:
    news = [MergeOutcome(each.pull, BACK, fate, stands) for each in day_digest.entries]
    for message in build_payloads(day_digest):
        after = mark_outcomes(message, news * (1 + again))
        assert check_message(after) is None
        assert find_mentions(after) == []
        assert set(find_links(after)) <= {BACK.url, *find_links(message)}


@pytest.mark.parametrize("count", [67, 150])
@pytest.mark.slow
def test_a_message_that_would_become_too_long_stays_as_it_is(count: int) -> None:
    day_digest = full_day(count, "W" * 700)
    news = [MergeOutcome(each.pull, BACK, OutcomeKind.PARTLY) for each in day_digest.entries for _ in range(9)]
    messages = build_payloads(day_digest)
    after = [mark_outcomes(message, news) for message in messages]
    assert all(count_characters(message["blocks"]) <= 10_500 for message in after)
    assert any(old["blocks"] == new["blocks"] for old, new in zip(messages, after, strict=True))


@given(texts(256), st.sampled_from(OutcomeKind), st.booleans())
def test_a_reply_pings_nobody_and_is_taken(title: str, fate: OutcomeKind, was_listed: bool) -> None:
    outcome = MergeOutcome(pull(5, title=title, merged_at=NOON), pull(9, title=title, merged_at=NOON + HOUR), fate)
    post = render_outcome_reply(outcome, was_listed=was_listed)
    assert_accepted(post, digest(entry(5), entry(9)))
    assert ("among the riskiest" in read_post(post)) is was_listed


HITS = replace(digest(*map(entry, (45, 5, 4))), touches=report(make_hit(4), make_hit(45), make_hit(5)))


def make_decision(number: int, verdict: TouchVerdict = TouchVerdict.OURS) -> dict[int, TouchDecision]:
    return {number: TouchDecision(HitKey(Reference(REPOSITORY, number)), verdict, "U0ADA", NOON)}


def build_hit_payloads() -> tuple[dict[str, Any], dict[str, Any]]:
    made = render_digest(HITS)
    return made.lead.build_payload(), made.thread[0].build_payload()


def lines(message: Mapping[str, Any]) -> list[str]:
    return ["".join(strings(section)) for section in nodes(message["blocks"], "rich_text_section")]


@pytest.mark.parametrize("verdict", TouchVerdict)
def test_it_stands_behind_its_hit_in_the_lead_and_no_other(verdict: TouchVerdict) -> None:
    lead, _ = build_hit_payloads()
    after = add_decisions(lead, make_decision(4, verdict))
    changed = [line for line in lines(after) if line not in lines(lead)]
    assert [line.startswith("#4 ") and line.endswith(f" — {verdict}") for line in changed] == [True]


def test_who_said_it_and_when_stands_below_the_buttons() -> None:
    _, hits = build_hit_payloads()
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
    _, hits = build_hit_payloads()
    first, second = (
        add_decisions(hits, make_decision(5, verdict)) for verdict in (TouchVerdict.OURS, TouchVerdict.DONE)
    )
    assert first != second
    assert len(first["blocks"]) == len(second["blocks"]) == len(hits["blocks"]) + 1


def test_without_a_decision_a_message_stays_as_it_is() -> None:
    for message in build_hit_payloads():
        assert add_decisions(message, {}) == message
        assert add_decisions(message, make_decision(99)) == message


@pytest.mark.slow
@pytest.mark.parametrize("text", WORST.values(), ids=list(WORST))
def test_a_message_with_every_decision_is_still_taken(text: str) -> None:
    made = render_digest(fill(full_day(12, text), text, 0))
    numbers = range(100_000, 100_020)
    every = {number: decision for each in numbers for number, decision in make_decision(each).items()}
    for post in (made.lead, *made.thread):
        message = add_decisions(mark_outcomes(post.build_payload(), ()), every)
        assert check_message(message) is None
        # the user who said it, and nobody else
        assert set(find_mentions(message)) <= {"<@U0ADA>", "U0ADA"}


def test_decisions_do_not_depend_on_their_order() -> None:
    _, hits = build_hit_payloads()
    both = {**make_decision(5), 4: replace(make_decision(4)[4], at=NOON + timedelta(hours=1))}
    assert add_decisions(hits, both) == add_decisions(hits, dict(reversed(both.items())))
