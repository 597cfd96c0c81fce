"""``prdigest demo --profile``: the digest of the sample team."""

from __future__ import annotations

import pytest

from tests.browser.process import running_demo
from tests.demo.test_live import channel, say, screen
from tests.helpers.command import prdigest


@pytest.mark.slow
def test_the_digest_begins_with_what_touches_the_team() -> None:
    with running_demo("--profile") as demo:
        shown = screen(demo.address, "Touches satellite")
        assert "satellite/captions.py:11" in shown
        say(demo.address, "/prdigest touches 7d")
        assert "What touches satellite" in screen(demo.address, "What touches satellite")
        assert "can't" not in channel(demo.address)
        assert demo.interrupt() == 0


@pytest.mark.slow
@pytest.mark.parametrize("other", ["--text", "--live"])
def test_a_team_is_of_the_sample_in_slack_alone(other: str) -> None:
    done = prdigest("demo", "--profile", other)
    assert done.returncode == 2
    assert "leave out --text and --live" in done.stderr
