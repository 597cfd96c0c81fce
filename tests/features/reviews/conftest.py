"""The model and the GitHub of the tests of reviews."""

from collections.abc import Iterator

import pytest

from bot.platform.models import ChatModel
from bot.platform.models.claude.connection import ClaudeConnection, make_claude_client
from tests.emulators.claude.server import ClaudeEmulator
from tests.features.reviews.changes import Desk, add_change, read_files
from tests.helpers.worlds import ScriptedGitHub


@pytest.fixture
def chat(claude: ClaudeEmulator) -> Iterator[ChatModel]:
    with make_claude_client(claude.api_key, claude.url) as client:
        yield ClaudeConnection(client)


@pytest.fixture
def github() -> Iterator[ScriptedGitHub]:
    with ScriptedGitHub() as emulator:
        add_change(emulator)
        yield emulator


@pytest.fixture
def desk(chat: ChatModel, claude: ClaudeEmulator, github: ScriptedGitHub) -> Desk:
    return Desk(chat, claude, read_files(github))
