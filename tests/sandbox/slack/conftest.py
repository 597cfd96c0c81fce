"""The client that the product asks Slack with."""

from __future__ import annotations

import pytest
from slack_sdk import WebClient

from tests.emulators.slack import SlackEmulator
from tests.emulators.slack_client import client_of


@pytest.fixture
def web(slack: SlackEmulator) -> WebClient:
    return client_of(slack)
