import anthropic
import pytest
from anthropic import Anthropic

from tests.emulators.claude.server import ClaudeEmulator


def test_a_model_is_told_by_its_name(strict: Anthropic) -> None:
    model = strict.models.retrieve("claude-haiku-5-5")
    assert (model.id, model.type) == ("claude-haiku-5-5", "model")


def test_a_model_that_there_is_not_is_not_found(strict: Anthropic) -> None:
    with pytest.raises(anthropic.NotFoundError) as caught:
        strict.models.retrieve("claude-haiku-9")
    assert caught.value.type == "not_found_error"


def test_a_wrong_key_is_refused_before_the_name_is_looked_at(claude: ClaudeEmulator) -> None:
    client = Anthropic(base_url=claude.url, api_key="sk-ant-wrong", max_retries=0)
    with client, pytest.raises(anthropic.AuthenticationError) as caught:
        client.models.retrieve("claude-haiku-9")
    assert caught.value.type == "authentication_error"
