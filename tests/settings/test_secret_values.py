"""The values that a log leaves out: all secret settings, and of the store's address its password."""

import pytest

from bot.settings import list_secret_values, load_settings


def test_each_secret_is_listed_once_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "GITHUB_TOKEN": "token-of-github",
        "ANTHROPIC_API_KEY": "key-of-the-model",
        "SLACK_BOT_TOKEN": "xoxb-token-of-slack",
        "SLACK_SIGNING_SECRET": "secret-of-slack",
        "REDIS_URL": "redis://user:pass%20word@localhost:6379/0",
        "PRDIGEST_REPO": "octo/engine",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    passwords = ("pass%20word", "pass word")
    listed = list_secret_values(load_settings())
    assert set(listed) == {*list(values.values())[:4], *passwords}
    assert list(map(len, listed)) == sorted(map(len, listed), reverse=True)


def test_what_is_too_short_is_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://:is@localhost:6379/0")
    assert list_secret_values(load_settings()) == ()
