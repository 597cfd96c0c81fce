"""Items of the agenda as the store has them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.pull_requests.models import Repository
from bot.domain.subscriptions.due_items import (
    DigestRepair,
    DueItem,
    IncidentReport,
    NextDigest,
    OutcomeCheck,
    ProfileRefresh,
    ReportUpdate,
    format_item,
    parse_item,
)

DIGEST = "digest:T1:C1:o/r:2026-02-28@-0800:1a2b"


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (NextDigest("5d2cea88"), "5d2cea88"),
        (DigestRepair(DIGEST), f"mend:{DIGEST}"),
        (IncidentReport(f"{DIGEST}#missing"), f"tell:{DIGEST}#missing"),
        (IncidentReport("job:7f#lost"), "tell:job:7f#lost"),
        (ReportUpdate(f"{DIGEST}#missing"), f"settle:{DIGEST}#missing"),
        (ProfileRefresh("ascend"), "scan:ascend"),
        (OutcomeCheck(Repository("Octo", "Engine.js")), "watch:Octo/Engine.js"),
    ],
)
def test_an_item_is_written_as_it_always_was_and_read_back(item: DueItem, text: str) -> None:
    assert format_item(item) == text
    assert parse_item(text) == item


@pytest.mark.parametrize(
    "text", ["2;5d2cea88", "2;watch:o/r", "wake:o/r", "watch:", "watch:no repository", ":", "a:b"]
)
def test_what_another_version_wrote_is_nothing_here(text: str) -> None:
    assert parse_item(text) is None


@given(st.sampled_from([DigestRepair, IncidentReport, ReportUpdate]), st.text())
def test_whatever_a_key_holds_is_read_back(
    kind: type[DigestRepair | IncidentReport | ReportUpdate], text: str
) -> None:
    assert parse_item(format_item(kind(text))) == kind(text)
