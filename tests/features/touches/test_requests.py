"""What people type behind the words of ``/prdigest``, and the text that parses to the same on any day."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from bot.errors import UsageError
from bot.features.touches.requests import (
    ContractRequest,
    DeprecationsRequest,
    SinceRequest,
    TouchesRequest,
    TouchScoreRequest,
    UpgradeRequest,
    parse_touches,
)
from bot.platform.commands import AllowedRepositories
from impact.repository import Repository
from tests.helpers.builders import DAY, REPOSITORY

OTHER = Repository("octo", "other")
ALLOWED = AllowedRepositories(REPOSITORY, (OTHER,))


def parse_contract(text: str) -> ContractRequest:
    return ContractRequest.parse(text, ALLOWED, DAY)


def parse_since(text: str) -> SinceRequest:
    return SinceRequest.parse(text, ALLOWED, DAY)


def parse_hits(text: str) -> TouchesRequest | TouchScoreRequest:
    return parse_touches(text, DAY)


def parse_deprecations(text: str) -> DeprecationsRequest:
    return DeprecationsRequest.parse(text, ALLOWED)


@pytest.mark.parametrize("text", ["", "contract 7d", "7d path:a label:b", "CONTRACT 2d repo:octo/other"])
def test_a_request_for_contracts_says_itself(text: str) -> None:
    request = parse_contract(text)
    assert parse_contract(str(request)) == request
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
    assert isinstance(parse_hits("touches 7d"), TouchesRequest)
    request = parse_hits("Touches SCORE profile:ascend")
    assert isinstance(request, TouchScoreRequest)
    assert (request.profile, str(request)) == ("ascend", "touches score profile:ascend")


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("since 2026-02-20", 9),
        ("2026-02-20..2026-02-21 private", 2),
        ("SINCE 1 Feb profile:Ascend repo:octo/other", 28),
        ("since today", 1),
    ],
)
def test_a_request_for_a_page_says_itself(text: str, days: int) -> None:
    request = parse_since(text)
    later = type(DAY)(DAY.date + timedelta(days=9), DAY.zone)
    assert SinceRequest.parse(str(request), ALLOWED, later).span == request.span
    assert (len(request.span), request.is_private) == (days, "private" in text)
    assert request.profile == ("ascend" if "Ascend" in text else "")
    assert request.require_known(ALLOWED).repository == (OTHER if "other" in text else REPOSITORY)


@pytest.mark.parametrize("text", ["deprecations", "", "deprecations profile:a repo:octo/other", "private"])
def test_a_request_for_deprecations_says_itself(text: str) -> None:
    request = parse_deprecations(text)
    assert str(parse_deprecations(str(request))) == str(request)
    assert request.require_known(ALLOWED) == request


@pytest.mark.parametrize("text", ["upgrade", "upgrade from:97F2F160fd", "from:97f2f160fd profile:a private"])
def test_a_request_for_an_upgrade_says_itself(text: str) -> None:
    request = UpgradeRequest.parse(text)
    assert str(UpgradeRequest.parse(str(request))) == str(request)
    assert request.start == ("97f2f160fd" if "from" in text else "")


@pytest.mark.parametrize("tag", ["v0.13.0", "0.13", "release/1.2", "V1-rc.1", "2026.1.0+cu12"])
def test_a_tag_is_a_pin_with_and_without_a_word_before_it(tag: str) -> None:
    for text in (f"upgrade {tag}", f"upgrade from:{tag} profile:a", f"private {tag}"):
        request = UpgradeRequest.parse(text)
        assert request.start == UpgradeRequest.parse(str(request)).start == tag


@pytest.mark.parametrize(
    ("parse", "text", "sentence"),
    [
        (parse_contract, "contract 60d", "60 days are too many"),
        (parse_contract, "contract repo:octo/secret", "not set up for octo/secret"),
        (parse_contract, "contract profile:a", "I don't understand profile"),
        (parse_contract, "contract ascend", "ascend"),
        *((parse_hits, f"touches {rest}", ".") for rest in ("profile:a:b", "40d", "repo:a/b", "later")),
        (parse_hits, "touches score 7d", "add profile:NAME or nothing"),
        *(
            (parse_since, f"since {rest}", ".")
            for rest in ("", "2026-03-05", "2025-12-01", "yesterday..2026-02-01", "soon", "today repo:octo/secret")
        ),
        (parse_deprecations, "deprecations soon", "I don't understand 'soon'"),
        *(
            (UpgradeRequest.parse, f"upgrade {rest}", ".")
            for rest in (
                "now",
                "from:--all",
                "to:abcdef12",
                "v1 v2",
                "v1 from:v2",
                "v1..v2",
                "v1^{tree}",
                f"v{'1' * 100}",
            )
        ),
    ],
)
def test_a_mistake_is_explained(parse: Callable[[str], Any], text: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        parse(text)
