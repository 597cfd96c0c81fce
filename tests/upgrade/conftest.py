"""The bot of today in the local Slack, on a store that an earlier version left."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from redis import Redis

from bot.adapters.embedded.server import start_embedded_url
from bot.adapters.redis.server.connection import connect_server
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.data.sample_team import SampleTeam, start_bot
from tests.upgrade.left_behind import read_last_moment, restore_slack, restore_store


def restore_both(slack: SlackEmulator, store: Redis) -> None:
    restore_slack(slack)
    restore_store(store, slack.url)


@pytest.fixture(scope="package")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SampleTeam]:
    """The team half a minute later: jobs that waited are done, and the clock has ticked."""
    folder = tmp_path_factory.mktemp("left-behind")
    url = start_embedded_url(folder / "store")
    with pytest.MonkeyPatch.context() as environment, connect_server(url) as keeper:
        environment.setenv("no_proxy", "*")
        keeper.ping()
        with start_bot(url, folder, read_last_moment() + timedelta(seconds=30), restore_both) as sample_team:
            yield sample_team
