import pytest

from bot.errors import ConfigurationError
from bot.settings import list_secret_values, load_settings
from bot.usage import ModelPrice

PASSWORD = "password-of-mine"
Env = pytest.MonkeyPatch
GOOD = (
    "https://models.example/v1",
    "https://8.8.8.8/v1",
    "http://127.0.0.1:8000/v1",
    "http://[::1]:8000/v1",
    "http://localhost:8000/v1",
    "http://10.1.2.3/v1",
    "http://192.168.0.9:8000",
    "http://[fd00::1]:8000/v1",
    "http://vllm:8000/v1",
    "http://vllm.models.svc.cluster.local/v1",
    "http://gpu-1.internal/v1",
)
BAD = (
    "http://models.example/v1",
    "http://8.8.8.8/v1",
    "http://[2001:4860:4860::8888]/v1",
    "http://134744072/v1",
    "http://0x08080808/v1",
    "http://0.0.0.0:8000/v1",
    "http://local.example/v1",
    "http://internal.evil.example/v1",
    "ftp://127.0.0.1/v1",
    "127.0.0.1:8000/v1",
    "http://",
    "https://host:port/v1",
    "https://host:99999/v1",
    "http://[::1/v1",
    "https://user@models.example/v1",
    "http://localhost@evil.example/v1",
    f"https://models.example/v1?key={PASSWORD}",
    "https://models.example/v1#x",
    "https://models.example/v 1",
)


@pytest.mark.parametrize("address", GOOD)
def test_an_address_is_taken_if_what_goes_there_is_protected(monkeypatch: Env, address: str) -> None:
    monkeypatch.setenv("PRDIGEST_MODEL_URL", address)
    assert load_settings().prdigest_model_url == address


@pytest.mark.parametrize("address", BAD)
def test_another_address_is_refused_in_one_sentence_without_it(monkeypatch: Env, address: str) -> None:
    monkeypatch.setenv("PRDIGEST_MODEL_URL", address)
    with pytest.raises(ConfigurationError, match="PRDIGEST_MODEL_URL can't be used: write") as caught:
        load_settings()
    assert PASSWORD not in str(caught.value)


@pytest.mark.parametrize(
    ("written", "prices"),
    [
        ("0/0", {"": ModelPrice(0, 0)}),
        ("0.10/0.4", {"": ModelPrice(0.1, 0.4)}),
        ("Qwen/Qwen3-8B=1/2, b=3/4", {"Qwen/Qwen3-8B": ModelPrice(1, 2), "b": ModelPrice(3, 4)}),
        ("a=b=1/2", {"a=b": ModelPrice(1, 2)}),
    ],
)
def test_prices_are_read(monkeypatch: Env, written: str, prices: dict[str, ModelPrice]) -> None:
    monkeypatch.setenv("PRDIGEST_MODEL_PRICES", written)
    assert load_settings().prdigest_model_prices == prices


@pytest.mark.parametrize("written", ["free", "0", "1/2/3", "-1/2", "a=1", "nan/1", "1e9/1", "$1/$2", "9999999/1"])
def test_what_is_no_price_is_refused(monkeypatch: Env, written: str) -> None:
    monkeypatch.setenv("PRDIGEST_MODEL_PRICES", written)
    with pytest.raises(ConfigurationError, match="PRDIGEST_MODEL_PRICES can't be used: write IN/OUT in dollars"):
        load_settings()


def test_a_window_is_of_some_size(monkeypatch: Env) -> None:
    monkeypatch.setenv("PRDIGEST_CONTEXT_TOKENS", "100")
    with pytest.raises(ConfigurationError, match="write 4096 or more"):
        load_settings()


def test_the_key_is_a_secret(monkeypatch: Env) -> None:
    monkeypatch.setenv("PRDIGEST_MODEL_KEY", "a-key-of-the-server")
    assert "a-key-of-the-server" in list_secret_values(load_settings())
    assert "a-key-of-the-server" not in repr(load_settings())
