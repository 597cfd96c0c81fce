from dataclasses import replace

import pytest
from localslack.rules.messages import find_links, find_mentions

from bot.features.merges.review import BugFinding, BugReview, Certainty, FindingAdvice, FindingStatus
from bot.features.merges.summary import Evidence
from bot.features.merges.view import (
    NO_PROOF,
    WIDE_LIMITS,
    Entry,
    LineLimits,
    get_claim,
    render_review,
    render_risk,
)
from bot.platform.slack.blocks import Element, Post
from bot.platform.slack.terminal import format_message
from impact.source.models import DiffSide
from tests.features.digest.hostile_days import LONGEST, TOKENS, WORST, full_review
from tests.helpers.builders import entry, finding, summary
from tests.helpers.tables import check_rows
from tests.platform.slack.accepted import assert_taken, invisible, list_addresses, read_post, strings

POSSIBLE = finding("Counts are doubled", status=FindingStatus.POSSIBLE, advice=FindingAdvice.WATCH)
UNSURE = replace(POSSIBLE, certainty=Certainty.LOW)


def make_entry(*findings: BugFinding, refuted: int = 0, risk_reason: str = "") -> Entry:
    made = entry(5, entry_summary=summary(risk_reason=risk_reason), merge_commit="abc123")
    return replace(made, review=BugReview(findings, refuted))


def render(made: Entry, most: int = 12, limit: int = 600) -> Post:
    return Post("", tuple(render_review(made, most, limit)))


def render_line(made: Entry, limits: LineLimits = WIDE_LIMITS, *, has_room: bool = True) -> list[Element]:
    return render_risk(made, {5: made.pull.url} if has_room else {}, limits=limits)


@check_rows(
    {
        "clause": ("a request has no tokens", "Fails when a request has no tokens. "),
        "full stop": ("a request has no tokens.", "Fails when a request has no tokens. "),
        "its own when": ("when a request is empty", "Fails when a request is empty. "),
        "its own if": ("If a request is empty", "Fails if a request is empty. "),
        "a noun with a preposition": ("with two ranks", "Fails with two ranks. "),
        "a word that only begins so": ("formats differ", "Fails when formats differ. "),
    }
)
def test_a_trigger_is_a_whole_sentence(trigger: str, sentence: str) -> None:
    line = render_line(make_entry(finding("It stops", trigger=trigger)), LineLimits(sentence=8, affected=0))
    assert f"Confirmed in the code: It stops. {sentence}⚪" in "".join(strings(line))


@check_rows(
    {
        "a trigger of too many words": finding("It stops", trigger="a b c d e f g h i j"),
        "a trigger that was cut": finding("It stops", trigger="a request is…"),
        "no trigger that can be seen": finding("It stops", trigger="\u200b"),
        "a consequence that was cut": finding("It stops when…"),
        "no consequence that can be seen": finding("\u200b"),
    }
)
def test_a_claim_stands_with_its_condition_or_not_at_all(made: BugFinding) -> None:
    line = "".join(strings(render_line(make_entry(made), LineLimits(sentence=8))))
    assert line.startswith("#5 Change number 5 — no risk rule matched. ⚪ low risk")


@check_rows(
    {
        "confirmed": (finding(), "Confirmed in the code: ", True, 1),
        "confirmed, without room for links": (finding(), "Confirmed in the code: ", False, 0),
        "possible": (UNSURE, "Unconfirmed: ", True, 0),
        "possible with a quote": (replace(UNSURE, evidence=finding().evidence), "Unconfirmed: ", True, 0),
        "very likely": (POSSIBLE, "Very likely, unconfirmed: ", True, 0),
    }
)
def test_status_comes_first_and_the_line_is_linked(
    made: BugFinding, words: str, has_room: bool, links: int
) -> None:
    elements = render_line(make_entry(made), has_room=has_room)
    assert f" — {words}" in "".join(strings(elements))
    urls = [element["url"] for element in elements if element["type"] == "link"]
    assert urls[1:] == ["https://github.com/octo/engine/blob/abc123/engine/core.py#L7"] * links


@check_rows(
    {
        "not reviewed": (None, "It may count twice."),
        "nothing found": (BugReview(), "It may count twice."),
        "only what is repaired": (BugReview((finding(repaired_by=9),)), "It may count twice."),
        "found": (BugReview((POSSIBLE, finding("It stops"))), "It stops"),
    }
)
def test_a_finding_takes_the_place_of_the_summary_s_claim(review: BugReview | None, claim: str) -> None:
    made = replace(entry(5, entry_summary=summary(risk_reason="It may count twice.")), review=review)
    assert get_claim(made) == claim


def test_all_findings_as_they_are_read() -> None:
    repaired = finding("It is slow", repaired_by=9, certainty=Certainty.LOW, affected="", evidence=None)
    waiting = replace(POSSIBLE, consequence="It leaks", advice=FindingAdvice.WAIT, wait_for=8)
    worst = finding("It stops", advice=FindingAdvice.AVOID)
    findings = (repaired, POSSIBLE, waiting, finding(certainty=Certainty.MEDIUM), worst)
    post = render(make_entry(*findings, refuted=2))
    assert format_message(post) == (
        "AI bug review\n"
        "  • Confirmed in the code: It stops. Fails when a request has no tokens. "
        "Affected: servers that allow empty prompts. Very likely. Avoid this commit. "
        "engine/core.py:7 return counts[0]\n"
        "  • Confirmed in the code: The engine stops with an IndexError. Fails when a request has no tokens. "
        "Affected: servers that allow empty prompts. Likely. Adapt your code or settings. "
        "engine/core.py:7 return counts[0]\n"
        "  • Unconfirmed: Counts are doubled. Fails when a request has no tokens. "
        "Affected: servers that allow empty prompts. Very likely; not proved.\n"
        "  • Unconfirmed: It leaks. Fails when a request has no tokens. "
        "Affected: servers that allow empty prompts. Very likely; not proved. Wait for #8.\n"
        "  • Confirmed in the code: It is slow. Fails when a request has no tokens. "
        "Unsure. Repaired by #9.\n\n"
        "2 suspicions were refuted. An AI read the code: this is no proof."
    )


@check_rows(
    {
        "not read": (None, ""),
        "nothing found": (
            BugReview(refuted=1),
            f"AI bug review: no bug found.\n1 suspicion was refuted. {NO_PROOF}",
        ),
        "no suspicion": (BugReview(), "AI bug review: no bug found.\nAn AI read the code: this is no proof."),
    }
)
def test_a_reading_without_a_finding_says_so_and_none_says_nothing(review: BugReview | None, text: str) -> None:
    assert read_post(render(replace(entry(5), review=review))) == text


def test_findings_beyond_the_most_are_counted() -> None:
    text = read_post(render(make_entry(finding("First"), finding("Second"), finding("Third")), most=2))
    assert ("Second." in text, "Third." in text, "Not shown: 1 more finding." in text) == (True, False, True)


@pytest.mark.slow
@check_rows([*TOKENS, *WORST.values()])
def test_texts_of_the_model_and_of_files_are_literal(text: str) -> None:
    proof = Evidence(f"a{text}"[:200], f"x{text}", DiffSide.NEW, 7)
    hostile = finding(f"x{text}"[:300], trigger=f"x{text}"[:300], affected=text[:160], evidence=proof)
    made = make_entry(hostile, replace(hostile, status=FindingStatus.POSSIBLE))
    post = render(made)
    assert_taken(post, list_addresses([made]))
    assert find_mentions(post.build_payload()) == []
    assert [part for part in strings(list(post.blocks)) if invisible(part) or "\n" in part] == []
    line = render_line(made)
    assert [part for part in strings(line) if invisible(part) or "\n" in part] == []


def test_a_credential_in_a_finding_is_not_shown() -> None:
    key = "ghp_" + "a1B2" * 9
    made = make_entry(finding(f"It logs {key}", trigger=f"{key} is set", affected=f"Users of {key}"))
    assert key not in read_post(render(made))
    assert key not in "".join(strings(render_line(made)))


@check_rows(WORST)
def test_the_longest_review_is_a_message_that_slack_takes(text: str) -> None:
    made = replace(entry(5, repository=LONGEST), review=full_review(text))
    post = render(made, 2, 240)
    assert_taken(post, list_addresses([made]))
    assert find_links(post.build_payload()) != []
