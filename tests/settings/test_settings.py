from datetime import time
from pathlib import Path

import pytest

from bot.errors import ConfigurationError, UsageError
from bot.settings import load_settings
from impact.repository import Repository

Env = pytest.MonkeyPatch


def test_without_any_setting_there_are_defaults() -> None:
    settings = load_settings()
    assert (settings.github_token, settings.redis_url, settings.prdigest_repo) == (None, None, None)
    assert (settings.port, settings.prdigest_post_at, settings.prdigest_concurrency) == (3000, time(9, 0), 8)
    assert str(settings.prdigest_timezone) == "UTC"


def test_the_environment_sets(monkeypatch: Env) -> None:
    monkeypatch.setenv("PRDIGEST_REPO", "https://github.com/octo/engine")
    monkeypatch.setenv("PRDIGEST_TIMEZONE", "Europe/Berlin")
    monkeypatch.setenv("PRDIGEST_POST_AT", "08:30")
    monkeypatch.setenv("GITHUB_APP_INSTALLATION_ID", "42")
    settings = load_settings()
    assert settings.prdigest_repo == Repository("octo", "engine")
    assert str(settings.prdigest_timezone) == "Europe/Berlin"
    assert (settings.prdigest_post_at, settings.github_app_installation_id) == (time(8, 30), 42)


def test_a_file_sets(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text('PRDIGEST_NAME="My engine"\nPORT=8080\nSOMETHING_ELSE=1\n')
    settings = load_settings()
    assert (settings.prdigest_name, settings.port) == ("My engine", 8080)


def test_the_environment_goes_before_the_file(monkeypatch: Env, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PORT=1111\n")
    monkeypatch.setenv("PORT", "2222")
    assert load_settings().port == 2222


@pytest.mark.parametrize(
    "name", ["GITHUB_TOKEN", "PORT", "PRDIGEST_REPO", "PRDIGEST_TIMEZONE", "PRDIGEST_POST_AT"]
)
def test_an_empty_value_counts_as_unset(monkeypatch: Env, tmp_path: Path, name: str) -> None:
    default = getattr(load_settings(), name.lower())
    monkeypatch.setenv(name, "")
    assert getattr(load_settings(), name.lower()) == default
    monkeypatch.delenv(name)
    (tmp_path / ".env").write_text(f"{name}=\n")
    assert getattr(load_settings(), name.lower()) == default


def test_an_empty_value_in_the_environment_does_not_hide_the_file(monkeypatch: Env, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PORT=1111\n")
    monkeypatch.setenv("PORT", "")
    assert load_settings().port == 1111


def test_secrets_do_not_show_in_what_is_printed(monkeypatch: Env) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_hidden")
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-hidden")
    assert "hidden" not in repr(load_settings())


BAD = [
    ("PORT", "many"),
    ("PORT", "99999"),
    ("GITHUB_APP_INSTALLATION_ID", "ghp_1234"),
    ("PRDIGEST_POST_AT", "noonish"),
    ("PRDIGEST_DIFF_TOKENS", "7"),
    ("PRDIGEST_CONCURRENCY", "33"),
    ("PRDIGEST_LOG_LEVEL", "chatty"),
    ("PRDIGEST_REPO", "ghp_1234"),
    ("PRDIGEST_TIMEZONE", "Mars/Olympus"),
    ("PRDIGEST_REPOS", "ghp_1234"),
    ("PRDIGEST_REPOS", "octo/engine, ghp_1234"),
    ("PRDIGEST_REPOS", "octo/engine;octo/other"),
    ("PRDIGEST_ALLOWED_CHANNELS", "#general"),
    ("PRDIGEST_ALLOWED_CHANNELS", "C0DIGEST, general"),
    ("PRDIGEST_ALLOWED_CHANNELS", "c0digest"),
    ("PRDIGEST_ALLOWED_USERS", "@ada"),
    ("PRDIGEST_ALLOWED_USERS", "xoxb-1234"),
    ("PRDIGEST_ALLOWED_WORKSPACES", "octo.slack.com"),
    ("PRDIGEST_ALLOWED_WORKSPACES", "T"),
    ("PRDIGEST_USER_LIMIT", "0"),
    ("PRDIGEST_USER_LIMIT", "1001"),
    ("PRDIGEST_USER_CALLS", "0"),
    ("PRDIGEST_USER_CALLS", "1001"),
    ("PRDIGEST_CHANNEL", "#vllm"),
    ("PRDIGEST_CHANNEL", "U0ADA"),
]
# what to write instead, in words of ours
ADVICE = {
    ("PRDIGEST_POST_AT", "25:00"): "write it as 09:00 or 9am",
    ("PRDIGEST_POST_AT", "noonish"): "write it as 09:00 or 9am",
    ("PRDIGEST_CHANNEL", "#vllm"): "use the channel's id, such as C0123ABCD, not its name",
    ("PORT", "many"): "write a whole number",
    ("PRDIGEST_USER_LIMIT", "0"): "write 1 or more",
    ("PRDIGEST_USER_LIMIT", "1001"): "write 1000 or less",
}
TIMES = {"9am": time(9), "5:30pm": time(17, 30), "09:00": time(9), "09:00:00": time(9), "7": time(7)}


def test_a_time_may_be_written_as_in_slack(monkeypatch: Env) -> None:
    parsed = {}
    for text in TIMES:
        monkeypatch.setenv("PRDIGEST_POST_AT", text)
        parsed[text] = load_settings().prdigest_post_at
    assert parsed == TIMES


def test_a_refusal_says_what_to_write(monkeypatch: Env) -> None:
    refusals = {}
    for name, value in ADVICE:
        with monkeypatch.context() as each:
            refusals[name, value] = refusal(each, name, value).removeprefix(f"{name} can't be used: ").rstrip(".")
    assert refusals == ADVICE


def refusal(monkeypatch: Env, name: str, value: str) -> str:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError) as caught:
        load_settings()
    return str(caught.value)


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_value_that_can_not_be_used_names_its_variable(monkeypatch: Env, name: str, value: str) -> None:
    message = refusal(monkeypatch, name, value)
    assert message.startswith(f"{name} can't be used")
    assert "\n" not in message


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_value_that_can_not_be_used_is_not_shown(monkeypatch: Env, name: str, value: str) -> None:
    assert value not in refusal(monkeypatch, name, value).removeprefix(name)


def test_a_bad_value_in_the_file_names_its_variable(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PORT=many\n")
    with pytest.raises(UsageError, match=r"^PORT can't be used"):
        load_settings()


@pytest.mark.parametrize("name", ["GITHUB_API_URL", "SLACK_API_URL", "ANTHROPIC_BASE_URL"])
def test_an_address_that_is_none_names_its_variable(monkeypatch: Env, name: str) -> None:
    assert name in refusal(monkeypatch, name, "example.com")


def test_a_file_that_is_no_text_is_told_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes("PRDIGEST_NAME=Größe\n".encode("latin-1"))
    with pytest.raises(UsageError, match=r"\.env"):
        load_settings()


# --- lists


LISTS = {
    "one": ("octo/engine", ["octo/engine"]),
    "commas": ("octo/engine,octo/other", ["octo/engine", "octo/other"]),
    "commas and blanks": (" octo/engine , octo/other ,", ["octo/engine", "octo/other"]),
    "blanks": ("octo/engine octo/other\tocto/third", ["octo/engine", "octo/other", "octo/third"]),
    "lines": ("octo/engine\nocto/other", ["octo/engine", "octo/other"]),
    "addresses": ("https://github.com/octo/engine", ["octo/engine"]),
}


@pytest.mark.parametrize(("text", "expected"), LISTS.values(), ids=LISTS)
def test_a_list_stands_between_commas_or_blanks(monkeypatch: Env, text: str, expected: list[str]) -> None:
    monkeypatch.setenv("PRDIGEST_REPOS", text)
    assert load_settings().prdigest_repos == tuple(map(Repository.parse, expected))


ID_LISTS = [
    ("PRDIGEST_ALLOWED_WORKSPACES", "T0TEAM, E0GRID", {"T0TEAM", "E0GRID"}),
    ("PRDIGEST_ALLOWED_CHANNELS", "C0DIGEST G0PRIVATE,D0DIRECT", {"C0DIGEST", "G0PRIVATE", "D0DIRECT"}),
    ("PRDIGEST_ALLOWED_USERS", "U0ADA,W0GRACE,U0ADA", {"U0ADA", "W0GRACE"}),
]


@pytest.mark.parametrize(("name", "text", "expected"), ID_LISTS)
def test_ids_are_a_set(monkeypatch: Env, name: str, text: str, expected: set[str]) -> None:
    monkeypatch.setenv(name, text)
    assert getattr(load_settings(), name.lower()) == expected


def test_lists_may_stand_in_the_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text('PRDIGEST_REPOS="octo/engine, octo/other"\nPRDIGEST_ALLOWED_USERS=U0ADA\n')
    settings = load_settings()
    assert (len(settings.prdigest_repos), settings.prdigest_allowed_users) == (2, frozenset({"U0ADA"}))


@pytest.mark.parametrize("name", ["PRDIGEST_REPOS", *(name for name, _, _ in ID_LISTS)])
def test_without_a_list_there_is_none_and_an_empty_one_is_unset(monkeypatch: Env, name: str) -> None:
    assert not getattr(load_settings(), name.lower())
    monkeypatch.setenv(name, "")
    assert not getattr(load_settings(), name.lower())


@pytest.mark.parametrize("name", ["PRDIGEST_ALLOWED_CHANNELS", "PRDIGEST_ALLOWED_USERS"])
@pytest.mark.parametrize("text", [",", " ", ", ,"])
def test_a_list_that_names_nothing_does_not_allow_all(monkeypatch: Env, name: str, text: str) -> None:
    assert name in refusal(monkeypatch, name, text)


def test_how_often_a_person_may_ask_has_a_default() -> None:
    assert load_settings().prdigest_user_limit == 20


@pytest.mark.parametrize(
    ("value", "address"),
    [
        ("9464", "127.0.0.1:9464"),
        ("10.0.0.5:9464", "10.0.0.5:9464"),
        ("localhost:0", "localhost:0"),
        ("[::1]:9464", "[::1]:9464"),
    ],
)
def test_metrics_are_on_this_machine_alone_unless_a_host_is_named(
    monkeypatch: Env, value: str, address: str
) -> None:
    monkeypatch.setenv("PRDIGEST_METRICS_ADDRESS", value)
    assert str(load_settings().prdigest_metrics_address) == address


@pytest.mark.parametrize("value", ["host", "host:", "65534", "127.0.0.1:99999", "http://host:9464/metrics", "-1"])
def test_an_address_of_metrics_that_is_none_is_refused_with_advice(monkeypatch: Env, value: str) -> None:
    monkeypatch.setenv("PRDIGEST_METRICS_ADDRESS", value)
    with pytest.raises(ConfigurationError, match="write a port, such as 9464, or HOST:PORT"):
        load_settings()


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("PRDIGEST_MCP_TOKEN", "a" * 31, "use 32 characters or more"),
        ("PRDIGEST_MCP_ADDRESS", "host", "write a port, such as 9464, or HOST:PORT"),
        ("PRDIGEST_MCP_HOSTS", "https://mcp.example.com", "write names of hosts, such as mcp.example.com"),
        ("PRDIGEST_MCP_HOSTS", "a b*", "write names of hosts"),
        ("PRDIGEST_MCP_PROFILES", "plugin, ../x", "write names of profiles, separated by commas"),
        ("PRDIGEST_MCP_CALLS", "0", "write 1 or more"),
    ],
)
def test_a_setting_of_agents_that_is_none_is_refused_with_advice(
    monkeypatch: Env, name: str, value: str, advice: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=advice) as refused:
        load_settings()
    assert value not in str(refused.value)


def test_lists_of_agents_are_read_as_people_write_them(monkeypatch: Env) -> None:
    monkeypatch.setenv("PRDIGEST_MCP_HOSTS", "MCP.example.com, other.example:8443")
    monkeypatch.setenv("PRDIGEST_MCP_PROFILES", "Plugin app")
    loaded = load_settings()
    assert loaded.prdigest_mcp_hosts == {"mcp.example.com", "other.example:8443"}
    assert loaded.prdigest_mcp_profiles == {"plugin", "app"}
    assert str(loaded.prdigest_mcp_address) == "127.0.0.1:3010"


@pytest.mark.parametrize(
    ("token", "host", "address"),
    [
        ("", "", "0.0.0.0:3000"),
        # nothing but health checks comes to it
        ("xapp-1-token", "", "127.0.0.1:3000"),
        ("", "127.0.0.1", "127.0.0.1:3000"),
        ("xapp-1-token", "192.0.2.7", "192.0.2.7:3000"),
        ("", "::1", "[::1]:3000"),
    ],
)
def test_the_port_is_open_to_whom_it_is_for(monkeypatch: Env, token: str, host: str, address: str) -> None:
    monkeypatch.setenv("SLACK_APP_TOKEN", token)
    monkeypatch.setenv("PRDIGEST_LISTEN_HOST", host)
    assert str(load_settings().web_address) == address


@pytest.mark.parametrize("value", ["localhost", "127.0.0.1:3000", "*", "256.0.0.1", "http://127.0.0.1"])
def test_a_host_to_listen_on_is_an_address(monkeypatch: Env, value: str) -> None:
    monkeypatch.setenv("PRDIGEST_LISTEN_HOST", value)
    with pytest.raises(ConfigurationError, match="write an IP address"):
        load_settings()
