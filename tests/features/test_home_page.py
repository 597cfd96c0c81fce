"""App Home: Slack publishes it whatever is in it, and nothing in it is live but what code made."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.methods.views import VIEW
from localslack.rules.messages import find_links, find_mentions

from bot.features.home import LatestDigest, describe_last_runs, render_home
from bot.features.subscriptions.rules import Run, RunOutcome
from bot.platform.slack.blocks import Element, Post, make_text
from tests.features.digest.hostile_days import WORST, texts
from tests.features.subscriptions.test_view import DUE, ENGINE, FIXED, LARGE, OWN, several
from tests.helpers.world import as_read
from tests.platform.slack.accepted import invisible, read_post

NOW = datetime(2026, 3, 2, 7, tzinfo=UTC)
WELL = (make_text("Schedule: running"),)
PAGE = "https://github.com/octo/engine"
ADDRESS = "https://emulated.slack.com/archives/C0DIGEST/p1"


def page(
    latest: list[LatestDigest] | None = None, planned: Any = (), health: Sequence[Element] = WELL, note: str = ""
) -> tuple[dict[str, Any], ...]:
    """The blocks, which Slack takes: nobody is pinged, and only digests are linked."""
    blocks = render_home(latest or [], planned, health, note)
    assert VIEW({"type": "home", "blocks": list(blocks)})
    assert len(blocks) <= 100
    payload = {"blocks": list(blocks)}
    channels = {f"<#{each.channel}>" for each, _ in planned}
    assert set(find_mentions(payload)) <= channels
    assert {link for link in find_links(payload) if not link.startswith(PAGE)} <= {
        each.address for each in latest or []
    }
    assert invisible(read_post(Post("", blocks))) == []
    return blocks


def read(blocks: tuple[dict[str, Any], ...]) -> str:
    return as_read({"text": "", "blocks": list(blocks)})


def run(outcome: RunOutcome = RunOutcome.POSTED, detail: str = "") -> Run:
    return Run(NOW - timedelta(hours=2), "digest:T0TEAM:C0DIGEST", outcome, detail)


def test_it_reads_from_the_last_digests_to_how_the_bot_is() -> None:
    latest = [LatestDigest("engine · Sunday 1 March 2026 · 2 merged", ADDRESS, NOW, PAGE)]
    runs = [run(), run(RunOutcome.FAILED, "Slack refused the call: x")]
    health = [*WELL, *describe_last_runs(runs)]
    assert read(page(latest, [(FIXED, DUE), (OWN, DUE)], health, "Paused: octo/engine")).split("\n\n") == [
        "Paused: octo/engine",
        "Recent digests\n==============",
        "engine · Sunday 1 March 2026 · 2 merged Open it",
        "Subscriptions\n=============",
        (
            "#C0DIGEST: octo/engine, every day at 09:00 (Europe/Berlin)"
            " · set by the bot's admin · Next: 2026-03-02 08:00 UTC"
        ),
        (
            "Sent to you: octo/engine, from Monday to Friday at 07:05 (UTC, as your Slack is set)"
            " · Next: 2026-03-02 08:00 UTC"
        ),
        "Status\n======",
        (
            "Schedule: running\nLast digest: 2026-03-02 05:00 UTC\n"
            "Last failure: 2026-03-02 05:00 UTC, failed: Slack refused the call: x"
        ),
        (
            "Write to me under Messages, or reply to one of my messages. I answer questions about the "
            "changes, with links to the code. /prsummary 35617 explains a pull request, /prrisks 7d lists "
            "risky changes."
        ),
    ]


def test_a_digest_without_an_address_has_no_link() -> None:
    assert "Open it" not in read(page([LatestDigest("Whole", "", NOW, PAGE)]))


@pytest.mark.parametrize("count", [0, 1, 20, 60, 500])
@pytest.mark.parametrize("made", [ENGINE, LARGE], ids=["usual", "large"])
def test_however_many_there_are_slack_takes_them(made: Any, count: int) -> None:
    latest = [LatestDigest(text * 10, ADDRESS, NOW, PAGE) for text in WORST.values()]
    blocks = page(latest, several(count, made), WELL, "x" * 3_000)
    assert ("and 40 more" in read(blocks)) is (count == 60)
    assert [block["type"] for block in blocks].count("actions") == min(count, 20) + 1


@pytest.mark.parametrize("text", WORST.values(), ids=WORST)
def test_the_worst_details_are_taken(text: str) -> None:
    page(health=[*describe_last_runs([run(detail=text), run(RunOutcome.FAILED, text)])], note=text)


@given(texts(300), texts(300), texts(300))
def test_whatever_was_written_is_literal(text: str, detail: str, note: str) -> None:
    health = [*describe_last_runs([run(detail=detail), run(RunOutcome.SKIPPED, detail)])]
    page([LatestDigest(text, ADDRESS, NOW, PAGE)], [(ENGINE, DUE)], health, note)


@given(st.lists(texts(60), max_size=3))
@pytest.mark.slow
def test_filters_are_literal(labels: list[str]) -> None:
    made = replace(ENGINE, view=replace(LARGE.view, filters=replace(LARGE.view.filters, labels=tuple(labels))))
    page(planned=[(made, DUE)])
