"""Requests for a page, for deprecations and for an upgrade: what people type, and the text that says the same."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.requests.plan_requests import DeprecationsRequest, SinceRequest, UpgradeRequest
from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Repository
from tests.helpers.builders import DAY, REPOSITORY

OTHER = Repository("octo", "other")
ALLOWED = AllowedRepositories(REPOSITORY, (OTHER,))


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
    request = SinceRequest.parse(text, ALLOWED, DAY)
    later = type(DAY)(DAY.date + timedelta(days=9), DAY.zone)
    assert SinceRequest.parse(str(request), ALLOWED, later).span == request.span
    assert (len(request.span), request.is_private) == (days, "private" in text)
    assert request.profile == ("ascend" if "Ascend" in text else "")
    assert request.require_known(ALLOWED).repository == (OTHER if "other" in text else REPOSITORY)


@pytest.mark.parametrize("text", ["deprecations", "", "deprecations profile:a repo:octo/other", "private"])
def test_a_request_for_deprecations_says_itself(text: str) -> None:
    request = DeprecationsRequest.parse(text, ALLOWED)
    assert str(DeprecationsRequest.parse(str(request), ALLOWED)) == str(request)
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
        assert request.start == tag
        assert UpgradeRequest.parse(str(request)).start == tag


@pytest.mark.parametrize(
    "text", ["since", "since 2026-03-05", "since 2025-12-01", "since yesterday..2026-02-01", "since soon"]
)
def test_mistakes_in_days_are_explained(text: str) -> None:
    with pytest.raises(UsageError):
        SinceRequest.parse(text, ALLOWED, DAY)


@pytest.mark.parametrize(
    "text",
    [
        "upgrade now",
        "upgrade from:--all",
        "upgrade to:abcdef12",
        "upgrade v1 v2",
        "upgrade v1 from:v2",
        "upgrade v1..v2",
        "upgrade v1^{tree}",
        f"upgrade v{'1' * 100}",
    ],
)
def test_mistakes_in_commits_are_explained(text: str) -> None:
    with pytest.raises(UsageError):
        UpgradeRequest.parse(text)


def test_other_words_and_repositories_are_refused() -> None:
    with pytest.raises(UsageError):
        DeprecationsRequest.parse("deprecations soon", ALLOWED)
    with pytest.raises(UsageError):
        SinceRequest.parse("since today repo:octo/secret", ALLOWED, DAY)
