"""``.env.example``, ``docs/settings.md`` and the chart's schema are what ``python -m docs.settings`` makes."""

import re
import shutil
from pathlib import Path

import pytest
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from bot.settings import (
    GROUPS,
    Settings,
    SettingsGroup,
    format_default,
    get_setting_use,
    is_secret,
    list_tokens,
    load_settings,
)
from bot.settings.description import FileSource
from docs.settings import describe_setting, list_secrets, render_documents
from tests.helpers.processes.command import ROOT

DOCUMENTS = render_documents()
FIELDS = Settings.model_fields


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_a_document_is_what_the_command_makes(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == DOCUMENTS[path], "run python -m docs.settings"


def test_the_documents_are_where_people_look() -> None:
    chart = ROOT / "deploy" / "chart" / "templates" / "_helpers.tpl"
    assert set(DOCUMENTS) == {ROOT / ".env.example", ROOT / "docs" / "settings.md", chart}


def test_the_chart_refuses_each_secret_whatever_it_listed_before() -> None:
    [helpers] = (text for path, text in DOCUMENTS.items() if path.suffix == ".tpl")
    fewer = helpers.replace(' "GITHUB_TOKEN"', "")
    assert fewer != helpers
    assert list_secrets(fewer) == helpers
    with pytest.raises(LookupError, match="no list of refused settings"):
        list_secrets("{}")


@pytest.mark.parametrize(
    ("name", "pattern"), [(".env.example", r"^([A-Z_]+)="), ("docs/settings.md", r"^\| `([A-Z_]+)` \|")]
)
def test_every_setting_is_documented_once(name: str, pattern: str) -> None:
    listed = re.findall(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(field.upper() for field in FIELDS)


def test_the_example_as_it_is_changes_nothing(tmp_path: Path) -> None:
    without = load_settings()
    shutil.copy(ROOT / ".env.example", tmp_path / ".env")
    assert FileSource(Settings)().keys() >= {"port", "prdigest_timezone"}
    assert load_settings() == without


def test_no_line_of_the_example_is_too_long_for_an_editor() -> None:
    assert max(map(len, (ROOT / ".env.example").read_text(encoding="utf-8").splitlines())) <= 115


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("prdigest_post_at", "09:00"),
        ("prdigest_timezone", "UTC"),
        ("prdigest_daily_budget", "10"),
        ("port", "3000"),
        ("prdigest_state_dir", ""),
        ("github_token", ""),
        ("prdigest_allowed_users", ""),
    ],
)
def test_a_default_is_shown_as_one_would_write_it(name: str, shown: str) -> None:
    assert format_default(FIELDS[name]) == shown


@pytest.mark.parametrize(
    ("default", "shown"), [(False, "false"), (True, "true"), (0, "0"), (None, ""), ("", ""), ((), "")]
)
def test_no_is_a_default_too(default: object, shown: str) -> None:
    assert format_default(FieldInfo(default=default)) == shown


class Undescribed(SettingsGroup):
    """A setting as somebody in a hurry adds it."""

    heading = "New"
    prdigest_new: int = 3


def test_a_setting_without_a_description_is_refused() -> None:
    with pytest.raises(LookupError, match="PRDIGEST_NEW has no description"):
        describe_setting("PRDIGEST_NEW", Undescribed.model_fields["prdigest_new"])
    with pytest.raises(LookupError, match="by setting"):
        get_setting_use(Undescribed.model_fields["prdigest_new"])


def test_each_setting_is_in_one_group() -> None:
    assert [name for group in GROUPS for name in group.model_fields] == list(FIELDS)


def test_secrets_are_marked_and_go_to_an_address() -> None:
    """The signing secret and the token of agents go nowhere; an address may hold a password."""
    secret = {name for name, field in FIELDS.items() if is_secret(field)}
    assert secret == {name for name, field in FIELDS.items() if "SecretStr" in repr(field.annotation)} | {
        "redis_url"
    }
    sent = {
        name: get_setting_use(field).address_field
        for name, field in FIELDS.items()
        if get_setting_use(field).address_field
    }
    excluded = {"redis_url", "slack_signing_secret", "prdigest_mcp_token"}
    assert sent.keys() == secret - excluded
    assert all(address.endswith("_url") for address in sent.values())
    assert set(sent.values()) <= FIELDS.keys()


def test_tokens_are_secrets_of_one_word() -> None:
    """The key of a GitHub App is a text of many lines, or a path."""
    tokens = list_tokens(Settings)
    secrets = {name.upper() for name, field in FIELDS.items() if SecretStr.__name__ in repr(field.annotation)}
    assert tokens.keys() == secrets - {"GITHUB_APP_PRIVATE_KEY"}
    assert tokens["SLACK_BOT_TOKEN"] == ("xoxb-", "xoxe.xoxb-")
