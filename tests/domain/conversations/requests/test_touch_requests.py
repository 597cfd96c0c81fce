"""Requests for contract changes and hits: what people type, and the text that parses to the same on any day."""

from __future__ import annotations

import pytest

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.requests.touch_requests import (
    ContractRequest,
    TouchesRequest,
    TouchScoreRequest,
    is_touch_score,
)
from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Repository
from tests.helpers.builders import DAY, REPOSITORY

OTHER = Repository("octo", "other")
ALLOWED = AllowedRepositories(REPOSITORY, (OTHER,))


@pytest.mark.parametrize("text", ["", "contract 7d", "7d path:a label:b", "CONTRACT 2d repo:octo/other"])
def test_a_request_for_contracts_says_itself(text: str) -> None:
    request = ContractRequest.parse(text, ALLOWED, DAY)
    assert ContractRequest.parse(str(request), ALLOWED, DAY) == request
    assert (len(request.span), request.repository) == (
        {"7d": 7, "2d": 2}.get(next((word for word in text.split() if word in {"7d", "2d"}), ""), 1),
        OTHER if "other" in text else REPOSITORY,
    )


@pytest.mark.parametrize("text", ["", "touches 7d profile:Ascend", "touches", "7d private"])
def test_a_request_for_hits_says_itself(text: str) -> None:
    request = TouchesRequest.parse(text, DAY)
    assert TouchesRequest.parse(str(request), DAY).span == request.span
    assert request.profile == ("ascend" if "Ascend" in text else "")
    assert request.is_private == ("private" in text)


def test_the_score_is_asked_for_behind_the_word() -> None:
    assert is_touch_score("Touches SCORE profile:a")
    assert not is_touch_score("touches 7d")
    assert not is_touch_score("score")
    request = TouchScoreRequest.parse("touches score profile:ascend")
    assert (request.profile, str(request)) == ("ascend", "touches score profile:ascend")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("contract 60d", "60 days are too many"),
        ("contract repo:octo/secret", "not set up for octo/secret"),
        ("contract profile:a", "I don't understand profile"),
        ("contract ascend", "ascend"),
    ],
)
def test_what_contracts_cannot_be_asked_for(text: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        ContractRequest.parse(text, ALLOWED, DAY)


@pytest.mark.parametrize("text", ["touches profile:a:b", "touches 40d", "touches repo:a/b", "touches later"])
def test_what_hits_cannot_be_asked_for(text: str) -> None:
    with pytest.raises(UsageError):
        TouchesRequest.parse(text, DAY)


def test_a_score_has_no_days() -> None:
    with pytest.raises(UsageError, match="counts all days"):
        TouchScoreRequest.parse("touches score 7d")
