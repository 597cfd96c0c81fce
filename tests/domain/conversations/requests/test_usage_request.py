"""``/prdigest usage`` and the months that it takes."""

from __future__ import annotations

from datetime import date

import pytest

from bot.domain.conversations.requests.usage_request import UsageRequest
from bot.domain.errors import UsageError
from tests.helpers.checks import is_one_sentence

TODAY = date(2026, 3, 14)


@pytest.mark.parametrize(
    ("text", "month", "is_private"),
    [
        ("usage", None, False),
        ("USAGE private", None, True),
        ("usage 2026-03", date(2026, 3, 1), False),
        ("2025-12", date(2025, 12, 1), False),
        ("", None, False),
    ],
)
def test_a_request_is_read_and_written_back(text: str, month: date | None, is_private: bool) -> None:
    request = UsageRequest.parse(text, TODAY)
    assert request == UsageRequest(month, is_private)
    assert UsageRequest.parse(str(request), TODAY) == UsageRequest(month)


@pytest.mark.parametrize(
    "text",
    [
        "usage 2026-13",
        "usage 2026-00",
        "usage 0000-01",
        "usage march",
        "usage 2026-3",
        "usage \uff12\uff10\uff12\uff16-01",
        "usage 2026-04",
        "usage 9999-12",
        "usage 2026-01 2026-02",
        "usage month:2026-01",
    ],
)
def test_what_is_no_month_is_refused_with_advice(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        UsageRequest.parse(text, TODAY)
    assert is_one_sentence(str(caught.value))
