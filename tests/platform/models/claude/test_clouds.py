import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from bot.errors import ConfigurationError, ModelBusy, ModelRequestRejected
from bot.features.summaries.reading import SummaryAnswer
from bot.platform.models import (
    Chat,
    ChatEvent,
    ModelAccess,
    ModelProvider,
    Prompt,
    TextDelta,
    TextPart,
    Turn,
    TurnEnd,
)
from bot.platform.models.claude import BEDROCK, CLAUDE, VERTEX
from bot.platform.models.claude.connection import require_library
from bot.platform.models.completion import build_schema
from tests.emulators.claude.server import ClaudeEmulator, Failure, Text, ToolUse
from tests.emulators.clouds import BedrockFront, VertexFront

MODEL = "claude-haiku-5-5"
PROMPT = Prompt(MODEL, "v1", "Be brief.", "What changed? " * 20, build_schema(SummaryAnswer), 1_000)
TOOL = {
    "name": "read_diff",
    "description": "Read a diff.",
    "input_schema": {
        "type": "object",
        "properties": {"number": {"type": "integer"}},
        "required": ["number"],
        "additionalProperties": False,
    },
}
CHAT = Chat(
    model="claude-sonnet-5-5",
    system="Answer.",
    tools=(TOOL,),
    turns=(Turn("person", (TextPart("What changed?", stable=True),)),),
    max_tokens=1_000,
    seconds=20.0,
    silence=20.0,
)
USER, SECRET, REGION, PROJECT = "AKIALOOPBACK", "a/secret+of/this/test", "eu-west-9", "loopback-project-1"
# the doctor's, in seconds
TIMEOUT = 8.0


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials of this machine, no look at a metadata service, and no other addresses than those given."""
    for name in ("AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_AWS_API_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NO_GCE_CHECK", "true")


@pytest.fixture
def bedrock(claude: ClaudeEmulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[BedrockFront]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", USER)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    with BedrockFront(claude, REGION, USER, SECRET) as front:
        monkeypatch.setenv("ANTHROPIC_BEDROCK_MANTLE_BASE_URL", f"{front.url}/anthropic")
        yield front


@pytest.fixture
def vertex(claude: ClaudeEmulator, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[VertexFront]:
    with VertexFront(claude, PROJECT, REGION) as front:
        account = tmp_path / "account.json"
        account.write_text(json.dumps(make_account(f"{front.url}/token")), encoding="utf-8")
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(account))
        monkeypatch.setenv("ANTHROPIC_VERTEX_BASE_URL", f"{front.url}/v1")
        yield front


def make_account(token_uri: str) -> dict[str, str]:
    """The file of a service account, as Google's console gives it out."""
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return {
        "type": "service_account",
        "project_id": "another-project",
        "private_key_id": "1",
        "private_key": pem,
        "client_email": "prdigest@example.invalid",
        "token_uri": token_uri,
    }


def access(region: str = REGION) -> ModelAccess:
    return ModelAccess("", "", {"PRDIGEST_MODEL_REGION": region, "PRDIGEST_MODEL_PROJECT": PROJECT})


def complete(provider: ModelProvider, prompt: Prompt = PROMPT, region: str = REGION) -> str:
    with closing(provider.connect(access(region))) as connection:
        return connection.complete(prompt).text


def stream(provider: ModelProvider, chat: Chat = CHAT) -> list[ChatEvent]:
    with closing(provider.connect(access())) as connection:
        return list(connection.stream_turn(chat))


class TestBedrock:
    def test_an_answer_in_a_schema_comes_by_a_signed_request(
        self, bedrock: BedrockFront, claude: ClaudeEmulator
    ) -> None:
        assert json.loads(complete(BEDROCK))["headline"]
        assert (bedrock.seen, bedrock.refused) == (["/anthropic/v1/messages"], [])
        assert claude.requests[0]["model"] == MODEL
        assert claude.requests[0]["output_config"]["format"]["type"] == "json_schema"

    def test_a_name_of_bedrock_stays_as_it_is(self, bedrock: BedrockFront, claude: ClaudeEmulator) -> None:
        complete(BEDROCK, replace(PROMPT, model=f"anthropic.{MODEL}"))
        assert claude.requests[0]["model"] == MODEL
        assert bedrock.seen

    def test_a_turn_is_streamed_and_its_prompt_cached(self, bedrock: BedrockFront, claude: ClaudeEmulator) -> None:
        claude.script(Text("It counts once."))
        events = stream(BEDROCK)
        assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "It counts once."
        assert isinstance(events[-1], TurnEnd)
        assert claude.requests[0]["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
        assert bedrock.refused == []

    def test_a_key_of_bedrock_takes_the_place_of_the_signature(
        self, bedrock: BedrockFront, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "a-key")
        with pytest.raises(ModelRequestRejected):
            complete(BEDROCK)
        assert bedrock.refused == ["no signature"]

    def test_another_secret_is_refused_with_advice_for_the_operator(
        self, claude: ClaudeEmulator, bedrock: BedrockFront, caplog: pytest.LogCaptureFixture
    ) -> None:
        with BedrockFront(claude, REGION, USER, "another") as front, pytest.MonkeyPatch.context() as patch:
            patch.setenv("ANTHROPIC_BEDROCK_MANTLE_BASE_URL", f"{front.url}/anthropic")
            with pytest.raises(ModelRequestRejected, match="credentials were rejected"):
                complete(BEDROCK)
            assert front.refused == ["the signature is wrong"]
        assert "PRDIGEST_MODEL_REGION" in caplog.text
        assert bedrock.seen == []
        assert SECRET not in caplog.text


class TestVertex:
    def test_an_answer_in_a_schema_comes_with_a_token_of_the_account(
        self, vertex: VertexFront, claude: ClaudeEmulator
    ) -> None:
        assert json.loads(complete(VERTEX))["headline"]
        place = f"/v1/projects/{PROJECT}/locations/{REGION}/publishers/anthropic/models"
        assert vertex.seen == [f"{place}/{MODEL}:rawPredict"]
        assert vertex.tokens_given == 1
        assert claude.requests[0]["output_config"]["format"]["type"] == "json_schema"

    @pytest.mark.slow
    def test_a_turn_is_streamed_with_its_tools(self, vertex: VertexFront, claude: ClaudeEmulator) -> None:
        claude.script(ToolUse("read_diff", {"number": 1}))
        assert isinstance(stream(VERTEX)[-1], TurnEnd)
        assert vertex.seen[0].endswith("models/claude-sonnet-5-5:streamRawPredict")
        assert claude.requests[0]["tools"][0]["name"] == "read_diff"


@pytest.mark.parametrize("provider", [BEDROCK, VERTEX], ids=lambda each: each.name)
class TestBoth:
    @pytest.mark.slow
    def test_a_busy_service_is_asked_once(
        self, provider: ModelProvider, bedrock: BedrockFront, vertex: VertexFront, claude: ClaudeEmulator
    ) -> None:
        claude.script(Failure(529, "overloaded_error", retry_after=2))
        with pytest.raises(ModelBusy) as caught:
            complete(provider)
        assert caught.value.retry_after == 2.0
        assert len(claude.requests) == 1

    def test_without_credentials_the_operator_reads_what_to_do(
        self, provider: ModelProvider, claude: ClaudeEmulator, caplog: pytest.LogCaptureFixture
    ) -> None:
        # its own region, as the library keeps the credentials of a region
        with pytest.raises(ModelRequestRejected, match="no credentials for the model's cloud"):
            complete(provider, region="none-1")
        assert "there are no credentials for it" in caplog.text
        assert claude.requests == []

    def test_the_doctor_asks_for_no_text(
        self, provider: ModelProvider, bedrock: BedrockFront, vertex: VertexFront, claude: ClaudeEmulator
    ) -> None:
        models = provider.find_models(access(), [MODEL, "claude-none-9"], TIMEOUT)
        assert models == {MODEL: True, "claude-none-9": False}
        assert claude.requests == []

    @pytest.mark.slow
    def test_credentials_that_are_refused_are_an_error_of_the_doctor(
        self, provider: ModelProvider, bedrock: BedrockFront, vertex: VertexFront, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "a-key")
        vertex.accepted = "another"
        with pytest.raises(ModelRequestRejected):
            provider.find_models(access(), [MODEL], TIMEOUT)
        assert bedrock.refused + vertex.refused


@pytest.mark.parametrize("module", ["no_such_library", "google.no_such_part", "no_such.part"])
def test_a_library_that_is_missing_is_one_sentence(module: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        require_library(module, "bedrock")
    assert str(caught.value) == (
        "PRDIGEST_MODEL_PROVIDER=bedrock needs more libraries: install prdigest[bedrock], "
        "or run uv sync --extra bedrock."
    )


def test_a_model_costs_the_same_under_both_of_its_names() -> None:
    for name, price in CLAUDE.prices.prices.items():
        assert BEDROCK.prices[name] == BEDROCK.prices[f"anthropic.{name}"] == price
        assert VERTEX.prices[name] == price
