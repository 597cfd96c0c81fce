import json
from pathlib import Path

import pytest

from bot.demo.run import APP, SAMPLE_ABOUT, build_local_settings, build_sample_stage
from bot.demo.sample.sources import SampleSources
from tests.helpers.processes.command import ROOT

LOCAL = build_local_settings("http://127.0.0.1:1", "xoxb-local", "secret", Path())


def test_the_commands_and_shortcuts_are_those_of_the_manifest() -> None:
    manifest = json.loads((ROOT / "manifest.json").read_text())
    named = [
        (each["command"], each["usage_hint"], each["description"])
        for each in manifest["features"]["slash_commands"]
    ]
    assert [(each.name, each.hint, each.description) for each in APP.commands] == named
    listed = [(each["callback_id"], each["name"], each["type"]) for each in manifest["features"]["shortcuts"]]
    assert [(each.callback_id, each.name, each.kind) for each in APP.shortcuts] == listed


def test_what_there_is_to_try_is_in_the_sample() -> None:
    numbers = {str(number) for number in SampleSources().numbers}
    tried = [
        word.strip("#") for each in SAMPLE_ABOUT.tries for word in each.text.split() if word.strip("#").isdecimal()
    ]
    assert tried
    assert set(tried) <= numbers
    assert f"The {len(numbers)} pull requests" in SAMPLE_ABOUT.facts[0].text


def test_nothing_in_the_environment_changes_the_sample(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in (
        ("PRDIGEST_REPO", "octo/other"),
        ("SLACK_APP_TOKEN", "xapp-1"),
        ("PRDIGEST_CHANNEL", "C0OTHER"),
    ):
        monkeypatch.setenv(name, value)
    (tmp_path / ".env").write_text("REDIS_URL=redis://nowhere\nGITHUB_TOKEN=ghp_1\n")
    settings = build_sample_stage().build_settings(LOCAL)
    assert (str(settings.prdigest_repo), settings.prdigest_channel) == ("vllm-project/vllm", "C0DIGEST")
    assert (settings.slack_app_token, settings.redis_url, settings.github_token) == (None, None, None)
    assert settings.slack_api_url == LOCAL["slack_api_url"]


def test_it_is_the_morning_after_the_sample_day_and_time_goes_on() -> None:
    seconds = iter([100.0, 101.0, 161.0])
    stage = build_sample_stage(lambda: next(seconds))
    settings = stage.build_settings(LOCAL)
    first, second = stage.now(), stage.now()
    assert (second - first).total_seconds() == 60
    assert first.astimezone(stage.zone).date() == SampleSources().day.end.astimezone(stage.zone).date()
    assert first.astimezone(stage.zone).time() > settings.prdigest_post_at
