"""The client that the product asks Slack with."""

from __future__ import annotations

import pytest
from slack_sdk import WebClient

from tests.emulators.slack.client import client_of
from tests.emulators.slack.server import SlackEmulator


@pytest.fixture
def web(slack: SlackEmulator) -> WebClient:
    return client_of(slack)
