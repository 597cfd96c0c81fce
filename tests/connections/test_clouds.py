"""A bot whose models run on Bedrock: its digest, what it pays, and what the doctor says of it."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from bot.app import open_app
from bot.features.digest.service import build_digest
from bot.settings import Settings, UsableSettings
from tests.doctor.findings import examine
from tests.emulators.claude.server import ClaudeEmulator
from tests.emulators.clouds import BedrockFront
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.builders import DAY, REPOSITORY
from tests.helpers.world import add_small_day
from tests.helpers.worlds import MORNING, ScriptedGitHub

# a region of this module: the library keeps the credentials of each
REGION, USER, SECRET = "eu-north-9", "AKIACONTAINER", "another/secret"


@pytest.fixture
def bedrock(
    claude: ClaudeEmulator,
    github: ScriptedGitHub,
    slack: SlackEmulator,
    store: Redis,
    store_url: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Iterator[BedrockFront]:
    store.ping()
    add_small_day(github, 2)
    with BedrockFront(claude, REGION, USER, SECRET) as front:
        for name, value in {
            "AWS_ACCESS_KEY_ID": USER,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_CONFIG_FILE": str(tmp_path / "none"),
            "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none"),
            "ANTHROPIC_BEDROCK_MANTLE_BASE_URL": f"{front.url}/anthropic",
            # of no use, as the models are in the cloud
            "ANTHROPIC_API_KEY": "sk-ant-of-nobody",
            "PRDIGEST_MODEL_PROVIDER": "bedrock",
            "PRDIGEST_MODEL_REGION": REGION,
            "PRDIGEST_REPO": str(REPOSITORY),
            "PRDIGEST_TIMEZONE": "America/Los_Angeles",
            "GITHUB_API_URL": github.url,
            "GITHUB_TOKEN": github.token,
            "SLACK_API_URL": slack.url,
            "SLACK_BOT_TOKEN": "xoxb-test",
            "REDIS_URL": store_url,
        }.items():
            monkeypatch.setenv(name, value)
        for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_AWS_API_KEY"):
            monkeypatch.delenv(name, raising=False)
        yield front


def test_a_digest_is_written_by_the_models_of_the_cloud_and_paid(bedrock: BedrockFront) -> None:
    with open_app(Settings(), lambda: MORNING, time.sleep) as base:
        digests = base
        digest = build_digest(base, REPOSITORY, DAY, "Engine")
        spent = digests.budget.read_spending_today()
    assert [entry.summary.headline != "" for entry in digest.entries] == [True, True]
    assert digest.overview.text
    assert bedrock.seen == ["/anthropic/v1/messages"] * 5, "two summaries, their reviews and the overview"
    assert bedrock.refused == []
    # the budget counts whole millionths of a dollar, call by call
    assert spent == pytest.approx(digest.cost, abs=3e-6)
    assert spent > 0


def test_the_doctor_asks_the_cloud_for_both_models_without_a_message(
    bedrock: BedrockFront, claude: ClaudeEmulator
) -> None:
    usable = UsableSettings(Settings(), {})
    lines = examine(usable)
    assert "+ Claude on Bedrock credentials: accepted" in lines
    assert "+ Model claude-haiku-5-5: available, $0.10 in and $0.50 out per million tokens" in lines
    assert bedrock.seen == ["/anthropic/v1/messages/count_tokens"] * 2
    assert claude.requests == []
