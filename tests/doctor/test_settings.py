from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from bot.doctor.checks import SettingsSnapshot, check_settings, find_faults, read_snapshot
from bot.platform.models.claude import CLAUDE
from bot.settings import Settings, list_tokens, load_usable_settings
from tests.doctor.findings import format_findings

GOOD = {"PRDIGEST_REPO": "octo/engine", "SLACK_APP_TOKEN": "xapp-1", "SLACK_BOT_TOKEN": "xoxb-1"}
KNOWN = frozenset(name.upper() for name in Settings.model_fields)
HOLD_TOKENS = list_tokens(Settings)


def make_snapshot(variables: Mapping[str, str] = MappingProxyType({}), **problems: str) -> SettingsSnapshot:
    """The variables of a good installation with others; an empty one is not set."""
    nonempty_variables = {name: value for name, value in (GOOD | dict(variables)).items() if value}
    return SettingsSnapshot(
        nonempty_variables, problems, KNOWN, HOLD_TOKENS, "from the environment", (CLAUDE.key_variable,), {}
    )


def lines(variables: Mapping[str, str] = MappingProxyType({}), **problems: str) -> list[str]:
    return format_findings(check_settings(make_snapshot(variables, **problems)))


def test_good_settings_are_counted_with_where_they_come_from() -> None:
    assert lines({"EDITOR": "vi"}) == ["+ Settings: 3 values from the environment"]


def test_a_value_that_can_not_be_used_is_told_as_every_command_tells_it() -> None:
    reason = "write it as owner/name, such as vllm-project/vllm"
    assert lines({"PRDIGEST_REPO": "nonsense"}, PRDIGEST_REPO=reason) == [
        f"! Settings: PRDIGEST_REPO can't be used: {reason} -> Set PRDIGEST_REPO as described in `prdigest env`."
    ]


def test_of_a_file_that_can_not_be_read_nothing_is_said_to_be_missing() -> None:
    finding_lines = format_findings(
        check_settings(SettingsSnapshot({}, {".env": "save it as UTF-8 text"}, KNOWN, HOLD_TOKENS, "", (), {}))
    )
    assert finding_lines == [
        "! Settings: .env can't be used: save it as UTF-8 text -> Fix the file and run doctor again."
    ]


@pytest.mark.parametrize(("mode", "is_exposed"), [(0o600, False), (0o640, False), (0o644, True), (0o604, True)])
def test_a_file_of_tokens_that_everybody_may_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, *, is_exposed: bool
) -> None:
    (tmp_path / ".env").write_text("PRDIGEST_REPO=octo/engine")
    (tmp_path / ".env").chmod(mode)
    monkeypatch.chdir(tmp_path)
    snapshot = read_snapshot(load_usable_settings(), (CLAUDE,), {})
    advice = "Run `chmod 600 .env` as its owner."
    line = f"- Settings: .env holds tokens, and every user of this machine may read it -> {advice}"
    assert (line in format_findings(check_settings(snapshot))) is is_exposed


UNKNOWN = {
    "PRDIGEST_CHANEL": "did you mean PRDIGEST_CHANNEL? -> Write PRDIGEST_CHANNEL instead.",
    "PRDIGEST_TIME_ZONE": "did you mean PRDIGEST_TIMEZONE? -> Write PRDIGEST_TIMEZONE instead.",
    "PRDIGEST_POSTAT": "did you mean PRDIGEST_POST_AT? -> Write PRDIGEST_POST_AT instead.",
}


@pytest.mark.parametrize(("name", "advice"), UNKNOWN.items())
def test_a_misspelt_variable_of_ours_is_named_with_the_right_one(name: str, advice: str) -> None:
    assert lines({name: "x"}) == [f"! Settings: {name} is not a setting: {advice}"]


def test_a_variable_of_ours_that_resembles_nothing_is_named_too() -> None:
    assert lines({"PRDIGEST_ZZZ": "x"}) == [
        "! Settings: PRDIGEST_ZZZ is not a setting -> Remove it, or find the right name in `prdigest env`."
    ]


CLOSE = {
    "GITHUB_TOKENS": "GITHUB_TOKEN",
    "GITHUB_TOKNE": "GITHUB_TOKEN",
    "GITHUB_APP_PRIVATEKEY": "GITHUB_APP_PRIVATE_KEY",
    "ANTHROPIC_APIKEY": "ANTHROPIC_API_KEY",
    "SLACK_SIGNIN_SECRET": "SLACK_SIGNING_SECRET",
}


@pytest.mark.parametrize(("name", "meant"), CLOSE.items())
def test_what_may_belong_to_another_tool_is_only_noted(name: str, meant: str) -> None:
    finding_lines = lines({name: "x"})
    assert finding_lines[1:] == [f"- Settings: {name} is not a setting: did you mean {meant}?"]


def test_a_close_name_is_not_worth_a_word_where_the_setting_is_set() -> None:
    assert len(lines({"ANTHROPIC_APIKEY": "x", "ANTHROPIC_API_KEY": "y", "SLACK_BOT_TOKENS": "z"})) == 1


# set by GitHub in its runners, by the Anthropic SDK's users and by other apps of Slack
FOREIGN = """
GITHUB_ACTION GITHUB_ACTIONS GITHUB_ACTION_PATH GITHUB_ACTION_REF GITHUB_ACTION_REPOSITORY GITHUB_ACTOR
GITHUB_ACTOR_ID GITHUB_BASE_REF GITHUB_ENV GITHUB_EVENT_NAME GITHUB_EVENT_PATH GITHUB_GRAPHQL_URL
GITHUB_HEAD_REF GITHUB_JOB GITHUB_OUTPUT GITHUB_PATH GITHUB_REF GITHUB_REF_NAME GITHUB_REF_PROTECTED
GITHUB_REF_TYPE GITHUB_REPOSITORY GITHUB_REPOSITORY_ID GITHUB_REPOSITORY_OWNER GITHUB_REPOSITORY_OWNER_ID
GITHUB_RETENTION_DAYS GITHUB_RUN_ATTEMPT GITHUB_RUN_ID GITHUB_RUN_NUMBER GITHUB_SERVER_URL GITHUB_SHA
GITHUB_STATE GITHUB_STEP_SUMMARY GITHUB_TRIGGERING_ACTOR GITHUB_WORKFLOW GITHUB_WORKFLOW_REF
GITHUB_WORKFLOW_SHA GITHUB_WORKSPACE ANTHROPIC_AUTH_TOKEN ANTHROPIC_MODEL ANTHROPIC_LOG SLACK_WEBHOOK_URL
SLACK_CLIENT_ID SLACK_CLIENT_SECRET SLACK_VERIFICATION_TOKEN SLACK_CHANNEL
""".split()


def test_variables_of_other_tools_are_left_alone() -> None:
    assert len(lines(dict.fromkeys(FOREIGN, "x"))) == 1


MISSING = {
    "SLACK_APP_TOKEN": (
        "SLACK_APP_TOKEN is not set, nor is SLACK_SIGNING_SECRET -> "
        "Set SLACK_APP_TOKEN for Socket Mode, or SLACK_SIGNING_SECRET for requests over HTTP."
    ),
}


def test_a_repository_is_missing_only_where_the_settings_have_a_channel_for_it() -> None:
    missing = "PRDIGEST_REPO is not set, but PRDIGEST_CHANNEL is -> Set it to your repository, as owner/name."
    assert lines({"PRDIGEST_REPO": "", "PRDIGEST_CHANNEL": "C0DIGEST"}) == [f"! Settings: {missing}"]
    chosen = "chosen in Slack, by the first `/prdigest subscribe owner/name` for a public one"
    assert lines({"PRDIGEST_REPO": ""})[1] == f"- Repository: {chosen} -> Set PRDIGEST_REPO for a private one."


@pytest.mark.parametrize(("name", "complaint"), MISSING.items())
def test_what_is_missing_is_named(name: str, complaint: str) -> None:
    assert lines({name: ""}) == [f"! Settings: {complaint}"]


def test_a_signing_secret_stands_in_for_the_apps_token() -> None:
    assert not find_faults(make_snapshot({"SLACK_APP_TOKEN": "", "SLACK_SIGNING_SECRET": "abc"}))


BOT, APP = "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"
ODD = "contains blanks or letters that no token has"
TOKENS = {
    "xapp-1-MARK": (
        BOT,
        "is an app-level token -> Set SLACK_BOT_TOKEN to the token that begins with xoxb- instead.",
    ),
    "xoxp-MARK": (BOT, "is a user token -> Set SLACK_BOT_TOKEN to the token that begins with xoxb- instead."),
    "xoxb-MARK": (APP, "is the bot's token -> Set SLACK_APP_TOKEN to the token that begins with xapp- instead."),
    "MARK": (APP, "is another kind of secret -> Set SLACK_APP_TOKEN to the token that begins with xapp- instead."),
    "ghp_MARK\n": ("GITHUB_TOKEN", f"{ODD} -> Copy GITHUB_TOKEN again without blanks."),
    " sk-MARK": ("ANTHROPIC_API_KEY", f"{ODD} -> Copy ANTHROPIC_API_KEY again without blanks."),
    "xoxb-MARKü": (BOT, f"{ODD} -> Copy SLACK_BOT_TOKEN again without blanks."),
}


@pytest.mark.parametrize(("token", "name", "complaint"), [(token, *each) for token, each in TOKENS.items()])
def test_a_token_that_can_not_be_right_is_told_without_it(token: str, name: str, complaint: str) -> None:
    assert lines({name: token}) == [f"! Settings: {name} {complaint}"]


def test_a_bots_token_that_slack_renews_is_one_too() -> None:
    assert not find_faults(make_snapshot({"SLACK_BOT_TOKEN": "xoxe.xoxb-1-abc"}))


def test_the_values_do_not_show_in_what_is_printed_for_developers() -> None:
    assert "xoxb-1" not in repr(make_snapshot())
