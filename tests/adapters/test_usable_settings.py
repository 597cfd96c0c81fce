"""Settings of which some can't be used, and the one for the channel of operators."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.config import Settings, load_settings, usable_settings
from bot.domain.errors import NotSetUp
from bot.domain.pulls import Repository

Env = pytest.MonkeyPatch


def test_good_settings_have_no_problems(monkeypatch: Env) -> None:
    monkeypatch.setenv("PORT", "2222")
    usable = usable_settings()
    assert (usable.settings.port, dict(usable.problems)) == (2222, {})


def test_every_problem_is_told_and_the_rest_can_be_used(monkeypatch: Env) -> None:
    bad = {"PORT": "many", "PRDIGEST_TIMEZONE": "Mars", "GITHUB_API_URL": "x", "PRDIGEST_ALLOWED_USERS": "@ada"}
    for name, value in {**bad, "PRDIGEST_REPO": "octo/engine", "SLACK_BOT_TOKEN": "xoxb-1"}.items():
        monkeypatch.setenv(name, value)
    usable = usable_settings()
    assert set(usable.problems) == set(bad)
    assert usable.settings.prdigest_repo == Repository("octo", "engine")
    assert usable.settings.slack_bot_token is not None
    defaults = Settings.model_construct()
    for name in bad:
        assert getattr(usable.settings, name.lower()) == getattr(defaults, name.lower())


@pytest.mark.parametrize("name", sorted(Settings.model_fields))
def test_the_default_of_every_setting_can_stand_in(name: str) -> None:
    default = Settings.model_fields[name].get_default(call_default_factory=True)
    assert getattr(Settings(**{name: default}), name) == default


def test_of_several_bad_values_every_command_names_the_first(monkeypatch: Env) -> None:
    monkeypatch.setenv("PORT", "many")
    monkeypatch.setenv("PRDIGEST_TIMEZONE", "Mars")
    with pytest.raises(NotSetUp) as caught:
        load_settings()
    first, reason = next(iter(usable_settings().problems.items()))
    assert str(caught.value) == f"{first} can't be used: {reason}. See `prdigest env`."


def test_a_file_in_another_encoding_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes("PRDIGEST_NAME=Größe\nPORT=1111\n".encode("latin-1"))
    usable = usable_settings()
    assert (dict(usable.problems), usable.settings.port) == ({".env": "save it as UTF-8 text"}, 3000)


# a file that even the superuser can't read as one
UNREADABLE = Path("/proc/self/mem")


@pytest.mark.skipif(not UNREADABLE.exists(), reason="a file of Linux")
def test_a_file_that_may_not_be_read_says_why(tmp_path: Path, monkeypatch: Env) -> None:
    monkeypatch.setenv("PORT", "1111")
    (tmp_path / ".env").symlink_to(UNREADABLE)
    usable = usable_settings()
    assert list(usable.problems) == [".env"]
    assert usable.problems[".env"].startswith("it can't be read (")
    with pytest.raises(NotSetUp, match=r"^\.env can't be used"):
        load_settings()


@pytest.mark.parametrize("value", ["#ops", "ops", "c0ops", "C0OPS,C0DEV", "xoxb-1234"])
def test_the_channel_of_operators_is_one_id(monkeypatch: Env, value: str) -> None:
    monkeypatch.setenv("PRDIGEST_ADMIN_CHANNEL", value)
    problems = usable_settings().problems
    assert problems == {"PRDIGEST_ADMIN_CHANNEL": "use an id of Slack, as C0123ABCD; not a name"}


@pytest.mark.parametrize(("value", "expected"), [("C0OPS123", "C0OPS123"), ("D0ADA", "D0ADA"), ("", None)])
def test_the_channel_of_operators_may_be_any_or_none(monkeypatch: Env, value: str, expected: str | None) -> None:
    monkeypatch.setenv("PRDIGEST_ADMIN_CHANNEL", value)
    assert load_settings().prdigest_admin_channel == expected
