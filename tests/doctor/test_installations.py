"""The doctor as it is built from settings, good and bad, against the emulators."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from datetime import time as clock_time
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from localslack.loopback import Response
from redis import Redis

from bot.cli.maintain import format_finding, format_findings_json
from bot.doctor.checks import SettingsSnapshot, read_snapshot
from bot.doctor.checkup import run_checks
from bot.features.subscriptions.rules import Subscription, Timing
from bot.platform.finding import Finding
from bot.platform.models.registry import PROVIDERS
from bot.platform.store.due_queue import DueQueue, NextDigest
from bot.settings import load_usable_settings
from impact.repository import Repository
from tests.doctor.findings import format_findings
from tests.helpers.checks import closed_port
from tests.helpers.package_index import PackageServer, make_wheel
from tests.helpers.subscriptions import StoredSubscriptions
from tests.helpers.world import World, world
from tests.helpers.worlds import WebPage

pytestmark = pytest.mark.slow

Env = pytest.MonkeyPatch


def no_pause(_: float) -> None:
    time.sleep(0)


def findings() -> list[Finding]:
    return list(run_checks(load_usable_settings(), lambda: datetime.now(UTC), no_pause))


@pytest.fixture
def there(store: Redis, store_url: str) -> Iterator[World]:
    with world(store_url) as made:
        made.github.add("octo/engine")
        made.settings["PRDIGEST_REPO"] = "octo/engine"
        made.settings["PRDIGEST_CHANNEL"] = "C0DIGEST"
        made.settings["SLACK_APP_TOKEN"] = made.slack.app_token
        yield made


def list_findings(monkeypatch: Env, settings: Mapping[str, str]) -> list[str]:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    return format_findings(findings())


# nothing runs in these tests but the services
PROCESSES = {"Clock process", "Worker"}


def select_failures(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("!") and line[2:].split(":")[0] not in PROCESSES]


def test_good_settings_lead_to_every_service(there: World, monkeypatch: Env) -> None:
    lines = list_findings(monkeypatch, there.settings)
    assert select_failures(lines) == []
    there_is = "".join(lines)
    for name in ("GitHub octo/engine", "Model claude-haiku-5-5", "Store policy", "Slack scopes", "Slack app token",
                 "Channel C0DIGEST", "against Slack"):  # fmt: skip
        assert f"{name}: " in there_is or f"{name} (" in there_is, name


def test_the_checks_come_in_the_order_in_which_people_set_a_bot_up(there: World, monkeypatch: Env) -> None:
    lines = list_findings(monkeypatch, there.settings)
    assert list(dict.fromkeys(line[2:].split(":")[0].split(" ")[0] for line in lines)) == [
        "Settings", "Paths", "GitHub", "Mirror", "Claude", "Model", "Store", "Slack", "Channel",
        "Metrics", "Traces", "Time", "Clock", "Worker", "Jobs", "Runs", "Schedule",
    ]  # fmt: skip


FIXED = Subscription("C0DIGEST", Repository("octo", "engine"), Timing(clock_time(9), ZoneInfo("UTC")))


def test_channels_are_checked_once_with_all_that_they_are_for(
    there: World, monkeypatch: Env, store: Redis
) -> None:
    there.slack.add_channel("C0ADMIN", "admins")
    there.slack.add_message("D0ADA", "hello")
    stored = StoredSubscriptions(store)
    for subscription in (
        replace(FIXED, repository=Repository("octo", "other"), by="U0ADA"),
        replace(FIXED, repository=Repository("octo", "third"), by="U0ADA", is_paused=True),
        replace(FIXED, channel="D0ADA", by="U0ADA"),
    ):
        stored.put(subscription)
    lines = list_findings(monkeypatch, {**there.settings, "PRDIGEST_ADMIN_CHANNEL": "C0ADMIN"})
    assert [line for line in lines if "Channel" in line] == [
        "+ Channel C0DIGEST (PRDIGEST_CHANNEL, 2 subscriptions): #digest, the bot can post there",
        "+ Channel C0ADMIN (PRDIGEST_ADMIN_CHANNEL): #admins, the bot can post there",
        "+ Channel D0ADA (1 subscription): direct messages, the bot can post there",
    ]


def test_without_any_channel_it_says_so(there: World, monkeypatch: Env) -> None:
    lines = list_findings(monkeypatch, {**there.settings, "PRDIGEST_CHANNEL": ""})
    assert "- Channels: none: PRDIGEST_CHANNEL is not set, and there are no subscriptions" in lines


def test_the_subscription_of_the_settings_is_one_of_those_that_are_due(
    there: World, monkeypatch: Env, store: Redis
) -> None:
    DueQueue(store).put(NextDigest(FIXED.id), datetime(2126, 3, 1, 17, 20, tzinfo=UTC))
    lines = list_findings(monkeypatch, {**there.settings, "PRDIGEST_TIMEZONE": "UTC"})
    assert lines[-1] == "+ Schedule: 1 subscription, the next is octo/engine for C0DIGEST at 2126-03-01 17:20 UTC"


def test_without_a_store_the_channels_of_the_settings_are_checked(there: World, monkeypatch: Env) -> None:
    lines = list_findings(monkeypatch, {**there.settings, "REDIS_URL": f"redis://127.0.0.1:{closed_port()}"})
    assert [line.partition(":")[0] for line in lines if line.startswith("!")] == ["! Store"]
    assert "- Store owner: not checked: see Store above" in lines
    assert "+ Channel C0DIGEST (PRDIGEST_CHANNEL): #digest, the bot can post there" in lines
    assert "- Channels of subscriptions: not checked: see Store above" in lines
    after = ("Clock process", "Worker", "Jobs", "Runs", "Schedule")
    assert lines[-5:] == [f"- {name}: not checked: see Store above" for name in after]


def test_without_slack_its_channels_are_no_failures(there: World, monkeypatch: Env) -> None:
    lines = list_findings(monkeypatch, {**there.settings, "SLACK_BOT_TOKEN": "xoxb-wrong"})
    assert "- Store owner: not checked: see Slack token above" in lines
    assert "- Channel C0DIGEST (PRDIGEST_CHANNEL): not checked: see Slack token above" in lines
    # GitHub's clock then stands in for Slack's
    assert any(line.startswith("+ Time of this machine against GitHub: ") for line in lines)


def test_a_package_index_is_asked_where_one_is_set(there: World, monkeypatch: Env, tmp_path: Path) -> None:
    def check(server: PackageServer, **settings: str) -> list[str]:
        more = {
            "PRDIGEST_PACKAGE_INDEX": f"{server.url}/simple,files.example.com",
            "PRDIGEST_STATE_DIR": str(tmp_path),
        }
        lines = list_findings(monkeypatch, {**there.settings, **more, **settings})
        return [line[2:] for line in lines if "Package index" in line]

    with PackageServer() as server:
        assert check(server) == ["Package index: not used: a mirror says which versions are pinned"]
        advice = "Check PRDIGEST_PACKAGE_INDEX, unless it has only your own packages."
        mirror = str(tmp_path / "mirror")
        lacking = check(server, PRDIGEST_MIRROR=mirror)
        assert lacking == [f"Package index: has no packaging; 0 wheels kept, 0.0 MB -> {advice}"]
        server.add("packaging-25.0-py3-none-any.whl", make_wheel({"packaging.py": ""}))
        assert check(server, PRDIGEST_MIRROR=mirror) == ["Package index: answers; 0 wheels kept, 0.0 MB"]
        server.answers["/simple/packaging/"] = Response(500)
        assert "answered with 500" in check(server, PRDIGEST_MIRROR=mirror)[0]


def test_the_embedded_store_is_named_by_its_folder(there: World, monkeypatch: Env, tmp_path: Path) -> None:
    state = tmp_path / "state"
    lines = list_findings(monkeypatch, {**there.settings, "REDIS_URL": "", "PRDIGEST_STATE_DIR": str(state)})
    assert f"+ Store: the embedded store in {state} answers" in lines


def test_the_prefix_and_the_owner_of_the_store_are_told(there: World, monkeypatch: Env, store: Redis) -> None:
    settings = {**there.settings, "PRDIGEST_STORE_PREFIX": "team-a"}
    lines = list_findings(monkeypatch, settings)
    assert any(line.endswith(" (keys with the prefix team-a) answers") for line in lines)
    assert "+ Store owner: none yet, T0TEAM when the bot starts" in lines
    assert all(key.startswith(b"team-a/") for key in store.scan_iter())
    store.set("team-a/owner", "T0TEAM")
    assert "+ Store owner: T0TEAM, the workspace of the token" in list_findings(monkeypatch, settings)


def test_a_store_of_another_workspace_is_a_failure(there: World, monkeypatch: Env, store: Redis) -> None:
    store.set("owner", "T0OTHER")
    advice = (
        "The store belongs to the workspace T0OTHER, but SLACK_BOT_TOKEN is for T0TEAM: give this bot its "
        "own PRDIGEST_STORE_PREFIX."
    )
    assert select_failures(list_findings(monkeypatch, there.settings)) == [
        f"! Store owner: another workspace -> {advice}"
    ]


BLOCKED = {
    "GITHUB_API_URL": ("example.com", "- GitHub: not checked: see GITHUB_API_URL above"),
    "ANTHROPIC_BASE_URL": ("example.com", "- Claude: not checked: see ANTHROPIC_BASE_URL above"),
    "SLACK_API_URL": ("example.com", "- Slack: not checked: see SLACK_API_URL above"),
    "GITHUB_TOKEN": ("ghp_test ", "- GitHub: not checked: see GITHUB_TOKEN above"),
    "ANTHROPIC_API_KEY": (" sk-ant", "- Claude: not checked: see ANTHROPIC_API_KEY above"),
    "SLACK_BOT_TOKEN": ("xapp-test", "- Slack: not checked: see SLACK_BOT_TOKEN above"),
    "SLACK_APP_TOKEN": ("xoxb-test", "- Slack app token: not checked: see SLACK_APP_TOKEN above"),
}


@pytest.mark.parametrize(("name", "value", "expected_line"), [(name, *each) for name, each in BLOCKED.items()])
def test_a_service_whose_settings_are_wrong_gets_no_token(
    there: World, monkeypatch: Env, name: str, value: str, expected_line: str
) -> None:
    lines = list_findings(monkeypatch, {**there.settings, name: value})
    assert expected_line in lines
    assert len(select_failures(lines)) == 1


def test_a_wrong_value_is_named_and_all_else_is_checked(there: World, monkeypatch: Env) -> None:
    lines = list_findings(monkeypatch, {**there.settings, "PORT": "many", "PRDIGEST_TIMEZONE": "Mars"})
    assert len(select_failures(lines)) == 2
    assert "+ GitHub octo/engine: the token can read pull requests and contents" in lines
    assert "+ Channel C0DIGEST (PRDIGEST_CHANNEL): #digest, the bot can post there" in lines


def test_a_file_that_can_not_be_read_is_the_one_failure(there: World, monkeypatch: Env, tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes("PRDIGEST_NAME=Größe\n".encode("latin-1"))
    lines = list_findings(monkeypatch, there.settings)
    # the mirrors are where they are without settings
    assert [line for line in lines if line.startswith("!")] == lines[:1]
    assert lines[0].startswith("! Settings: .env can't be used: save it as UTF-8 text")


def test_without_any_setting_it_says_what_to_set(monkeypatch: Env, tmp_path: Path) -> None:
    lines = list_findings(monkeypatch, {"PRDIGEST_STATE_DIR": str(tmp_path / "state")})
    assert [line.partition(" -> ")[2] for line in select_failures(lines)] == [
        "Set SLACK_APP_TOKEN for Socket Mode, or SLACK_SIGNING_SECRET for requests over HTTP.",
        "Set GITHUB_TOKEN to a token that may read pull requests, or set up a GitHub App (GITHUB_APP_…).",
        "Set SLACK_BOT_TOKEN to the bot's token (xoxb-…).",
    ]
    assert "- Claude: no model: summaries contain facts only" in lines
    assert "- Slack app token: not checked: see SLACK_APP_TOKEN above" in lines


def test_without_socket_mode_the_apps_token_is_not_in_use(there: World, monkeypatch: Env) -> None:
    lines = list_findings(monkeypatch, {**there.settings, "SLACK_APP_TOKEN": "", "SLACK_SIGNING_SECRET": "abc"})
    assert "- Slack app token: not used: requests come over HTTP" in lines


def test_the_file_of_path_classes_is_looked_at(there: World, monkeypatch: Env, tmp_path: Path) -> None:
    (tmp_path / "paths.toml").write_text('["octo/engine"]\ndocs = ["design/"]\n')
    lines = list_findings(monkeypatch, {**there.settings, "PRDIGEST_PATHS": "paths.toml"})
    assert "+ Paths octo/engine: own patterns for docs; the defaults for the rest" in lines
    assert select_failures(lines) == []


def test_a_file_of_path_classes_that_is_not_there_fails_alone(there: World, monkeypatch: Env) -> None:
    lines = list_findings(monkeypatch, {**there.settings, "PRDIGEST_PATHS": "nowhere.toml"})
    (line,) = select_failures(lines)
    assert line.startswith("! Paths: not set up -> PRDIGEST_PATHS, nowhere.toml: it can't be read (No such file")


def test_mirrors_are_looked_at_where_they_are_kept(there: World, monkeypatch: Env, tmp_path: Path) -> None:
    assert "- Mirror: not used: files are read from GitHub" in list_findings(monkeypatch, there.settings)
    lines = list_findings(monkeypatch, {**there.settings, "PRDIGEST_MIRROR": str(tmp_path / "mirrors")})
    assert "- Mirror octo/engine: none yet: the next digest creates it" in lines
    assert {line[2:].split(":")[0] for line in lines} >= {"Git", "Type checker"}
    assert select_failures(lines) == []


def take_snapshot() -> SettingsSnapshot:
    return read_snapshot(load_usable_settings(), PROVIDERS, {})


def test_variables_are_those_of_the_environment_and_of_the_file(monkeypatch: Env, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PRDIGEST_CHANEL=x\nPORT=1111\nPRDIGEST_NAME=\n")
    monkeypatch.setenv("prdigest_repo", "octo/engine")
    monkeypatch.setenv("PORT", "2222")
    snapshot = take_snapshot()
    names = {"PRDIGEST_CHANEL", "PORT", "PRDIGEST_NAME", "PRDIGEST_REPO"} & snapshot.variables.keys()
    assert names == {"PRDIGEST_CHANEL", "PORT", "PRDIGEST_REPO"}
    assert snapshot.variables["PORT"] == "2222"
    assert snapshot.source == f"from the environment and {tmp_path / '.env'}"


def test_a_folder_without_a_file_is_named(tmp_path: Path) -> None:
    assert take_snapshot().source == f"from the environment; there is no .env in {tmp_path}"


# --- secrets


MARK = "S3CRETMARK"
SECRETS = {
    "GITHUB_TOKEN": f"ghp_{MARK}1",
    "ANTHROPIC_API_KEY": f"sk-ant-{MARK}2",
    "SLACK_BOT_TOKEN": f"xoxb-{MARK}3",
    "SLACK_APP_TOKEN": f"xapp-{MARK}4",
    "SLACK_SIGNING_SECRET": f"{MARK}5",
}
APP = {
    "GITHUB_TOKEN": "",
    "GITHUB_APP_ID": "7",
    "GITHUB_APP_INSTALLATION_ID": "42",
    "GITHUB_APP_PRIVATE_KEY": f"-----BEGIN RSA PRIVATE KEY-----\n{MARK}\n-----END RSA PRIVATE KEY-----",
}
ADDRESSES = ("GITHUB_API_URL", "ANTHROPIC_BASE_URL", "SLACK_API_URL")
AWAY = {name: f"http://127.0.0.1:{closed_port()}" for name in ADDRESSES}
WAYS: dict[str, Mapping[str, str]] = {
    "refused": {},
    "away": {**AWAY, "REDIS_URL": f"redis://user:{MARK}@127.0.0.1:{closed_port()}/0"},
    "a store that is none": {"REDIS_URL": MARK},
    "a store whose address is broken": {"REDIS_URL": f"redis://[{MARK}"},
    "a store with its password anywhere": {"REDIS_URL": f"redis://127.0.0.1:{closed_port()}/0?password={MARK}"},
    "an app's key": APP,
    "an app's key in a file": {**APP, "GITHUB_APP_PRIVATE_KEY": f"/{MARK}.pem"},
    "line breaks": {name: f"{value}\n" for name, value in SECRETS.items()},
    "line breaks within": {name: f"{value}\r\nX-{MARK}: 1" for name, value in SECRETS.items()},
    "not even ASCII": {name: f"{value}ü" for name, value in SECRETS.items()},
    "each in the place of the next": dict(zip(SECRETS, [*list(SECRETS.values())[1:], MARK], strict=True)),
    "where addresses belong": {
        "GITHUB_API_URL": MARK,
        "SLACK_API_URL": MARK,
        "ANTHROPIC_BASE_URL": MARK,
        "GITHUB_APP_INSTALLATION_ID": MARK,
        "PRDIGEST_ALLOWED_USERS": MARK.lower(),
        "PRDIGEST_ADMIN_CHANNEL": MARK.lower(),
        "PRDIGEST_REPO": MARK,
    },
}


@pytest.mark.parametrize("way", WAYS)
def test_no_part_of_a_secret_is_ever_shown(there: World, monkeypatch: Env, way: str) -> None:
    for name, value in {**there.settings, **SECRETS, **WAYS[way]}.items():
        monkeypatch.setenv(name, value)
    all_findings = findings()
    shown = "\n".join(
        [format_findings_json(all_findings), *(format_finding(each, "utf-8") for each in all_findings)]
    )
    assert MARK.lower() not in shown.lower()
    assert len(select_failures(format_findings(all_findings))) >= 3


def test_what_a_stranger_answers_in_place_of_a_service_is_not_shown(there: World, monkeypatch: Env) -> None:
    with WebPage() as page:
        addresses = dict.fromkeys(ADDRESSES, page.url)
        lines = list_findings(monkeypatch, {**there.settings, **addresses})
    assert [line.split(":")[0] for line in select_failures(lines)] == [
        "! GitHub token",
        "! Claude key",
        "! Slack token",
    ]
    assert "Sign in" not in "".join(lines)
