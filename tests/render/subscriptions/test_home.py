"""App Home: Slack publishes it whatever is in it, and nothing in it is live but what code made."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.methods.views import VIEW
from localslack.rules.messages import find_links, find_mentions

from bot.domain.operations.bot_health import BotHealth, LatestDigest
from bot.domain.operations.run import Run, RunOutcome
from bot.ports import Post
from bot.render.subscriptions.home import render_home
from tests.helpers.world import as_read
from tests.render.accepted import invisible, read_post
from tests.render.hostile_days import WORST, texts
from tests.render.subscriptions.test_subscription_list import DUE, ENGINE, FIXED, LARGE, OWN, several

NOW = datetime(2026, 3, 2, 7, tzinfo=UTC)
WELL = BotHealth(NOW - timedelta(seconds=30), None, None, 1.0, 20.0, has_model=True, store="95 of 100 MB")
ADDRESS = "https://emulated.slack.com/archives/C0DIGEST/p1"


def page(
    latest: list[LatestDigest] | None = None, planned: Any = (), health: BotHealth = WELL, note: str = ""
) -> tuple[dict[str, Any], ...]:
    """The blocks, which Slack takes: nobody is pinged, and only digests are linked."""
    blocks = render_home(latest or [], planned, health, NOW, note)
    assert VIEW({"type": "home", "blocks": list(blocks)})
    assert len(blocks) <= 100
    payload = {"blocks": list(blocks)}
    channels = {f"<#{each.channel}>" for each, _ in planned}
    assert set(find_mentions(payload)) <= channels
    assert set(find_links(payload)) <= {each.address for each in latest or []}
    assert invisible(read_post(Post("", blocks))) == []
    return blocks


def read(blocks: tuple[dict[str, Any], ...]) -> str:
    return as_read({"text": "", "blocks": list(blocks)})


def run(outcome: RunOutcome = RunOutcome.POSTED, detail: str = "") -> Run:
    return Run(NOW - timedelta(hours=2), "digest:T0TEAM:C0DIGEST", outcome, detail)


def test_it_reads_from_the_last_digests_to_how_the_bot_is() -> None:
    latest = [LatestDigest("engine · Sunday 1 March 2026 · 2 merged", ADDRESS, NOW)]
    health = replace(WELL, last_success=run(), last_failure=run(RunOutcome.FAILED, "Slack refused the call: x"))
    assert read(page(latest, [(FIXED, DUE), (OWN, DUE)], health, "Paused: octo/engine")).split("\n\n") == [
        "Paused: octo/engine",
        "Recent digests\n==============",
        "engine · Sunday 1 March 2026 · 2 merged Open it",
        "Subscriptions\n=============",
        (
            "#C0DIGEST: octo/engine, every day at 09:00 (Europe/Berlin)"
            " · set by the bot's admin · next 2026-03-02 08:00 UTC"
        ),
        (
            "Sent to you: octo/engine, from Monday to Friday at 07:05 (UTC, as your Slack is set)"
            " · next 2026-03-02 08:00 UTC"
        ),
        "Status\n======",
        (
            "Schedule: running\nLast digest: 2026-03-02 05:00 UTC\n"
            "Last failure: 2026-03-02 05:00 UTC, failed: Slack refused the call: x\n"
            "Model budget today: $1.00 of $20.00 used"
        ),
        (
            "Write to me under Messages, or reply to one of my messages. I answer questions about the "
            "changes, with links to the code. /prsummary 35617 explains a pull request, /prrisks 7d lists "
            "risky changes."
        ),
    ]


def test_a_digest_without_an_address_has_no_link() -> None:
    assert "Open it" not in read(page([LatestDigest("Whole", "", NOW)]))


@pytest.mark.parametrize("count", [0, 1, 20, 60, 500])
@pytest.mark.parametrize("made", [ENGINE, LARGE], ids=["usual", "large"])
def test_however_many_there_are_slack_takes_them(made: Any, count: int) -> None:
    latest = [LatestDigest(text * 10, ADDRESS, NOW) for text in WORST.values()]
    blocks = page(latest, several(count, made), WELL, "x" * 3_000)
    assert ("and 40 more" in read(blocks)) is (count == 60)
    assert [block["type"] for block in blocks].count("actions") == min(count, 20) + 1


@pytest.mark.parametrize("text", WORST.values(), ids=WORST)
def test_the_worst_details_are_taken(text: str) -> None:
    page(health=replace(WELL, last_success=run(detail=text), last_failure=run(RunOutcome.FAILED, text)), note=text)


@given(texts(300), texts(300), texts(300))
def test_whatever_was_written_is_literal(text: str, detail: str, note: str) -> None:
    health = replace(WELL, last_success=run(detail=detail), last_failure=run(RunOutcome.SKIPPED, detail))
    page([LatestDigest(text, ADDRESS, NOW)], [(ENGINE, DUE)], health, note)


@given(st.lists(texts(60), max_size=3))
@pytest.mark.slow
def test_filters_are_literal(labels: list[str]) -> None:
    made = replace(ENGINE, view=replace(LARGE.view, filters=replace(LARGE.view.filters, labels=tuple(labels))))
    page(planned=[(made, DUE)])


@pytest.mark.parametrize(
    ("health", "line"),
    [
        (replace(WELL, last_tick=None), "Schedule: not running, so digests are not posted"),
        (replace(WELL, last_tick=NOW - timedelta(minutes=4)), "Schedule: stopped, last seen 2026-03-02 06:56 UTC"),
        (replace(WELL, has_model=False), "Model: not configured, so digests contain facts only"),
        (
            replace(WELL, last_success=run(detail="2 of 9")),
            "Last digest: 2026-03-02 05:00 UTC, incomplete: 2 of 9",
        ),
        (replace(WELL, cost_today=20.004), "Model budget today: $20.00 of $20.00 used"),
        (
            replace(WELL, cost_of_month=12.346, monthly_budget=100.0),
            "Model budget today: $1.00 of $20.00 used; this month: $12.35 of $100.00",
        ),
    ],
)
def test_how_the_bot_is_reads_in_lines(health: BotHealth, line: str) -> None:
    assert line in read(page(health=health)).split("\n")


def test_a_store_that_is_nearly_full_stands_out() -> None:
    shown = page(health=replace(WELL, is_full=True))
    stands_out = {"type": "text", "text": "\nStore: nearly full, 95 of 100 MB", "style": {"bold": True}}
    assert any(
        stands_out in element["elements"]
        for block in shown
        for element in block.get("elements", ())
        if "elements" in element
    )
