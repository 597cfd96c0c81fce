"""What became of pull requests, behind their lines in a message that was posted, and as a reply."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.rules.messages import check_message, find_links, find_mentions

from bot.domain.history.pull_outcomes import MergeOutcome
from bot.domain.review.models import BugReview
from bot.domain.risk.assessment import Risk
from bot.features.digest.marks import add_outcomes, render_outcome_reply
from bot.features.digest.rules import Digest
from bot.features.digest.view import render_digest
from bot.render.blocks.rich_text import count_characters
from impact.history.outcomes import OutcomeKind
from tests.helpers.builders import NOON, digest, entry, finding, pull
from tests.render.accepted import assert_accepted, read_post, strings
from tests.render.hostile_days import digests, full_day, texts

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
    after = [add_outcomes(message, [outcome]) for message in before]
    for old, new in zip(before, after, strict=True):
        assert items(new) == [f"{line} — {phrase}" if line.startswith("#5 ") else line for line in items(old)]
        assert {**new, "blocks": old["blocks"]} == old


def test_several_are_told_one_after_the_other() -> None:
    later = MergeOutcome(make_outcome().pull, pull(11, merged_at=NOON + 2 * HOUR), OutcomeKind.REPAIRED)
    [line] = [
        line
        for line in items(add_outcomes(build_payloads(digest(entry(5)))[1], [make_outcome(), later]))
        if "#5" in line
    ]
    assert line.endswith(" — reverted after 1.0 h by #9 — repaired after 2.0 h by #11")


def test_what_a_review_found_stays_in_an_amended_line() -> None:
    reviewed = replace(entry(5), risk=Risk(13, ("adds 400 lines",)), review=BugReview((finding(),)))
    lead, *thread = [
        items(add_outcomes(message, [make_outcome()])) for message in build_payloads(digest(reviewed))
    ]
    assert "Fails when a request has no tokens (confirmed in the code: adapt). 🟠 high risk" in lead[0]
    assert "adds 400 lines — reverted after 1.0 h by #9" in lead[0]
    assert "second reading: confirmed bug) — reverted after 1.0 h by #9" in thread[0][0]


def test_nothing_new_leaves_a_message_as_it_is() -> None:
    for message in build_payloads(digest(entry(5), entry(4))):
        assert add_outcomes(message, []) == message
        assert add_outcomes(message, [make_outcome(77)]) == message


@given(digests(), st.sampled_from(OutcomeKind), st.booleans(), st.booleans())
@pytest.mark.slow
def test_an_amended_message_is_taken_by_slack_whatever_people_wrote(
    day_digest: Digest, fate: OutcomeKind, stands: bool, again: bool
) -> None:
    news = [MergeOutcome(each.pull, BACK, fate, stands) for each in day_digest.entries]
    for message in build_payloads(day_digest):
        after = add_outcomes(message, news * (1 + again))
        assert check_message(after) is None
        assert find_mentions(after) == []
        assert set(find_links(after)) <= {BACK.url, *find_links(message)}


@pytest.mark.parametrize("count", [67, 150])
@pytest.mark.slow
def test_a_message_that_would_become_too_long_stays_as_it_is(count: int) -> None:
    day_digest = full_day(count, "W" * 700)
    news = [MergeOutcome(each.pull, BACK, OutcomeKind.PARTLY) for each in day_digest.entries for _ in range(9)]
    messages = build_payloads(day_digest)
    after = [add_outcomes(message, news) for message in messages]
    assert all(count_characters(message["blocks"]) <= 10_500 for message in after)
    assert any(old["blocks"] == new["blocks"] for old, new in zip(messages, after, strict=True))


@given(texts(256), st.sampled_from(OutcomeKind), st.booleans())
def test_a_reply_pings_nobody_and_is_taken(title: str, fate: OutcomeKind, was_listed: bool) -> None:
    outcome = MergeOutcome(pull(5, title=title, merged_at=NOON), pull(9, title=title, merged_at=NOON + HOUR), fate)
    post = render_outcome_reply(outcome, was_listed=was_listed)
    assert_accepted(post, digest(entry(5), entry(9)))
    assert ("worth a second look" in read_post(post)) is was_listed
