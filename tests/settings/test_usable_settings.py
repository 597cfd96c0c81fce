from pathlib import Path

import pytest

from bot.errors import ConfigurationError
from bot.settings import Settings, load_settings, load_usable_settings
from impact.repository import Repository
from tests.helpers.tables import check_rows

Env = pytest.MonkeyPatch


def test_good_settings_have_no_problems(monkeypatch: Env) -> None:
    monkeypatch.setenv("PORT", "2222")
    usable = load_usable_settings()
    assert (usable.settings.port, dict(usable.problems)) == (2222, {})


def test_every_problem_is_told_and_the_rest_can_be_used(monkeypatch: Env) -> None:
    bad = {"PORT": "many", "PRDIGEST_TIMEZONE": "Mars", "GITHUB_API_URL": "x", "PRDIGEST_ALLOWED_USERS": "@ada"}
    for name, value in {**bad, "PRDIGEST_REPO": "octo/engine", "SLACK_BOT_TOKEN": "xoxb-1"}.items():
        monkeypatch.setenv(name, value)
    usable = load_usable_settings()
    assert set(usable.problems) == set(bad)
    assert usable.settings.prdigest_repo == Repository("octo", "engine")
    assert usable.settings.slack_bot_token is not None
    defaults = Settings.model_construct()
    for name in bad:
        assert getattr(usable.settings, name.lower()) == getattr(defaults, name.lower())


@check_rows(sorted(Settings.model_fields))
def test_the_default_of_every_setting_can_stand_in(name: str) -> None:
    default = Settings.model_fields[name].get_default(call_default_factory=True)
    assert getattr(Settings(**{name: default}), name) == default


def test_of_several_bad_values_every_command_names_the_first(monkeypatch: Env) -> None:
    monkeypatch.setenv("PORT", "many")
    monkeypatch.setenv("PRDIGEST_TIMEZONE", "Mars")
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    first, reason = next(iter(load_usable_settings().problems.items()))
    assert str(caught.value) == f"{first} can't be used: {reason}."


def test_a_file_in_another_encoding_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes("PRDIGEST_NAME=Größe\nPORT=1111\n".encode("latin-1"))
    usable = load_usable_settings()
    assert (dict(usable.problems), usable.settings.port) == ({".env": "save it as UTF-8 text"}, 3000)


# a file that even the superuser can't read as one
UNREADABLE = Path("/proc/self/mem")


@pytest.mark.skipif(not UNREADABLE.exists(), reason="a file of Linux")
def test_a_file_that_may_not_be_read_says_why(tmp_path: Path, monkeypatch: Env) -> None:
    monkeypatch.setenv("PORT", "1111")
    (tmp_path / ".env").symlink_to(UNREADABLE)
    usable = load_usable_settings()
    assert list(usable.problems) == [".env"]
    assert usable.problems[".env"].startswith("it can't be read (")
    with pytest.raises(ConfigurationError, match=r"^\.env can't be used"):
        load_settings()


@pytest.mark.parametrize("value", ["#ops", "ops", "c0ops", "C0OPS,C0DEV", "xoxb-1234"])
def test_the_channel_of_operators_is_one_id(monkeypatch: Env, value: str) -> None:
    monkeypatch.setenv("PRDIGEST_ADMIN_CHANNEL", value)
    problems = load_usable_settings().problems
    assert problems == {"PRDIGEST_ADMIN_CHANNEL": "use a Slack id such as C0123ABCD, not a name"}


@pytest.mark.parametrize(("value", "expected"), [("C0OPS123", "C0OPS123"), ("D0ADA", "D0ADA"), ("", None)])
def test_the_channel_of_operators_may_be_any_or_none(monkeypatch: Env, value: str, expected: str | None) -> None:
    monkeypatch.setenv("PRDIGEST_ADMIN_CHANNEL", value)
    assert load_settings().prdigest_admin_channel == expected


PAIRS = [
    ("GITHUB_API_URL", "GITHUB_TOKEN"),
    ("GITHUB_API_URL", "GITHUB_APP_PRIVATE_KEY"),
    ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    ("SLACK_API_URL", "SLACK_BOT_TOKEN"),
    ("SLACK_API_URL", "SLACK_APP_TOKEN"),
]
ELSEWHERE = "https://elsewhere.example/api/v3"


def write(folder: Path, **values: str) -> None:
    (folder / ".env").write_text("".join(f"{name}={value}\n" for name, value in values.items()))


@pytest.mark.parametrize(("address", "secret"), PAIRS)
def test_a_file_does_not_send_a_secret_of_the_environment_elsewhere(
    monkeypatch: Env, tmp_path: Path, address: str, secret: str
) -> None:
    monkeypatch.setenv(secret, "of-the-environment")
    write(tmp_path, **{address: ELSEWHERE})
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    assert str(caught.value) == (
        f"{address} can't be used: it is set in .env, but {secret} is set in the environment; set both "
        "in the same place."
    )
    assert getattr(load_usable_settings().settings, address.lower()) != ELSEWHERE


@pytest.mark.parametrize(("address", "secret"), PAIRS)
def test_the_environment_does_not_send_a_secret_of_the_file_elsewhere(
    monkeypatch: Env, tmp_path: Path, address: str, secret: str
) -> None:
    """It may name a gateway for another program."""
    monkeypatch.setenv(address, ELSEWHERE)
    write(tmp_path, **{secret: "of-the-file"})
    with pytest.raises(
        ConfigurationError,
        match=rf"^{address} can't be used: it is set in the environment, but {secret} is set in",
    ):
        load_settings()


@pytest.mark.parametrize(("address", "secret"), PAIRS)
def test_an_address_and_a_secret_of_one_place_go_together(
    monkeypatch: Env, tmp_path: Path, address: str, secret: str
) -> None:
    write(tmp_path, **{address: ELSEWHERE, secret: "of-the-file"})
    assert getattr(load_settings(), address.lower()) == ELSEWHERE
    monkeypatch.setenv(address, ELSEWHERE)
    monkeypatch.setenv(secret, "of-the-environment")
    assert getattr(load_settings(), address.lower()) == ELSEWHERE


@pytest.mark.parametrize(("address", "secret"), PAIRS)
def test_the_usual_address_may_be_written_anywhere(
    monkeypatch: Env, tmp_path: Path, address: str, secret: str
) -> None:
    usual = Settings.model_fields[address.lower()].default
    monkeypatch.setenv(secret, "of-the-environment")
    write(tmp_path, **{address: usual})
    assert getattr(load_settings(), address.lower()) == usual


def test_an_address_of_the_file_that_the_environment_overrides_harms_nothing(
    monkeypatch: Env, tmp_path: Path
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "of-the-environment")
    monkeypatch.setenv("GITHUB_API_URL", "https://github.example/api/v3")
    write(tmp_path, GITHUB_API_URL=ELSEWHERE, GITHUB_TOKEN="of-the-file")
    assert load_settings().github_api_url == "https://github.example/api/v3"
