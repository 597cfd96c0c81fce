"""One request from Slack: it has a short name, and goes through a queue as it is."""

import json
import re
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.platform.slack.requests import Audience, SlackRequest

VISIT = SlackRequest("command:123.456", "T1", "C1", "U1")


@given(st.text())
def test_a_reference_is_six_hexadecimal_digits(key: str) -> None:
    assert re.fullmatch("[0-9a-f]{6}", SlackRequest(key, "T1", "C1", "U1").reference)


def test_a_reference_depends_on_the_key_alone() -> None:
    again = SlackRequest(VISIT.key, "T2", "C2", "U2", "E2", "ada", "https://hooks.slack.com/x", "1.2")
    assert again.reference == VISIT.reference


def test_a_reference_is_the_same_in_every_process() -> None:
    assert VISIT.reference == "d52366"


def test_requests_one_after_the_other_have_different_references() -> None:
    references = {SlackRequest(f"mention:C1:1700000000.{n:06}", "T1", "C1", "U1").reference for n in range(200)}
    assert len(references) == 200


def test_a_reference_does_not_give_the_key_away() -> None:
    assert VISIT.reference not in VISIT.key


texts = st.text(max_size=20)


@given(st.builds(SlackRequest, texts, texts, texts, texts, texts, texts, texts, texts))
def test_a_visit_comes_out_of_a_queue_as_it_went_in(slack_request: SlackRequest) -> None:
    assert SlackRequest(**json.loads(json.dumps(asdict(slack_request)))) == slack_request


@pytest.mark.parametrize("audience", Audience)
def test_an_audience_comes_out_of_a_queue_as_it_went_in(audience: Audience) -> None:
    assert Audience(json.loads(json.dumps(str(audience)))) is audience
