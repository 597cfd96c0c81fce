from __future__ import annotations

import pytest

from bot.cli.demo import demo_command
from bot.errors import UsageError
from tests.browser.process import running_demo
from tests.demo.test_live import channel, say, screen


@pytest.mark.slow
def test_the_digest_begins_with_what_touches_the_team() -> None:
    with running_demo("--profile") as demo:
        shown = screen(demo.address, "Touches satellite")
        assert "satellite/captions.py:11" in shown
        say(demo.address, "/prdigest touches 7d")
        assert "What touches satellite" in screen(demo.address, "What touches satellite")
        assert "can't" not in channel(demo.address)
        say(demo.address, "/prdigest pending")
        assert "since its pin (4292e3b, 1 day)" in screen(demo.address, "Pending for satellite")
        say(demo.address, "/prdigest upgrade")
        assert "2 of your files" in screen(demo.address, "Upgrade satellite")
        # a tag that the sample lacks is no dead end
        say(demo.address, "/prdigest upgrade v0.16.0")
        assert "write /prdigest upgrade 4292e3b807" in screen(demo.address, "tags, so I can")
        assert demo.interrupt() == 0


@pytest.mark.parametrize("other", ["--text", "--live"])
def test_a_team_is_of_the_sample_in_slack_alone(other: str) -> None:
    with pytest.raises(UsageError, match="leave out --text and --live"):
        demo_command.main(["--profile", other], standalone_mode=False)
